package ingest

import (
	"context"
	"database/sql"

	"github.com/duckdb/duckdb-go/v2"

	"mcpdiag/ingest/frame"
)

const insertHalves = "INSERT INTO kept.halves BY NAME SELECT * FROM %s()"

// insert is the task of adding the rows by the query.
func (f *feed[T]) insert(query string) task {
	return func(ctx context.Context, c *sql.Conn) error { return insertFrom(ctx, c, f, query) }
}

// keptHalves serves the halves of the log.
func (l *Log) keptHalves(v vectors) *feed[keptHalf] {
	nth := l.nthInFile()
	return &feed[keptHalf]{vectors: v, columns: halfKeptColumns(), count: l.Halves(), row: func(i int) keptHalf {
		k := l.keptHalf(uint32(i))
		if nth != nil {
			k.nth = nth[i]
		}
		return k
	}}
}

// keptHalf is a row to be.
type keptHalf struct {
	*Half
	log     *Log
	stretch *Stretch
	n       uint32
	nth     uint32
	at      [points]frame.Instant
	mono    bool // the five times are read on the monotonic clock
}

// keptHalf collects what a row says. Its times are on one clock: the monotonic one when it can tell them all.
func (l *Log) keptHalf(i uint32) keptHalf {
	half := l.Half(i)
	k := keptHalf{Half: half, log: l, stretch: l.Stretches[half.Stretch], n: i, nth: half.Nth}
	known := false
	k.mono = true
	for p := range points {
		k.at[p] = l.At(i, p)
		known = known || k.at[p].Known()
		k.mono = k.mono && (k.at[p].HasMono() || !k.at[p].Known())
	}
	k.mono = k.mono && known
	return k
}

// clock tells the clock of the five times: 0 the monotonic one, 1 the wall clock, negative none.
func (k *keptHalf) clock() int {
	for _, t := range k.at {
		switch {
		case k.mono:
			return 0
		case t.Known():
			return 1
		}
	}
	return -1
}

func (k *keptHalf) time(p Point) (int64, bool) {
	if k.mono {
		return k.at[p].MonoNS(), k.at[p].HasMono()
	}
	return k.at[p].WallNS()
}

// took is the time from one point to another; not there when an end is unknown or the clock stepped.
func (k *keptHalf) took(from, to Point) (int64, bool) {
	d, ok := k.at[to].Sub(k.at[from])
	return int64(d), ok && d >= 0
}

// nthInFile counts, for each half, the requests of its requester with its id: NthInFile for all halves at once, which alone
// would look through all connections before. nil when the log has one connection, or names its sessions.
func (l *Log) nthInFile() []uint32 {
	unnamed := 0
	for _, s := range l.Stretches {
		if s.Session == "" {
			unnamed++
		}
	}
	if unnamed < 2 {
		return nil
	}
	nth := make([]uint32, l.Halves())
	seen := map[idUse]uint32{} // in the connections before
	for _, halves := range l.byStretch() {
		for _, i := range halves {
			nth[i] = l.Half(i).Nth
			if l.Stretches[l.Half(i).Stretch].Session == "" {
				nth[i] += seen[l.idUse(i)]
			}
		}
		for _, i := range halves {
			if l.Stretches[l.Half(i).Stretch].Session == "" {
				seen[l.idUse(i)]++
			}
		}
	}
	return nth
}

// idUse is an id of one requester.
type idUse struct {
	by   frame.Side
	id   idRef
	text string // of an id that has its place elsewhere
}

func (l *Log) idUse(i uint32) idUse {
	h := l.Half(i)
	if h.id&elsewhere == 0 {
		return idUse{by: h.By, id: h.id}
	}
	return idUse{by: h.By, text: string(l.arena.token(h.id, nil))}
}

// byStretch lists the halves of each stretch.
func (l *Log) byStretch() [][]uint32 {
	lists := make([][]uint32, len(l.Stretches))
	for i := range uint32(l.Halves()) {
		s := l.Half(i).Stretch
		lists[s] = append(lists[s], i)
	}
	return lists
}

func halfKeptColumns() []column[keptHalf] {
	number := func(name string, get func(*keptHalf) (int64, bool)) column[keptHalf] {
		return column[keptHalf]{name, duckdb.TYPE_BIGINT, nil, func(c cell, k *keptHalf) { c.number(get(k)) }}
	}
	text := func(name string, get func(*keptHalf) string) column[keptHalf] {
		return column[keptHalf]{name, duckdb.TYPE_VARCHAR, nil, func(c cell, k *keptHalf) {
			if s := get(k); s != "" {
				c.text([]byte(s))
			} else {
				c.text(nil)
			}
		}}
	}
	word := func(name string, words []string, get func(*keptHalf) int) column[keptHalf] {
		return column[keptHalf]{name, duckdb.TYPE_ENUM, words, func(c cell, k *keptHalf) { c.word(get(k)) }}
	}
	size := func(name string, p Point) column[keptHalf] {
		return number(name, func(k *keptHalf) (int64, bool) { n := k.log.Bytes(k.n, p); return n, n >= 0 })
	}
	took := func(name string, from, to Point) column[keptHalf] {
		return number(name, func(k *keptHalf) (int64, bool) { return k.took(from, to) })
	}
	columns := []column[keptHalf]{
		word("side", words(frame.Client, frame.Server), func(k *keptHalf) int { return int(k.log.Side) - 1 }),
		number("half", func(k *keptHalf) (int64, bool) { return int64(k.n), true }),
		text("session", func(k *keptHalf) string { return k.stretch.Session }),
		number("connection", func(k *keptHalf) (int64, bool) { return int64(k.stretch.Number), true }),
		word("requester", words(frame.Client, frame.Server), func(k *keptHalf) int { return int(k.By) - 1 }),
		{"id", duckdb.TYPE_VARCHAR, nil, func(c cell, k *keptHalf) { c.text(k.log.arena.token(k.id, make([]byte, 0, 20))) }},
		number("nth", func(k *keptHalf) (int64, bool) { return int64(k.nth), true }),
		text("method", func(k *keptHalf) string { return k.log.Method(k.n) }),
		text("name", func(k *keptHalf) string { return k.log.Name(k.n) }),
		word("outcome", words(StillOpen, WasRefused), func(k *keptHalf) int { return int(k.log.Outcome(k.n)) }),
		size("request_bytes", Request), size("answer_bytes", Answer),
		number("rows", func(k *keptHalf) (int64, bool) { n := k.log.Rows(k.n); return n, n >= 0 }),
		number("code", func(k *keptHalf) (int64, bool) {
			return int64(k.log.Code(k.n)), k.Flags&IsError != 0 && k.log.Code(k.n) != 0
		}),
		number("status", func(k *keptHalf) (int64, bool) { n := k.log.Status(k.n); return int64(n), n != 0 }),
		word("clock", []string{"mono", "wall"}, (*keptHalf).clock),
		number("clock_no", func(k *keptHalf) (int64, bool) { return int64(k.Half.clock), k.mono }),
		took("dispatch_ns", Request, Enter), took("handler_ns", Enter, Exit), took("flush_ns", Exit, Answer),
		took("took_ns", Request, Answer), took("cancel_ns", Request, Cancel),
	}
	for p := range points {
		name := pointNames[p]
		columns = append(columns,
			number(name+"_line", func(k *keptHalf) (int64, bool) { n := k.log.Line(k.n, p); return int64(n), n != 0 }),
			number(name+"_at", func(k *keptHalf) (int64, bool) { return k.time(p) }))
	}
	for bit, name := range flagNames {
		columns = append(columns, column[keptHalf]{name, duckdb.TYPE_BOOLEAN, nil, func(c cell, k *keptHalf) { c.flag(k.Flags>>bit&1 == 1, true) }})
	}
	return columns
}

// pointNames are what the columns of a point begin with.
var pointNames = [points]string{Request: "request", Answer: "answer", Cancel: "cancel", Enter: "enter", Exit: "exit"}

// flagNames are the columns of the flags, by bit.
var flagNames = [...]string{"ambiguous", "is_error", "tool_error", "refused", "input_asked", "queued_only", "lost_answer", "late", "closed", "modern"}
