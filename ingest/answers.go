package ingest

import "mcpdiag/ingest/frame"

// answer folds a response or an error.
func (l *folder) answer(s *Stretch, f *frame.Frame) {
	by := f.Requester()
	if f.More != nil && f.More.Caps != nil {
		s.Caps[by.Peer()-frame.Client] = f.More.Caps
	}
	if by != l.Side {
		l.spoke(s, f, -1)
	}
	if !f.ID.Known() && !number(f) {
		l.nameless(s, f, by)
		return
	}
	i, ok := l.answered(s, by, f)
	if !ok {
		l.wait(s, f)
		return
	}
	switch h := l.arena.at(i); {
	case h.Flags&Ambiguous != 0 && l.outstanding(i):
		l.groupAnswer(s, i, f)
	case h.line[Answer] == 0 && h.Flags&Closed == 0:
		l.close(s, i, h, f)
	case l.repeatedPhase(i, f):
	default:
		l.repeat(s, i, f)
	}
}

// answered finds the request that the answer belongs to: by its HTTP exchange when both tell it, else by its id.
func (l *folder) answered(s *Stretch, by frame.Side, f *frame.Frame) (uint32, bool) {
	if len(l.exchange) > 0 {
		key := exchangeOf(f)
		if i, ok := l.exchange[key]; ok && l.arena.at(i).By == by && string(l.arena.token(l.arena.at(i).id, make([]byte, 0, 20))) == string(f.ID) {
			delete(l.exchange, key)
			return i, true
		}
	}
	return l.find(s, by, f.ID)
}

// close ends half i with its answer.
func (l *folder) close(s *Stretch, i uint32, h *Half, f *frame.Frame) {
	if l.acknowledges(h, i, f) {
		l.acknowledge(s, h, i, f)
		return
	}
	h.bytes[Answer] = clampBytes(f.Bytes)
	l.set(i, h, Answer, f)
	if f.Kind == frame.Error {
		h.Flags |= IsError
	}
	if h.line[Cancel] != 0 {
		h.Flags |= Late
	}
	if f.Phase == frame.Queued {
		h.Flags |= QueuedOnly
	}
	if f.Phase != frame.NoPhase {
		l.fact(i).State = "answer " + f.Phase.String()
	}
	if f.Rows != frame.Unknown {
		l.arena.served(i, true).rows = f.Rows + 1
	}
	if f.More != nil {
		l.answerFacts(i, h, f)
	}
	if h.line[Request] != 0 {
		l.settle(s, i, h)
	}
	if len(l.via) > 0 {
		delete(l.via, i)
	}
	if h.By == frame.Client && l.Side == frame.Client { // a server is silent by nature
		s.idle.answered(i, f.At)
	}
}

func (l *folder) answerFacts(i uint32, h *Half, f *frame.Frame) {
	m := f.More
	if m.HasCode || m.HasStatus && m.Status != 200 {
		fact := l.fact(i)
		fact.Code, fact.Status = m.Code, m.Status
	}
	if m.ToolError {
		h.Flags |= ToolError
	}
	if rt := string(m.ResultType); rt != "" && rt != "complete" {
		h.Flags |= InputAsked
		l.fact(i).ResultType = rt
	}
}

// repeatedPhase reports whether the answer is the known one in another phase of its life: queued, then written.
func (l *folder) repeatedPhase(i uint32, f *frame.Frame) bool {
	if f.Phase == frame.NoPhase {
		return false
	}
	fact := l.fact(i)
	if fact.State == "answer "+f.Phase.String() {
		return false
	}
	fact.State = "answer " + f.Phase.String()
	h := l.arena.at(i)
	if f.Phase != frame.Queued {
		h.Flags &^= QueuedOnly
	}
	if f.Phase == frame.Written { // the strongest word that a log of this side has
		h.line[Answer] = 0
		l.set(i, h, Answer, f)
	}
	return true
}

// repeat notes a second answer to an answered id. Figures use the first. It may also be the early answer of the id's next
// use, if that follows at once, so it waits as well.
func (l *folder) repeat(s *Stretch, i uint32, f *frame.Frame) {
	fact := l.fact(i)
	if len(fact.Repeats) == 0 {
		fact.RepeatAt = f.At
	}
	if len(fact.Repeats) < noteLines {
		fact.Repeats = append(fact.Repeats, f.Line)
	}
	l.note("duplicate_answer", f.Line, int64(i))
	l.wait(s, f)
}

func (l *folder) groupAnswer(s *Stretch, i uint32, f *frame.Frame) {
	g := l.groupOf(s, i)
	g.Answers = append(g.Answers, f.Line)
	if len(g.Answers) >= len(g.Members) {
		l.dissolve(s, i, g)
	}
}

// dissolve ends a group: all its answers are there, or it was given up. The id is free again; its members stay untold.
func (l *folder) dissolve(s *Stretch, i uint32, g *Group) {
	for _, j := range g.Members {
		h := l.arena.at(j)
		h.Flags |= Closed
		l.settle(s, j, h)
	}
	delete(s.groups, l.key(i))
}

// nameless folds an answer that names no request. With `id: null` or no id it is the transport's refusal, or the peer's
// word that it could not read a line; cut off, it is somebody's answer. It is paired only when one request is outstanding.
func (l *folder) nameless(s *Stretch, f *frame.Frame, by frame.Side) {
	m := l.mark(s, f)
	if f.Trunc && f.ID == nil {
		l.lost(s, f, by, m)
		return
	}
	if by != l.Side {
		return // the responder's own log says so; whom it refused stands in the requester's
	}
	if i, ok := l.sole(s, f, by); ok {
		m.Half = int64(i)
		l.refuse(s, i, f)
	}
}

// sole finds the one request that the nameless answer can be about.
func (l *folder) sole(s *Stretch, f *frame.Frame, by frame.Side) (uint32, bool) {
	if f.More != nil && len(f.More.Exchange) > 0 {
		if i, ok := l.exchange[exchangeOf(f)]; ok {
			return i, true
		}
		if l.exchanges { // it would be there: what was refused is no request
			return 0, false
		}
	}
	return l.soleOpen(s, by)
}

// soleOpen finds the only request that is outstanding and not given up.
func (l *folder) soleOpen(s *Stretch, by frame.Side) (uint32, bool) {
	found, n := uint32(0), 0
	for _, i := range s.open[by-frame.Client] {
		if l.arena.at(i).line[Cancel] == 0 {
			found = i
			n++
		}
	}
	return found, n == 1
}

func (l *folder) refuse(s *Stretch, i uint32, f *frame.Frame) {
	fact := l.fact(i)
	fact.RefusedLine, fact.RefusedAt, fact.RefusedBytes = f.Line, f.At, f.Bytes
	if f.More != nil {
		fact.RefusedCode, fact.RefusedStatus = f.More.Code, f.More.Status
	}
	h := l.arena.at(i)
	h.Flags |= Refused
	l.settle(s, i, h)
}

// lost folds an answer whose id was cut off: of one outstanding request it is the answer, of several any may be answered.
func (l *folder) lost(s *Stretch, f *frame.Frame, by frame.Side, m *Mark) {
	open := s.open[by-frame.Client]
	if len(open) == 1 {
		m.Half = int64(open[0])
		l.close(s, open[0], l.arena.at(open[0]), f)
		return
	}
	for k := len(open) - 1; k >= 0; k-- {
		i := open[k]
		if l.arena.at(i).Flags&LostAnswer != 0 { // it and all before it were open at an earlier one
			break
		}
		l.arena.at(i).Flags |= LostAnswer
		l.fact(i).LostLine = f.Line
	}
	l.note("answer_id_lost", f.Line, -1)
}

// idle watches for a requester that falls silent after an answer.
type idle struct {
	half  uint32 // the last answered
	at    frame.Instant
	armed bool
}

func (d *idle) answered(i uint32, at frame.Instant) {
	d.half, d.armed = i, true
	d.at = at
}

// spoke notes that this log's own side sent something, or that its stream ended: what silence went before? half is the
// request that ended it; -1 when it was none.
func (l *folder) spoke(s *Stretch, f *frame.Frame, half int64) {
	if !s.idle.armed {
		return
	}
	s.idle.armed = false
	for _, i := range s.open[l.Side-frame.Client] {
		if int64(i) != half && l.arena.at(i).line[Cancel] == 0 {
			return // it was waiting, not silent
		}
	}
	if d, ok := f.At.Sub(s.idle.at); ok && d >= l.quiet {
		fact := l.fact(s.idle.half)
		fact.Quiet, fact.QuietEnd, fact.QuietLine = d, half, f.Line
	}
}

// waiting is an event whose request has not been seen yet: two writers of one log race.
type waiting struct {
	frame frame.Frame
	half  int64 // the answered half whose id it repeats; -1 when the id is new
}

// wait keeps an answer or a handler event until its request comes.
func (l *folder) wait(s *Stretch, f *frame.Frame) {
	half := int64(-1)
	if i, ok := l.find(s, f.Requester(), f.ID); ok {
		half = int64(i)
	}
	if s.waiting == nil {
		s.waiting = map[string][]waiting{}
	}
	if half < 0 {
		s.unasked++
	}
	key := f.Requester().String() + " " + string(f.ID)
	s.waiting[key] = append(s.waiting[key], waiting{f.Clone(), half})
}

// adopt gives a new request the events that came before it.
func (l *folder) adopt(s *Stretch, i uint32, request *frame.Frame) {
	key := l.key(i)
	events, ok := s.waiting[key]
	if !ok {
		return
	}
	delete(s.waiting, key)
	for k := range events {
		e := &events[k]
		window := raceWindow
		if e.half >= 0 {
			window = replayWindow
		} else {
			s.unasked--
		}
		d, timed := request.At.Sub(e.frame.At)
		if near := timed && d <= window || !timed && request.Line-e.frame.Line <= noteLines; !near {
			l.apartFrom(s, i, e)
			continue
		}
		if e.half >= 0 {
			l.unrepeat(uint32(e.half), e.frame.Line)
		}
		l.replay(s, i, &e.frame)
	}
}

// apartFrom makes an event that stood too long before request i a half of its own, a use of the id before it.
func (l *folder) apartFrom(s *Stretch, i uint32, e *waiting) {
	if e.half >= 0 {
		return // a repeated answer; noted when it came
	}
	h := l.arena.at(i)
	k, orphan := l.open(s, h.By, e.frame.ID, i, true)
	orphan.Nth, h.Nth = h.Nth, orphan.Nth
	l.settle(s, k, orphan)
	l.replay(s, k, &e.frame)
	s.table.put(&l.arena, i)
}

func (l *folder) replay(s *Stretch, i uint32, f *frame.Frame) {
	switch h := l.arena.at(i); {
	case f.Kind.Handler():
		l.handle(i, h, f)
	case h.Flags&Ambiguous != 0:
		l.groupAnswer(s, i, f)
	case h.line[Answer] == 0:
		l.close(s, i, h, f)
	default:
		l.repeat(s, i, f)
	}
}

// unrepeat takes back that an answer was a second one.
func (l *folder) unrepeat(i, line uint32) {
	fact := l.fact(i)
	for k, n := range fact.Repeats {
		if n == line {
			fact.Repeats = append(fact.Repeats[:k], fact.Repeats[k+1:]...)
			break
		}
	}
	if n := l.Notes["duplicate_answer"]; n != nil {
		if n.Count--; n.Count == 0 {
			delete(l.Notes, "duplicate_answer")
		}
	}
}
