package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// traceEvent is one event of the Chrome trace format. Times are microseconds.
type traceEvent struct {
	Name string         `json:"name"`
	Cat  string         `json:"cat,omitempty"`
	Ph   string         `json:"ph"`
	TS   float64        `json:"ts"`
	Dur  *float64       `json:"dur,omitempty"`
	PID  int            `json:"pid"`
	TID  int            `json:"tid"`
	S    string         `json:"s,omitempty"`
	Args map[string]any `json:"args,omitempty"`
}

// Trace writes the calls as a Chrome trace, which Perfetto reads. Each log is a process of its own and starts at 0 with its
// first record: viewers draw all processes on one axis, and between two clocks a place on it says nothing. Calls that overlap
// stand on threads beside each other; the stages of a call stand under it.
func Trace(w io.Writer, d *diagnose.Diagnosis, program string) error {
	b := bufio.NewWriter(w)
	t := &tracer{w: b, d: d}
	fmt.Fprint(b, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"program\":\"mcpdiag\",\"version\":")
	t.json(program)
	fmt.Fprint(b, ",\"clocks\":\"one process is one log on its own clock, from its first record; times of two processes have nothing in common\"},\"traceEvents\":[")
	for _, l := range d.Logs {
		t.log(l)
	}
	fmt.Fprint(b, "\n]}\n")
	if t.err != nil {
		return t.err
	}
	return b.Flush()
}

type tracer struct {
	w     *bufio.Writer
	d     *diagnose.Diagnosis
	wrote bool
	err   error
}

func (t *tracer) json(v any) {
	text, err := json.Marshal(v)
	if err == nil {
		_, err = ascii{t.w}.Write(text)
	}
	t.err = cmp.Or(t.err, err)
}

func (t *tracer) event(e traceEvent) {
	if t.wrote {
		t.w.WriteByte(',')
	}
	t.wrote = true
	t.w.WriteByte('\n')
	t.json(e)
}

// slice is a call in one log.
type slice struct {
	c        *diagnose.Call
	h        diagnose.Half
	from, to time.Duration
	ended    bool
}

func (t *tracer) log(l *ingest.Log) {
	pid := int(l.Side)
	t.event(traceEvent{Name: "process_name", Ph: "M", PID: pid, Args: map[string]any{"name": fmt.Sprintf("%s's clock: %s", l.Side, frame.Escape(l.Path))}})
	t.event(traceEvent{Name: "process_sort_index", Ph: "M", PID: pid, Args: map[string]any{"sort_index": pid}})
	slices := t.slices(l)
	lanes := lay(slices)
	for i, s := range slices {
		t.call(pid, lanes[i], s)
	}
	for k := range l.Marks {
		if m := &l.Marks[k]; m.Kind == frame.Invalid && m.Half < 0 {
			if at, ok := sinceStart(l, m.At); ok {
				t.event(traceEvent{Name: "bad line", Cat: "line", Ph: "i", S: "p", TS: micros(at), PID: pid, Args: map[string]any{"line": diagnose.Cite(l, m.Line), "text": frame.Escape(m.Raw)}})
			}
		}
	}
}

// slices are the calls that a log tells the times of, by their start.
func (t *tracer) slices(l *ingest.Log) []slice {
	var out []slice
	for _, c := range t.d.Calls {
		for _, h := range sides(c) {
			if h.Log != l {
				continue
			}
			from, to, ended := stay(c, h)
			a, ok1 := sinceStart(l, from)
			b, ok2 := sinceStart(l, to)
			if ok1 && ok2 && b >= a {
				out = append(out, slice{c, h, a, b, ended})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b slice) int { return cmp.Compare(a.from, b.from) })
	return out
}

// lay gives each slice the first lane that is free, since slices of one thread may not overlap.
func lay(list []slice) []int {
	lanes := make([]int, len(list))
	var free []time.Duration // when each lane is free again
	for i, s := range list {
		k := slices.IndexFunc(free, func(at time.Duration) bool { return at <= s.from })
		if k < 0 {
			k = len(free)
			free = append(free, 0)
		}
		free[k] = s.to + 1 // an instant takes its lane, too
		lanes[i] = k
	}
	return lanes
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func (t *tracer) span(name, cat string, from, to time.Duration, pid, lane int, args map[string]any) {
	dur := micros(to - from)
	t.event(traceEvent{Name: name, Cat: cat, Ph: "X", TS: micros(from), Dur: &dur, PID: pid, TID: lane + 1, Args: args})
}

func (t *tracer) call(pid, lane int, s slice) {
	c := s.c
	args := map[string]any{"id": c.IDJSON(), "session": frame.Escape(c.Session()), "connection": c.Connection(), "nth": c.Nth(), "leaf": c.Leaf, "outcome": c.Outcome().String(),
		"stalled": c.Stalled, "ended": s.ended, "line": diagnose.Cite(s.h.Log, s.h.Log.FirstHalfLine(s.h.N))}
	if n := c.Bytes(ingest.Answer); n != frame.Unknown {
		args["response_bytes"] = n
	}
	if len(c.Causes) > 0 {
		args["cause"] = c.Causes[0].Name
	}
	cat := "call"
	if c.Stalled {
		cat = "call,stalled"
	}
	t.span(frame.Escape(toolOf(c)), cat, s.from, s.to, pid, lane, args)
	for _, stage := range stagePoints {
		from, ok1 := sinceStart(s.h.Log, s.h.At(stage.from))
		to, ok2 := sinceStart(s.h.Log, s.h.At(stage.to))
		if ok1 && ok2 && from <= to && s.h == c.Served {
			t.span(stage.name, "stage", from, to, pid, lane, map[string]any{"lines": []string{diagnose.Cite(s.h.Log, s.h.Line(stage.from)), diagnose.Cite(s.h.Log, s.h.Line(stage.to))}})
		}
	}
	if at, ok := sinceStart(s.h.Log, s.h.At(ingest.Cancel)); ok {
		t.event(traceEvent{Name: "cancel", Cat: "cancel", Ph: "i", S: "t", TS: micros(at), PID: pid, TID: lane + 1, Args: map[string]any{"line": diagnose.Cite(s.h.Log, s.h.Line(ingest.Cancel))}})
	}
}

var stagePoints = [...]struct {
	name     string
	from, to ingest.Point
}{{"dispatch", ingest.Request, ingest.Enter}, {"handler", ingest.Enter, ingest.Exit}, {"flush", ingest.Exit, ingest.Answer}}
