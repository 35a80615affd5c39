package ingest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	_ "embed" // for the tables
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

//go:embed keep.sql
var keepSQL string

// Kept is the name under which the database to keep a diagnosis in is attached.
const Kept = "kept"

// Keep makes and fills the tables `frames` and `halves` of the attached database Kept: every record of the logs, for which
// the sets are read again, and every half. The sets must be those that the logs were read from; what was appended to a log
// since then is left out, so that the tables agree.
func Keep(ctx context.Context, conn *Conn, logs []*Log, sets []Set, o Options) error {
	if err := conn.Exec(ctx, keepSQL); err != nil {
		return err
	}
	v, ok := newVectors()
	if !ok {
		return errors.New("this version of the DuckDB driver keeps its chunks elsewhere")
	}
	var feeds []*frameFeed
	var tasks []task
	for _, set := range sets {
		feed := &frameFeed{vectors: v, logs: logs, set: set, options: o, columns: frameColumns()}
		feeds = append(feeds, feed)
		tasks = append(tasks, feed.insert)
	}
	for _, l := range logs {
		tasks = append(tasks, l.keptHalves(v).insert(insertHalves))
	}
	if err := conn.atOnce(ctx, tasks); err != nil {
		return err
	}
	return unchanged(feeds, logs)
}

// task is work on a connection of its own.
type task func(context.Context, *sql.Conn) error

// atOnce runs the tasks side by side, each on a connection of its own, since one insert keeps one core busy. The first error
// ends them all.
func (c *Conn) atOnce(ctx context.Context, tasks []task) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var running sync.WaitGroup
	for _, task := range tasks {
		running.Go(func() {
			own, err := c.db.Conn(ctx)
			if err == nil {
				err = task(ctx, own)
				if err != nil { // an interrupt may have left a transaction open, whose end takes later ones' functions along
					own.Raw(func(any) error { return driver.ErrBadConn })
				}
				own.Close()
			}
			if err != nil {
				stop(err)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// insertFrom adds the rows of a source to a table of Kept. The query selects them from the table function in its %s, whose
// name is used once: a database keeps the first function of a name.
func insertFrom(ctx context.Context, c *sql.Conn, source duckdb.ChunkTableSource, query string, args ...any) error {
	name := fmt.Sprintf("kept_%016x", rand.Uint64())
	err := duckdb.RegisterTableUDF(c, name, duckdb.ChunkTableFunction{
		BindArguments: func(map[string]any, ...any) (duckdb.ChunkTableSource, error) { return source, nil },
	})
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, fmt.Sprintf(query, name), args...)
	return err
}

// column is a column of a table function whose rows are made from a T.
type column[T any] struct {
	name string
	typ  duckdb.Type
	enum []string // the words of an ENUM
	set  func(cell, *T)
}

// cell is one field of a chunk being filled: a row of a vector, whose values lie in data as the column's type has them.
type cell struct {
	*sheet
	row int
}

// sheet is the vector of a column, valid throughout until a cell is set to null.
type sheet struct {
	vec   mapping.Vector
	data  unsafe.Pointer
	valid *[blockLen / 64]uint64
}

// sheets are the vectors of a chunk.
func (v vectors) sheets(chunk *duckdb.DataChunk, columns int) ([]sheet, error) {
	list := make([]sheet, columns)
	for k := range list {
		vec := v.column(chunk, k)
		if vec == nil {
			return nil, errors.New("a table that is to be kept whole was asked for some of its columns")
		}
		mapping.VectorEnsureValidityWritable(*vec)
		list[k] = sheet{*vec, mapping.VectorGetData(*vec), (*[blockLen / 64]uint64)(mapping.VectorGetValidity(*vec))}
		for w := range list[k].valid {
			list[k].valid[w] = math.MaxUint64
		}
	}
	return list, nil
}

func at[T any](c cell) *T { return &unsafe.Slice((*T)(c.data), blockLen)[c.row] }

func (c cell) null() { c.valid[c.row/64] &^= 1 << (c.row % 64) }

// number sets a BIGINT.
func (c cell) number(n int64, there bool) {
	*at[int64](c) = n
	if !there {
		c.null()
	}
}

// flag sets a BOOLEAN.
func (c cell) flag(b, there bool) {
	*at[bool](c) = b
	if !there {
		c.null()
	}
}

// word sets an ENUM to its nth word, counted from 0; null when n is negative.
func (c cell) word(n int) {
	*at[uint8](c) = uint8(max(n, 0))
	if n < 0 {
		c.null()
	}
}

// text sets a VARCHAR; nil is null. A database takes valid UTF-8 only.
func (c cell) text(t []byte) {
	if t == nil {
		c.null()
	}
	if !utf8.Valid(t) {
		t = []byte(string([]rune(string(t))))
	}
	text(&c.vec, unsafe.Slice((*inlined)(c.data), blockLen), c.row, t)
}

// texts sets a list of VARCHAR; nil is null.
func (c cell) texts(list []string) {
	type entry struct{ offset, length uint64 }
	size := mapping.ListVectorGetSize(c.vec)
	*at[entry](c) = entry{uint64(size), uint64(len(list))}
	if list == nil {
		c.null()
		return
	}
	mapping.ListVectorReserve(c.vec, size+mapping.IdxT(len(list)))
	mapping.ListVectorSetSize(c.vec, size+mapping.IdxT(len(list)))
	for k, t := range list {
		mapping.VectorAssignStringElement(mapping.ListVectorGetChild(c.vec), size+mapping.IdxT(k), string([]rune(t)))
	}
}

// feed serves rows that are made one by one, in order.
type feed[T any] struct {
	vectors vectors
	columns []column[T]
	count   int
	row     func(i int) T
	next    int
}

// ColumnInfos describes the columns.
func (f *feed[T]) ColumnInfos() []duckdb.ColumnInfo { return columnInfos(f.columns) }

// Cardinality guides the planner.
func (f *feed[T]) Cardinality() *duckdb.CardinalityInfo {
	return &duckdb.CardinalityInfo{Cardinality: uint(f.count), Exact: true}
}

// Init starts at the first row.
func (f *feed[T]) Init() { f.next = 0 }

// FillChunk writes the next rows.
func (f *feed[T]) FillChunk(chunk duckdb.DataChunk) error {
	sheets, err := f.vectors.sheets(&chunk, len(f.columns))
	if err != nil {
		return err
	}
	n := 0
	for ; n < blockLen && f.next < f.count; n++ {
		v := f.row(f.next)
		fill(f.columns, sheets, n, &v)
		f.next++
	}
	return chunk.SetSize(n)
}

// fill writes one row.
func fill[T any](columns []column[T], sheets []sheet, row int, v *T) {
	for k := range columns {
		columns[k].set(cell{&sheets[k], row}, v)
	}
}

func columnInfos[T any](columns []column[T]) []duckdb.ColumnInfo {
	var infos []duckdb.ColumnInfo
	for _, c := range columns {
		t, err := typeInfo(c.typ, c.enum)
		if err != nil {
			panic(err) // a constant of this package
		}
		infos = append(infos, duckdb.ColumnInfo{Name: c.name, T: t})
	}
	return infos
}

func typeInfo(t duckdb.Type, enum []string) (duckdb.TypeInfo, error) {
	switch t {
	case duckdb.TYPE_ENUM:
		return duckdb.NewEnumInfo(enum[0], enum[1:]...)
	case duckdb.TYPE_LIST:
		text, err := duckdb.NewTypeInfo(duckdb.TYPE_VARCHAR)
		if err != nil {
			return nil, err
		}
		return duckdb.NewListInfo(text)
	}
	return duckdb.NewTypeInfo(t)
}

// seenUpTo is the last line of each file of the log that its reading took in: a log may have grown since. A cut last line is
// left out, since it may be whole by now.
func (l *Log) seenUpTo(source int) uint32 {
	end := l.Lines
	if source+1 < len(l.files) {
		end = l.files[source+1].before
	} else if l.CutTail {
		end--
	}
	return end - l.files[source].before
}

// Files lists the files of the log, as the user named them, and how many lines of the log stand before each.
func (l *Log) Files() (paths []string, before []uint32) {
	for _, f := range l.files {
		paths, before = append(paths, f.path), append(before, f.before)
	}
	return paths, before
}
