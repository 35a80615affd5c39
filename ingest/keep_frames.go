package ingest

import (
	"context"
	"errors"
	"sync"

	"github.com/duckdb/duckdb-go/v2"

	"mcpdiag/ingest/frame"
)

const insertFrames = "INSERT INTO kept.frames BY NAME SELECT * REPLACE (list_extract($1::VARCHAR[], file + 1) AS file) FROM kept_frames($2::UINTEGER)"

// keepFrames fills `frames`, one set after another.
func keepFrames(ctx context.Context, conn *Conn, logs []*Log, sets []Set, o Options) error {
	ctx, stop := context.WithCancel(ctx)
	feeds := &frameFeeds{ctx: ctx, stop: stop, logs: logs, sets: sets, options: o}
	defer feeds.end()
	if err := feeds.register(conn); err != nil {
		return err
	}
	for i, set := range sets {
		var paths []string
		for _, s := range set.Sources {
			paths = append(paths, s.Label)
		}
		if err := conn.Exec(ctx, insertFrames, paths, uint32(i)); err != nil {
			return feeds.reason(err)
		}
	}
	return feeds.check()
}

// frameFeeds are the scans behind the table function `kept_frames(set)`.
type frameFeeds struct {
	ctx     context.Context
	stop    context.CancelFunc
	logs    []*Log
	sets    []Set
	options Options
	running sync.WaitGroup
	records [3]uint64 // by side
	err     error
}

func (f *frameFeeds) register(conn *Conn) error {
	number, err := duckdb.NewTypeInfo(duckdb.TYPE_UINTEGER)
	if err != nil {
		return err
	}
	return duckdb.RegisterTableUDF(conn.c, "kept_frames", duckdb.ChunkTableFunction{
		Config: duckdb.TableFunctionConfig{Arguments: []duckdb.TypeInfo{number}},
		BindArguments: func(_ map[string]any, args ...any) (duckdb.ChunkTableSource, error) {
			return &frameFeed{frameFeeds: f, set: f.sets[args[0].(uint32)], columns: frameColumns()}, nil
		},
	})
}

func (f *frameFeeds) log(side frame.Side) *Log {
	for _, l := range f.logs {
		if l.Side == side {
			return l
		}
	}
	return nil
}

// end ends the scan that may still be under way: a failed insert asks for no more chunks.
func (f *frameFeeds) end() {
	f.stop()
	f.running.Wait()
}

// reason is why an insert failed: a scan's own error says it better than the database, which has only its text.
func (f *frameFeeds) reason(err error) error {
	f.end()
	if f.err != nil && !errors.Is(f.err, context.Canceled) {
		return f.err
	}
	return err
}

// check refuses a log that is not what it was when it was folded: its frames and its halves would contradict each other.
func (f *frameFeeds) check() error {
	for _, l := range f.logs {
		if f.records[l.Side] != l.Records {
			return &InputError{Path: l.Path, What: "changed while it was being read", Hint: "copy the log first, and read the copy"}
		}
	}
	return nil
}

// frameFeed scans a set in a goroutine of its own, which fills the chunks that the database asks for.
type frameFeed struct {
	*frameFeeds
	set     Set
	columns []column[keptFrame]
	wanted  chan duckdb.DataChunk
	filled  chan filled
	ended   chan struct{}
	chunk   duckdb.DataChunk
	row     int
	held    bool // a chunk is being filled
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
	f.wanted, f.filled, f.ended = make(chan duckdb.DataChunk), make(chan filled), make(chan struct{})
	f.running.Go(f.scan)
}

// FillChunk has the scan fill the chunk; none is left when it has ended.
func (f *frameFeed) FillChunk(chunk duckdb.DataChunk) error {
	select {
	case f.wanted <- chunk:
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
		case f.chunk = <-f.wanted:
			f.held, f.row = true, 0
		case <-f.ctx.Done():
			return f.ctx.Err()
		}
	}
	row := keptFrame{fr, fr.More, p, l.files[p.Source].before + p.Line}
	if row.more == nil {
		row.more = &frame.More{}
	}
	if err := fill(f.columns, f.chunk, f.row, &row); err != nil {
		return err
	}
	f.records[p.Log]++
	if f.row++; f.row == duckdb.GetDataChunkCapacity() {
		f.give(nil)
	}
	return nil
}

func frameColumns() []column[keptFrame] {
	text := func(name string, get func(*keptFrame) []byte) column[keptFrame] {
		return column[keptFrame]{name, duckdb.TYPE_VARCHAR, nil, func(c cell, f *keptFrame) error { return c.text(get(f)) }}
	}
	number := func(name string, get func(*keptFrame) (int64, bool)) column[keptFrame] {
		return column[keptFrame]{name, duckdb.TYPE_BIGINT, nil, func(c cell, f *keptFrame) error { return c.number(get(f)) }}
	}
	word := func(name string, words []string, get func(*keptFrame) string) column[keptFrame] {
		return column[keptFrame]{name, duckdb.TYPE_ENUM, words, func(c cell, f *keptFrame) error { return c.word(get(f)) }}
	}
	flag := func(name string, get func(*keptFrame) (b, there bool)) column[keptFrame] {
		return column[keptFrame]{name, duckdb.TYPE_BOOLEAN, nil, func(c cell, f *keptFrame) error {
			if b, there := get(f); there {
				return c.flag(b)
			}
			return c.null()
		}}
	}
	return []column[keptFrame]{
		word("log", sideWords(), func(f *keptFrame) string { return f.place.Log.String() }),
		number("file", func(f *keptFrame) (int64, bool) { return int64(f.place.Source), true }),
		number("line", func(f *keptFrame) (int64, bool) { return int64(f.place.Line), true }),
		number("log_line", func(f *keptFrame) (int64, bool) { return int64(f.line), true }),
		{"ts", duckdb.TYPE_TIMESTAMP_NS, nil, setWallTime},
		flag("zoneless", func(f *keptFrame) (b, there bool) { return f.At.Zoneless(), f.At.HasWall() }),
		number("mono_ns", func(f *keptFrame) (int64, bool) { return f.At.MonoNS(), f.At.HasMono() }),
		text("clock", func(f *keptFrame) []byte { return f.more.Clock }),
		number("seq", func(f *keptFrame) (int64, bool) { return f.more.Seq, f.more.HasSeq }),
		word("side", append(sideWords(), frame.Proxy.String()), func(f *keptFrame) string { return f.Side.String() }),
		word("dir", words(frame.C2S, frame.S2C), func(f *keptFrame) string { return f.Dir.String() }),
		word("kind", words(frame.Request, frame.Gap), func(f *keptFrame) string { return f.Kind.String() }),
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
		{"caps", duckdb.TYPE_LIST, nil, setCaps},
		text("era", func(f *keptFrame) []byte { return f.more.Era }),
		word("phase", words(frame.Read, frame.Written), func(f *keptFrame) string { return f.Phase.String() }),
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

func setWallTime(c cell, f *keptFrame) error {
	if _, ok := f.At.WallNS(); !ok {
		return c.null()
	}
	return duckdb.SetChunkValue(c.chunk, c.col, c.row, f.At.Time())
}

func setCaps(c cell, f *keptFrame) error {
	if f.more.Caps == nil {
		return c.null()
	}
	caps := make([]string, len(f.more.Caps))
	for i, name := range f.more.Caps {
		caps[i] = string([]rune(name))
	}
	return duckdb.SetChunkValue(c.chunk, c.col, c.row, caps)
}
