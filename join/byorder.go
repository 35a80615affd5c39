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
	a.out.As = [3]map[uint32]ingest.Key{frame.Client: {}, frame.Server: {}}
	names := a.namesTold(a.client) && a.namesTold(a.server)
	c, order := a.alikeIn(a.client, names)
	s, _ := a.alikeIn(a.server, names)
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

// namesTold reports whether a log tells the tools of its calls.
func (a *aligner) namesTold(l *ingest.Log) bool {
	for i := range uint32(l.Halves()) {
		if l.Method(i) == "tools/call" && l.Name(i) == "" {
			return false
		}
	}
	return true
}

// alikeIn sorts the halves of a log by what they share, in line order; order is that of the kinds' first appearance.
func (a *aligner) alikeIn(l *ingest.Log, names bool) (map[likeness][]uint32, []likeness) {
	groups := map[likeness][]uint32{}
	var order []likeness
	for i := range uint32(l.Halves()) {
		h := l.Half(i)
		if h.Flags&ingest.Ambiguous != 0 || l.FirstHalfLine(i) == 0 {
			continue
		}
		k := likeness{pair: a.out.Pair[l.Side][h.Stretch], by: h.By, method: l.Method(i)}
		if names {
			k.name = l.Name(i)
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], i)
	}
	return groups, order
}

// inTurn pairs the halves one by one. The log that tells ids keeps its keys.
func (a *aligner) inTurn(c, s []uint32) {
	c, s = inLineOrder(a.client, c), inLineOrder(a.server, s)
	for k := range c {
		from, i, to, j := a.server, s[k], a.client, c[k]
		if from.Half(i).Flags&ingest.NoID != 0 {
			from, i, to, j = to, j, from, i
		}
		a.out.As[to.Side][j] = ingest.Key{ID: from.ID(i), Nth: from.Half(i).Nth}
	}
}

// uneven says that calls were not paired.
func (a *aligner) uneven(k likeness, c, s []uint32) {
	if len(a.doubts) >= maxDoubts {
		return
	}
	what := k.method
	if k.name != "" {
		what += " " + k.name
	}
	a.doubts = append(a.doubts, Doubt{Kind: "uneven", Text: fmt.Sprintf("a log tells no ids, and the client's has %d calls %s where the server's has %d: which of them are one cannot be told, so none is paired",
		len(c), what, len(s)), Line: a.client.FirstHalfLine(c[0]), Client: a.client.Half(c[0]).Stretch, Server: a.server.Half(s[0]).Stretch})
}
