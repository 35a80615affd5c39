package dialect

import "bytes"

// inspected makes JSON of an object as Node's util.inspect prints it: names without quotes, strings in single quotes or back
// quotes, and words in brackets for what was too deep or too long. What has no JSON becomes null; what is cut stays cut.
func inspected(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/4)
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '"' || c == '`':
			var n int
			out, n = inspectedString(out, text[i:])
			i += n
		case c == '[' && isPlaceholder(text[i:]):
			out = append(out, "null"...)
			i += bytes.IndexByte(text[i:], ']') + 1
		case c == '.' && bytes.HasPrefix(text[i:], []byte("... ")): // "... 3 more items"
			n := bytes.IndexAny(text[i:], ",]}\n")
			if n < 0 {
				n = len(text) - i
			}
			out = append(out, "null"...)
			i += n
		case c == '+' && len(bytes.TrimRight(out, " \n")) > 0 && isQuote(bytes.TrimLeft(text[i+1:], " \r\n\t")): // a long string in pieces
			i = len(text) - len(bytes.TrimLeft(text[i+1:], " \r\n\t"))
			out = bytes.TrimSuffix(bytes.TrimRight(out, " \n"), []byte{'"'})
			at := len(out)
			var n int
			out, n = inspectedString(out, text[i:])
			out = append(out[:at], out[at+1:]...) // it goes on, without a quote of its own
			i += n
		case isWordByte(c):
			n := 1
			for i+n < len(text) && isWordByte(text[i+n]) {
				n++
			}
			out = inspectedWord(out, text[i:i+n], bytes.HasPrefix(bytes.TrimLeft(text[i+n:], " "), []byte{':'}))
			i += n
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

func isQuote(b []byte) bool {
	return len(b) > 0 && (b[0] == '\'' || b[0] == '"' || b[0] == '`')
}

func isWordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c-'0' <= 9 || c == '_' || c == '$' || c == '-' || c == '+' || c == '.'
}

// isPlaceholder reports whether b starts with [Object], [Array], [Function: x] and the like.
func isPlaceholder(b []byte) bool {
	return len(b) > 2 && b[1] >= 'A' && b[1] <= 'Z' && bytes.IndexByte(b, ']') > 0
}

// inspectedWord writes a name, a number or a word of JSON.
func inspectedWord(out, word []byte, name bool) []byte {
	switch s := string(word); {
	case name:
		return append(append(append(out, '"'), word...), '"')
	case s == "true" || s == "false" || s == "null" || word[0]-'0' <= 9 || word[0] == '-' && len(word) > 1 && word[1]-'0' <= 9:
		return append(out, word...)
	}
	return append(out, "null"...)
}

// inspectedString writes a string with JSON's quotes; n is how much of b it was.
func inspectedString(out, b []byte) (_ []byte, n int) {
	quote := b[0]
	out = append(out, '"')
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == quote:
			return append(out, '"'), i + 1
		case c == '\\' && i+1 < len(b):
			i++
			switch b[i] {
			case '\'', '`':
				out = append(out, b[i])
			case 'x':
				out = append(out, '?')
			default:
				out = append(out, '\\', b[i])
			}
		case c == '"':
			out = append(out, '\\', '"')
		case c < 0x20:
			out = append(out, ' ')
		default:
			out = append(out, c)
		}
	}
	return out, len(b)
}
