package ingest

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"mcpdiag/ingest/frame"
)

// Alignment says which stretches of the logs are one session, and which uses of an id are one call. The next room makes it; a
// half's key is (Pair, requester, id, nth). Its members are by log, as Number counts them.
type Alignment struct {
	Pair  [][]uint32          // by stretch: the number that the stretches of one session share
	Known [][]bool            // by stretch: the other side has records of it
	Nth   []map[uint32]uint32 // by half: the use of the id, where it is not the half's own count

	// Keyless says that one of the logs tells no ids. Its halves then take the keys of the other's, by method, tool and order;
	// As has those that found one. That a half found none proves nothing.
	Keyless bool
	As      []map[uint32]Key

	// Spans are what absence is judged by: a log, and the logs of the other side that know a session of it. A log covers what
	// the other shows, so a log that started late must not speak for its neighbour that did not.
	Spans  []Span
	spanOf [][]uint32 // by stretch
	first  []uint32   // the number of the log's first half among those of its side
}

// Span is a log and those of the other side that share sessions with it.
type Span struct {
	Log   *Log
	Peers []*Log
}

// NewAlignment has room for the logs, and pairs nothing.
func NewAlignment(logs []*Log) *Alignment {
	n := 0
	for _, l := range logs {
		n = max(n, l.Number()+1)
	}
	a := &Alignment{Pair: make([][]uint32, n), Known: make([][]bool, n), Nth: make([]map[uint32]uint32, n), As: make([]map[uint32]Key, n), spanOf: make([][]uint32, n), first: make([]uint32, n)}
	var before [3]uint32
	for _, l := range logs {
		k := l.Number()
		a.Pair[k], a.Known[k], a.spanOf[k] = make([]uint32, len(l.Stretches)), make([]bool, len(l.Stretches)), make([]uint32, len(l.Stretches))
		a.Nth[k], a.As[k] = map[uint32]uint32{}, map[uint32]Key{}
		a.first[k] = before[l.Side]
		before[l.Side] += uint32(l.Halves())
	}
	a.Cover(logs)
	return a
}

// PairOf is the number of the session that a half belongs to.
func (a *Alignment) PairOf(l *Log, half uint32) uint32 {
	return a.Pair[l.Number()][l.Half(half).Stretch]
}

// PeersOf are the logs of the other side that know the half's session.
func (a *Alignment) PeersOf(l *Log, half uint32) []*Log {
	return a.Spans[a.spanOf[l.Number()][l.Half(half).Stretch]].Peers
}

// SpanOf is the span of a log and the one log that knows its sessions from the other side; false when there is none such.
func (a *Alignment) SpanOf(l, peer *Log) (uint32, bool) {
	for k, s := range a.Spans {
		if s.Log == l && len(s.Peers) == 1 && s.Peers[0] == peer {
			return uint32(k), true
		}
	}
	return 0, false
}

// PlainFacts are the facts of a half of a healthy call, in a span.
func PlainFacts(span uint32, shown bool) uint32 {
	return factRequest | factAnswer | factKnown | uint32(Answered)*factOutcome | when(shown, factShown) | span*factSpan
}

// Find is the half with this number among those of its side.
func (a *Alignment) Find(logs []*Log, side frame.Side, n uint32) (*Log, uint32) {
	for _, l := range logs {
		if first := a.first[l.Number()]; l.Side == side && n >= first && n-first < uint32(l.Halves()) {
			return l, n - first
		}
	}
	return nil, 0
}

// maxSpans is how many spans the facts of a half have room for.
const maxSpans = 1 << 15

// Cover settles the spans, once the pairs are.
func (a *Alignment) Cover(logs []*Log) {
	holders := map[uint32][]*Log{} // by pair
	for _, l := range logs {
		for _, pair := range a.Pair[l.Number()] {
			if had := holders[pair]; len(had) == 0 || had[len(had)-1] != l {
				holders[pair] = append(had, l)
			}
		}
	}
	a.Spans = nil
	index := map[string]uint32{}
	for _, l := range logs {
		for i, pair := range a.Pair[l.Number()] {
			a.spanOf[l.Number()][i] = a.span(index, l, holders[pair])
		}
	}
}

// span finds or makes the span of a log and the logs of the other side among the holders.
func (a *Alignment) span(index map[string]uint32, l *Log, holders []*Log) uint32 {
	s, key := Span{Log: l}, []byte{}
	for _, other := range holders {
		if other.Side != l.Side {
			s.Peers = append(s.Peers, other)
			key = binary.AppendUvarint(key, uint64(other.Number()))
		}
	}
	key = binary.AppendUvarint(key, uint64(l.Number()))
	n, ok := index[string(key)]
	if !ok {
		n = uint32(len(a.Spans))
		index[string(key)] = n
		a.Spans = append(a.Spans, s)
	}
	return n
}

// Key is what a half without an id is joined on.
type Key struct {
	ID  frame.ID
	Nth uint32
}

// Outcome is how the requester's wait ended, as one log shows it.
type Outcome uint8

// The outcomes.
const (
	StillOpen Outcome = iota // the log ends first
	Answered
	AnsweredLate // after the requester had given up
	Cancelled
	WasRefused // the transport said no
)

var outcomeNames = [...]string{"open", "answered", "late", "cancelled", "refused"}

func (o Outcome) String() string { return outcomeNames[o] }

// Outcome is how the call ended as far as half i shows.
func (l *Log) Outcome(i uint32) Outcome {
	h := l.Half(i)
	switch {
	case h.Flags&Late != 0:
		return AnsweredLate
	case h.line[Answer] != 0:
		return Answered
	case h.Flags&Refused != 0:
		return WasRefused
	case h.line[Cancel] != 0:
		return Cancelled
	}
	return StillOpen
}

// OpenByDesign reports whether a request with this method stays open for as long as its purpose lasts.
func OpenByDesign(method string) bool {
	return method == "subscriptions/listen" || method == "tasks/result"
}

// Young reports whether half i, unanswered, may still be answered: it is younger than patience when its log ends, and
// nothing says that its stream has ended.
func (l *Log) Young(i uint32, patience time.Duration) bool {
	age, ok := l.age(i)
	return ok && age < patience
}

// age is how long half i, unanswered, had waited when its log ended; not ok when its stream ended before, or the times do not tell.
func (l *Log) age(i uint32) (time.Duration, bool) {
	h := l.Half(i)
	s := l.Stretches[h.Stretch]
	if h.Flags&Closed != 0 || s.EOF != [2]uint32{} || l.Fact(i).Ended != [2]uint32{} {
		return 0, false
	}
	return l.last.Sub(l.At(i, Request))
}

// halfColumns is what the join needs of a half; the rest stays where it is and is looked up by its number. The order is that
// of fill. The id is a number where all ids of all logs fit in one, as those of most peers do: it is hashed and compared at
// half the price of its text.
var halfColumns = [...]struct {
	name string
	typ  duckdb.Type
}{
	{"half", duckdb.TYPE_UINTEGER}, {"pair", duckdb.TYPE_UINTEGER}, {"requester", duckdb.TYPE_UTINYINT}, {"id", duckdb.TYPE_VARCHAR},
	{"nth", duckdb.TYPE_UINTEGER}, {"line", duckdb.TYPE_UINTEGER}, {"facts", duckdb.TYPE_UINTEGER},
}

// Facts of a half, as bits of the column `facts`. leaf.sql names them.
const (
	factRequest   = 1 << iota // the log shows the request
	factAnswer                // the log shows the answer
	factUnsure                // the answer may be there and not be shown
	factAmbiguous             // shares its id with another outstanding request
	factKnown                 // the other log has records of the session
	factYoung                 // unanswered, and may still be answered
	factDesign                // open by design
	factQuiet                 // its requester fell silent after it
	factShort                 // its group of ambiguous requests got fewer answers than it has members
	factShown                 // the user wants to see it
	factGaveUp                // cancelled, and its answer can only have come after that
	factSlow                  // answered, and it took that long
	factOutcome   = 1 << 12   // three bits: Outcome
	factServed    = 1 << 15   // the log itself shows that the responder had read the request
	factAcked     = 1 << 16   // and that it had not answered when it was cancelled
	factSpan      = 1 << 17   // the rest: the span in which the absence of its counterpart is judged
)

// halves serves the halves of one role, block by block, to however many threads ask.
type halves struct {
	vectors vectors
	blocks  []blockRef
	next    atomic.Int64
	role    bool // true: the requester's halves
	keyless bool // as Alignment says
	shown   bool // all calls are asked for

	allNumbers bool // the ids fit in one each; see idRef
	limits     *Limits
	count      uint
}

// blockRef is a run of a log's halves that fills one DuckDB vector.
type blockRef struct {
	*aligned
	from uint32
}

// aligned is a log, and what the Alignment says of it.
type aligned struct {
	log        *Log
	first      uint32
	pair, span []uint32
	known      []bool
	nths       map[uint32]uint32
	as         map[uint32]Key
}

func (a *Alignment) of(l *Log) *aligned {
	k := l.Number()
	return &aligned{l, a.first[k], a.Pair[k], a.spanOf[k], a.Known[k], a.Nth[k], a.As[k]}
}

// blockLen is the length of a DuckDB vector.
const blockLen = 2048

// Register makes the halves of the logs visible on the connection as `halves(role)`, role being 'requester' or 'responder'.
func Register(conn *Conn, logs []*Log, align *Alignment, limits *Limits) error {
	varchar, err := duckdb.NewTypeInfo(duckdb.TYPE_VARCHAR)
	if err != nil {
		return err
	}
	v, ok := newVectors()
	if !ok {
		return errors.New("this version of the DuckDB driver keeps its chunks elsewhere")
	}
	return duckdb.RegisterTableUDF(conn.c, "halves", duckdb.ParallelChunkTableFunction{
		Config: duckdb.TableFunctionConfig{Arguments: []duckdb.TypeInfo{varchar}},
		BindArguments: func(_ map[string]any, args ...any) (duckdb.ParallelChunkTableSource, error) {
			return newHalves(v, logs, args[0].(string) == "requester", align, limits), nil
		},
	})
}

func newHalves(v vectors, logs []*Log, role bool, align *Alignment, limits *Limits) *halves {
	h := &halves{vectors: v, role: role, allNumbers: !align.Keyless, keyless: align.Keyless, shown: limits.All(), limits: limits}
	for _, l := range logs {
		this := align.of(l)
		for from := uint32(0); from < l.arena.n; from += blockLen {
			h.blocks = append(h.blocks, blockRef{this, from})
		}
		h.count += uint(l.Halves())
		h.allNumbers = h.allNumbers && len(l.arena.ids) == 0
	}
	return h
}

// ColumnInfos describes the columns.
func (h *halves) ColumnInfos() []duckdb.ColumnInfo {
	var infos []duckdb.ColumnInfo
	for _, c := range halfColumns {
		if c.typ == duckdb.TYPE_VARCHAR && h.allNumbers {
			c.typ = duckdb.TYPE_UBIGINT
		}
		t, err := duckdb.NewTypeInfo(c.typ)
		if err != nil {
			panic(err) // a constant of the library
		}
		infos = append(infos, duckdb.ColumnInfo{Name: c.name, T: t})
	}
	return infos
}

// Cardinality guides the planner.
func (h *halves) Cardinality() *duckdb.CardinalityInfo {
	return &duckdb.CardinalityInfo{Cardinality: h.count}
}

// Init allows as many threads as there are blocks.
func (h *halves) Init() duckdb.ParallelTableSourceInfo {
	h.next.Store(0)
	return duckdb.ParallelTableSourceInfo{MaxThreads: max(1, len(h.blocks))}
}

// NewLocalState holds the room that a thread needs for each block.
func (h *halves) NewLocalState() any { return &idColumn{halves: h, room: make([]byte, 0, 20)} }

// FillChunk writes the next block that has halves of the role.
func (h *halves) FillChunk(local any, chunk duckdb.DataChunk) error {
	for {
		k := int(h.next.Add(1)) - 1
		if k >= len(h.blocks) {
			return chunk.SetSize(0)
		}
		if n := h.fill(h.blocks[k], local.(*idColumn), &chunk); n > 0 {
			return chunk.SetSize(n)
		}
	}
}

// fill writes the halves of one block that are of the role, and returns their number.
func (h *halves) fill(ref blockRef, ids *idColumn, chunk *duckdb.DataChunk) int {
	l, v, row := ref.log, h.vectors, 0
	half, pair, by := array[uint32](v, chunk, 0), array[uint32](v, chunk, 1), array[uint8](v, chunk, 2)
	ids.begin(chunk)
	nth, line, facts := array[uint32](v, chunk, 4), array[uint32](v, chunk, 5), array[uint32](v, chunk, 6)
	l.arena.walked(ref.from)
	for i := ref.from; i < min(ref.from+blockLen, l.arena.n); i++ {
		this := l.arena.at(i)
		if (this.By == l.Side) != h.role {
			continue
		}
		put(half, row, ref.first+i)
		put(pair, row, ref.pair[this.Stretch])
		put(by, row, uint8(this.By))
		put(nth, row, ids.put(ref.aligned, row, i, this))
		put(line, row, l.firstLine(i, this))
		put(facts, row, h.facts(ref.aligned, i, this))
		row++
	}
	ids.end(chunk)
	return row
}

// idColumn is the column `id` of a chunk.
type idColumn struct {
	*halves
	numbers []uint64 // where all ids are numbers
	texts   []inlined
	long    longTexts
	room    []byte
}

func (c *idColumn) begin(chunk *duckdb.DataChunk) {
	if c.allNumbers {
		c.numbers = array[uint64](c.vectors, chunk, 3)
	} else {
		c.texts = array[inlined](c.vectors, chunk, 3)
	}
}

func (c *idColumn) end(chunk *duckdb.DataChunk) {
	if vec := c.vectors.column(chunk, 3); vec != nil {
		c.long.give(*vec, c.texts)
	}
}

// put writes the id of half i, and returns which use of the id it is.
func (c *idColumn) put(a *aligned, row int, i uint32, h *Half) (nth uint32) {
	if nth = h.Nth; len(a.nths) > 0 {
		if n, ok := a.nths[i]; ok {
			nth = n
		}
	}
	if c.allNumbers {
		put(c.numbers, row, uint64(h.id))
		return nth
	}
	token := a.log.arena.token(h.id, c.room)
	if c.keyless {
		if as, ok := a.as[i]; ok {
			token, nth = as.ID, as.Nth
		}
	}
	if c.texts != nil {
		c.long.put(c.texts, row, token)
	}
	return nth
}

func (l *Log) firstLine(i uint32, h *Half) uint32 {
	if h.line[Request] != 0 {
		return h.line[Request]
	}
	return l.FirstHalfLine(i)
}

// slow reports whether half i is answered and took as long as the limit, on this log's clock.
func (l *Log) slow(i uint32, h *Half, limit time.Duration) bool {
	if h.line[Answer] == 0 {
		return false
	}
	d, ok := l.Between(i, Request, Answer)
	return ok && d >= limit
}

func (h *halves) facts(a *aligned, i uint32, half *Half) uint32 {
	l := a.log
	facts := l.ownFacts(i, half) + a.span[half.Stretch]*factSpan
	facts |= when(a.known[half.Stretch] && !h.keyless, factKnown) |
		when(h.shown || h.limits.shows(l, i), factShown) | when(l.slow(i, half, h.limits.Slow), factSlow)
	if unanswered(half) {
		facts |= when(l.Young(i, h.limits.Patience), factYoung)
	}
	if half.Flags&noted != 0 && half.By == l.Side {
		quiet := l.facts[i].Quiet
		facts |= when(quiet >= h.limits.Quiet && quiet > 0, factQuiet)
	}
	return facts
}

// ownFacts are the facts that the log alone decides, whatever the user's limits.
func (l *Log) ownFacts(i uint32, half *Half) uint32 {
	facts := uint32(l.Outcome(i))*factOutcome | when(half.line[Request] != 0, factRequest) | when(half.line[Answer] != 0, factAnswer) |
		when(half.By == l.Side && (half.Flags&Acked != 0 || l.Line(i, Enter) != 0 || l.Line(i, Exit) != 0), factServed) |
		when(half.Flags&Acked != 0, factAcked)
	if unanswered(half) {
		unsure := l.Unsure(i)
		facts |= when(unsure, factUnsure) | when(unsure && l.gaveUp(i, half), factGaveUp) | when(OpenByDesign(l.Method(i)), factDesign)
	}
	if half.Flags&Ambiguous != 0 {
		g := l.GroupOf(i)
		facts |= factAmbiguous | when(g != nil && len(g.Answers) < len(g.Members), factShort)
	}
	return facts
}

func unanswered(half *Half) bool { return half.line[Answer] == 0 || half.Flags&QueuedOnly != 0 }

func when(b bool, fact uint32) uint32 {
	if b {
		return fact
	}
	return 0
}

// gaveUp reports whether half i was cancelled before any line in which its answer may hide.
func (l *Log) gaveUp(i uint32, h *Half) bool {
	line, blind := l.BlindLine(i)
	return h.line[Cancel] != 0 && blind && line > h.line[Cancel] && h.Flags&LostAnswer == 0
}
