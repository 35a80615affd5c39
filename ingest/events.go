package ingest

import (
	"fmt"
	"sort"

	"mcpdiag/ingest/frame"
)

// handler folds a handler event. With an id it is that request's; without one it is the only outstanding request's for that
// tool; of two it is neither's.
func (l *folder) handler(s *Stretch, f *frame.Frame) {
	if f.Kind == frame.HandlerEnter {
		s.Entered = f.Line
	}
	if f.ID != nil || number(f) {
		i, ok := l.find(s, f.Requester(), f.ID)
		if !ok {
			l.wait(s, f)
			return
		}
		switch h := l.arena.at(i); {
		case h.Flags&Ambiguous != 0:
			l.handleInGroup(i, f)
		case h.Flags&Closed != 0 || !l.handle(i, h, f):
			l.wait(s, f)
		}
		return
	}
	var candidates []uint32
	for _, i := range s.open[f.Requester()-frame.Client] {
		if l.serves(i, f) && l.Line(i, pointOf(f)) == 0 && (f.Kind == frame.HandlerEnter || l.Line(i, Enter) != 0) {
			candidates = append(candidates, i)
		}
	}
	switch len(candidates) {
	case 0:
		l.note("handler_without_request", f.Line, -1)
	case 1:
		l.handle(candidates[0], l.arena.at(candidates[0]), f)
	default:
		for _, i := range candidates {
			l.fact(i).HandlerAmbiguous = true
		}
	}
}

// serves reports whether the handler event can be about half i, by tool name, else by method.
func (l *folder) serves(i uint32, f *frame.Frame) bool {
	h := l.arena.at(i)
	if len(f.Name) > 0 && h.name != 0 {
		return h.name == l.texts.intern(f.Name)
	}
	return len(f.Method) == 0 || h.method == 0 || h.method == l.texts.intern(f.Method)
}

func pointOf(f *frame.Frame) Point {
	if f.Kind == frame.HandlerEnter {
		return Enter
	}
	return Exit
}

// handle records a handler event of half i; false when it has one like it.
func (l *folder) handle(i uint32, h *Half, f *frame.Frame) bool {
	g, p := l.arena.served(i, true), pointOf(f)
	if g.line[p-Enter] != 0 {
		return false
	}
	if h.method == 0 {
		h.method = l.texts.intern(f.Method)
	}
	if h.name == 0 {
		h.name = l.texts.intern(f.Name)
	}
	if f.Rows != frame.Unknown {
		g.rows = f.Rows + 1
	}
	l.stamp(i, h, p, &g.at[p-Enter], &g.line[p-Enter], f)
	return true
}

// handleInGroup gives the event to the one member of the group that serves it: two requests with one id may still differ in
// their tool.
func (l *folder) handleInGroup(i uint32, f *frame.Frame) {
	found, n := uint32(0), 0
	for _, j := range l.grouped[i].Members {
		if n > 1 {
			return
		}
		if l.serves(j, f) && l.Line(j, pointOf(f)) == 0 {
			found = j
			n++
		}
	}
	if n == 1 {
		l.handle(found, l.arena.at(found), f)
	}
}

func (l *folder) notification(s *Stretch, f *frame.Frame) {
	if l.Side == f.Dir.From() {
		l.spoke(s, f, -1)
	}
	switch string(f.Method) {
	case "notifications/cancelled":
		l.cancel(s, f)
	case "notifications/progress":
		l.progress(s, f)
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed",
		"notifications/resources/updated", "notifications/roots/list_changed":
		l.mark(s, f)
	}
}

// cancel folds notifications/cancelled: it names a request that the same side sent. Without an id it means the only
// outstanding one, else none.
func (l *folder) cancel(s *Stretch, f *frame.Frame) {
	by := f.Dir.From()
	i, ok := uint32(0), false
	if f.RequestID.Known() {
		i, ok = l.find(s, by, f.RequestID)
	} else {
		i, ok = l.soleOpen(s, by)
	}
	if !ok {
		l.note("cancel_of_unknown", f.Line, -1)
		return
	}
	h := l.arena.at(i)
	switch {
	case h.Flags&Ambiguous != 0 && h.Flags&Closed == 0:
		g := l.groupOf(s, i)
		g.Cancels = append(g.Cancels, f.Line)
		l.dissolve(s, i, g)
	case h.line[Answer] != 0:
		if by == l.Side { // the responder cannot know: there it is a race like any other
			l.note("cancel_after_answer", f.Line, int64(i))
		}
	default:
		l.set(i, h, Cancel, f)
	}
}

// progress counts what the responder said of a call: life signs, no answers.
func (l *folder) progress(s *Stretch, f *frame.Frame) {
	by := f.Dir.From().Peer()
	i, ok := uint32(0), false
	switch {
	case f.RequestID.Known():
		i, ok = l.find(s, by, f.RequestID)
	case f.More != nil && f.More.Token != nil:
		i, ok = l.tokens(s)[string(f.More.Token)]
	}
	if !ok || !l.outstanding(i) {
		return
	}
	fact := l.fact(i)
	last := fact.ProgressLastAt
	if fact.Progress++; fact.Progress == 1 {
		fact.ProgressLine, fact.ProgressFirstAt = f.Line, f.At
		last = l.At(i, Request)
	}
	if d, ok := f.At.Sub(last); ok && d > fact.ProgressGap {
		fact.ProgressGap = d
	}
	fact.ProgressLast, fact.ProgressLastAt = f.Line, f.At
}

// invalid folds a line on the wire that is no JSON-RPC message. One that came with an HTTP status is the transport's answer.
func (l *folder) invalid(s *Stretch, f *frame.Frame) {
	m := l.mark(s, f)
	by := f.Dir.From().Peer()
	if m == nil || f.More == nil || f.More.Status < 400 || by != l.Side {
		return
	}
	if i, ok := l.sole(s, f, by); ok {
		m.Half = int64(i)
		l.refuse(s, i, f)
	}
}

// eof ends one direction. Answers may follow it, so it cuts nothing. Over HTTP it ends the stream of one exchange, which is the
// business of the calls in it alone.
func (l *folder) eof(s *Stretch, f *frame.Frame) {
	if f.More != nil && len(f.More.Exchange) > 0 {
		if i, ok := l.exchange[exchangeOf(f)]; ok && l.outstanding(i) {
			fact := l.fact(i)
			fact.Ended[f.Dir-frame.C2S], fact.EndedAt[f.Dir-frame.C2S] = f.Line, f.At
		}
		l.mark(s, f)
		return
	}
	if d := f.Dir - frame.C2S; s.EOF[d] == 0 {
		s.EOF[d], s.EOFAt[d] = f.Line, f.At
	}
	l.mark(s, f)
	l.spoke(s, f, -1)
}

// maxMarks bounds the marks kept of one log; the counts in the notes go on.
const maxMarks = 1 << 20

func (l *folder) mark(s *Stretch, f *frame.Frame) *Mark {
	m := Mark{Kind: f.Kind, Dir: f.Dir, Line: f.Line, Stretch: s.index, Record: s.Records, At: f.At, Bytes: f.Bytes, Half: -1}
	m.Open = len(s.open[0]) + len(s.open[1])
	if f.Kind == frame.Notification {
		m.Method = l.texts.text(l.texts.intern(f.Method))
	}
	if f.More != nil {
		m.Raw = string(f.More.Raw[:min(len(f.More.Raw), rawLen)])
		m.Code, m.Status = f.More.Code, f.More.Status
	}
	if len(l.Marks) >= maxMarks {
		return &m
	}
	l.Marks = append(l.Marks, m)
	return &l.Marks[len(l.Marks)-1]
}

// finish settles what is still waiting when the log ends: an event whose request never came is a half without one.
func (l *folder) finish() {
	for _, s := range l.Stretches {
		l.leftovers(s)
		if s.drops >= minDrops && s.drops*4 > s.Calls {
			l.note("two_clients", s.First, -1).Text = []string{fmt.Sprintf("connection %d: %d times in %d requests", s.Number, s.drops, s.Calls)}
		}
	}
}

// minDrops is how often ids must fall before a connection may be two: threads of one client race now and then.
const minDrops = 3

func (l *folder) leftovers(s *Stretch) {
	var events []waiting
	for _, w := range s.waiting {
		events = append(events, w...)
	}
	s.waiting, s.unasked = nil, 0
	sort.Slice(events, func(a, b int) bool { return events[a].frame.Line < events[b].frame.Line })
	for k := range events {
		l.leftover(s, &events[k])
	}
}

// leftover makes an event without a request a half of its own, or adds it to the one that its siblings made.
func (l *folder) leftover(s *Stretch, e *waiting) {
	if e.half >= 0 {
		return // a repeated answer; noted when it came
	}
	by := e.frame.Requester()
	i, ok := l.find(s, by, e.frame.ID)
	if !ok {
		var h *Half
		i, h = l.open(s, by, e.frame.ID, 0, false)
		l.settle(s, i, h)
		if e.frame.More != nil && e.frame.More.Call != 0 {
			l.numbered(h)
		}
	}
	l.replay(s, i, &e.frame)
}
