package ingest

import (
	"time"

	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

// stretch finds the session of a record, or the connection it belongs to when no session is named, and cuts a new one where
// a connection starts: at another conn or pid, at `open`, at an `initialize`, and where ids start again after an eof.
func (l *folder) stretch(f *frame.Frame) *Stretch {
	if len(f.Session) > 0 {
		if s := l.latest; s != nil && s.Session == string(f.Session) {
			return s
		}
		s := l.sessions[string(f.Session)]
		if s == nil {
			s = l.begin(f)
			s.Session, s.Number = string(f.Session), 1
			l.sessions[s.Session] = s
		}
		l.latest = s
		return s
	}
	key := connection(f)
	s := l.unnamed[key]
	if s == nil || l.cuts(s, f) {
		if s != nil {
			l.cut(s, f.Line)
		}
		s = l.begin(f)
		l.count++
		s.Number, s.key = l.count, key
		l.unnamed[key] = s
	}
	s.asks(f)
	l.latest = s
	return s
}

// connection names the connection of a record without a session. One client's HTTP exchanges travel on any number of
// connections, and through a proxy on others, so that there a conn says nothing about who speaks.
func connection(f *frame.Frame) string {
	if f.More == nil || (f.More.Conn == nil && f.More.PID == nil) {
		return ""
	}
	if len(f.More.Exchange) > 0 {
		return "\x00" + string(f.More.PID)
	}
	return string(f.More.Conn) + "\x00" + string(f.More.PID)
}

func (l *folder) begin(f *frame.Frame) *Stretch {
	s := &Stretch{First: f.Line}
	s.index = uint32(len(l.Stretches))
	l.Stretches = append(l.Stretches, s)
	return s
}

// cuts reports whether the record starts a new connection in the unnamed stretch s.
func (l *folder) cuts(s *Stretch, f *frame.Frame) bool {
	switch {
	case f.Kind == frame.Open:
		return s.Records > 0
	case f.Kind != frame.Request || f.Dir != frame.C2S:
		return false
	}
	return s.asked && string(f.Method) == "initialize" && !l.startedTwice(s, f) || s.restarts(f.ID)
}

// twiceTime is how far apart a host sends the handshakes of two processes of one server.
const twiceTime = time.Second

// startedTwice reports whether the handshake is that of a second process of the same server, which some hosts start beside the
// first and log to the same file: the first one's is outstanding, nothing else was asked, and nothing has ended. Which answer is whose cannot be told
// then, so it must not become a connection of its own, in which the first would look unanswered.
func (l *folder) startedTwice(s *Stretch, f *frame.Frame) bool {
	i, ok := l.find(s, frame.Client, f.ID)
	if !ok || s.Calls != 1 || !l.outstanding(i) || l.arena.at(i).line[Cancel] != 0 || s.EOF != [2]uint32{} || l.Method(i) != "initialize" {
		return false
	}
	d, ok := f.At.Sub(l.At(i, Request))
	return ok && d >= 0 && d < twiceTime
}

// restarts reports whether the client's ids start again: below the one before and equal to the lowest seen, after an eof.
func (s *Stretch) restarts(id frame.ID) bool {
	n, ok := smallID(id)
	return ok && s.counted && s.EOF != [2]uint32{} && n < s.previous && n == s.least
}

// asks follows the client's requests, for cuts.
func (s *Stretch) asks(f *frame.Frame) {
	if f.Kind != frame.Request || f.Dir != frame.C2S {
		return
	}
	s.asked = true
	if n, ok := smallID(f.ID); ok {
		if !s.counted || n < s.least {
			s.least = n
		}
		if s.counted && n < s.previous {
			s.drops++
		}
		s.counted, s.previous = true, n
	}
}

// cut ends a stretch: what was outstanding in it will not be answered in it.
func (l *folder) cut(s *Stretch, line uint32) {
	s.cut = line
	l.leftovers(s)
	for side := range s.open {
		for _, i := range s.open[side] {
			l.arena.at(i).Flags |= Closed
		}
		s.open[side] = nil
	}
	s.tokensOf = nil
}

// tokens maps the progress tokens of a stretch's requests to their halves.
func (l *folder) tokens(s *Stretch) map[string]uint32 {
	if s.tokensOf == nil {
		s.tokensOf = map[string]uint32{}
	}
	return s.tokensOf
}

// clocks tells the monotonic clocks of a log apart: by name, else one for each writer until its readings fall.
type clocks struct {
	by   map[string]*reading
	only *reading // the clock of records that name neither a clock nor a process
}

// reading is the last reading of one clock.
type reading struct {
	clock uint16
	mono  int64
	wall  int64
	walls bool
}

// raceSlack is how far the readings of one writer may fall because two of its threads raced to the log.
const raceSlack = int64(50 * time.Millisecond)

// stepSlack is how far wall and monotonic time may drift apart between two records before it is a step.
const stepSlack = 500 * time.Millisecond

// tick settles which clock a record's time was read on, and notes where the wall clock moved.
func (l *folder) tick(f *frame.Frame) {
	mono, isMono, wall, isWall := f.At.Readings()
	if isMono {
		r := l.reading(f, mono)
		if isWall && r.walls {
			l.stepped(f, time.Duration(wall-r.wall)-time.Duration(mono-r.mono))
		}
		r.mono, r.wall, r.walls = mono, wall, isWall
		l.clock = r.clock
		l.monotonic++
	} else if isWall {
		l.wallOnly++
		l.backwards(f)
	}
	l.mixed = l.mixed || (l.monotonic > 0 && l.wallOnly > 0)
	f.At = f.At.OnClock(l.number, uint32(l.clock))
	if isMono || f.At.HasWall() {
		l.last = f.At
		if !l.first.Known() {
			l.first = f.At
		}
	}
}

func (l *folder) reading(f *frame.Frame, mono int64) *reading {
	if r := l.clocks.only; r != nil && f.More == nil && mono >= r.mono-raceSlack {
		return r
	}
	name := ""
	if f.More != nil {
		if name = string(f.More.Clock); name == "" && f.More.PID != nil {
			name = "pid " + string(f.More.PID)
		}
	}
	r := l.clocks.by[name]
	if r == nil || (mono < r.mono-raceSlack && (f.More == nil || f.More.Clock == nil)) {
		r = &reading{clock: uint16(min(len(l.clocks.by)+l.restarts+1, 1<<16-1)), mono: mono}
		if l.clocks.by[name] != nil {
			l.restarts++
		}
		l.clocks.by[name] = r
	}
	if name == "" {
		l.clocks.only = r
	}
	return r
}

func (l *folder) stepped(f *frame.Frame, d time.Duration) {
	if d > stepSlack || d < -stepSlack {
		n := l.note("clock_step", f.Line, -1)
		if len(n.Text) < noteLines {
			n.Text = append(n.Text, d.Round(time.Millisecond).String())
		}
	}
}

// backwards notes a wall clock that went back where no monotonic clock can say by how much.
func (l *folder) backwards(f *frame.Frame) {
	if !l.last.HasWall() || l.Dialect.Sees&dialect.Flying == 0 { // a log of ends tells beginnings late
		return
	}
	if d, ok := f.At.OnClock(l.number, uint32(l.clock)).Sub(l.last); ok && d < -stepSlack && !l.last.HasMono() {
		n := l.note("clock_back", f.Line, -1)
		if len(n.Text) < noteLines {
			n.Text = append(n.Text, d.Round(time.Millisecond).String())
		}
	}
}

// writer is one process that numbers its records.
type writer struct {
	seq  int64
	gaps []seqGap
}

type seqGap struct {
	line     uint32
	from, to int64 // missing numbers, both included
}

// writer follows `seq`: a number that never comes is a record that was lost. Threads of one writer may swap two records, so
// a gap counts only when the log ends without it.
func (l *folder) writer(f *frame.Frame) {
	if f.Kind == frame.Gap || f.More == nil || !f.More.HasSeq {
		return
	}
	key := writerOf(f.More)
	w := l.writers[key]
	seq := f.More.Seq
	switch {
	case w == nil || seq <= 1 && w.seq > 1:
		l.writers[key] = &writer{seq: seq}
		if w != nil {
			l.lostRecords(w)
		}
	case seq > w.seq+1:
		w.gaps = append(w.gaps, seqGap{f.Line, w.seq + 1, seq - 1})
		w.seq = seq
	case seq <= w.seq:
		w.fill(seq)
	default:
		w.seq = seq
	}
}

// writerOf names who numbers a record: the owner of the monotonic clock, else the process, or the connection where a writer
// has one for itself. One that records HTTP exchanges sees many connections.
func writerOf(m *frame.More) string {
	switch {
	case len(m.Clock) > 0:
		return string(m.Clock)
	case len(m.Exchange) > 0:
		return string(m.PID) + "\x00"
	}
	return string(m.PID) + "\x00" + string(m.Conn)
}

func (w *writer) fill(seq int64) {
	for k := len(w.gaps) - 1; k >= 0; k-- {
		g := &w.gaps[k]
		if seq < g.from || seq > g.to {
			continue
		}
		switch {
		case g.from == g.to:
			w.gaps = append(w.gaps[:k], w.gaps[k+1:]...)
		case seq == g.from:
			g.from++
		case seq == g.to:
			g.to--
		}
		return
	}
}

func (l *folder) lostRecords(w *writer) {
	for _, g := range w.gaps {
		l.Gaps++
		l.unseen = append(l.unseen, g.line)
		l.note("records_lost", g.line, -1)
	}
}
