package join

import (
	"fmt"

	"mcpdiag/ingest/frame"
)

// renumbered takes apart the sessions whose ids a gateway has rewritten: the same id names different calls on the two sides,
// or no id is shared, while the calls themselves come in the same order. Joining those by id would be confidently wrong.
func (a *aligner) renumbered() {
	for _, c := range a.each(frame.Client) {
		s, ok := a.partner(c)
		head := heads(c)
		if !ok || len(head) == 0 || a.inParts(c) || !a.suspect(s, head) {
			continue
		}
		other := heads(s)
		alike, of := a.inOrder(head, other), min(len(head), len(other))
		if n := len(alike); n > 0 && n*10 >= of*6 {
			a.part(c, s, alike, of)
		}
	}
}

// inParts reports whether several logs of a side have a part of the session: then one part tells nothing of the whole.
func (a *aligner) inParts(c Stretch) bool {
	pair := *a.pairOf(c)
	return a.shared(frame.Client)[pair] > 1 || a.shared(frame.Server)[pair] > 1
}

// heads are the first requests of a stretch.
func heads(s Stretch) []half {
	var list []half
	for _, i := range s.is().Head {
		list = append(list, half{s.Log, i})
	}
	return list
}

// partner finds the server's stretch of the same pair.
func (a *aligner) partner(c Stretch) (Stretch, bool) {
	if !a.known(c) {
		return Stretch{}, false
	}
	if a.partners == nil {
		a.partners = map[uint32]Stretch{}
		for _, s := range a.each(frame.Server) {
			a.partners[*a.pairOf(s)] = s
		}
	}
	s, ok := a.partners[*a.pairOf(c)]
	return s, ok
}

// suspect reports whether an id names different calls on the two sides, or none is shared.
func (a *aligner) suspect(s Stretch, halves []half) bool {
	shared := 0
	for _, h := range halves {
		j, ok := s.Log.Find(s.N, h.of().By, h.ID(h.n))
		if !ok {
			continue
		}
		if other := (half{s.Log, j}); h.of().Nth == 1 && other.of().Nth == 1 && a.alike(h, other) == 0 {
			return true
		}
		shared++
	}
	return shared == 0 && s.is().Calls > 0
}

// inOrder matches the calls of two samples that agree in method, tool and size, in order.
func (a *aligner) inOrder(c, s []half) map[uint32]uint32 {
	alike, from := map[uint32]uint32{}, 0
	for _, h := range c {
		for k := from; k < len(s); k++ {
			if h.of().By == s[k].of().By && a.alike(h, s[k]) >= 12 {
				alike[h.n] = s[k].n
				from = k + 1
				break
			}
		}
	}
	return alike
}

// part makes two stretches strangers again, and says why.
func (a *aligner) part(c, s Stretch, alike map[uint32]uint32, of int) {
	a.next++
	*a.pairOf(s) = a.next
	a.out.Known[c.Log.Number()][c.N], a.out.Known[s.Log.Number()][s.N] = false, false
	a.doubt(c, s, Doubt{Kind: "ids_renumbered", Alike: alike,
		Text: fmt.Sprintf("the ids of the two logs differ, yet %d of %d calls agree in method, tool and size, in the same order: something between the two renumbers requests", len(alike), of)})
}
