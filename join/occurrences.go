package join

import (
	"cmp"
	"slices"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// use is an id used by one requester in one session.
type use struct {
	pair uint32
	by   frame.Side
	id   string
}

// occurrences numbers the uses of each id that was used more than once, so that the same number means the same call in both
// logs: aligned in order by (method, name, bytes), not counted from the front.
func (a *aligner) occurrences() {
	if a.client.Reuses == 0 && a.server.Reuses == 0 && !a.anyMerged() {
		return
	}
	reused := map[use]bool{}
	for _, l := range []*ingest.Log{a.client, a.server} {
		a.each(l, func(i uint32, u use) {
			if l.Half(i).Nth > 1 || a.merged(l, i) {
				reused[u] = true
			}
		}, func(i uint32) bool { return l.Half(i).Nth > 1 || a.merged(l, i) })
	}
	if len(reused) == 0 {
		return
	}
	lists := [3]map[use][]uint32{}
	for _, l := range []*ingest.Log{a.client, a.server} {
		lists[l.Side] = map[use][]uint32{}
		a.each(l, func(i uint32, u use) {
			if reused[u] {
				lists[l.Side][u] = append(lists[l.Side][u], i)
			}
		}, nil)
	}
	for u := range reused {
		a.number(inLineOrder(a.client, lists[frame.Client][u]), inLineOrder(a.server, lists[frame.Server][u]))
	}
}

func inLineOrder(l *ingest.Log, halves []uint32) []uint32 {
	slices.SortStableFunc(halves, func(a, b uint32) int { return cmp.Compare(l.FirstHalfLine(a), l.FirstHalfLine(b)) })
	return halves
}

// anyMerged reports whether a log has two stretches in one pair.
func (a *aligner) anyMerged() bool {
	for _, l := range []*ingest.Log{a.client, a.server} {
		if len(a.shared(l)) < len(l.Stretches) {
			return true
		}
	}
	return false
}

// merged reports whether half i's stretch shares its pair with another stretch of the same log.
func (a *aligner) merged(l *ingest.Log, i uint32) bool {
	return len(a.out.Pair[l.Side]) > 1 && a.shared(l)[a.out.Pair[l.Side][l.Half(i).Stretch]] > 1
}

func (a *aligner) shared(l *ingest.Log) map[uint32]int {
	if a.pairs[l.Side] == nil {
		a.pairs[l.Side] = map[uint32]int{}
		for _, p := range a.out.Pair[l.Side] {
			a.pairs[l.Side][p]++
		}
	}
	return a.pairs[l.Side]
}

func (a *aligner) each(l *ingest.Log, f func(uint32, use), only func(uint32) bool) {
	for i := range uint32(l.Halves()) {
		if only == nil || only(i) {
			f(i, use{a.out.Pair[l.Side][l.Half(i).Stretch], l.Half(i).By, string(l.ID(i))})
		}
	}
}

// number gives the uses of one id in both logs their common numbers.
func (a *aligner) number(c, s []uint32) {
	n := uint32(0)
	give := func(l *ingest.Log, i uint32) { a.out.Nth[l.Side][i] = n }
	for _, m := range a.match(c, s) {
		n++
		if m[0] >= 0 {
			give(a.client, c[m[0]])
		}
		if m[1] >= 0 {
			give(a.server, s[m[1]])
		}
	}
}

// maxCells bounds the table of the exact alignment; beyond it uses are taken in order from the end.
const maxCells = 4 << 20

// match aligns two lists of uses in order: pairs of indices, -1 where one side has no counterpart. Among equal alignments it
// takes the one that leaves out early uses, since a log that started late has lost its head.
func (a *aligner) match(c, s []uint32) [][2]int {
	if len(c) == len(s) && a.allAlike(c, s) || len(c)*len(s) > maxCells {
		return fromTheEnd(len(c), len(s))
	}
	best := a.table(c, s)
	width := len(s) + 1
	var out [][2]int
	i, j := 0, 0
	for i < len(c) || j < len(s) {
		here := best[i*width+j]
		switch {
		case i < len(c) && best[(i+1)*width+j] == here:
			out = append(out, [2]int{i, -1})
			i++
		case j < len(s) && best[i*width+j+1] == here:
			out = append(out, [2]int{-1, j})
			j++
		default:
			out = append(out, [2]int{i, j})
			i++
			j++
		}
	}
	return out
}

// table holds, for each pair of places, the best score of what follows them.
func (a *aligner) table(c, s []uint32) []int32 {
	width := len(s) + 1
	best := make([]int32, (len(c)+1)*width)
	for i := len(c) - 1; i >= 0; i-- {
		for j := len(s) - 1; j >= 0; j-- {
			b := max(best[(i+1)*width+j], best[i*width+j+1])
			if score := a.alike(c[i], s[j]); score > 0 {
				b = max(b, best[(i+1)*width+j+1]+score)
			}
			best[i*width+j] = b
		}
	}
	return best
}

func (a *aligner) allAlike(c, s []uint32) bool {
	for k := range c {
		if a.alike(c[k], s[k]) == 0 {
			return false
		}
	}
	return true
}

func fromTheEnd(n, m int) [][2]int {
	var out [][2]int
	for i := range n - m {
		out = append(out, [2]int{i, -1})
	}
	for j := range m - n {
		out = append(out, [2]int{-1, j})
	}
	for k := max(n-m, 0); k < n; k++ {
		out = append(out, [2]int{k, k - n + m})
	}
	return out
}

// alike scores two halves as one call: 0 when their method or tool differ, more when sizes and answers agree.
func (a *aligner) alike(c, s uint32) int32 {
	if !agree(a.client.Method(c), a.server.Method(s)) || !agree(a.client.Name(c), a.server.Name(s)) {
		return 0
	}
	score := int32(8)
	for _, p := range []ingest.Point{ingest.Request, ingest.Answer} {
		x, y := a.client.Bytes(c, p), a.server.Bytes(s, p)
		if x == y && x != frame.Unknown {
			score += 4
		}
	}
	requester, responder, r, p := a.client, a.server, c, s
	if a.client.Half(c).By == frame.Server {
		requester, responder, r, p = a.server, a.client, s, c
	}
	if requester.Line(r, ingest.Answer) != 0 && responder.Line(p, ingest.Answer) == 0 {
		score -= 3 // an answer that was read had been written
	}
	return score
}

func agree(a, b string) bool { return a == b || a == "" || b == "" }
