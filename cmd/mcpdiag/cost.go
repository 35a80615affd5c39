package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/report"
)

type costFlags struct {
	out             outFlags
	calls           float64
	request, answer int64
}

const costLong = `Says what a frame log costs in bytes a second and a day, with payloads and with metadata only. Either from a rate and sizes:
the product is taken as it is and rounded once, at the end; or from what a LOG shows. Metadata is the size of the records as the
recorders write them.

A day is 86,400 s at that rate; kB, MB, GB are powers of ten.`

const costExample = `  mcpdiag cost --calls-per-second 40 --response-bytes 12000
  mcpdiag cost --calls-per-second 40 --response-bytes 12000 --request-bytes 312
  mcpdiag cost server.log`

func newCost(e *env) *cobra.Command {
	var f costFlags
	c := &cobra.Command{
		Use:     "cost [LOG]",
		Short:   "Say what a frame log costs, with payloads and without",
		Long:    costLong,
		Example: costExample,
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return runCost(c.Context(), e, &f, args) },
	}
	registerTwo(c, &f.out)
	flags := c.Flags()
	flags.Float64Var(&f.calls, "calls-per-second", 0, "how many calls there are")
	flags.Int64Var(&f.answer, "response-bytes", -1, "mean size of a whole answer in `BYTES`")
	flags.Int64Var(&f.request, "request-bytes", -1, "mean size of a whole request in `BYTES`, to tell the directions apart")
	return c
}

func runCost(ctx context.Context, e *env, f *costFlags, args []string) error {
	if f.out.format != "text" && f.out.format != "json" {
		return &usageError{"unknown format " + quote(f.out.format), "the formats are text, json"}
	}
	given := f.calls != 0 || f.answer >= 0 || f.request >= 0
	var c *report.Cost
	var err error
	switch {
	case len(args) == 1 && given:
		return &usageError{"a log and figures exclude each other", "mcpdiag cost LOG measures; mcpdiag cost --calls-per-second 40 --response-bytes 12000 multiplies"}
	case len(args) == 1:
		if err := refuseInputs([]ingest.Set{{Sources: sources(args)}}, f.out.file); err != nil {
			return err
		}
		c, err = measureCost(ctx, e, args[0])
	case f.calls <= 0 || f.answer < 0:
		return &usageError{"a rate and a size are needed, or a log", "mcpdiag cost --calls-per-second 40 --response-bytes 12000"}
	default:
		c = f.product()
	}
	if err != nil {
		return err
	}
	return writeTwo(e, &f.out, c, report.CostText, report.CostJSON)
}

// product multiplies what was given. The records are those of a plain call, as a recorder writes them.
func (f *costFlags) product() *report.Cost {
	c := &report.Cost{Calls: f.calls, Known: [2]bool{f.request >= 0, true}}
	c.Ways[0] = report.CostWay{Payload: f.calls * float64(max(f.request, 0)), Metadata: f.calls * recordSize(frame.Request, max(f.request, 100))}
	c.Ways[1] = report.CostWay{Payload: f.calls * float64(f.answer), Metadata: f.calls * recordSize(frame.Response, f.answer)}
	return c
}

// recordSize is the size of the record of a call's message, with all that a recorder puts into it.
func recordSize(kind frame.Kind, bytes int64) float64 {
	f := frame.Frame{Side: frame.Server, Dir: frame.S2C, Kind: kind, ID: frame.ID("100047"), Bytes: bytes, Rows: frame.Unknown,
		More: &frame.More{Clock: []byte("0123456789abcdef"), PID: []byte("104711"), Seq: 200_094, HasSeq: true}}
	if kind == frame.Request {
		f.Dir, f.Method, f.Name = frame.C2S, []byte("tools/call"), []byte("search_invoices")
	}
	f.At.Wall(1_772_444_463, 118_204_713, true)
	f.At.Mono(int64(time.Hour))
	return float64(len(frame.AppendNative(nil, &f)))
}

// measureCost counts what a log shows of one side.
func measureCost(ctx context.Context, e *env, arg string) (*report.Cost, error) {
	set := ingest.Set{Sources: []ingest.Source{ingest.ParseSource(arg)}}
	m := traffic{seconds: map[int64]int64{}, twice: map[string]frame.Phase{}}
	_, err := ingest.Frames(ctx, set, ingest.Options{Stdin: e.stdin}, ingest.Visitor{
		Frame: func(p *ingest.Place, f *frame.Frame) error { m.take(p.Log, f); return nil }})
	if err != nil {
		return nil, err
	}
	label := set.Sources[0].Label
	span := float64(m.last-m.first) / 1e9
	switch {
	case m.calls == 0:
		return nil, &usageError{frame.Escape(label) + ": no request is in it", "mcpdiag cost --calls-per-second 40 --response-bytes 12000 needs no log"}
	case span <= 0:
		return nil, &usageError{frame.Escape(label) + ": its records tell no span of time", "give the rate: --calls-per-second"}
	}
	c := &report.Cost{Source: label, Calls: float64(m.calls) / span, Span: span}
	for i := range c.Ways {
		c.Ways[i] = report.CostWay{Payload: float64(m.payload[i]) / span, Metadata: float64(m.metadata[i]) / span}
		c.Known[i] = m.sized[i]
	}
	for _, n := range m.seconds {
		c.Busy = max(c.Busy, float64(n))
	}
	return c, nil
}

// traffic adds up one side of a log: what the other side logged are the same messages.
type traffic struct {
	side              frame.Side
	calls             int64
	payload, metadata [2]int64
	sized             [2]bool
	first, last       int64 // wall clock, ns
	timed             bool
	seconds           map[int64]int64        // payload bytes by second
	twice             map[string]frame.Phase // messages of which one phase has been counted
	line              []byte
}

func (m *traffic) take(side frame.Side, f *frame.Frame) {
	if m.side == frame.NoSide {
		m.side = side
	}
	if side != m.side {
		return
	}
	way := 0
	if f.Dir == frame.S2C {
		way = 1
	}
	m.line = frame.AppendNative(m.line[:0], f)
	m.metadata[way] += int64(len(m.line))
	at, ok := m.time(f)
	if !f.Kind.Message() && f.Kind != frame.Invalid || m.again(f) {
		return
	}
	if f.Kind == frame.Request {
		m.calls++
	}
	if f.Bytes < 0 {
		return
	}
	m.sized[way] = true
	m.payload[way] += f.Bytes
	if ok {
		m.seconds[at/1e9] += f.Bytes
	}
}

// time widens the span by the record's time.
func (m *traffic) time(f *frame.Frame) (int64, bool) {
	at, ok := f.At.WallNS()
	if !ok && f.At.HasMono() {
		at, ok = f.At.MonoNS(), true
	}
	if !ok {
		return 0, false
	}
	if !m.timed || at < m.first {
		m.first = at
	}
	if !m.timed || at > m.last {
		m.last = at
	}
	m.timed = true
	return at, true
}

// again reports whether the record is another phase of a message that was counted.
func (m *traffic) again(f *frame.Frame) bool {
	if f.Phase == frame.NoPhase {
		return false
	}
	key := fmt.Sprint(f.Dir, f.Kind, string(f.Session), string(f.ID), string(f.Method))
	if before, ok := m.twice[key]; ok && before != f.Phase {
		delete(m.twice, key)
		return true
	}
	m.twice[key] = f.Phase
	return false
}
