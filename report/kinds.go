package report

import (
	"mcpdiag/diagnose"
)

// kind is what stalled calls have in common that one sentence can tell.
type kind struct {
	leaf  diagnose.Leaf
	cause string
	tool  string
}

// kindOfStall are the stalled calls of one kind, and what each took along with it.
type kindOfStall struct {
	kind
	calls      []*diagnose.Call
	casualties map[*diagnose.Call][]*diagnose.Call
}

// kinds sorts the stalled calls into kinds, in the order in which the kinds appear. Casualties stand under the call that took
// them along, not among the kinds.
func kinds(d *diagnose.Diagnosis) []*kindOfStall {
	index := map[kind]*kindOfStall{}
	casualties := map[*diagnose.Call][]*diagnose.Call{}
	var out []*kindOfStall
	for _, c := range d.Calls {
		switch {
		case !c.Stalled:
			continue
		case c.Follows != nil && c.Follows.Stalled:
			casualties[c.Follows] = append(casualties[c.Follows], c)
			continue
		}
		k := kind{c.Leaf, c.Causes[0].Name, toolOf(c)}
		if index[k] == nil {
			index[k] = &kindOfStall{kind: k, casualties: casualties}
			out = append(out, index[k])
		}
		index[k].calls = append(index[k].calls, c)
	}
	return out
}
