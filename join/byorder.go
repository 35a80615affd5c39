package join

import (
	"fmt"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// likeness is what two halves must share to be one call where a log tells no ids: session, requester, method and, when both logs
// tell tools, the tool.
type likeness struct {
	pair         uint32
	by           frame.Side
	method, name string
}

// byOrder gives the halves of a log without ids the keys of the other's: the k-th call of a tool here is the k-th there. That
// holds only while both logs show equally many; where they do not, which one is missing cannot be told, and none is paired.
func (a *aligner) byOrder() {
	names := a.namesTold()
	c, order := a.alikeIn(frame.Client, names)
	s, _ := a.alikeIn(frame.Server, names)
	for _, k := range order {
		switch {
		case len(s[k]) == 0:
		case len(c[k]) != len(s[k]):
			a.uneven(k, c[k], s[k])
		default:
			a.inTurn(c[k], s[k])
		}
	}
}

// namesTold reports whether the logs tell the tools of their calls.
func (a *aligner) namesTold() bool {
	told := true
	for _, side := range []frame.Side{frame.Client, frame.Server} {
		a.halves(side, func(h half) {
			told = told && !(h.Method(h.n) == "tools/call" && h.Name(h.n) == "")
		})
	}
	return told
}

// alikeIn sorts the halves of a side by what they share, in line order; order is that of the kinds' first appearance.
func (a *aligner) alikeIn(side frame.Side, names bool) (map[likeness][]half, []likeness) {
	groups := map[likeness][]half{}
	var order []likeness
	a.halves(side, func(h half) {
		if h.of().Flags&ingest.Ambiguous != 0 || h.FirstHalfLine(h.n) == 0 {
			return
		}
		k := likeness{pair: *a.pairOf(h.stretch()), by: h.of().By, method: h.Method(h.n)}
		if names {
			k.name = h.Name(h.n)
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], h)
	})
	return groups, order
}

// inTurn pairs the halves one by one. The log that tells ids keeps its keys.
func (a *aligner) inTurn(c, s []half) {
	c, s = inLineOrder(c), inLineOrder(s)
	for k := range c {
		from, to := s[k], c[k]
		if from.of().Flags&ingest.NoID != 0 {
			from, to = to, from
		}
		a.out.As[to.Number()][to.n] = ingest.Key{ID: from.ID(from.n), Nth: from.of().Nth}
	}
}

// uneven says that calls were not paired.
func (a *aligner) uneven(k likeness, c, s []half) {
	if len(a.doubts) >= maxDoubts {
		return
	}
	what := k.method
	if k.name != "" {
		what += " " + k.name
	}
	a.doubt(c[0].stretch(), s[0].stretch(), Doubt{Kind: "uneven", Line: c[0].FirstHalfLine(c[0].n), Text: fmt.Sprintf("a log tells no ids, and the client's has %d calls %s where the server's has %d: which of them are one cannot be told, so none is paired",
		len(c), what, len(s))})
}
