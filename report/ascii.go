package report

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// ascii writes JSON so that only printable ASCII reaches the output: bidi controls and the like are legal in JSON, and a
// terminal that shows the document would obey them. Outside strings JSON has none, so every escape lands in one.
type ascii struct{ w io.Writer }

func (a ascii) Write(b []byte) (int, error) {
	var out []byte
	from := 0
	for i := 0; i < len(b); {
		if b[i] < 0x7F {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		out = append(out, b[from:i]...)
		if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
		from = i
	}
	if out == nil {
		return a.w.Write(b)
	}
	if _, err := a.w.Write(append(out, b[from:]...)); err != nil {
		return 0, err
	}
	return len(b), nil
}
