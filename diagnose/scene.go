package diagnose

import (
	"sort"
	"sync"
	"time"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/join"
)

// stage holds what the rules look up, made once for all calls.
type stage struct {
	d        *Diagnosis
	surveys  [3]map[place]*survey     // by side
	bad      map[place][]*ingest.Mark // invalid lines of a stretch, by the direction that they came in, in order
	sessions map[uint32]*session      // by pair: those with a call that has a problem
	orphans  map[uint32][]Half        // by pair: answers that nobody asked for
	doubts   map[place]*join.Doubt    // renumbered stretches
	stretch  [3]map[uint32]uint32     // by side and pair: the first stretch of the session
}

// place is a stretch of a log, and a direction or a requester in it.
type place struct {
	side    frame.Side
	stretch uint32
	by      uint8
}

// survey is what one requester read in one stretch: the sizes and silences that did no harm.
type survey struct {
	reads      int
	answered   uint32 // the latest request line of a call whose answer was read
	largest    int64  // bytes of the largest answer that was read
	largestIn  Half
	silences   sync.Once
	silence    time.Duration // the longest silence before an answer that was read; see longestSilence
	requests   int           // requests that the responder's log shows
	largestReq int64
	lostReq    int    // requests sent and not read
	firstLost  uint32 // the line of the first of them, and their smallest size
	leastReq   int64
	lost       []*Call // answers written and not read
	firstGone  uint32  // the request line of the first of them, and their smallest size
	least      int64
}

// session is what the rules need of the calls with a problem in one session.
type session struct {
	calls    []*Call // in the order of Diagnosis.Calls
	read     []*Call // those whose answer was read, in the order of reading
	asked    []*Call // the server's own requests
	reverse  []*Call // those of them that were not answered
	handlers []*Call // handlers entered and not left, in the order of entering
}

func newStage(d *Diagnosis) *stage {
	s := &stage{d: d, bad: map[place][]*ingest.Mark{}, sessions: map[uint32]*session{},
		orphans: map[uint32][]Half{}, doubts: map[place]*join.Doubt{}}
	for _, c := range d.Calls {
		if c.Problem() || c.Leaf == NoLeaf {
			s.session(c).add(c)
		}
	}
	if len(s.sessions) == 0 {
		return s
	}
	for _, in := range s.sessions {
		in.order()
	}
	for _, l := range d.Logs {
		s.stretch[l.Side] = map[uint32]uint32{}
		for i, pair := range d.join.Align.Pair[l.Side] {
			if _, ok := s.stretch[l.Side][pair]; !ok {
				s.stretch[l.Side][pair] = uint32(i)
			}
		}
	}
	var wait sync.WaitGroup
	for _, l := range d.Logs {
		s.surveys[l.Side] = map[place]*survey{}
		wait.Go(func() { s.survey(l) })
		for k := range l.Marks {
			if m := &l.Marks[k]; m.Kind == frame.Invalid && m.Half < 0 {
				at := place{l.Side, m.Stretch, uint8(m.Dir)}
				s.bad[at] = append(s.bad[at], m)
			}
		}
	}
	wait.Wait()
	for _, h := range d.orphans {
		pair := d.join.Align.Pair[h.Log.Side][h.Log.Half(h.N).Stretch]
		s.orphans[pair] = append(s.orphans[pair], h)
	}
	for k := range d.join.Doubts {
		if doubt := &d.join.Doubts[k]; doubt.Kind == "ids_renumbered" || doubt.Kind == "nothing_in_common" {
			s.doubts[place{side: frame.Client, stretch: doubt.Client}] = doubt
			s.doubts[place{side: frame.Server, stretch: doubt.Server}] = doubt
		}
	}
	s.losses()
	return s
}

func (s *stage) session(c *Call) *session {
	pair := s.d.pair(c)
	if s.sessions[pair] == nil {
		s.sessions[pair] = &session{}
	}
	return s.sessions[pair]
}

func (in *session) add(c *Call) {
	in.calls = append(in.calls, c)
	if c.Sent.Line(ingest.Answer) != 0 && c.Served.OK() {
		in.read = append(in.read, c)
	}
	if c.Requester == frame.Server && c.Sent.OK() {
		in.asked = append(in.asked, c)
		if c.Sent.Line(ingest.Answer) == 0 {
			in.reverse = append(in.reverse, c)
		}
	}
	if c.Served.Line(ingest.Enter) != 0 && c.Served.Line(ingest.Exit) == 0 {
		in.handlers = append(in.handlers, c)
	}
}

func (in *session) order() {
	sort.SliceStable(in.read, func(a, b int) bool { return in.read[a].Sent.Line(ingest.Answer) < in.read[b].Sent.Line(ingest.Answer) })
	sort.SliceStable(in.handlers, func(a, b int) bool {
		return in.handlers[a].Served.Line(ingest.Enter) < in.handlers[b].Served.Line(ingest.Enter)
	})
}

// survey walks the halves of a log once: a million of them cost some milliseconds, and only stretches with trouble count.
func (s *stage) survey(l *ingest.Log) {
	troubled := make([]bool, len(l.Stretches))
	for i, pair := range s.d.join.Align.Pair[l.Side] {
		troubled[i] = s.sessions[pair] != nil
	}
	var v *survey
	var last place
	for i := range uint32(l.Halves()) {
		h := l.Half(i)
		if !troubled[h.Stretch] {
			continue
		}
		if p := (place{l.Side, h.Stretch, uint8(h.By)}); v == nil || p != last {
			v, last = s.at(p), p
		}
		if h.By != l.Side {
			v.requests++
			v.largestReq = max(v.largestReq, l.Bytes(i, ingest.Request))
			continue
		}
		if l.Line(i, ingest.Answer) == 0 {
			continue
		}
		v.reads++
		v.answered = max(v.answered, l.Line(i, ingest.Request))
		if n := l.Bytes(i, ingest.Answer); n > v.largest {
			v.largest, v.largestIn = n, Half{l, i}
		}
	}
}

func (s *stage) at(p place) *survey {
	v := s.surveys[p.side][p]
	if v == nil {
		v = &survey{}
		s.surveys[p.side][p] = v
	}
	return v
}

// look is at without making one: rules run side by side and only read.
func (s *stage) look(p place) *survey {
	if v := s.surveys[p.side][p]; v != nil {
		return v
	}
	return &survey{}
}

// longestSilence is the longest silence before an answer that was read in the call's session. Few ask, so it is looked up once
// somebody does.
func (s *scene) longestSilence() time.Duration {
	v, l := s.read(), s.c.Sent.Log
	v.silences.Do(func() {
		for i := range uint32(l.Halves()) {
			if h := l.Half(i); h.Stretch == s.c.place().stretch && h.By == s.c.Requester && l.Line(i, ingest.Answer) != 0 {
				v.silence = max(v.silence, silence(Half{l, i}))
			}
		}
	})
	return v.silence
}

// silence is how long nothing was heard of a call before its answer.
func silence(h Half) time.Duration {
	d, _ := h.Between(ingest.Request, ingest.Answer)
	if f := h.Fact(); f.Progress > 0 {
		last, _ := h.At(ingest.Answer).Sub(f.ProgressLastAt)
		return max(f.ProgressGap, last)
	}
	return d
}

// losses collects, per requester and stretch, what was written and not read, and what was sent and not read.
func (s *stage) losses() {
	for _, in := range s.sessions {
		for _, c := range in.calls {
			if !c.Sent.OK() {
				continue
			}
			v := s.at(c.place())
			line := c.Sent.Line(ingest.Request)
			switch c.Leaf {
			case WrittenNotRead:
				v.lost = append(v.lost, c)
				v.firstGone, v.least = earliest(v.firstGone, line), least(v.least, c.Bytes(ingest.Answer))
			case NeverArrived:
				v.lostReq++
				v.firstLost, v.leastReq = earliest(v.firstLost, line), least(v.leastReq, c.Bytes(ingest.Request))
			}
		}
	}
}

func earliest(a, b uint32) uint32 {
	if a == 0 || b < a {
		return b
	}
	return a
}

// least is the smaller of two sizes that are known.
func least(a, b int64) int64 {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// place is where the call stands in its requester's log.
func (c *Call) place() place {
	return place{c.Sent.Log.Side, c.Sent.Log.Half(c.Sent.N).Stretch, uint8(c.Requester)}
}

// scene is one call with its surroundings.
type scene struct {
	*stage
	c *Call
}

func (s *stage) scene(c *Call) *scene { return &scene{s, c} }

// survey is what the call's requester read in this session.
func (s *scene) read() *survey {
	if !s.c.Sent.OK() {
		return &survey{}
	}
	return s.look(s.c.place())
}

// around is the call's session.
func (s *scene) around() *session { return s.session(s.c) }

// answeredAfter reports whether a request that was sent after the line was answered and read.
func (s *scene) answeredAfter(line uint32) bool { return s.read().answered > line }

// answerDir is the direction in which the call's answer travels, and requestDir that of its request.
func (c *Call) requestDir() frame.Dir {
	if c.Requester == frame.Client {
		return frame.C2S
	}
	return frame.S2C
}

func (c *Call) answerDir() frame.Dir { return frame.C2S + frame.S2C - c.requestDir() }

// badRead are the bad lines that the requester read, from its request on.
func (s *scene) badRead() []*ingest.Mark {
	if !s.c.Sent.OK() {
		return nil
	}
	return after(s.bad[place{s.c.Sent.Log.Side, s.c.place().stretch, uint8(s.c.answerDir())}], s.c.Sent.Line(ingest.Request))
}

// badServed are the bad lines that the responder read in this session.
func (s *scene) badServed() ([]*ingest.Mark, *ingest.Log) {
	l := s.d.Log(s.c.Requester.Peer())
	if l == nil || !s.c.Sent.OK() {
		return nil, nil
	}
	if i, ok := s.stretch[l.Side][s.d.pair(s.c)]; ok {
		return s.bad[place{l.Side, i, uint8(s.c.requestDir())}], l
	}
	return nil, l
}

func after(marks []*ingest.Mark, line uint32) []*ingest.Mark {
	k := sort.Search(len(marks), func(k int) bool { return marks[k].Line > line })
	return marks[k:]
}

// runs cuts bad lines into runs: lines in a row, with nothing read between them that is more than a breath apart.
func runs(marks []*ingest.Mark) [][]*ingest.Mark {
	var out [][]*ingest.Mark
	for i, m := range marks {
		if i > 0 {
			last := marks[i-1]
			d, ok := m.At.Sub(last.At)
			if m.Record == last.Record+1 && (!ok || d <= time.Second) { // one chunk may hold several
				out[len(out)-1] = append(out[len(out)-1], m)
				continue
			}
		}
		out = append(out, []*ingest.Mark{m})
	}
	return out
}

func total(run []*ingest.Mark) int64 {
	n := int64(0)
	for _, m := range run {
		if m.Bytes == frame.Unknown {
			return frame.Unknown
		}
		n += m.Bytes
	}
	return n
}

// servedStretch is the session in the responder's log, whether or not it has the call; nil when it has no record of it.
func (s *scene) servedStretch() (*ingest.Stretch, *ingest.Log) {
	l := s.d.Log(s.c.Requester.Peer())
	if l == nil {
		return nil, nil
	}
	if s.c.Served.OK() {
		return s.c.Served.Stretch(), l
	}
	if i, ok := s.stretch[l.Side][s.d.pair(s.c)]; ok {
		return l.Stretches[i], l
	}
	return nil, l
}

// ended is where the stream in a direction ended, and when: over HTTP the call's own one, else the session's. 0 when it did not.
func (h Half) ended(k int) (line uint32, at frame.Instant) {
	if f := h.Fact(); f.Ended[k] != 0 {
		return f.Ended[k], f.EndedAt[k]
	}
	st := h.Stretch()
	return st.EOF[k], st.EOFAt[k]
}

func dirIndex(d frame.Dir) int { return int(d - frame.C2S) }
