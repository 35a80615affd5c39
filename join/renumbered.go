package join

import (
	"fmt"

	"mcpdiag/ingest/frame"
)

// renumbered takes apart the sessions whose ids a gateway has rewritten: the same id names different calls on the two sides,
// or no id is shared, while the calls themselves come in the same order. Joining those by id would be confidently wrong.
func (a *aligner) renumbered() {
	for c, stretch := range a.client.Stretches {
		s, ok := a.partner(uint32(c))
		if !ok || len(stretch.Head) == 0 || !a.suspect(s, stretch.Head) {
			continue
		}
		head := a.server.Stretches[s].Head
		alike, of := a.inOrder(stretch.Head, head), min(len(stretch.Head), len(head))
		if n := len(alike); n > 0 && n*10 >= of*6 {
			a.part(uint32(c), s, alike, of)
		}
	}
}

// partner finds the server's stretch of the same pair.
func (a *aligner) partner(c uint32) (uint32, bool) {
	if !a.out.Known[frame.Client][c] {
		return 0, false
	}
	if a.partners == nil {
		a.partners = map[uint32]uint32{}
		for s, p := range a.out.Pair[frame.Server] {
			a.partners[p] = uint32(s)
		}
	}
	s, ok := a.partners[a.out.Pair[frame.Client][c]]
	return s, ok
}

// suspect reports whether an id names different calls on the two sides, or none is shared.
func (a *aligner) suspect(s uint32, halves []uint32) bool {
	shared := 0
	for _, i := range halves {
		j, ok := a.server.Find(s, a.client.Half(i).By, a.client.ID(i))
		if !ok {
			continue
		}
		if a.client.Half(i).Nth == 1 && a.server.Half(j).Nth == 1 && a.alike(i, j) == 0 {
			return true
		}
		shared++
	}
	return shared == 0 && a.server.Stretches[s].Calls > 0
}

// inOrder matches the calls of two samples that agree in method, tool and size, in order.
func (a *aligner) inOrder(c, s []uint32) map[uint32]uint32 {
	alike, from := map[uint32]uint32{}, 0
	for _, i := range c {
		for k := from; k < len(s); k++ {
			if a.client.Half(i).By == a.server.Half(s[k]).By && a.alike(i, s[k]) >= 12 {
				alike[i] = s[k]
				from = k + 1
				break
			}
		}
	}
	return alike
}

// part makes two stretches strangers again, and says why.
func (a *aligner) part(c, s uint32, alike map[uint32]uint32, of int) {
	a.next++
	a.out.Pair[frame.Server][s] = a.next
	a.out.Known[frame.Client][c], a.out.Known[frame.Server][s] = false, false
	a.doubts = append(a.doubts, Doubt{"ids_renumbered", fmt.Sprintf("the ids of the two logs differ, yet %d of %d calls agree in method, tool and size, in the same order: something between the two renumbers requests", len(alike), of),
		a.client.Stretches[c].First, c, s, alike})
}
