package diagnose

import (
	"cmp"
	"math"
	"slices"
	"time"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// Service is how one log's side served the requests that it read, on that log's clock.
type Service struct {
	Log    *ingest.Log
	Calls  int             // requests that it read
	Groups []*ServiceGroup // what did not finish first, then the slowest
}

// ServiceGroup are the calls of one tool.
type ServiceGroup struct {
	toolKey
	Answered                        int // the answer was written, to a cancelled call too
	Dispatch, Handler, Flush, Total Spread
	Histogram                       Histogram // of Total
	Slow                            int       // answered calls whose total is known to have reached the limit
	Slowest                         *Call     // of the answered ones
	Open                            Unfinished
	Cancelled                       Unfinished // cancelled and not answered, which is as it should be
	ByDesign                        int        // open, as their purpose is
	Untold                          int        // the log does not tell whether it was answered, or which answer is whose
	Stepped                         int        // a difference came out negative
	spans                           [4][]time.Duration
}

// Spread are order statistics of durations on one clock, by nearest rank: each is a duration that was measured.
type Spread struct {
	N                  int
	P50, P95, P99, Max time.Duration
}

// Unfinished are calls without an answer, so that their times are known to be at least something (right-censored).
type Unfinished struct {
	N           int
	Timed       int           // of N: those of which a time is known
	InHandler   int           // of N: their handler was entered and never left
	Left        int           // of N: their handler left
	Least, Most time.Duration // all Timed took at least Least, one at least Most
	Longest     Half          // the one of Most; the first when no time is known
}

func (u *Unfinished) add(h Half, s Span) {
	if u.N++; u.N == 1 {
		u.Longest = h
	}
	switch {
	case h.Line(ingest.Exit) != 0:
		u.Left++
	case h.Line(ingest.Enter) != 0:
		u.InHandler++
	}
	if !s.OK {
		return
	}
	if u.Timed++; u.Timed == 1 {
		u.Least, u.Most, u.Longest = s.D, s.D, h
	}
	u.Least = min(u.Least, s.D)
	if s.D > u.Most {
		u.Most, u.Longest = s.D, h
	}
}

// NewService computes the stages of what the log's side served; slow is from when on an answered call counts as slow.
func NewService(l *ingest.Log, slow time.Duration) *Service {
	s := &Service{Log: l}
	groups := map[toolKey]*ServiceGroup{}
	for i := range uint32(l.Halves()) {
		by := l.Half(i).By
		if by == l.Side || l.Line(i, ingest.Request) == 0 && l.FirstHalfLine(i) == 0 {
			continue
		}
		s.Calls++
		key := toolOf(by, l.Method(i), l.Name(i))
		g := groups[key]
		if g == nil {
			g = &ServiceGroup{toolKey: key}
			groups[key] = g
			s.Groups = append(s.Groups, g)
		}
		g.add(Half{l, i}, slow)
	}
	for _, g := range s.Groups {
		g.settle()
	}
	slices.SortStableFunc(s.Groups, func(a, b *ServiceGroup) int {
		return cmp.Or(cmp.Compare(b.Open.N, a.Open.N), cmp.Compare(b.Cancelled.N, a.Cancelled.N), cmp.Compare(b.Total.Max, a.Total.Max), a.compare(b.toolKey))
	})
	return s
}

// add counts one call: answered, or unfinished, or neither where the log does not tell.
func (g *ServiceGroup) add(h Half, slow time.Duration) {
	switch {
	case h.Line(ingest.Answer) != 0:
		g.answered(h, slow)
	case h.Has(ingest.Ambiguous) || h.Log.Unsure(h.N):
		g.Untold++
	case h.Line(ingest.Cancel) != 0:
		g.Cancelled.add(h, h.untilCancelled())
	case ingest.OpenByDesign(h.Log.Method(h.N)):
		g.ByDesign++
	default:
		g.Open.add(h, h.watched())
	}
	if h.Stepped(ingest.Request, ingest.Answer) || h.Stepped(ingest.Request, ingest.Enter) || h.Stepped(ingest.Enter, ingest.Exit) || h.Stepped(ingest.Exit, ingest.Answer) {
		g.Stepped++
	}
}

func (g *ServiceGroup) answered(h Half, slow time.Duration) {
	g.Answered++
	c := &Call{Requester: g.Requester, Served: h}
	s := c.Stages()
	for k, span := range []Span{s.Dispatch, s.Handler, s.Flush, s.Total} {
		if span.OK {
			g.spans[k] = append(g.spans[k], span.D)
		}
	}
	if !s.Total.OK {
		return
	}
	if s.Total.D >= slow {
		g.Slow++
	}
	if g.Slowest == nil || s.Total.D > g.Slowest.Stages().Total.D {
		g.Slowest = c
	}
}

// settle turns the durations into statistics, and lets go of them.
func (g *ServiceGroup) settle() {
	for k, to := range []*Spread{&g.Dispatch, &g.Handler, &g.Flush, &g.Total} {
		slices.Sort(g.spans[k])
		*to = spread(g.spans[k])
	}
	g.Histogram = histogram(g.spans[3])
	g.spans = [4][]time.Duration{}
}

// spread takes the order statistics of sorted durations by nearest rank: the smallest duration that p per cent do not exceed.
func spread(sorted []time.Duration) Spread {
	n := len(sorted)
	if n == 0 {
		return Spread{}
	}
	rank := func(p int) time.Duration { return sorted[(p*n+99)/100-1] }
	return Spread{n, rank(50), rank(95), rank(99), sorted[n-1]}
}

// Histogram counts durations in buckets whose edges go up by 1, 2, 5, 10 …, so that each is about twice the one before.
type Histogram struct {
	From, To time.Duration // edges of the first and the last bucket
	Counts   []int
}

func histogram(sorted []time.Duration) Histogram {
	if len(sorted) == 0 {
		return Histogram{}
	}
	from := edges(sorted[0])
	h := Histogram{From: from[0]}
	low, high := from[0], from[1]
	for _, d := range sorted {
		for len(h.Counts) == 0 || d >= high && high > low {
			if len(h.Counts) > 0 {
				low, high = high, edges(high)[1]
			}
			h.Counts = append(h.Counts, 0)
		}
		h.Counts[len(h.Counts)-1]++
	}
	h.To = max(low, high)
	return h
}

// edges are the ends of the bucket that holds d. The first starts at 0, for clocks that tick too seldom.
func edges(d time.Duration) [2]time.Duration {
	if d < time.Microsecond {
		return [2]time.Duration{0, time.Microsecond}
	}
	for decade := time.Microsecond; ; decade *= 10 {
		for _, e := range [][2]time.Duration{{decade, 2 * decade}, {2 * decade, 5 * decade}, {5 * decade, 10 * decade}} {
			if e[1] < e[0] { // nanoseconds end here
				e[1] = math.MaxInt64
			}
			if d < e[1] || e[1] == math.MaxInt64 {
				return e
			}
		}
	}
}

// untilCancelled is how long a cancelled call is known to have been worked on: to its last mark, or, when its handler was
// entered and never left, to the end of the log.
func (h Half) untilCancelled() Span {
	if h.Line(ingest.Enter) != 0 && h.Line(ingest.Exit) == 0 {
		return h.watched()
	}
	s := h.span(ingest.Request, ingest.Cancel)
	if left := h.span(ingest.Request, ingest.Exit); left.OK && left.D > s.D {
		return left
	}
	return s
}

// watched is how long half h, unanswered, was under watch: to the end of its log, or to where its connection was cut or its
// stream ended, if that came first. Past those no answer can come, so time spent there is no waiting.
func (h Half) watched() Span {
	st := h.Stretch()
	_, end := h.Log.Span()
	if h.Has(ingest.Closed) {
		end = st.LastAt
	}
	by := h.Log.Half(h.N).By
	sides := []frame.Side{by.Peer()}
	if by == h.Log.Side {
		sides = append(sides, by) // a requester that closes its own side waits no longer
	}
	first := h.Log.FirstHalfLine(h.N)
	ended := uint32(0)
	for _, side := range sides {
		k := side - frame.Client
		if eof := st.EOF[k]; eof > first && eof > st.End[k].Line && (ended == 0 || eof < ended) {
			ended, end = eof, st.EOFAt[k]
		}
	}
	d, ok := end.Sub(h.At(ingest.Request))
	return Span{d, ok && d >= 0}
}
