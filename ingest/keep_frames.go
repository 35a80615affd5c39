package ingest

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"

	"github.com/duckdb/duckdb-go/v2"

	"mcpdiag/ingest/frame"
)

const insertFrames = "INSERT INTO kept.frames BY NAME SELECT * REPLACE (list_extract($1::VARCHAR[], file + 1) AS file) FROM %s()"

// frameFeed scans a set in a goroutine of its own, which fills the chunks that the database asks for.
type frameFeed struct {
	vectors vectors
	logs    []*Log
	set     Set
	options Options
	columns []column[keptFrame]
	ctx     context.Context // of the insert
	running sync.WaitGroup
	wanted  chan []sheet
	filled  chan filled
	ended   chan struct{}
	err     error // of the scan, once it has ended
	sheets  []sheet
	row     int
	held    bool      // a chunk is being filled
	records [3]uint64 // by side
	none    frame.More
}

// insert adds the records of the feed's set to `frames`.
func (f *frameFeed) insert(ctx context.Context, c *sql.Conn) error {
	ctx, stop := context.WithCancel(ctx)
	f.ctx = ctx
	var paths []string
	for _, s := range f.set.Sources {
		paths = append(paths, strings.ToValidUTF8(s.Label, "\uFFFD"))
	}
	err := insertFrom(ctx, c, f, insertFrames, paths)
	stop() // a failed insert asks for no more chunks
	f.running.Wait()
	if f.err != nil && !errors.Is(f.err, context.Canceled) {
		return f.err // the scan's own error says it better than the database, which has only its text
	}
	return err
}

// unchanged refuses a log that is not what it was when it was folded: its frames and its halves would contradict each other.
func unchanged(feeds []*frameFeed, logs []*Log) error {
	for _, l := range logs {
		n := uint64(0)
		for _, f := range feeds {
			n += f.records[l.Side]
		}
		if n != l.Records {
			return &InputError{Path: l.Path, What: "changed while it was being read", Hint: "copy the log first, and read the copy"}
		}
	}
	return nil
}

func (f *frameFeed) log(side frame.Side) *Log {
	for _, l := range f.logs {
		if l.Side == side {
			return l
		}
	}
	return nil
}

type filled struct {
	rows int
	err  error
}

// keptFrame is a row to be.
type keptFrame struct {
	*frame.Frame
	more  *frame.More
	place *Place
	line  uint32 // over all files of the log
}

// ColumnInfos describes the columns.
func (f *frameFeed) ColumnInfos() []duckdb.ColumnInfo { return columnInfos(f.columns) }

// Cardinality is not known before the scan.
func (f *frameFeed) Cardinality() *duckdb.CardinalityInfo { return nil }

// Init starts the scan.
func (f *frameFeed) Init() {
	f.wanted, f.filled, f.ended = make(chan []sheet), make(chan filled), make(chan struct{})
	f.running.Go(f.scan)
}

// FillChunk has the scan fill the chunk; none is left when it has ended.
func (f *frameFeed) FillChunk(chunk duckdb.DataChunk) error {
	sheets, err := f.vectors.sheets(&chunk, len(f.columns))
	if err != nil {
		return err
	}
	select {
	case f.wanted <- sheets:
		got := <-f.filled
		if got.err != nil {
			return got.err
		}
		return chunk.SetSize(got.rows)
	case <-f.ended:
		if f.err != nil {
			return f.err
		}
		return chunk.SetSize(0)
	}
}

func (f *frameFeed) scan() {
	defer close(f.ended)
	_, err := Frames(f.ctx, f.set, f.options, Visitor{Frame: f.visit})
	f.err = err
	if f.held {
		f.give(err)
	}
}

func (f *frameFeed) give(err error) {
	f.held = false
	f.filled <- filled{f.row, err}
}

func (f *frameFeed) visit(p *Place, fr *frame.Frame) error {
	l := f.log(p.Log)
	if l == nil || p.Source >= len(l.files) || p.Line > l.seenUpTo(p.Source) {
		return nil
	}
	if !f.held {
		select {
		case f.sheets = <-f.wanted:
			f.held, f.row = true, 0
		case <-f.ctx.Done():
			return f.ctx.Err()
		}
	}
	row := keptFrame{fr, fr.More, p, l.files[p.Source].before + p.Line}
	if row.more == nil {
		row.more = &f.none
	}
	fill(f.columns, f.sheets, f.row, &row)
	f.records[p.Log]++
	if f.row++; f.row == blockLen {
		f.give(nil)
	}
	return nil
}

func frameColumns() []column[keptFrame] {
	text := func(name string, get func(*keptFrame) []byte) column[keptFrame] {
		return column[keptFrame]{name, duckdb.TYPE_VARCHAR, nil, func(c cell, f *keptFrame) { c.text(get(f)) }}
	}
	number := func(name string, get func(*keptFrame) (int64, bool)) column[keptFrame] {
		return column[keptFrame]{name, duckdb.TYPE_BIGINT, nil, func(c cell, f *keptFrame) { c.number(get(f)) }}
	}
	word := func(name string, words []string, get func(*keptFrame) int) column[keptFrame] {
		return column[keptFrame]{name, duckdb.TYPE_ENUM, words, func(c cell, f *keptFrame) { c.word(get(f)) }}
	}
	flag := func(name string, get func(*keptFrame) (b, there bool)) column[keptFrame] {
		return column[keptFrame]{name, duckdb.TYPE_BOOLEAN, nil, func(c cell, f *keptFrame) { c.flag(get(f)) }}
	}
	return []column[keptFrame]{
		word("log", words(frame.Client, frame.Server), func(f *keptFrame) int { return int(f.place.Log) - 1 }), // no side, dir or kind is 0
		number("file", func(f *keptFrame) (int64, bool) { return int64(f.place.Source), true }),
		number("line", func(f *keptFrame) (int64, bool) { return int64(f.place.Line), true }),
		number("log_line", func(f *keptFrame) (int64, bool) { return int64(f.line), true }),
		{"ts", duckdb.TYPE_TIMESTAMP_NS, nil, func(c cell, f *keptFrame) { c.number(f.At.WallNS()) }},
		flag("zoneless", func(f *keptFrame) (b, there bool) { return f.At.Zoneless(), f.At.HasWall() }),
		number("mono_ns", func(f *keptFrame) (int64, bool) { return f.At.MonoNS(), f.At.HasMono() }),
		text("clock", func(f *keptFrame) []byte { return f.more.Clock }),
		number("seq", func(f *keptFrame) (int64, bool) { return f.more.Seq, f.more.HasSeq }),
		word("side", words(frame.Client, frame.Proxy), func(f *keptFrame) int { return int(f.Side) - 1 }),
		word("dir", words(frame.C2S, frame.S2C), func(f *keptFrame) int { return int(f.Dir) - 1 }),
		word("kind", words(frame.Request, frame.Gap), func(f *keptFrame) int { return int(f.Kind) - 1 }),
		text("id", func(f *keptFrame) []byte { return f.ID }),
		text("method", func(f *keptFrame) []byte { return f.Method }),
		text("name", func(f *keptFrame) []byte { return f.Name }),
		number("bytes", func(f *keptFrame) (int64, bool) { return f.Bytes, f.Bytes >= 0 }),
		number("rows", func(f *keptFrame) (int64, bool) { return f.Rows, f.Rows >= 0 }),
		text("session", func(f *keptFrame) []byte { return f.Session }),
		text("conn", func(f *keptFrame) []byte { return f.more.Conn }),
		text("exchange", func(f *keptFrame) []byte { return f.more.Exchange }),
		text("pid", func(f *keptFrame) []byte { return f.more.PID }),
		text("request_id", func(f *keptFrame) []byte { return f.RequestID }),
		text("token", func(f *keptFrame) []byte { return f.more.Token }),
		number("code", func(f *keptFrame) (int64, bool) { return f.more.Code, f.more.HasCode }),
		flag("tool_error", func(f *keptFrame) (b, there bool) { return true, f.more.ToolError }),
		text("result_type", func(f *keptFrame) []byte { return f.more.ResultType }),
		number("status", func(f *keptFrame) (int64, bool) { return f.more.Status, f.more.HasStatus }),
		{"caps", duckdb.TYPE_LIST, nil, func(c cell, f *keptFrame) { c.texts(f.more.Caps) }},
		text("era", func(f *keptFrame) []byte { return f.more.Era }),
		word("phase", words(frame.Read, frame.Written), func(f *keptFrame) int { return int(f.Phase) - 1 }),
		text("raw", func(f *keptFrame) []byte { return f.more.Raw }),
		flag("trunc", func(f *keptFrame) (b, there bool) { return f.Trunc, true }),
		number("dropped", func(f *keptFrame) (int64, bool) { return f.more.Dropped, f.Kind == frame.Gap }),
	}
}

// words lists the words of an ENUM whose values follow one another.
func words[T interface {
	~uint8
	String() string
}](first, last T) []string {
	var list []string
	for v := first; v <= last; v++ {
		list = append(list, v.String())
	}
	return list
}
