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
	if !a.anyReused() && !a.anyMerged() {
		return
	}
	reused := map[use]bool{}
	for _, side := range []frame.Side{frame.Client, frame.Server} {
		a.halves(side, func(h half) {
			if h.of().Nth > 1 || a.merged(h) {
				reused[a.use(h)] = true
			}
		})
	}
	if len(reused) == 0 {
		return
	}
	lists := [3]map[use][]half{}
	for _, side := range []frame.Side{frame.Client, frame.Server} {
		lists[side] = map[use][]half{}
		a.halves(side, func(h half) {
			if u := a.use(h); reused[u] {
				lists[side][u] = append(lists[side][u], h)
			}
		})
	}
	for u := range reused {
		a.number(inLineOrder(lists[frame.Client][u]), inLineOrder(lists[frame.Server][u]))
	}
}

func (a *aligner) use(h half) use {
	return use{*a.pairOf(h.stretch()), h.of().By, string(h.ID(h.n))}
}

// inLineOrder sorts halves by line; those of several logs stay in the order of the logs.
func inLineOrder(halves []half) []half {
	slices.SortStableFunc(halves, func(a, b half) int {
		return cmp.Or(cmp.Compare(a.Number(), b.Number()), cmp.Compare(a.FirstHalfLine(a.n), b.FirstHalfLine(b.n)))
	})
	return halves
}

func (a *aligner) anyReused() bool {
	for _, logs := range a.logs {
		for _, l := range logs {
			if l.Reuses > 0 {
				return true
			}
		}
	}
	return false
}

// anyMerged reports whether a side has two stretches in one pair.
func (a *aligner) anyMerged() bool {
	for _, side := range []frame.Side{frame.Client, frame.Server} {
		if len(a.shared(side)) < len(a.each(side)) {
			return true
		}
	}
	return false
}

// merged reports whether the half's stretch shares its pair with another stretch of the same side.
func (a *aligner) merged(h half) bool {
	return a.shared(h.Side)[*a.pairOf(h.stretch())] > 1
}

func (a *aligner) shared(side frame.Side) map[uint32]int {
	if a.pairs[side] == nil {
		a.pairs[side] = map[uint32]int{}
		for _, s := range a.each(side) {
			a.pairs[side][*a.pairOf(s)]++
		}
	}
	return a.pairs[side]
}

// number gives the uses of one id in both logs their common numbers.
func (a *aligner) number(c, s []half) {
	n := uint32(0)
	give := func(h half) { a.out.Nth[h.Number()][h.n] = n }
	for _, m := range a.match(c, s) {
		n++
		if m[0] >= 0 {
			give(c[m[0]])
		}
		if m[1] >= 0 {
			give(s[m[1]])
		}
	}
}

// maxCells bounds the table of the exact alignment; beyond it uses are taken in order from the end.
const maxCells = 4 << 20

// match aligns two lists of uses in order: pairs of indices, -1 where one side has no counterpart. Among equal alignments it
// takes the one that leaves out early uses, since a log that started late has lost its head.
func (a *aligner) match(c, s []half) [][2]int {
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
func (a *aligner) table(c, s []half) []int32 {
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

func (a *aligner) allAlike(c, s []half) bool {
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
func (a *aligner) alike(c, s half) int32 {
	if !agree(c.Method(c.n), s.Method(s.n)) || !agree(c.Name(c.n), s.Name(s.n)) {
		return 0
	}
	score := int32(8)
	for _, p := range []ingest.Point{ingest.Request, ingest.Answer} {
		if x := c.Bytes(c.n, p); x == s.Bytes(s.n, p) && x != frame.Unknown {
			score += 4
		}
	}
	requester, responder := c, s
	if c.of().By == frame.Server {
		requester, responder = s, c
	}
	if requester.Line(requester.n, ingest.Answer) != 0 && responder.Line(responder.n, ingest.Answer) == 0 {
		score -= 3 // an answer that was read had been written
	}
	return score
}

func agree(a, b string) bool { return a == b || a == "" || b == "" }
