package frame

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Escape makes a text from a log safe to print: what a terminal would act on, or a reader could not see, becomes a visible
// escape. Those are the C0 and C1 controls and DEL (`\n`, `\x1b`, `\u{85}`), bidi controls, zero-width characters and line
// separators (`\u{202e}`), and bytes that are no UTF-8 (`\xff`). A backslash stays as it is, so an escape is for eyes, not to
// be read back. Plain printable ASCII, the usual case, is returned as it is.
func Escape(s string) string {
	if plainText(s) {
		return s
	}
	return string(appendEscaped(make([]byte, 0, len(s)+16), s))
}

func plainText[T ~string | ~[]byte](s T) bool {
	for i := range len(s) {
		if s[i]-0x20 >= 0x7F-0x20 {
			return false
		}
	}
	return true
}

func appendEscaped(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = appendHexByte(b, s[i])
		case r >= 0x80 && !unicode.IsGraphic(r): // format characters among them: bidi controls, zero-width ones
			b = append(b, `\u{`...)
			b = strconv.AppendUint(b, uint64(r), 16)
			b = append(b, '}')
		case r < 0x20 || r == 0x7F:
			b = appendControl(b, byte(r))
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return b
}

func appendControl(b []byte, c byte) []byte {
	switch c {
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return appendHexByte(b, c)
}

func appendHexByte(b []byte, c byte) []byte {
	return append(b, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
}
