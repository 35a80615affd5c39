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
	surveys  map[place]*survey
	bad      map[place][]*ingest.Mark     // invalid lines of a stretch, by the direction that they came in, in order
	sessions map[uint32]*session          // by pair: those with a call that has a problem
	orphans  map[uint32][]Half            // by pair: answers that nobody asked for
	doubts   map[join.Stretch]*join.Doubt // renumbered stretches
	stretch  [3]map[uint32]join.Stretch   // by side and pair: the first stretch of the session
}

// place is a stretch of a log, and a direction or a requester in it.
type place struct {
	join.Stretch
	by uint8
}

// survey is what one requester's calls in one stretch come to, those that did no harm and those that were lost.
type survey struct {
	ingest.Survey
	silences  sync.Once
	silence   time.Duration // the longest silence before an answer that was read; see longestSilence
	lostReq   int           // requests sent and not read
	firstLost uint32        // the line of the first of them, and their smallest size
	leastReq  int64
	lost      []*Call // answers written and not read
	firstGone uint32  // the request line of the first of them, and their smallest size
	least     int64
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
		orphans: map[uint32][]Half{}, stretch: [3]map[uint32]join.Stretch{{}, {}, {}}, doubts: map[join.Stretch]*join.Doubt{}, surveys: map[place]*survey{}}
	for c := range Walk(d.Calls) {
		if c.Problem() || c.Leaf == NoLeaf {
			s.session(c).add(c)
		}
	}
	if len(s.sessions) == 0 {
		return s
	}
	for _, in := range s.sessions {
		in.order()
		in.calls[0].any().Log.LetGo()
	}
	for _, l := range d.Logs {
		for i, pair := range d.join.Align.Pair[l.Number()] {
			if _, ok := s.stretch[l.Side][pair]; !ok {
				s.stretch[l.Side][pair] = join.Stretch{Log: l, N: uint32(i)}
			}
		}
		for k := range l.Marks {
			if m := &l.Marks[k]; m.Kind == frame.Invalid && m.Half < 0 {
				at := place{join.Stretch{Log: l, N: m.Stretch}, uint8(m.Dir)}
				s.bad[at] = append(s.bad[at], m)
			}
		}
	}
	s.survey()
	for _, h := range d.orphans {
		pair := d.join.Align.PairOf(h.Log, h.N)
		s.orphans[pair] = append(s.orphans[pair], h)
	}
	for k := range d.join.Doubts {
		if doubt := &d.join.Doubts[k]; doubt.Kind == "ids_renumbered" || doubt.Kind == "nothing_in_common" {
			s.doubts[doubt.Client], s.doubts[doubt.Server] = doubt, doubt
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

// survey adds up the stretches with trouble, each log on a thread of its own.
func (s *stage) survey() {
	found := make([]map[ingest.Asked]*ingest.Survey, len(s.d.Logs))
	var wait sync.WaitGroup
	for k, l := range s.d.Logs {
		troubled := make([]bool, len(l.Stretches))
		for i, pair := range s.d.join.Align.Pair[l.Number()] {
			troubled[i] = s.sessions[pair] != nil
		}
		wait.Go(func() { found[k] = l.Surveys(troubled) })
	}
	wait.Wait()
	for k, l := range s.d.Logs {
		for asked, sum := range found[k] {
			s.surveys[place{join.Stretch{Log: l, N: asked.Stretch}, uint8(asked.By)}] = &survey{Survey: *sum}
		}
	}
}

func (s *stage) at(p place) *survey {
	v := s.surveys[p]
	if v == nil {
		v = &survey{}
		s.surveys[p] = v
	}
	return v
}

// look is at without making one: rules run side by side and only read.
func (s *stage) look(p place) *survey {
	if v := s.surveys[p]; v != nil {
		return v
	}
	return &survey{}
}

// longestSilence is the longest silence before an answer that was read in the call's session. Few ask, so it is looked up once
// somebody does.
func (s *scene) longestSilence() time.Duration {
	v := s.read()
	v.silences.Do(func() {
		v.silence = s.c.Sent.Log.LongestSilence(ingest.Asked{Stretch: s.c.place().N, By: s.c.Requester})
	})
	return v.silence
}

// silence is how long nothing was heard of a call before its answer.
func silence(h Half) time.Duration {
	if h.Log == nil {
		return 0
	}
	return h.Log.Silence(h.N)
}

// losses collects, per requester and stretch, what was written and not read, and what was sent and not read.
func (s *stage) losses() {
	for _, in := range s.sessions {
		in.calls[0].any().Log.LetGo()
		for c := range Walk(in.calls) {
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
	return place{c.Sent.in(), uint8(c.Requester)}
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
func (s *scene) answeredAfter(line uint32) bool { return s.read().Answered > line }

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
	return after(s.bad[place{s.c.Sent.in(), uint8(s.c.answerDir())}], s.c.Sent.Line(ingest.Request))
}

// badServed are the bad lines that the responder read in this session.
func (s *scene) badServed() ([]*ingest.Mark, *ingest.Log) {
	at, ok := s.servedIn()
	if !ok || !s.c.Sent.OK() {
		return nil, at.Log
	}
	return s.bad[place{at, uint8(s.c.requestDir())}], at.Log
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

// servedIn is the session in the responder's log, whether or not it has the call; ok is false when no log has a record of it.
func (s *scene) servedIn() (at join.Stretch, ok bool) {
	if s.c.Served.OK() {
		return s.c.Served.in(), true
	}
	at, ok = s.stretch[s.c.Requester.Peer()][s.d.pair(s.c)]
	return at, ok
}

// servedStretch is that stretch itself, and its log; nil when there is none.
func (s *scene) servedStretch() (*ingest.Stretch, *ingest.Log) {
	at, ok := s.servedIn()
	if !ok {
		return nil, s.d.Log(s.c.Requester.Peer())
	}
	return at.Log.Stretches[at.N], at.Log
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
