package ingest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

// Unfolding puts logs together again from the rows of folded ones: whole, or with only those halves that somebody needs. What
// it makes answers every question as the log did when it was folded, except of halves that are not there.
type Unfolding struct {
	logs   []*Log
	names  map[string]*unfolded
	memory *Memory
}

// unfolded is a log being put together.
type unfolded struct {
	*Log
	groups []*Group
	places map[uint32]uint32 // number when folded → number here
}

// firstUnfolded is the number of the first such log, past those of logs that are read: they may be diagnosed together.
const firstUnfolded = 3

// maxUnfolded is how many logs have a number.
const maxUnfolded = 1<<16 - firstUnfolded

// NewUnfolding has no logs. Those that it will have keep to the memory.
func NewUnfolding(memory *Memory) *Unfolding {
	return &Unfolding{names: map[string]*unfolded{}, memory: memory}
}

// AddLog adds a row of `logs`. A log that is there is not added again.
func (u *Unfolding) AddLog(name string, side frame.Side, path string, body []byte) error {
	if u.names[name] != nil {
		return nil
	}
	if len(u.logs) >= maxUnfolded {
		return fmt.Errorf("more than %d logs", maxUnfolded)
	}
	var b logBody
	if err := json.Unmarshal(body, &b); err != nil {
		return fmt.Errorf("log %s: %w", name, err)
	}
	d, ok := dialect.ByName(b.Dialect)
	if !ok || len(b.Files) == 0 || side != frame.Client && side != frame.Server || b.Notes == nil || len(b.BadLines) > 0 && len(b.Bad) == 0 {
		return fmt.Errorf("log %s is not as this version of mcpdiag folds it", name)
	}
	b.sound()
	l := &Log{Header: b.Header, Side: side, Path: path, Dialect: d, number: uint16(len(u.logs) + firstUnfolded), arena: newArena(u.memory),
		facts: map[uint32]*Fact{}, noFact: Fact{QuietEnd: -1}, grouped: map[uint32]*Group{}, unseen: b.Unseen, first: b.First, last: b.Last, quiet: b.Quiet}
	for _, f := range b.Files {
		l.files = append(l.files, file{f.Path, f.Before, f.Numbers})
	}
	l.first.OfLog(l.number)
	l.last.OfLog(l.number)
	u.logs = append(u.logs, l)
	u.names[name] = &unfolded{Log: l, groups: b.Groups, places: map[uint32]uint32{}}
	return nil
}

// sound takes out what no fold writes and readers rely on: rows may come from anywhere.
func (b *logBody) sound() {
	for kind, n := range b.Notes {
		if n == nil || len(n.Lines) == 0 {
			delete(b.Notes, kind)
		}
	}
	b.Groups = slices.DeleteFunc(b.Groups, func(g *Group) bool { return g == nil })
}

func (u *Unfolding) log(name string) (*unfolded, error) {
	if l := u.names[name]; l != nil {
		return l, nil
	}
	return nil, fmt.Errorf("log %s is there in part: its row in `logs`, which is written last, is missing; write it again", frame.Escape(name))
}

// AddStretch adds a row of `stretches`; those of a log come in the order of their numbers.
func (u *Unfolding) AddStretch(name string, n uint32, body []byte) error {
	l, err := u.log(name)
	if err != nil {
		return err
	}
	if int(n) < len(l.Stretches) {
		return nil // told twice
	}
	b := stretchBody{Stretch: &Stretch{}}
	if err := json.Unmarshal(body, &b); err != nil {
		return fmt.Errorf("log %s, stretch %d: %w", name, n, err)
	}
	if !b.End[0].Kind.Known() || !b.End[1].Kind.Known() {
		return fmt.Errorf("log %s, stretch %d: ends with a record of no kind", name, n)
	}
	if int(n) != len(l.Stretches) {
		return fmt.Errorf("log %s: stretch %d is missing", name, len(l.Stretches))
	}
	s := b.Stretch
	s.index, s.cut = n, b.Cut
	for k := range s.EOFAt {
		s.EOFAt[k].OfLog(l.number)
	}
	s.LastAt.OfLog(l.number)
	l.Stretches = append(l.Stretches, s)
	return nil
}

// AddMark adds a row of `marks`.
func (u *Unfolding) AddMark(name string, body []byte) error {
	l, err := u.log(name)
	if err != nil {
		return err
	}
	var b markBody
	if err := json.Unmarshal(body, &b); err != nil {
		return fmt.Errorf("log %s, mark: %w", name, err)
	}
	if int(b.Stretch) >= len(l.Stretches) || b.Dir > frame.S2C || !b.Kind.Known() {
		return fmt.Errorf("log %s: a mark at line %d is of no stretch", name, b.Line)
	}
	m := b.Mark
	m.At.OfLog(l.number)
	m.Raw = string(b.Raw)
	l.Marks = append(l.Marks, m)
	return nil
}

// HalfRow is a row of `halves`, as much of it as a half is made of.
type HalfRow struct {
	Log          string
	ID           []byte
	Method, Name []byte
	More         []byte
	Numbers      [len(HalfNumbers)]int64
}

// HalfNumbers are the columns of `halves` that Numbers has, in its order; -1 stands for null.
var HalfNumbers = [...]string{"half", "stretch", "requester", "nth", "request_bytes", "answer_bytes", "rows", "flags", "clock", "timed",
	"request_line", "answer_line", "cancel_line", "enter_line", "exit_line", "request_at", "answer_at", "cancel_at", "enter_at", "exit_at"}

// The places of HalfNumbers.
const (
	colHalf = iota
	colStretch
	colRequester
	colNth
	colRequestBytes
	colAnswerBytes
	colRows
	colFlags
	colClock
	colTimed
	colLine
	colAt = colLine + int(points)
)

// AddHalf adds a row of `halves`; those of a log come in the order of their numbers.
func (u *Unfolding) AddHalf(r *HalfRow) error {
	l, err := u.log(r.Log)
	if err != nil {
		return err
	}
	n := &r.Numbers
	if n[colStretch] < 0 || n[colStretch] >= int64(len(l.Stretches)) || n[colRequester] < int64(frame.Client) || n[colRequester] > int64(frame.Server) || n[colHalf] < 0 {
		return fmt.Errorf("log %s: half %d is of no stretch", r.Log, n[colHalf])
	}
	if _, twice := l.places[uint32(n[colHalf])]; twice {
		return nil
	}
	i, h := l.arena.add()
	l.places[uint32(n[colHalf])] = i
	h.id, h.Stretch, h.Nth, h.By = l.arena.intern(r.ID), uint32(n[colStretch]), uint32(n[colNth]), frame.Side(n[colRequester])
	h.method, h.name = l.texts.intern(r.Method), l.texts.intern(r.Name)
	h.bytes = [2]uint32{clampBytes(n[colRequestBytes]), clampBytes(n[colAnswerBytes])}
	h.Flags, h.clock, h.timed = Flags(n[colFlags])&^noted, uint16(n[colClock]), uint16(n[colTimed])
	for p := range points {
		l.putPoint(i, h, p, n[colLine+int(p)], n[colAt+int(p)])
	}
	if n[colRows] >= 0 {
		l.arena.served(i, true).rows = n[colRows] + 1
	}
	if len(r.More) > 0 {
		return l.addMore(i, h, r.More)
	}
	return nil
}

func (l *unfolded) putPoint(i uint32, h *Half, p Point, line, at int64) {
	if line <= 0 {
		return
	}
	if p < Enter {
		h.line[p], h.at[p] = uint32(line), at
		return
	}
	g := l.arena.served(i, true)
	g.line[p-Enter], g.at[p-Enter] = uint32(line), at
}

func (l *unfolded) addMore(i uint32, h *Half, more []byte) error {
	var b halfBody
	if err := json.Unmarshal(more, &b); err != nil {
		return fmt.Errorf("%s: a half's facts: %w", l.Path, err)
	}
	if len(b.Walls) == int(points) {
		copy(l.wallOf(i)[:], b.Walls)
	}
	if f := b.Fact; f != nil {
		for _, at := range []*frame.Instant{&f.RepeatAt, &f.ProgressFirstAt, &f.ProgressLastAt, &f.RefusedAt, &f.EndedAt[0], &f.EndedAt[1]} {
			at.OfLog(l.number)
		}
		h.Flags |= noted
		l.facts[i] = f
	}
	return nil
}

// AddSurvey tells what all the halves of a requester in a stretch come to, those that are not here too. A log that is told one
// is asked for no other.
func (u *Unfolding) AddSurvey(name string, of Asked, s *Survey, silence time.Duration) error {
	l, err := u.log(name)
	if err != nil {
		return err
	}
	l.surveys[of], l.silences[of] = s, silence
	return nil
}

// Partial says that not all halves of the log are brought in, so that its surveys must be told.
func (u *Unfolding) Partial(name string) error {
	l, err := u.log(name)
	if err != nil {
		return err
	}
	l.surveys, l.silences = map[Asked]*Survey{}, map[Asked]time.Duration{}
	return nil
}

// Find is the log of this name; nil when there is none.
func (u *Unfolding) Find(name string) *Log {
	if l := u.names[name]; l != nil {
		return l.Log
	}
	return nil
}

// Logs ends the unfolding.
func (u *Unfolding) Logs() []*Log {
	for _, l := range u.names {
		l.refer()
	}
	return u.logs
}

// inOrder puts marks into the order of their log, each once: a store may have a row twice.
func inOrder(marks []Mark) []Mark {
	at := func(m *Mark) [3]uint64 { return [3]uint64{uint64(m.Line), uint64(m.Stretch), m.Record} }
	slices.SortStableFunc(marks, func(a, b Mark) int {
		x, y := at(&a), at(&b)
		return slices.Compare(x[:], y[:])
	})
	return slices.CompactFunc(marks, func(a, b Mark) bool { return at(&a) == at(&b) })
}

// refer turns the numbers that halves had when they were folded into those that they have here. What is not here is left out.
func (l *unfolded) refer() {
	here := func(list []uint32) []uint32 {
		var out []uint32
		for _, n := range list {
			if i, ok := l.places[n]; ok {
				out = append(out, i)
			}
		}
		return out
	}
	l.Marks = inOrder(l.Marks)
	for _, g := range l.groups {
		g.Members = here(g.Members)
		for _, i := range g.Members {
			l.grouped[i] = g
		}
	}
	for _, n := range l.Notes {
		n.Halves = here(n.Halves)
	}
	for _, s := range l.Stretches {
		if head := here(s.Head); len(head) == len(s.Head) {
			s.Head = head
		} else {
			s.Head = nil // a sample of which some are missing would look renumbered
		}
	}
	for _, f := range l.facts {
		if i, ok := l.places[uint32(f.QuietEnd)]; ok && f.QuietEnd >= 0 {
			f.QuietEnd = int64(i)
		} else {
			f.QuietEnd = -1
		}
	}
	for i := range l.arena.n {
		h := l.arena.at(i)
		s := l.Stretches[h.Stretch]
		if l.grouped[i] == nil {
			h.Flags &^= Ambiguous
		}
		if j, ok := s.table.find(&l.arena, h.By, h.id, l.arena.token(h.id, make([]byte, 0, 20))); !ok || l.arena.at(j).Nth <= h.Nth {
			s.table.put(&l.arena, i)
		}
	}
}
