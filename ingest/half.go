package ingest

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"time"

	"mcpdiag/ingest/frame"
)

// Point is a moment in a call's life that a log can record.
type Point uint8

// The points of a half. In the requester's log Request and Cancel are sent and Answer is read; in the responder's log
// Request and Cancel are read and Answer is written.
const (
	Request Point = iota
	Answer
	Cancel
	Enter
	Exit
	points
)

// Flags are the facts of a half that are true or false.
type Flags uint16

// The flags of a half.
const (
	Ambiguous  Flags = 1 << iota // shared its id with another outstanding request: which answer is whose cannot be told
	IsError                      // the answer is a JSON-RPC error
	ToolError                    // the answer is a result with isError
	Refused                      // the transport answered without an id
	InputAsked                   // answered with resultType input_required or a task: an answer, not the end of the work
	QueuedOnly                   // the answer was queued; nothing says that it was written
	LostAnswer                   // an answer without its id passed while this call was outstanding: no "unanswered"
	Late                         // the cancel came before the answer
	Closed                       // a cut of the connection ended it
	Modern                       // the request carried a 2026-07-28 version
	NoID                         // the log tells no id: the half has a number of its own, which no other log knows
	LocalEnd                     // the requester's log says that it stopped waiting; no frame does
	Acked                        // the responder acknowledged the cancel: it had read the request and not answered it
	noted                        // the half has a Fact
)

// Half is what one log knows of one call. It holds no pointers: a million of them cost the collector nothing.
type Half struct {
	at      [3]int64  // Request, Answer, Cancel: ns of the clock that Half.timed names
	line    [3]uint32 // log-wide line numbers; 0: not recorded
	id      idRef
	bytes   [2]uint32 // Request, Answer; noBytes when not told
	Stretch uint32    // index in Log.Stretches
	Nth     uint32    // k-th request with this id by this requester in its stretch
	method  uint32    // text number; 0: not told
	name    uint32
	clock   uint16 // which monotonic clock, of those that the log names or implies
	timed   uint16 // two bits a point: has a time; the time is monotonic
	Flags   Flags
	By      frame.Side // the requester
}

// handling is the part of a half that only the responder's log has; kept apart so that the other log does not pay for it.
type handling struct {
	at   [2]int64 // Enter, Exit
	line [2]uint32
	rows int64 // records in the result; 0 stands for unknown, n+1 for n
}

const noBytes = math.MaxUint32

// mixedHead is how many halves at a log's head keep both their times: whether a log mixes its clocks shows there.
const mixedHead = 1024

// slabLen is the number of halves in one allocation: some megabytes, touched only as far as they are used.
const slabLen = 1 << 17

// largeLog is from how many halves on the memory of a slab is worth large pages: a small log would pay for a whole one.
const largeLog = 1 << 13

// arena holds the halves of a log in slabs, which never move.
type arena struct {
	halves   [][]Half
	handling [][]handling              // by slab; nil until a handler event comes
	walls    map[uint32]*[points]int64 // wall times beside monotonic ones, where a log has both kinds of record
	n        uint32
	ids      [][]byte // string and big ids, in blocks: length as uvarint, then the token
	seed     maphash.Seed
	salt     uint64 // of the seed
	memory   *Memory
}

func newArena(m *Memory) arena {
	seed := maphash.MakeSeed()
	return arena{seed: seed, salt: maphash.Bytes(seed, nil), memory: m}
}

func (a *arena) add() (uint32, *Half) {
	if a.n%slabLen == 0 {
		a.halves = append(a.halves, slab[Half](a.memory, slabLen))
		a.handling = append(a.handling, nil)
	}
	if a.n == largeLog || a.n > largeLog && a.n%slabLen == 0 {
		hugePages(a.halves[len(a.halves)-1])
		hugePages(a.handling[len(a.handling)-1])
	}
	i := a.n
	a.n++
	return i, a.at(i)
}

func (a *arena) at(i uint32) *Half { return &a.halves[i/slabLen][i%slabLen] }

// walked lets go of what lies behind half i, in a walk over all of them that leaves nobody else the time to.
func (a *arena) walked(i uint32) {
	if i%slabLen == 0 && i > 0 && a.memory != nil {
		a.memory.letGo()
	}
}

// LetGo lets go of what was looked at of the log, where memory is short.
func (l *Log) LetGo() {
	if l.arena.memory != nil {
		l.arena.memory.letGo()
	}
}

// served returns the responder's part of half i; nil when there is none and grow is false.
func (a *arena) served(i uint32, grow bool) *handling {
	k := i / slabLen
	if a.handling[k] == nil {
		if !grow {
			return nil
		}
		a.handling[k] = slab[handling](a.memory, slabLen)
		if i > largeLog {
			hugePages(a.handling[k])
		}
	}
	return &a.handling[k][i%slabLen]
}

// idRef is an id: a plain integer as its value, a short string as its characters, anything else as a place in arena.ids. The two
// top bits tell them apart.
type idRef uint64

const (
	elsewhere  idRef = 1 << 63
	characters idRef = 1 << 62 // seven bits each, the last one lowest, and above all of them how many
	mostPacked       = 8
	countShift       = 7 * mostPacked
)

// smallID is the value of a token that is a plain non-negative integer in its only spelling.
func smallID(id frame.ID) (idRef, bool) {
	if len(id) == 0 || len(id) > 18 || (id[0] == '0' && len(id) > 1) {
		return 0, false
	}
	n := idRef(0)
	for _, c := range id {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + idRef(c-'0')
	}
	return n, true
}

// shortID packs a token that is a string of a few plain characters.
func shortID(id frame.ID) (idRef, bool) {
	if len(id) < 2 || len(id) > mostPacked+2 || id[0] != '"' {
		return 0, false
	}
	n := idRef(0)
	for _, c := range id[1 : len(id)-1] {
		if c-0x20 >= 0x7F-0x20 || c == '\\' {
			return 0, false
		}
		n = n<<7 | idRef(c)
	}
	return characters | idRef(len(id)-2)<<countShift | n, true
}

// packID is the id itself, where it needs no place in arena.ids.
func packID(id frame.ID) (ref idRef, ok bool) {
	if len(id) > 0 && id[0] == '"' {
		return shortID(id)
	}
	return smallID(id)
}

func (a *arena) intern(id frame.ID) idRef {
	if ref, ok := packID(id); ok {
		return ref
	}
	last := len(a.ids) - 1
	if need := len(id) + binary.MaxVarintLen64; last < 0 || cap(a.ids[last])-len(a.ids[last]) < need {
		a.ids = append(a.ids, slab[byte](a.memory, max(min(leastIDs<<(last+1), mostIDs), need))[:0])
		last++
	}
	at := idRef(last)<<32 | idRef(len(a.ids[last]))
	block := binary.AppendUvarint(a.ids[last], uint64(len(id)))
	a.ids[last] = append(block, id...)
	return at | elsewhere
}

// leastIDs and mostIDs are the lengths of the first block of ids, and of the last: each is twice as long as the one before.
const (
	leastIDs = 4 << 10
	mostIDs  = 4 << 20
)

// token spells the id; the result may be overwritten by nothing, but points into the arena for long ids.
func (a *arena) token(ref idRef, room []byte) frame.ID {
	switch {
	case ref&(elsewhere|characters) == 0:
		return appendUint(room[:0], uint64(ref))
	case ref&elsewhere == 0:
		return appendPacked(room[:0], ref)
	}
	at := uint64(ref &^ elsewhere)
	token := a.ids[at>>32][at&(1<<32-1):]
	n, width := binary.Uvarint(token)
	return frame.ID(token[width : uint64(width)+n])
}

func appendPacked(b []byte, ref idRef) []byte {
	b = append(b, '"')
	for k := int(ref>>countShift&15) - 1; k >= 0; k-- {
		b = append(b, byte(ref>>(7*k)&0x7F))
	}
	return append(b, '"')
}

func appendUint(b []byte, n uint64) []byte {
	var room [20]byte
	i := len(room)
	for {
		i--
		room[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return append(b, room[i:]...)
		}
	}
}

// set records a point in the half's own part.
func (l *Log) set(i uint32, h *Half, p Point, f *frame.Frame) {
	l.stamp(i, h, p, &h.at[p], &h.line[p], f)
}

// stamp records a point: its line, and its time on the half's clock. The first record of a point stands; later ones are
// copies, replays or findings.
func (l *Log) stamp(i uint32, h *Half, p Point, at *int64, line *uint32, f *frame.Frame) {
	if *line != 0 {
		return
	}
	*line = f.Line
	mono, isMono, wall, isWall := f.At.Readings()
	if isMono && h.timed == 0 {
		h.clock = l.clock
	}
	switch {
	case isMono && h.clock == l.clock: // another writer's clock has nothing to do with this half's
		*at = mono
		h.timed |= 3 << (2 * p)
		if isWall && (l.mixed || i < mixedHead) {
			l.wallOf(i)[p] = wall
		}
	case isWall:
		*at = wall
		h.timed |= 1 << (2 * p)
	}
}

// slot finds where a point is recorded; nil when the half lacks that part.
func (l *Log) slot(h *Half, i uint32, p Point) (at *int64, line *uint32) {
	if p < Enter {
		return &h.at[p], &h.line[p]
	}
	g := l.arena.served(i, false)
	if g == nil {
		return nil, nil
	}
	return &g.at[p-Enter], &g.line[p-Enter]
}

// wallOf holds the wall times of half i's points.
func (l *Log) wallOf(i uint32) *[points]int64 {
	w := l.arena.walls[i]
	if w == nil {
		w = new([points]int64)
		for p := range w {
			w[p] = math.MinInt64
		}
		if l.arena.walls == nil {
			l.arena.walls = map[uint32]*[points]int64{}
		}
		l.arena.walls[i] = w
	}
	return w
}

// Halves is the number of halves.
func (l *Log) Halves() int { return int(l.arena.n) }

// Half returns half i.
func (l *Log) Half(i uint32) *Half { return l.arena.at(i) }

// ID is the half's id.
func (l *Log) ID(i uint32) frame.ID {
	return append(frame.ID(nil), l.arena.token(l.arena.at(i).id, make([]byte, 0, 20))...)
}

// Line is the log-wide number of the line that records point p of half i; 0 when none does.
func (l *Log) Line(i uint32, p Point) uint32 {
	_, line := l.slot(l.arena.at(i), i, p)
	if line == nil {
		return 0
	}
	return *line
}

// At is the time of point p of half i, on this log's clocks.
func (l *Log) At(i uint32, p Point) frame.Instant {
	var t frame.Instant
	h := l.arena.at(i)
	at, line := l.slot(h, i, p)
	if line == nil || *line == 0 || h.timed>>(2*p)&1 == 0 {
		return t
	}
	if h.timed>>(2*p)&2 == 0 {
		setWall(&t, *at)
	} else {
		t.Mono(*at)
		if w := l.arena.walls[i]; w != nil && w[p] != math.MinInt64 {
			setWall(&t, w[p])
		}
	}
	return t.OnClock(l.number, uint32(h.clock))
}

// Between is the time from one point of half i to another, as At(to).Sub(At(from)) tells it.
func (l *Log) Between(i uint32, from, to Point) (time.Duration, bool) {
	h := l.arena.at(i)
	a, lineA := l.slot(h, i, from)
	b, lineB := l.slot(h, i, to)
	if lineA == nil || lineB == nil || *lineA == 0 || *lineB == 0 {
		return 0, false
	}
	if x, y := h.timed>>(2*from)&3, h.timed>>(2*to)&3; x == y && x != 0 { // both read on one clock, or both off the wall
		return time.Duration(*b - *a), true
	}
	return l.At(i, to).Sub(l.At(i, from))
}

func setWall(t *frame.Instant, ns int64) {
	sec := ns / 1e9
	if ns%1e9 < 0 {
		sec--
	}
	t.Wall(sec, int32(ns-sec*1e9), true)
}

// Bytes is the size of the request or answer frame of half i; frame.Unknown when not told.
func (l *Log) Bytes(i uint32, p Point) int64 {
	if n := l.arena.at(i).bytes[p]; n != noBytes {
		return int64(n)
	}
	return frame.Unknown
}

// Rows is the number of records in the result of half i; frame.Unknown when not told.
func (l *Log) Rows(i uint32) int64 {
	if g := l.arena.served(i, false); g != nil {
		return g.rows - 1
	}
	return frame.Unknown
}

// Method and Name are what the request said; "" when not told.
func (l *Log) Method(i uint32) string { return l.texts.text(l.arena.at(i).method) }

// Name is the tool, prompt or resource of half i.
func (l *Log) Name(i uint32) string { return l.texts.text(l.arena.at(i).name) }

// Code is the JSON-RPC error code of the answer of half i.
func (l *Log) Code(i uint32) int { return int(l.Fact(i).Code) }

// Status is the HTTP status that carried the answer; 0 when not told.
func (l *Log) Status(i uint32) int { return int(l.Fact(i).Status) }
