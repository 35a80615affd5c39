package ingest

import (
	"context"
	_ "embed"
	"unicode/utf8"

	"github.com/duckdb/duckdb-go/v2"

	"mcpdiag/ingest/frame"
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
	if err := keepFrames(ctx, conn, logs, sets, o); err != nil {
		return err
	}
	return keepHalves(ctx, conn, logs)
}

// column is a column of a table function whose rows are made from a T.
type column[T any] struct {
	name string
	typ  duckdb.Type
	enum []string // the words of an ENUM
	set  func(cell, *T) error
}

// cell is one field of a chunk being filled.
type cell struct {
	chunk    duckdb.DataChunk
	col, row int
}

func (c cell) null() error { return duckdb.SetChunkValue[any](c.chunk, c.col, c.row, nil) }

func (c cell) number(n int64, there bool) error {
	if !there {
		return c.null()
	}
	return duckdb.SetChunkValue(c.chunk, c.col, c.row, n)
}

func (c cell) flag(b bool) error { return duckdb.SetChunkValue(c.chunk, c.col, c.row, b) }

// word writes a word of an ENUM; "" is null.
func (c cell) word(w string) error {
	if w == "" {
		return c.null()
	}
	return duckdb.SetChunkValue(c.chunk, c.col, c.row, w)
}

// text writes a text of a log; nil is null. A database takes valid UTF-8 only, and turns other text to null.
func (c cell) text(t []byte) error {
	switch {
	case t == nil:
		return c.null()
	case !utf8.Valid(t):
		return duckdb.SetChunkValue(c.chunk, c.col, c.row, string([]rune(string(t))))
	}
	return duckdb.SetChunkValue(c.chunk, c.col, c.row, t)
}

// string writes a text that is valid UTF-8; "" is null.
func (c cell) string(s string) error { return c.word(s) }

// fill writes one row.
func fill[T any](columns []column[T], chunk duckdb.DataChunk, row int, v *T) error {
	for k := range columns {
		if err := columns[k].set(cell{chunk, k, row}, v); err != nil {
			return err
		}
	}
	return nil
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

// sideWords are the sides that have a log.
func sideWords() []string { return []string{frame.Client.String(), frame.Server.String()} }

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
