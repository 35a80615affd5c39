package ingest

import (
	"reflect"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// vectors are the columns of a chunk that a table function fills, as the arrays that they are. The driver's own setter takes
// a type switch a value, which made handing over two million halves cost as much as reading their logs. The driver does not
// export the chunk under its DataChunk, so its place is looked up by name, once; a driver without it is refused there.
type vectors struct {
	chunk      uintptr // offsets in duckdb.DataChunk
	projection uintptr
}

// newVectors finds the fields; ok is false when the driver has changed.
func newVectors() (v vectors, ok bool) {
	t := reflect.TypeFor[duckdb.DataChunk]()
	chunk, ok1 := t.FieldByName("chunk")
	projection, ok2 := t.FieldByName("projection")
	if !ok1 || !ok2 || chunk.Type != reflect.TypeFor[mapping.DataChunk]() || projection.Type != reflect.TypeFor[[]int]() {
		return v, false
	}
	return vectors{chunk.Offset, projection.Offset}, true
}

// column is the vector of a column in a chunk: nil when the query does not want it.
func (v vectors) column(chunk *duckdb.DataChunk, i int) *mapping.Vector {
	if p := *(*[]int)(unsafe.Add(unsafe.Pointer(chunk), v.projection)); p != nil {
		if i = p[i]; i < 0 {
			return nil
		}
	}
	vec := mapping.DataChunkGetVector(*(*mapping.DataChunk)(unsafe.Add(unsafe.Pointer(chunk), v.chunk)), mapping.IdxT(i))
	return &vec
}

// array is a column of fixed-width values; nil when the query does not want it.
func array[T any](v vectors, chunk *duckdb.DataChunk, i int) []T {
	vec := v.column(chunk, i)
	if vec == nil {
		return nil
	}
	return unsafe.Slice((*T)(mapping.VectorGetData(*vec)), blockLen)
}

// put stores a value in a column that may not be wanted.
func put[T any](column []T, row int, value T) {
	if column != nil {
		column[row] = value
	}
}

// inlined is DuckDB's string_t with a string of up to twelve bytes in it: a length and the bytes, padded with zeros.
type inlined struct {
	length uint32
	bytes  [12]byte
}

// text stores a string in a VARCHAR column. Short ones are stored in place; they must be valid UTF-8.
func text(vec *mapping.Vector, column []inlined, row int, s []byte) {
	if column[row] = (inlined{length: uint32(len(s))}); copy(column[row].bytes[:], s) < len(s) {
		mapping.VectorAssignStringElementLen(*vec, mapping.IdxT(row), s)
	}
}

// pointed is DuckDB's string_t with a longer string: its length, its first bytes, and where all of them lie.
type pointed struct {
	length uint32
	prefix [4]byte
	data   uint64
}

// longTexts are those of a VARCHAR column's texts that do not fit in place. DuckDB is given all of a chunk at once, since each time is
// a call out of Go that costs more than the text; then each row is pointed at its part of what DuckDB keeps with the chunk.
type longTexts struct {
	bytes []byte
	rows  []int
	sizes []int
}

// put stores a text in the column, at once or when give is called.
func (l *longTexts) put(column []inlined, row int, s []byte) {
	if len(s) <= len(inlined{}.bytes) {
		text(nil, column, row, s)
		return
	}
	l.bytes, l.rows, l.sizes = append(l.bytes, s...), append(l.rows, row), append(l.sizes, len(s))
}

// give stores what was put.
func (l *longTexts) give(vec mapping.Vector, column []inlined) {
	if len(l.rows) == 0 {
		return
	}
	first := l.rows[0]
	mapping.VectorAssignStringElementLen(vec, mapping.IdxT(first), l.bytes)
	data := (*pointed)(unsafe.Pointer(&column[first])).data
	from := 0
	for k, row := range l.rows {
		p := (*pointed)(unsafe.Pointer(&column[row]))
		p.length, p.data = uint32(l.sizes[k]), data+uint64(from)
		copy(p.prefix[:], l.bytes[from:])
		from += l.sizes[k]
	}
	l.bytes, l.rows, l.sizes = l.bytes[:0], l.rows[:0], l.sizes[:0]
}
