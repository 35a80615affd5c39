package report

import (
	"cmp"
	"slices"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// event is something that one log shows of a call.
type event struct {
	at    diagnose.Span // since the call's first known moment in this log, on its clock
	what  string
	line  uint32
	cited string
}

// pointWords says what each point is, by whether the half is the requester's.
var pointWords = map[bool]map[ingest.Point]string{
	true:  {ingest.Request: "sent the request", ingest.Answer: "read the answer", ingest.Cancel: "cancelled"},
	false: {ingest.Request: "read the request", ingest.Enter: "handler entered", ingest.Exit: "handler left", ingest.Answer: "wrote the answer", ingest.Cancel: "read the cancel"},
}

// events lists what one log shows of a call, in the order of its lines. Its times are of this log's clock alone.
func events(c *diagnose.Call, h diagnose.Half) []event {
	if !h.OK() {
		return nil
	}
	var out []event
	start := origin(h)
	add := func(line uint32, at frame.Instant, what string) {
		if line != 0 {
			d, ok := at.Sub(start)
			out = append(out, event{diagnose.Span{D: d, OK: ok}, what, line, diagnose.Cite(h.Log, line)})
		}
	}
	for p, what := range pointWords[h.Log.Side == c.Requester] {
		if p <= ingest.Answer {
			what = facts(what, sized(h.Log.Bytes(h.N, p)))
		}
		add(h.Line(p), h.At(p), what)
	}
	f := h.Fact()
	add(f.ProgressLine, f.ProgressFirstAt, "first of "+count(f.Progress, "progress notification"))
	add(f.RefusedLine, f.RefusedAt, "was refused"+httpStatus(f.RefusedStatus))
	for _, line := range f.Repeats {
		add(line, f.RepeatAt, "another answer to the same id")
	}
	slices.SortFunc(out, func(a, b event) int { return cmp.Compare(a.line, b.line) })
	return out
}

// origin is the first moment of a call that a log tells the time of.
func origin(h diagnose.Half) frame.Instant {
	for _, p := range []ingest.Point{ingest.Request, ingest.Enter, ingest.Exit, ingest.Answer, ingest.Cancel} {
		if at := h.At(p); at.Known() {
			return at
		}
	}
	return frame.Instant{}
}

// since writes a time of an event; blank when it is not known, and with its sign where the clock stepped back.
func (e event) since() string {
	if !e.at.OK {
		return ""
	}
	return diagnose.Wait(e.at.D.Round(time.Microsecond))
}
