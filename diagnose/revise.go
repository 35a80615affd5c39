package diagnose

import (
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// revise settles what needs more than one call: a request of the server that is still open is stalled after all when a
// stalled call's handler waits for it; a silence that ends in a stall belongs to the stall.
func (d *Diagnosis) revise() {
	d.waitedFor()
	stalled := map[Half]bool{}
	for c := range Walk(d.Calls) {
		if c.Stalled && c.Sent.OK() {
			stalled[c.Sent] = true
		}
	}
	keep := d.Calls[:0]
	for c := range Walk(d.Calls) {
		if f := c.Sent.Fact(); c.Quiet && f.QuietEnd >= 0 && stalled[Half{c.Sent.Log, uint32(f.QuietEnd)}] {
			c.Quiet = false
			d.Summary.Quiet--
		}
		if d.everyCall() || c.Problem() || c.Leaf == NoLeaf {
			keep = append(keep, c)
		}
	}
	d.Calls = keep
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
