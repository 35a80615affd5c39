package diagnose

import (
	"cmp"
	"slices"
	"time"

	"mcpdiag/ingest"
)

// Patience is how long one log's side waited for what it asked before it gave up, on that log's clock.
type Patience struct {
	Log        *ingest.Log
	Calls      int               // requests that it sent
	Clusters   []DeadlineCluster // by length
	Idle       []IdleGiveUp      // cancels that came so long after the last progress, rather than after the request
	Untimed    int               // cancels of which no time is known
	Stepped    int               // cancels before which the clock went back
	Answered   int               // answered before any cancel, the time known
	Longest    Waited            // the longest of those
	Unanswered Unfinished        // neither answered nor cancelled
	Refused    int               // the transport said no, which ended the wait
	Untold     int               // the log does not tell whether it was answered, or which answer is whose
	ByDesign   int               // open, as their purpose is
	gaveUp     []Waited          // cancelled, the time known
	answered   []Waited          // answered before any cancel, the time known
}

// Waited is one wait of a requester, from its request to its cancel or its answer.
type Waited struct {
	Half Half
	For  time.Duration
}

// Call is the call that was waited for, as far as the requester's log has it.
func (w Waited) Call() *Call { return &Call{Requester: w.Half.Log.Side, Sent: w.Half} }

// Tool names what was asked.
func (w Waited) Tool() string {
	l, n := w.Half.Log, w.Half.N
	return toolOf(l.Side, l.Method(n), l.Name(n)).What()
}

// DeadlineCluster are waits that ended in a cancel after about the same time.
type DeadlineCluster struct {
	Waits            []Waited // in the order of their cancels
	Median, Min, Max time.Duration
	Known            string   // the known default that Median equals; "" when none
	Tools            []string // sorted
	Progress         int      // of Waits: those that had progress before the cancel
	Late             int      // of Waits: those that were answered all the same
	LateMax          Waited   // the longest of those, to its answer
	KeptAlive        Outlived // answered after more than Max, without a silence of more than Max: progress resets the deadline
	Exempt           Outlived // answered after more than Max, silent for longer: the deadline does not hold for every call
}

// Credible reports whether the cluster looks like a deadline: one cancel may be a person's.
func (c *DeadlineCluster) Credible() bool { return len(c.Waits) > 1 || c.Known != "" }

// Outlived are answered waits that were longer than a deadline.
type Outlived struct {
	N       int
	Longest Waited
}

func (o *Outlived) add(w Waited) {
	if o.N++; o.N == 1 || w.For > o.Longest.For {
		o.Longest = w
	}
}

// IdleGiveUp is a cancel whose distance from the last progress is a deadline, and whose distance from the request is not.
type IdleGiveUp struct {
	Waited
	Silence time.Duration // from the last progress to the cancel
	Equals  string        // what the silence equals: a known default, or the deadline of a cluster
}

// NewPatience computes the deadlines that the log's side seems to have.
func NewPatience(l *ingest.Log) *Patience {
	p := &Patience{Log: l}
	for i := range uint32(l.Halves()) {
		if l.Half(i).By == l.Side && l.Line(i, ingest.Request) != 0 {
			p.Calls++
			p.add(Half{l, i})
		}
	}
	slices.SortStableFunc(p.gaveUp, func(a, b Waited) int { return cmp.Compare(a.For, b.For) })
	p.cluster()
	for k := range p.Clusters {
		p.compare(&p.Clusters[k])
	}
	p.idle()
	return p
}

// add sorts one call by how its wait ended.
func (p *Patience) add(h Half) {
	wait := h.span(ingest.Request, ingest.Answer)
	switch {
	case h.Has(ingest.Ambiguous):
		p.Untold++
	case h.Line(ingest.Cancel) != 0:
		p.cancelled(h)
	case h.Line(ingest.Answer) != 0:
		if wait.OK {
			p.answer(Waited{h, wait.D})
		}
	case h.Has(ingest.Refused):
		p.Refused++
	case ingest.OpenByDesign(h.Log.Method(h.N)):
		p.ByDesign++
	case h.Log.Unsure(h.N):
		p.Untold++
	default:
		p.Unanswered.add(h, h.watched())
	}
}

func (p *Patience) cancelled(h Half) {
	switch d := h.span(ingest.Request, ingest.Cancel); {
	case d.OK:
		p.gaveUp = append(p.gaveUp, Waited{h, d.D})
	case h.Stepped(ingest.Request, ingest.Cancel):
		p.Stepped++
	default:
		p.Untimed++
	}
}

func (p *Patience) answer(w Waited) {
	p.answered = append(p.answered, w)
	if p.Answered++; p.Answered == 1 || w.For > p.Longest.For {
		p.Longest = w
	}
}

// Two waits are of one deadline when they are less than this apart: timers fire late, and a short one by more of its length.
const (
	deadlineSlack = 50 * time.Millisecond
	deadlineShare = 50 // 2 per cent
)

// sameDeadline reports whether wait d, no shorter than first, is of the deadline of first.
func sameDeadline(first, d time.Duration) bool {
	return d-first <= deadlineSlack || d-first <= first/deadlineShare
}

// cluster cuts the sorted waits where the next one is too far from the first of its cluster.
func (p *Patience) cluster() {
	for from := 0; from < len(p.gaveUp); {
		to := from + 1
		for to < len(p.gaveUp) && sameDeadline(p.gaveUp[from].For, p.gaveUp[to].For) {
			to++
		}
		p.Clusters = append(p.Clusters, newCluster(p.gaveUp[from:to]))
		from = to
	}
}

func newCluster(waits []Waited) DeadlineCluster {
	c := DeadlineCluster{Waits: waits, Min: waits[0].For, Median: waits[(len(waits)-1)/2].For, Max: waits[len(waits)-1].For}
	c.Known = Deadline(c.Median)
	for _, w := range waits {
		c.Tools = append(c.Tools, w.Tool())
		if f := w.Half.Fact(); f.Progress > 0 && f.ProgressLine < w.Half.Line(ingest.Cancel) {
			c.Progress++
		}
		if late := w.Half.span(ingest.Request, ingest.Answer); late.OK {
			if c.Late++; late.D > c.LateMax.For {
				c.LateMax = Waited{w.Half, late.D}
			}
		}
	}
	slices.SortFunc(waits, func(a, b Waited) int { return cmp.Compare(a.Half.Line(ingest.Cancel), b.Half.Line(ingest.Cancel)) })
	slices.Sort(c.Tools)
	c.Tools = slices.Compact(c.Tools)
	return c
}

// compare holds the cluster against the waits that were answered. A wait that outlived it, and heard progress often enough,
// was kept alive by that; one that heard nothing for longer is not under this deadline.
func (p *Patience) compare(c *DeadlineCluster) {
	for _, w := range p.answered {
		switch {
		case w.For <= c.Max || sameDeadline(c.Max, w.For):
		case untimedProgress(w.Half): // it may have been kept alive, or not
		case silence(w.Half) <= c.Max:
			c.KeptAlive.add(w)
		default:
			c.Exempt.add(w)
		}
	}
}

// untimedProgress reports whether there was progress, and when is not known.
func untimedProgress(h Half) bool {
	f := h.Fact()
	_, ok := h.At(ingest.Answer).Sub(f.ProgressLastAt)
	return f.Progress > 0 && !ok
}

// idle looks for cancels that came a deadline after the last progress. It compares with a cluster only of waits that had no
// progress: there the two clocks are one.
func (p *Patience) idle() {
	for _, w := range p.gaveUp {
		f := w.Half.Fact()
		if f.Progress == 0 || f.ProgressLast > w.Half.Line(ingest.Cancel) || Deadline(w.For) != "" {
			continue
		}
		d, ok := w.Half.At(ingest.Cancel).Sub(f.ProgressLastAt)
		if equals := p.equals(d); ok && d > 0 && equals != "" {
			p.Idle = append(p.Idle, IdleGiveUp{w, d, equals})
		}
	}
}

func (p *Patience) equals(d time.Duration) string {
	for k := range p.Clusters {
		c := &p.Clusters[k]
		if c.Progress == 0 && (sameDeadline(c.Min, d) && d >= c.Min || sameDeadline(d, c.Min) && d < c.Min) {
			return "the deadline of the calls that had no progress, " + Wait(c.Median)
		}
	}
	return Deadline(d)
}
