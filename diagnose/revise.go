package diagnose

import (
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// revise settles what needs more than one call: a request of the server that is still open is stalled after all when a
// stalled call's handler waits for it; a silence that ends in a stall belongs to the stall.
func (d *Diagnosis) revise() {
	d.waitedFor()
	broken := d.brokenSilences()
	every := d.everyCall()
	keep := d.Calls[:0]
	for c := range Walk(d.Calls) {
		if c.Quiet && broken[c.silenceEnd()] {
			c.Quiet = false
			d.Summary.Quiet--
		}
		if every || c.Problem() || c.Leaf == NoLeaf {
			keep = append(keep, c)
		}
	}
	d.Calls = keep
}

// brokenSilences are the requests that ended a silence, and whether they stalled.
func (d *Diagnosis) brokenSilences() map[Half]bool {
	ends := map[Half]bool{}
	for c := range Walk(d.Calls) {
		if !c.Quiet {
			continue
		}
		if end := c.silenceEnd(); end.OK() {
			ends[end] = false
		}
	}
	if len(ends) == 0 {
		return nil
	}
	for c := range Walk(d.Calls) {
		if _, ok := ends[c.Sent]; ok && c.Stalled {
			ends[c.Sent] = true
		}
	}
	return ends
}

// silenceEnd is the request that ended the silence after the call's answer, in its requester's log.
func (c *Call) silenceEnd() Half {
	if end := c.Sent.Fact().QuietEnd; end >= 0 {
		return Half{c.Sent.Log, uint32(end)}
	}
	return Half{}
}

// everyCall reports whether all calls are listed, healthy ones too: never when some of those asked for were only counted.
func (d *Diagnosis) everyCall() bool {
	for _, p := range d.plain {
		if p.Shown {
			return false
		}
	}
	return d.Options.All || d.Summary.Calls <= fewCalls
}

func (d *Diagnosis) waitedFor() {
	for inner := range Walk(d.Calls) {
		if inner.Requester != frame.Server || inner.Stalled || inner.Sent.Line(ingest.Request) == 0 || inner.Sent.Line(ingest.Answer) != 0 || ingest.OpenByDesign(inner.Method()) {
			continue
		}
		for _, outer := range d.Calls {
			if outer.Requester == frame.Client && outer.Stalled && outer.Served.Line(ingest.Enter) != 0 && outer.Served.Line(ingest.Exit) == 0 &&
				outer.Served.Log == inner.Sent.Log && d.pair(outer) == d.pair(inner) && outer.Served.Line(ingest.Enter) < inner.Sent.Line(ingest.Request) {
				inner.Stalled = true
				d.Summary.Stalled++
				break
			}
		}
	}
}
