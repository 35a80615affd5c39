package report

import (
	"io"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// Export is a form for another program to read.
type Export struct {
	Name  string
	About string
	Write func(w io.Writer, d *diagnose.Diagnosis, program string) error
}

// Exports lists the forms that are written as a stream. Parquet is written by the database: see diagnose.Parquet.
func Exports() []Export {
	return []Export{
		{"otlp", "OpenTelemetry spans as OTLP JSON: one span for each side of a call, linked", OTLP},
		{"perfetto", "a trace for ui.perfetto.dev and other viewers of Chrome traces: one process for each clock", Trace},
	}
}

// sides are the halves of a call, each with the log that it is in.
func sides(c *diagnose.Call) []diagnose.Half {
	var out []diagnose.Half
	for _, h := range []diagnose.Half{c.Sent, c.Served} {
		if h.OK() {
			out = append(out, h)
		}
	}
	return out
}

// stay is when a log first and last shows a call that it has, and whether that last is an end: an answer, or a cancel of one's
// own. A call without an end lasts as long as its log, or its stream, was there to show one.
func stay(c *diagnose.Call, h diagnose.Half) (from, to frame.Instant, ended bool) {
	from = origin(h)
	last := []ingest.Point{ingest.Answer}
	if h == c.Sent {
		last = append(last, ingest.Cancel)
	}
	for _, p := range last {
		if at := h.At(p); at.Known() {
			return from, at, true
		}
	}
	_, end := h.Log.Span()
	if stretch := h.Stretch(); stretch.LastAt.Known() {
		end = stretch.LastAt
	}
	if d, ok := end.Sub(from); !ok || d < 0 {
		end = from
	}
	return from, end, false
}

// sinceStart is the time since the log's first record, on its clock.
func sinceStart(l *ingest.Log, at frame.Instant) (time.Duration, bool) {
	first, _ := l.Span()
	return at.Sub(first)
}
