package report

import (
	"fmt"
	"slices"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// stalls tells the stalled calls, kind by kind. A few of a kind are told one by one; a crowd together, with examples.
func (p *printer) stalls(d *diagnose.Diagnosis) {
	shown, others := told(d, p.style.All)
	for _, k := range shown {
		if len(k.calls) > examples && !p.style.All {
			p.crowd(d, k)
			continue
		}
		for c := range diagnose.Walk(k.calls) {
			p.block(d, c, k.casualties[c])
		}
	}
	if len(others) > 0 {
		p.hang("         ", otherKinds(others)+" (--all lists them; --format html sorts and filters them)")
		p.line("")
	}
}

// crowd tells many stalled calls of one kind together.
func (p *printer) crowd(d *diagnose.Diagnosis, k *kindOfStall) {
	first := k.calls[0]
	type session struct {
		name       string
		connection int
	}
	sessions := map[session]bool{}
	lost := 0
	for c := range diagnose.Walk(k.calls) {
		sessions[session{c.Session(), c.Connection()}] = true
		lost += len(k.casualties[c])
	}
	p.hang(p.paint(red, "STALLED ")+" ", fmt.Sprintf("%s × %s, in %s", diagnose.Thousands(int64(len(k.calls))), k.tool, count(len(sessions), "session")))
	p.hang("  ", p.sentence(first)+p.marks(d.NotesOf(first)))
	p.field("answers", byteRange(k.calls))
	p.field(first.Requester.String(), waitRange(k.calls))
	p.causes(first, "of the first, ")
	p.field("next", first.Next())
	for i, c := range k.calls[:examples] {
		label := ""
		if i == 0 {
			label = "such as"
		}
		p.field(label, p.example(c))
	}
	p.field("", fmt.Sprintf("… and %s more (--all lists them)", diagnose.Thousands(int64(len(k.calls)-examples))))
	if lost > 0 {
		p.field("also", count(lost, "call")+" lost to these")
	}
	p.line("")
}

// example is one call of a crowd: which, and the lines that prove it.
func (p *printer) example(c *diagnose.Call) string {
	where := "id " + string(c.ID())
	if s := c.Session(); s != "" {
		where += ", session " + s
	}
	return where + ": " + facts(cited("sent", c.Sent, ingest.Request), cited("read", c.Served, ingest.Request), cited("entered", c.Served, ingest.Enter),
		cited("written", c.Served, ingest.Answer), cited("cancelled", c.Sent, ingest.Cancel), cited("read", c.Sent, ingest.Answer))
}

// byteRange says between which sizes the answers lie.
func byteRange(calls []*diagnose.Call) string {
	low, high := int64(frame.Unknown), int64(frame.Unknown)
	for c := range diagnose.Walk(calls) {
		if n := c.Bytes(ingest.Answer); n != frame.Unknown {
			if low == frame.Unknown || n < low {
				low = n
			}
			high = max(high, n)
		}
	}
	switch {
	case high == frame.Unknown:
		return ""
	case low == high:
		return sized(low)
	}
	return sized(low) + " to " + sized(high)
}

// waitRange says after how long the requesters gave up. Each time is of its own log's clock.
func waitRange(calls []*diagnose.Call) string {
	var cancels []time.Duration
	for c := range diagnose.Walk(calls) {
		if d := c.CancelAfter(); d.OK {
			cancels = append(cancels, d.D)
		}
	}
	if len(cancels) == 0 {
		return ""
	}
	low, high := diagnose.Wait(slices.Min(cancels)), diagnose.Wait(slices.Max(cancels))
	if low != high {
		low += " to " + high
	}
	if len(cancels) < len(calls) {
		return fmt.Sprintf("cancelled after %s (%s of them)", low, diagnose.Thousands(int64(len(cancels))))
	}
	return "cancelled after " + low
}
