package ingest

import (
	"sort"
	"time"

	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

// Log is one log, folded.
type Log struct {
	Header
	Side      frame.Side
	Path      string // as the user named it
	Dialect   *dialect.Dialect
	Stretches []*Stretch
	Marks     []Mark

	number  uint16
	files   []file
	arena   arena
	texts   texts
	facts   map[uint32]*Fact
	noFact  Fact              // of the halves that have none
	grouped map[uint32]*Group // the ambiguous halves
	unseen  []uint32          // lines where something may have been lost, ascending: bad lines, gaps, holes
	mixed   bool              // some records have monotonic times and some do not
	clock   uint16            // the monotonic clock of the record being folded
	first   frame.Instant
	last    frame.Instant
	quiet   time.Duration // from how long on a silence after an answer was taken note of

	// Of a log of which only some halves are here, what all of them come to.
	surveys  map[Asked]*Survey
	silences map[Asked]time.Duration
}

// Header is what is told of a log as a whole.
type Header struct {
	Records     uint64
	BadLines    []uint32 // every line that is no record, ascending
	Bad         []BadLine
	Reasons     map[frame.Reason]int
	Warnings    frame.Warnings
	FirstLine   uint32 // of the first and last record; 0 when there is none
	LastLine    uint32
	Lines       uint32 // lines in all
	SideGuessed bool   // nothing told whose log it is
	Reuses      int    // requests with an id that was used before in their stretch
	Messages    uint64 // records that are messages; a log without any shows handlers only
	StreamCut   string // how a compressed stream ended, when too early
	CutTail     bool   // the last line, or the compressed stream, ends in the middle
	Gaps        int    // losses that the log itself shows: gap records, missing seq, holes
	Copies      int    // how many times every frame stood there; 1 is normal
	Twins       int    // events that stood in two of the files that their writer keeps; counted once
	TwinLine    uint32 // the first of them
	NoIDs       int    // calls of which the log tells no id
	OtherSide   uint64 // records that name the other side
	Sided       uint64 // records that name a side
	Notes       map[string]*Note
}

// file is one file of a rotated set: the lines after `before` are its own.
type file struct {
	path    string
	before  uint32
	numbers []uint32 // of its lines, where not all were read
}

// BadLine is a line that is no record.
type BadLine struct {
	Line   uint32
	Reason frame.Reason
	Prefix string
}

// Stretch is a named session, or what stands between two cuts where no session is named.
type Stretch struct {
	Session string // "" when the log names none
	Number  int    // which unnamed stretch of the log it is, from 1; 1 for a named one
	First   uint32 // lines
	Last    uint32
	Calls   uint32
	Records uint64
	End     [2]End    // the last frame of each direction, by the side that sends it: [0] client's, [1] server's
	EOF     [2]uint32 // line of the first eof of each direction
	EOFAt   [2]frame.Instant
	LastAt  frame.Instant
	Entered uint32      // line of the last handler_enter
	Caps    [2][]string // capabilities that each side declared; nil when the log does not tell
	Head    []uint32    // its first requests, HeadLen at most

	index    uint32
	cut      uint32 // line at which it was cut off; 0: never
	key      string // conn and pid of an unnamed one
	table    table
	open     [2][]uint32
	waiting  map[string][]waiting
	unasked  int // of those that wait, the ones whose id nobody has used yet
	groups   map[string]*Group
	tokensOf map[string]uint32
	idle     idle
	asked    bool // the client has sent a request
	counted  bool // the client's ids so far: the lowest and the latest
	least    idRef
	previous idRef
	drops    uint32 // how often an id was below the one before
}

// End is the last frame that went one way.
type End struct {
	Line   uint32
	Kind   frame.Kind
	Method string // of a notification
	Count  uint64
}

// Mark is a record that belongs to no call and that a cause may need.
type Mark struct {
	Kind    frame.Kind
	Dir     frame.Dir
	Line    uint32
	Stretch uint32
	Record  uint64 // its number among the records of its stretch
	At      frame.Instant
	Bytes   int64
	Method  string // of a notification
	Raw     string // prefix of an invalid line
	Code    int64
	Status  int64
	Open    int   // requests that were outstanding then
	Half    int64 // the half it was paired with; -1 when none
}

// Note is something odd, counted by kind.
type Note struct {
	Kind   string
	Count  int
	Lines  []uint32 // the first few
	Halves []uint32 // the first few
	Text   []string // the first few, where words are needed
}

// Fact holds what few halves have.
type Fact struct {
	Repeats  []uint32 // lines of further answers
	RepeatAt frame.Instant
	Progress int // notifications/progress about the call
	ProgressLine,
	ProgressLast uint32
	ProgressFirstAt, ProgressLastAt frame.Instant
	ProgressGap                     time.Duration // the longest silence between two of them
	RefusedLine                     uint32
	RefusedAt                       frame.Instant
	RefusedCode, RefusedStatus      int64
	RefusedBytes                    int64
	Code, Status                    int64         // of the answer: JSON-RPC error code and HTTP status, when not the usual
	Before                          time.Duration // silence of the session before the request, when it was long
	Quiet                           time.Duration // silence of the requester after the answer
	QuietEnd                        int64         // half of the request that ended the silence; -1 when none did
	QuietLine                       uint32        // the line that ended it
	ResultType                      string
	LostLine                        uint32    // an answer without its id passed here
	AckLine                         uint32    // the acknowledgement of a cancel
	Ended                           [2]uint32 // by direction: where its own stream ended, over HTTP, while it was outstanding
	EndedAt                         [2]frame.Instant
	HandlerAmbiguous                bool // handler events were there that could be another call's
	State                           string
}

// Group is a set of requests that were outstanding at once with one id.
type Group struct {
	Members []uint32
	Answers []uint32 // lines
	Cancels []uint32 // lines
}

// HeadLen is how many requests of a stretch are kept by number.
const HeadLen = 32

const (
	noteLines = 8
	rawLen    = 256
)

// LeastQuiet is the shortest silence after an answer that the log took note of.
func (l *Log) LeastQuiet() time.Duration { return l.quiet }

// Number tells the logs of one diagnosis apart, and their clocks: nothing subtracts across two numbers.
func (l *Log) Number() int { return int(l.number) }

func (l *Log) note(kind string, line uint32, half int64) *Note {
	n := l.Notes[kind]
	if n == nil {
		n = &Note{Kind: kind}
		l.Notes[kind] = n
	}
	n.Count++
	if len(n.Lines) < noteLines {
		n.Lines = append(n.Lines, line)
		if half >= 0 {
			n.Halves = append(n.Halves, uint32(half))
		}
	}
	return n
}

func (l *Log) fact(i uint32) *Fact {
	h := l.arena.at(i)
	if h.Flags&noted == 0 {
		h.Flags |= noted
		l.facts[i] = &Fact{QuietEnd: -1}
	}
	return l.facts[i]
}

// Fact returns what else is known of half i; never nil.
func (l *Log) Fact(i uint32) *Fact {
	if l.arena.at(i).Flags&noted == 0 {
		return &l.noFact
	}
	return l.facts[i]
}

// GroupOf returns the requests that half i cannot be told from; nil when there are none.
func (l *Log) GroupOf(i uint32) *Group {
	return l.grouped[i]
}

// Paths are the files of the set, as the user named them.
func (l *Log) Paths() []string {
	var paths []string
	for _, f := range l.files {
		paths = append(paths, f.path)
	}
	return paths
}

// Place says which file, and which line of it, a log-wide line number is.
func (l *Log) Place(line uint32) (path string, n uint32) {
	k := sort.Search(len(l.files), func(k int) bool { return l.files[k].before >= line }) - 1
	if k < 0 {
		return l.Path, line
	}
	n = line - l.files[k].before
	if numbers := l.files[k].numbers; n > 0 && int(n) <= len(numbers) {
		n = numbers[n-1]
	}
	return l.files[k].path, n
}

// Span is the time from the log's first record to its last, and the last instant itself.
func (l *Log) Span() (first, last frame.Instant) { return l.first, l.last }

// FirstHalfLine is the first line on which half i was seen.
func (l *Log) FirstHalfLine(i uint32) uint32 {
	first := uint32(0)
	for p := Request; p < points; p++ {
		if n := l.Line(i, p); n != 0 && (first == 0 || n < first) {
			first = n
		}
	}
	return first
}

// Unsure reports whether the answer that half i lacks may be there after all: lost at a line that cannot be read, without
// its id, only queued, or of a kind that the dialect cannot show.
func (l *Log) Unsure(i uint32) bool {
	h := l.Half(i)
	if h.Flags&QueuedOnly != 0 {
		return true
	}
	if h.line[Answer] != 0 || h.Flags&(LocalEnd|Acked) != 0 { // the log itself says that none had come
		return false
	}
	if h.Flags&LostAnswer != 0 || !l.Dialect.Sees.EveryAnswer() || l.Messages == 0 {
		return true
	}
	_, blind := l.BlindLine(i)
	return blind
}

// BlindLine is a line at which half i was outstanding and something may have been lost.
func (l *Log) BlindLine(i uint32) (uint32, bool) {
	if len(l.unseen) == 0 {
		return 0, false
	}
	from := l.FirstHalfLine(i)
	k := sort.Search(len(l.unseen), func(k int) bool { return l.unseen[k] > from })
	if k == len(l.unseen) {
		return 0, false
	}
	h := l.Half(i)
	s := l.Stretches[h.Stretch]
	for _, end := range []uint32{s.cut, s.EOF[h.By.Peer()-frame.Client]} { // past these no answer can come
		if end != 0 && l.unseen[k] >= end {
			return 0, false
		}
	}
	return l.unseen[k], true
}

// NthInFile counts the requests of half i's requester with its id: in the named session, or in the whole log when none is
// named.
func (l *Log) NthInFile(i uint32) int {
	h := l.Half(i)
	n := int(h.Nth)
	s := l.Stretches[h.Stretch]
	if s.Session != "" {
		return n
	}
	for _, other := range l.Stretches[:h.Stretch] {
		if other.Session == "" {
			if j, ok := other.table.find(&l.arena, h.By, h.id, l.arena.token(h.id, make([]byte, 0, 20))); ok {
				n += int(l.Half(j).Nth)
			}
		}
	}
	return n
}

// Find returns the latest half in stretch s with this requester and id.
func (l *Log) Find(s uint32, by frame.Side, id frame.ID) (uint32, bool) {
	ref, ok := packID(id)
	if !ok {
		ref = elsewhere
	}
	return l.Stretches[s].table.find(&l.arena, by, ref, id)
}
