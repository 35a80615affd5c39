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
	switch {
	case vec == nil:
	case len(s) <= 12:
		column[row] = inlined{length: uint32(len(s))}
		copy(column[row].bytes[:], s)
	default:
		mapping.VectorAssignStringElementLen(*vec, mapping.IdxT(row), s)
	}
}
