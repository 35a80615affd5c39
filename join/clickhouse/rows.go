package clickhouse

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// Rows are the rows of a result in TabSeparated.
type Rows struct {
	body io.ReadCloser
	r    *bufio.Reader
	line []byte
	err  error
}

// NewRows reads the rows of a result.
func NewRows(body io.ReadCloser) *Rows { return &Rows{body: body, r: bufio.NewReaderSize(body, 1<<16)} }

// Next goes to the next row. A line that is cut off is an error, not a row.
func (r *Rows) Next() bool {
	if r.err != nil {
		return false
	}
	line, err := r.r.ReadBytes('\n')
	switch {
	case err == io.EOF && len(line) == 0:
		return false
	case err == io.EOF:
		r.err = fmt.Errorf("the result is cut off: %w", io.ErrUnexpectedEOF)
		return false
	case err != nil:
		r.err = fmt.Errorf("the result is cut off: %w", err)
		return false
	}
	r.line = line[:len(line)-1]
	return true
}

// Scan reads the fields of the row into numbers, strings and bytes.
func (r *Rows) Scan(dest ...any) error {
	rest := r.line
	for k, to := range dest {
		field, after, more := bytes.Cut(rest, []byte{'\t'})
		if more == (k == len(dest)-1) {
			return fmt.Errorf("a row has not %d fields: %.200q", len(dest), r.line)
		}
		rest = after
		if err := assign(reflect.ValueOf(to).Elem(), unescape(field)); err != nil {
			return err
		}
	}
	return nil
}

func assign(to reflect.Value, field []byte) (err error) {
	switch to.Kind() {
	case reflect.String:
		to.SetString(string(field))
	case reflect.Slice:
		to.SetBytes(append([]byte{}, field...))
	case reflect.Int, reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(string(field), 10, 64)
		to.SetInt(n)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		var n uint64
		n, err = strconv.ParseUint(string(field), 10, to.Type().Bits())
		to.SetUint(n)
	default:
		err = fmt.Errorf("a field is read into %s", to.Type())
	}
	return err
}

// Err is what ended the rows too early; nil when they are all there.
func (r *Rows) Err() error { return r.err }

// Close lets go of the result.
func (r *Rows) Close() error { return r.body.Close() }

var escapes = strings.NewReplacer("\\", "\\\\", "\t", "\\t", "\n", "\\n", "\r", "\\r", "\x00", "\\0", "\b", "\\b", "\f", "\\f", "'", "\\'")

// Values writes a column of values as TabSeparated.
func Values(values []string) []byte {
	var b []byte
	for _, v := range values {
		b = append(append(b, escape(v)...), '\n')
	}
	return b
}

// escape writes a value as TabSeparated has it.
func escape(s string) string { return escapes.Replace(s) }

var unescapes = [256]byte{'t': '\t', 'n': '\n', 'r': '\r', '0': 0, 'b': '\b', 'f': '\f', 'a': '\a', 'v': '\v'}

// unescape reads what escape wrote; in place.
func unescape(field []byte) []byte {
	at := bytes.IndexByte(field, '\\')
	if at < 0 {
		return field
	}
	out := field[:at]
	for k := at; k < len(field); k++ {
		c := field[k]
		if c == '\\' && k+1 < len(field) {
			k++
			c = field[k]
			if plain := unescapes[c]; plain != 0 || c == '0' {
				c = plain
			}
		}
		out = append(out, c)
	}
	return out
}
