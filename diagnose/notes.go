package diagnose

import (
	"fmt"

	"mcpdiag/ingest"
)

// Notes qualify a verdict: what a careful reader should know before relying on it.
func (d *Diagnosis) NotesOf(c *Call) []string {
	var notes []string
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if c.Served.OK() && c.Served.Line(ingest.Request) == 0 {
		say("request line missing in %s: that it was read is inferred from what follows", c.Served.Log.Path)
	}
	if c.Sent.OK() && c.Sent.Line(ingest.Request) == 0 {
		say("request line missing in %s: the log started after it was sent", c.Sent.Log.Path)
	}
	if c.Served.OK() {
		if what := gatewayWords[c.Served.Log.Status(c.Served.N)]; what != "" {
			say("HTTP %d is the word of what stands in front of the server: %s (%s)", c.Served.Log.Status(c.Served.N), what, Cite(c.Served.Log, c.Served.Line(ingest.Answer)))
		}
	}
	if c.Served.OK() && c.Sent.OK() && c.ByOrder() {
		say("a log tells no ids: the two halves were paired by tool and order. That is likely where both logs show all calls, and no proof")
	}
	if c.Sent.OK() && (c.Sent.Line(ingest.Enter) != 0 || c.Sent.Line(ingest.Exit) != 0) {
		say("the %s's own words stand in %s (%s): they prove that the request arrived", c.Requester.Peer(), c.Sent.Log.Path,
			Cite(c.Sent.Log, max(c.Sent.Line(ingest.Enter), c.Sent.Line(ingest.Exit))))
	}
	if h := c.any(); h.OK() && h.Line(ingest.Request) != 0 && c.Outcome() == ingest.StillOpen && !h.Has(ingest.Closed) {
		say("the log ends here: %s has no record after %s, and the answer may follow", h.Log.Path, Cite(h.Log, h.Log.LastLine))
	}
	for _, l := range d.Logs {
		if n := len(l.BadLines); n > 0 && d.restsOnAbsence(c, l) {
			say("the verdict rests on lines that are not in %s, of which %s cannot be read", l.Path, plural(n, "line"))
		}
	}
	if c.Leaf == NeverArrived {
		notes = append(notes, d.silence(c)...)
	}
	if c.Served.Has(ingest.QueuedOnly) {
		say("the answer was queued (%s); nothing says that it was written", Cite(c.Served.Log, c.Served.Line(ingest.Answer)))
	}
	if c.Served.Fact().HandlerAmbiguous || c.Sent.Fact().HandlerAmbiguous {
		say("stages ambiguous: handler events without an id could belong to another call of the same tool")
	}
	for _, h := range []Half{c.Sent, c.Served} {
		if h.OK() && (h.Stepped(ingest.Request, ingest.Answer) || h.Stepped(ingest.Request, ingest.Cancel) || h.Stepped(ingest.Enter, ingest.Exit)) {
			say("clock stepped in %s: a difference came out negative and is no duration", h.Log.Path)
		}
	}
	if c.Served.OK() && c.Served.Line(ingest.Enter) != 0 && !c.Served.At(ingest.Enter).Known() && c.Stages() == (Stages{}) && c.Leaf != NeverWritten {
		say("%s tells no times: the stages are unknown", c.Served.Log.Path)
	}
	return notes
}

// gatewayWords are the statuses that a gateway answers by itself.
var gatewayWords = map[int]string{
	499: "the client went away before the answer", 502: "it could not reach the server, or the connection broke", 503: "no server was there to take it",
	504: "the server gave it no answer in time",
}

// restsOnAbsence reports whether the verdict says that something is not in log l.
func (d *Diagnosis) restsOnAbsence(c *Call, l *ingest.Log) bool {
	switch c.Leaf {
	case NeverArrived, NeverWritten:
		return l.Side == c.Requester.Peer()
	case WrittenNotRead:
		return l.Side == c.Requester
	}
	return false
}

// laterWasRead reports whether the responder read a request that was sent after this one: then its log was not silent.
func (c *Call) laterWasRead(d *Diagnosis) bool {
	for _, other := range d.Calls {
		if other.Requester == c.Requester && other.Sent.OK() && other.Served.OK() && d.pair(other) == d.pair(c) &&
			other.Sent.Line(ingest.Request) > c.Sent.Line(ingest.Request) {
			return true
		}
	}
	return false
}

// silence says that a log had fallen silent before the call would have been in it: that is evidence, and worth saying.
func (d *Diagnosis) silence(c *Call) []string {
	s := d.stage.scene(c)
	stretch, l := s.servedStretch()
	if stretch == nil || s.answeredAfter(c.Sent.Line(ingest.Request)) || c.laterWasRead(d) {
		return nil
	}
	return []string{fmt.Sprintf("%s has nothing of this session after %s: its silence is the evidence", l.Path, Cite(l, stretch.Last))}
}
