package ingest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"io"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"mcpdiag/ingest/frame"
)

// A log that is folded where it was written travels as four tables: what is told of it as a whole (`logs`), its sessions and
// connections (`stretches`), its halves, and its marks. Nothing in them depends on the user's limits or on the other log, so
// that a log is folded once, and the same log gives the same bytes. The columns are public: folded.md describes them.

// logBody is what the table `logs` holds of a log in one column, since only this package reads it.
type logBody struct {
	Header
	Dialect string
	Files   []fileBody
	Unseen  []uint32
	First   frame.Instant
	Last    frame.Instant
	Groups  []*Group      `json:",omitempty"`
	Quiet   time.Duration // the silences after an answer that were taken note of
}

type fileBody struct {
	Path    string
	Before  uint32
	Numbers []uint32 `json:",omitempty"`
}

// stretchBody is the same of a stretch.
type stretchBody struct {
	*Stretch
	Cut uint32 `json:",omitempty"`
}

// markBody is the same of a mark, whose prefix may be any bytes.
type markBody struct {
	Mark
	Raw []byte `json:",omitempty"`
}

// halfBody is what few halves have.
type halfBody struct {
	Fact  *Fact   `json:",omitempty"`
	Walls []int64 `json:",omitempty"` // by point
}

func asJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of this package's own types
	}
	return b
}

func (l *Log) body() []byte {
	b := logBody{Header: l.Header, Dialect: l.Dialect.Name, Unseen: l.unseen, First: l.first, Last: l.last, Groups: l.groups(), Quiet: l.quiet}
	for _, f := range l.files {
		b.Files = append(b.Files, fileBody{f.path, f.before, f.numbers})
	}
	return asJSON(b)
}

// groups lists the groups of requests that cannot be told apart, in the order of their first members.
func (l *Log) groups() []*Group {
	var list []*Group
	for i := range l.arena.n {
		if g := l.grouped[i]; g != nil && g.Members[0] == i {
			list = append(list, g)
		}
	}
	return list
}

// contentID names a log by what it says, not by where it lies: 32 hex digits, the same for the same log.
func (l *Log) contentID() string {
	sum := sha256.New()
	body := logBody{Header: l.Header, Dialect: l.Dialect.Name, Unseen: l.unseen, First: l.first, Last: l.last, Quiet: l.quiet}
	sum.Write(asJSON(struct {
		logBody
		Side      frame.Side
		Stretches []*Stretch
	}{body, l.Side, l.Stretches}))
	row := make([]byte, 0, 256)
	for i := range l.arena.n {
		h := l.arena.at(i)
		row, _ = binary.Append(row[:0], binary.LittleEndian, struct {
			At      [3]int64
			Line    [3]uint32
			Bytes   [2]uint32
			Stretch uint32
		}{h.at, h.line, h.bytes, h.Stretch})
		row = append(row, l.arena.token(h.id, nil)...)
		sum.Write(row)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// head names what a log began with: a log that has grown has the same.
func (l *Log) head() string {
	sum := sha256.New()
	sum.Write(asJSON([]any{l.Side, l.Dialect.Name, l.FirstLine, l.first}))
	if l.arena.n > 0 {
		sum.Write(asJSON([]any{l.Line(0, Request), l.At(0, Request), l.ID(0), l.Method(0)}))
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Buckets is how many parts the halves and marks of a log are written in. Both halves of a call are in the same one.
const Buckets = 16

// bucket is the part that a session is in.
func (s *Stretch) bucket() int64 {
	h := fnv.New64a()
	io.WriteString(h, s.Session)
	return int64(h.Sum64() % Buckets)
}

// cited tells the halves that something else in the log refers to, so that whoever brings in only some takes these along.
func (l *Log) cited() map[uint32]bool {
	cited := map[uint32]bool{}
	for _, n := range l.Notes {
		for _, i := range n.Halves {
			cited[i] = true
		}
	}
	for _, f := range l.facts {
		if f.QuietEnd >= 0 {
			cited[uint32(f.QuietEnd)] = true
		}
	}
	listed := map[uint32]bool{} // stretches in which a list was said to have changed
	for k := range l.Marks {
		m := &l.Marks[k]
		listed[m.Stretch] = listed[m.Stretch] || m.Kind == frame.Notification
		if m.Half >= 0 {
			cited[uint32(m.Half)] = true
		}
	}
	for i := range l.arena.n {
		if listed[l.arena.at(i).Stretch] && lists(l.Method(i)) {
			cited[i] = true
		}
	}
	return cited
}

// lists reports whether a method asks for a list that a notification may have called stale.
func lists(method string) bool {
	switch method {
	case "tools/list", "prompts/list", "resources/list", "roots/list":
		return true
	}
	return false
}

// foldedHalf is a row of `halves` to be.
type foldedHalf struct {
	*Half
	log   *Log
	n     uint32
	cited bool
}

func (k *foldedHalf) more() []byte {
	var body halfBody
	if k.Flags&noted != 0 {
		body.Fact = k.log.facts[k.n]
	}
	if w := k.log.arena.walls[k.n]; w != nil {
		body.Walls = w[:]
	}
	if body.Fact == nil && body.Walls == nil {
		return []byte{}
	}
	return asJSON(body)
}

// point is the line and the reading of a point.
func (k *foldedHalf) point(p Point) (line uint32, at int64, timed bool) {
	t, n := k.log.slot(k.Half, k.n, p)
	if n == nil || *n == 0 {
		return 0, 0, false
	}
	return *n, *t, k.timed>>(2*p)&1 != 0
}

// textColumn, numberColumn and sideColumn are the kinds of columns.
func textColumn[T any](name string, get func(*T) []byte) column[T] {
	return column[T]{name, duckdb.TYPE_VARCHAR, nil, func(c cell, v *T) { c.text(get(v)) }}
}

func numberColumn[T any](name string, get func(*T) (int64, bool)) column[T] {
	return column[T]{name, duckdb.TYPE_BIGINT, nil, func(c cell, v *T) { c.number(get(v)) }}
}

func sideColumn[T any](name string, get func(*T) frame.Side) column[T] {
	return column[T]{name, duckdb.TYPE_ENUM, words(frame.Client, frame.Server), func(c cell, v *T) { c.word(int(get(v)) - 1) }}
}

func truth(b bool) (int64, bool) { return int64(when(b, 1)), true }

func always(n uint32) (int64, bool) { return int64(n), true }

// foldedHalves are the columns of `halves`, but for those that say which log it is.
func foldedHalves() []column[foldedHalf] {
	type row = foldedHalf
	columns := []column[row]{
		numberColumn("half", func(k *row) (int64, bool) { return always(k.n) }),
		numberColumn("stretch", func(k *row) (int64, bool) { return always(k.Stretch) }),
		textColumn("session", func(k *row) []byte { return []byte(k.log.Stretches[k.Stretch].Session) }),
		numberColumn("bucket", func(k *row) (int64, bool) { return k.log.Stretches[k.Stretch].bucket(), true }),
		sideColumn("requester", func(k *row) frame.Side { return k.By }),
		textColumn("id", func(k *row) []byte { return k.log.arena.token(k.id, make([]byte, 0, 20)) }),
		numberColumn("nth", func(k *row) (int64, bool) { return always(k.Nth) }),
		textColumn("method", func(k *row) []byte { return []byte(k.log.Method(k.n)) }),
		textColumn("name", func(k *row) []byte { return []byte(k.log.Name(k.n)) }),
		numberColumn("request_bytes", func(k *row) (int64, bool) { n := k.log.Bytes(k.n, Request); return n, n >= 0 }),
		numberColumn("answer_bytes", func(k *row) (int64, bool) { n := k.log.Bytes(k.n, Answer); return n, n >= 0 }),
		numberColumn("rows", func(k *row) (int64, bool) { n := k.log.Rows(k.n); return n, n >= 0 }),
		numberColumn("flags", func(k *row) (int64, bool) { return int64(k.Flags), true }),
		numberColumn("facts", func(k *row) (int64, bool) { return always(k.log.ownFacts(k.n, k.Half)) }),
		numberColumn("clock", func(k *row) (int64, bool) { return int64(k.clock), true }),
		numberColumn("timed", func(k *row) (int64, bool) { return int64(k.timed), true }),
		numberColumn("first_line", func(k *row) (int64, bool) { return always(k.log.firstLine(k.n, k.Half)) }),
		numberColumn("wall_at", func(k *row) (int64, bool) { return k.log.At(k.n, Request).WallNS() }),
		numberColumn("since_start", func(k *row) (int64, bool) { d, ok := k.log.At(k.n, Request).Sub(k.log.first); return int64(d), ok }),
		numberColumn("took_ns", func(k *row) (int64, bool) { d, ok := k.log.Between(k.n, Request, Answer); return int64(d), ok }),
		numberColumn("age_ns", func(k *row) (int64, bool) {
			if !unanswered(k.Half) {
				return 0, false
			}
			d, ok := k.log.age(k.n)
			return int64(d), ok
		}),
		numberColumn("quiet_ns", func(k *row) (int64, bool) { d := k.log.Fact(k.n).Quiet; return int64(d), d > 0 && k.By == k.log.Side }),
		numberColumn("silence_ns", func(k *row) (int64, bool) { return int64(k.log.Silence(k.n)), k.line[Answer] != 0 }),
		numberColumn("cited", func(k *row) (int64, bool) { return truth(k.cited) }),
		textColumn("more", (*row).more),
	}
	for p := range points {
		columns = append(columns,
			numberColumn(pointNames[p]+"_line", func(k *row) (int64, bool) { n, _, _ := k.point(p); return int64(n), n != 0 }),
			numberColumn(pointNames[p]+"_at", func(k *row) (int64, bool) { _, at, ok := k.point(p); return at, ok }))
	}
	return columns
}

// foldedMark is a row of `marks` to be.
type foldedMark struct {
	*Mark
	log *Log
}

func foldedMarks() []column[foldedMark] {
	type row = foldedMark
	return []column[row]{
		numberColumn("stretch", func(m *row) (int64, bool) { return always(m.Stretch) }),
		textColumn("session", func(m *row) []byte { return []byte(m.log.Stretches[m.Stretch].Session) }),
		numberColumn("bucket", func(m *row) (int64, bool) { return m.log.Stretches[m.Stretch].bucket(), true }),
		textColumn("kind", func(m *row) []byte { return []byte(m.Kind.String()) }),
		textColumn("dir", func(m *row) []byte { return []byte(m.Dir.String()) }),
		numberColumn("line", func(m *row) (int64, bool) { return always(m.Line) }),
		textColumn("body", func(m *row) []byte { return asJSON(markBody{*m.Mark, []byte(m.Raw)}) }),
	}
}

// foldedStretch is a row of `stretches` to be.
type foldedStretch struct {
	*Stretch
	log    *Log
	reused bool
	noIDs  bool
}

func foldedStretches() []column[foldedStretch] {
	type row = foldedStretch
	return []column[row]{
		numberColumn("stretch", func(s *row) (int64, bool) { return always(s.index) }),
		textColumn("session", func(s *row) []byte { return []byte(s.Session) }),
		numberColumn("calls", func(s *row) (int64, bool) { return always(s.Calls) }),
		numberColumn("reused", func(s *row) (int64, bool) { return truth(s.reused) }),
		numberColumn("no_ids", func(s *row) (int64, bool) { return truth(s.noIDs) }),
		textColumn("body", func(s *row) []byte { return asJSON(stretchBody{s.Stretch, s.cut}) }),
	}
}

// foldedStretches makes the rows of the log's stretches.
func (l *Log) foldedStretches() []foldedStretch {
	rows := make([]foldedStretch, len(l.Stretches))
	for i, s := range l.Stretches {
		rows[i] = foldedStretch{Stretch: s, log: l}
	}
	if l.Reuses > 0 || l.NoIDs > 0 {
		for i := range l.arena.n {
			h := l.arena.at(i)
			rows[h.Stretch].reused = rows[h.Stretch].reused || h.Nth > 1
			rows[h.Stretch].noIDs = rows[h.Stretch].noIDs || h.Flags&NoID != 0
		}
	}
	return rows
}

func foldedLogs() []column[*Log] {
	type row = *Log
	return []column[row]{
		textColumn("name", func(l *row) []byte { return []byte((*l).Path) }),
		textColumn("head", func(l *row) []byte { return []byte((*l).head()) }),
		numberColumn("halves", func(l *row) (int64, bool) { return int64((*l).Halves()), true }),
		numberColumn("records", func(l *row) (int64, bool) { return int64((*l).Records), true }),
		numberColumn("first_wall", func(l *row) (int64, bool) { return (*l).first.WallNS() }),
		numberColumn("last_wall", func(l *row) (int64, bool) { return (*l).last.WallNS() }),
		textColumn("body", func(l *row) []byte { return (*l).body() }),
	}
}

// FoldedColumn is a column of a table of folded logs: a number, or a text.
type FoldedColumn struct {
	Name   string
	Number bool
}

// FoldedColumns are the columns of a table of folded logs.
func FoldedColumns(table string) []FoldedColumn {
	switch table {
	case "halves":
		return namesOf(foldedHalves())
	case "marks":
		return namesOf(foldedMarks())
	case "stretches":
		return namesOf(foldedStretches())
	}
	return namesOf(foldedLogs())
}

func namesOf[T any](columns []column[T]) []FoldedColumn {
	list := []FoldedColumn{{"log", false}, {"side", false}}
	for _, c := range columns {
		if c.name != "bucket" { // it is in the names of the files
			list = append(list, FoldedColumn{c.name, c.typ == duckdb.TYPE_BIGINT})
		}
	}
	return list
}
