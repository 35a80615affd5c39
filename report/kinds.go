package report

import (
	"cmp"
	"slices"

	"mcpdiag/diagnose"
)

// kind is what stalled calls have in common that one sentence can tell.
type kind struct {
	leaf         diagnose.Leaf
	cause        string
	method, name string
}

// kindOfStall are the stalled calls of one kind, and what each took along with it.
type kindOfStall struct {
	kind
	tool       string
	calls      []*diagnose.Call
	casualties map[*diagnose.Call][]*diagnose.Call
}

// kinds sorts the stalled calls into kinds, in the order in which the kinds appear. Casualties stand under the call that took
// them along, not among the kinds.
func kinds(d *diagnose.Diagnosis) []*kindOfStall {
	index := map[kind]*kindOfStall{}
	casualties := map[*diagnose.Call][]*diagnose.Call{}
	var out []*kindOfStall
	for c := range diagnose.Walk(d.Calls) {
		switch {
		case !c.Stalled:
			continue
		case c.Follows != nil && c.Follows.Stalled:
			casualties[c.Follows] = append(casualties[c.Follows], c)
			continue
		}
		k := kind{c.Leaf, c.Causes[0].Name, c.Method(), c.Name()}
		of := index[k]
		if of == nil {
			of = &kindOfStall{kind: k, tool: toolOf(c), casualties: casualties}
			index[k] = of
			out = append(out, of)
		}
		of.calls = append(of.calls, c)
	}
	return out
}

// kindsShown is how many kinds of stall are told without --all; more than that are a page that nobody reads.
const kindsShown = 12

// told are the kinds to tell, and the others. Of many the weightiest are told: those whose cause was found, then those with the
// most calls.
func told(d *diagnose.Diagnosis, all bool) (shown, others []*kindOfStall) {
	list := kinds(d)
	if len(list) <= kindsShown || all {
		return list, nil
	}
	slices.SortStableFunc(list, func(a, b *kindOfStall) int {
		return cmp.Or(cmp.Compare(b.sure(), a.sure()), cmp.Compare(len(b.calls), len(a.calls)))
	})
	return list[:kindsShown], list[kindsShown:]
}

func (k *kindOfStall) sure() int {
	if k.cause != diagnose.None && k.calls[0].Causes[0].Found {
		return 1
	}
	return 0
}

// otherKinds counts the kinds that are not told.
func otherKinds(others []*kindOfStall) string {
	calls := 0
	for _, k := range others {
		calls += len(k.calls)
	}
	return "… and " + count(calls, "more call") + " of " + count(len(others), "other kind")
}
