package ingest

import (
	"time"

	"mcpdiag/ingest/frame"
)

// folder turns the frames of one log, in file order, into halves. It is the only place that knows about order.
type folder struct {
	*Log
	sessions            map[string]*Stretch // by name
	unnamed             map[string]*Stretch // by conn and pid; the current one of each
	count               int                 // unnamed stretches so far
	latest              *Stretch            // the stretch of the record before
	clocks              clocks
	restarts            int    // clocks that started again
	monotonic, wallOnly uint64 // records with a monotonic time, and with a wall time alone
	writers             map[string]*writer
	exchange            map[string]uint32 // open halves by HTTP exchange
	via                 map[uint32]string // and their exchanges
	exchanges           bool              // requests name their exchange
}

// raceWindow is how far before its request an answer may stand and still be its answer: two writers race by microseconds,
// a replay of an old answer comes seconds apart.
const raceWindow = time.Second

// replayWindow is the same for an id that was answered before: then a copy of the old answer is the likelier reading.
const replayWindow = 100 * time.Millisecond

// longPause is a silence before a request that may explain its refusal.
const longPause = 10 * time.Second

// fold takes the next record. f.Line is log-wide.
func (l *folder) fold(f *frame.Frame) {
	l.Records++
	if l.FirstLine == 0 {
		l.FirstLine = f.Line
	}
	l.LastLine = f.Line
	l.sided(f)
	l.tick(f)
	s := l.stretch(f)
	l.writer(f)
	l.ended(s, f)
	switch f.Kind {
	case frame.Request:
		l.request(s, f)
	case frame.Response, frame.Error:
		l.answer(s, f)
	case frame.Notification:
		l.notification(s, f)
	case frame.HandlerEnter, frame.HandlerExit:
		l.handler(s, f)
	case frame.Invalid:
		l.invalid(s, f)
	case frame.EOF:
		l.eof(s, f)
	case frame.Gap:
		l.gap(f.Line)
	case frame.GaveUp:
		l.gaveUp(s, f)
	}
	if f.At.Known() {
		s.LastAt = f.At
	}
}

func (l *folder) sided(f *frame.Frame) {
	if f.Side == frame.Client || f.Side == frame.Server {
		l.Sided++
		if f.Side != l.Side {
			l.OtherSide++
		}
	}
}

// ended notes the record in its stretch, and per direction.
func (l *folder) ended(s *Stretch, f *frame.Frame) {
	s.Last = f.Line
	s.Records++
	if f.Kind.Message() && f.Dir != frame.NoDir {
		e := &s.End[f.Dir-frame.C2S]
		e.Line, e.Kind = f.Line, f.Kind
		l.Messages++
		e.Count++
		if f.Kind == frame.Notification {
			e.Method = l.texts.text(l.texts.intern(f.Method))
		}
	}
}

func (l *folder) gap(line uint32) {
	l.Gaps++
	l.blind(line)
}

// blind notes that something may have been lost at line: what was outstanding there proves nothing by its absence.
func (l *folder) blind(line uint32) {
	if n := len(l.unseen); n == 0 || l.unseen[n-1] != line {
		l.unseen = append(l.unseen, line)
	}
}

func (l *folder) request(s *Stretch, f *frame.Frame) {
	by := f.Dir.From()
	if f.ID == nil && !number(f) { // its id was cut off: it cannot be joined, only reported
		l.note("request_id_lost", f.Line, -1)
		return
	}
	before, used := l.find(s, by, f.ID)
	if used && l.again(before, f) {
		return
	}
	i, h := l.open(s, by, f.ID, before, used)
	h.method, h.name = l.texts.intern(f.Method), l.texts.intern(f.Name)
	h.bytes[Request] = clampBytes(f.Bytes)
	l.set(i, h, Request, f)
	if f.More != nil && f.More.Call != 0 {
		l.numbered(h)
	}
	if len(s.Head) < HeadLen {
		s.Head = append(s.Head, i)
	}
	l.requestFacts(s, before, i, h, f)
	if by == l.Side {
		l.spoke(s, f, int64(i))
		if pause, ok := f.At.Sub(s.LastAt); ok && pause >= longPause {
			l.fact(i).Before = pause
		}
	}
	if s.unasked > 0 || used && len(s.waiting) > 0 {
		l.adopt(s, i, f)
	}
}

// again reports whether the request is one already known: another phase of the same frame. A request with the id of an
// outstanding one is a second call that cannot be told from the first.
func (l *folder) again(j uint32, f *frame.Frame) bool {
	fact := l.Fact(j)
	if f.Phase == frame.NoPhase || !l.outstanding(j) || l.arena.at(j).Flags&Ambiguous != 0 {
		return false
	}
	if fact.State == "" || fact.State == f.Phase.String() {
		return false
	}
	fact.State = f.Phase.String()
	return true
}

// open starts a half and makes it the latest of its id, after `before` when the id was used.
func (l *folder) open(s *Stretch, by frame.Side, id frame.ID, before uint32, used bool) (uint32, *Half) {
	i, h := l.arena.add()
	h.id, h.bytes, h.Stretch, h.Nth, h.By = l.arena.intern(id), [2]uint32{noBytes, noBytes}, s.index, 1, by
	if used {
		h.Nth = l.arena.at(before).Nth + 1
		l.Reuses++
	}
	s.table.put(&l.arena, i)
	s.Calls++
	open := &s.open[by-frame.Client]
	*open = append(*open, i)
	return i, h
}

func (l *folder) find(s *Stretch, by frame.Side, id frame.ID) (uint32, bool) {
	return l.Find(s.index, by, id)
}

// requestFacts notes what few requests carry, and what their reuse of an id means.
func (l *folder) requestFacts(s *Stretch, before, i uint32, h *Half, f *frame.Frame) {
	if h.id&elsewhere != 0 && !f.ID.IsString() && !f.ID.IsInteger() {
		l.note("id_not_integer", f.Line, int64(i))
	}
	if f.Phase != frame.NoPhase {
		l.fact(i).State = f.Phase.String()
	}
	if f.More != nil {
		if len(f.More.Era) > 0 && string(f.More.Era) >= "2026-07-28" {
			h.Flags |= Modern
		}
		if f.More.Token != nil {
			l.tokens(s)[string(f.More.Token)] = i
		}
		if f.More.Caps != nil {
			s.Caps[h.By-frame.Client] = f.More.Caps
		}
		if key := exchangeOf(f); key != "" {
			l.exchange[key] = i
			l.exchanges = l.exchanges || len(f.More.Exchange) > 0
			l.via[i] = key
		}
	}
	if h.Nth > 1 {
		l.reused(s, before, i, h, f)
	}
}

// reused settles what a second use of an id is: legal after the answer in 2026-07-28, a breach in legacy, and undecidable
// while the first is outstanding and not given up.
func (l *folder) reused(s *Stretch, before, i uint32, h *Half, f *frame.Frame) {
	if !l.outstanding(before) || l.arena.at(before).line[Cancel] != 0 || l.apart(before, f) {
		if h.Flags&Modern == 0 {
			l.note("id_reused", f.Line, int64(i))
		}
		return
	}
	g := l.groupOf(s, before)
	l.join(g, before)
	l.join(g, i)
	l.note("id_reused_in_flight", f.Line, int64(i))
}

// apart reports whether the two requests came in different HTTP exchanges, whose answers cannot be confused.
func (l *folder) apart(j uint32, f *frame.Frame) bool {
	key, other := exchangeOf(f), l.via[j]
	return key != "" && other != "" && key != other
}

func exchangeOf(f *frame.Frame) string {
	switch {
	case f.More == nil:
		return ""
	case len(f.More.Exchange) > 0:
		return "x" + string(f.More.Exchange)
	case len(f.More.Conn) > 0:
		return "c" + string(f.More.Conn) + " " + string(f.ID)
	}
	return ""
}

func (l *folder) groupOf(s *Stretch, j uint32) *Group {
	key := l.key(j)
	g := s.groups[key]
	if g == nil {
		g = &Group{}
		if s.groups == nil {
			s.groups = map[string]*Group{}
		}
		s.groups[key] = g
	}
	return g
}

func (l *folder) join(g *Group, j uint32) {
	h := l.arena.at(j)
	if h.Flags&Ambiguous == 0 {
		h.Flags |= Ambiguous
		g.Members = append(g.Members, j)
		l.grouped[j] = g
	}
}

// key names (requester, id) within a stretch.
func (l *folder) key(i uint32) string {
	h := l.arena.at(i)
	return h.By.String() + " " + string(l.arena.token(h.id, make([]byte, 0, 20)))
}

// outstanding reports whether half i waits for its answer.
func (l *folder) outstanding(i uint32) bool {
	h := l.arena.at(i)
	return h.line[Request] != 0 && h.line[Answer] == 0 && h.Flags&(Refused|Closed|Acked) == 0
}

// settle takes half i off the outstanding ones. The search starts at the end: what is answered is mostly young.
func (l *folder) settle(s *Stretch, i uint32, h *Half) {
	open := s.open[h.By-frame.Client]
	for k := len(open) - 1; k >= 0; k-- {
		if open[k] == i {
			copy(open[k:], open[k+1:])
			s.open[h.By-frame.Client] = open[:len(open)-1]
			return
		}
	}
}

func clampBytes(n int64) uint32 {
	if n < 0 || n >= noBytes {
		return noBytes
	}
	return uint32(n)
}
