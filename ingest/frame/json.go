package frame

import (
	"encoding/binary"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxNesting bounds how deep a value may nest: deeper lines are refused, since no frame is and a stack is finite.
const MaxNesting = 1000

// A scanner walks one JSON text. It is exact (RFC 8259) and does not allocate; it exists because every call in a log costs
// several lines, and a general decoder is ten times slower on them.
type scanner struct {
	b    []byte
	i    int
	line bool // LF is no space, but the end
}

// Why a scan stopped.
type fault uint8

const (
	fine fault = iota
	badJSON
	tooDeep
)

func (s *scanner) space() {
	if s.i < len(s.b) && s.b[s.i] <= ' ' { // mostly there is none
		s.spaces()
	}
}

func (s *scanner) spaces() {
	s.i = pastSpace(s.b, s.i)
	for s.i < len(s.b) && s.b[s.i] == '\n' && !s.line {
		s.i = pastSpace(s.b, s.i+1)
	}
}

func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// str scans the string at s.i and leaves s.i behind it. body is what stands between the quotes; escaped tells that it holds
// a backslash.
func (s *scanner) str() (body []byte, escaped, ok bool) {
	start := s.i + 1
	i := start
	for {
		for i+8 <= len(s.b) {
			if n := plain(binary.LittleEndian.Uint64(s.b[i:])); n < 8 {
				i += n
				break
			}
			i += 8
		}
		for i+8 > len(s.b) && i < len(s.b) && s.b[i] != '"' && s.b[i] != '\\' && s.b[i] >= 0x20 {
			i++
		}
		if i >= len(s.b) {
			return nil, false, false
		}
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return s.b[start:i], escaped, true
		case c == '\\':
			n := escapeLen(s.b[i:])
			if n == 0 {
				return nil, false, false
			}
			escaped = true
			i += n
		default: // a control character
			return nil, false, false
		}
	}
}

// escapeLen is the length of the escape that b starts with; 0 when it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b); ok {
			return 6
		}
	}
	return 0
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 6 {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// unescape decodes the body of a valid JSON string. A lone surrogate becomes U+FFFD.
func unescape(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			out = append(out, b[i])
			i++
			continue
		}
		if b[i+1] != 'u' {
			out = append(out, unescaped(b[i+1]))
			i += 2
			continue
		}
		r, _ := hex4(b[i:])
		i += 6
		if utf16.IsSurrogate(r) {
			low, ok := rune(0), false
			if i+6 <= len(b) && b[i] == '\\' && b[i+1] == 'u' {
				low, ok = hex4(b[i:])
			}
			if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
				i += 6
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// number scans the number at s.i and returns its token; nil when it is none.
func (s *scanner) number() []byte {
	start := s.i
	if s.peek() == '-' {
		s.i++
	}
	switch c := s.peek(); {
	case c == '0':
		s.i++
	case c >= '1' && c <= '9':
		s.digits()
	default:
		return nil
	}
	if s.peek() == '.' {
		s.i++
		if !s.digits() {
			return nil
		}
	}
	if s.peek()|0x20 == 'e' {
		s.i++
		if c := s.peek(); c == '+' || c == '-' {
			s.i++
		}
		if !s.digits() {
			return nil
		}
	}
	return s.b[start:s.i]
}

func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	return s.i > start
}

func (s *scanner) word(w string) bool {
	if len(s.b)-s.i >= len(w) && string(s.b[s.i:s.i+len(w)]) == w {
		s.i += len(w)
		return true
	}
	return false
}

func (s *scanner) scalar() fault {
	ok := false
	switch s.peek() {
	case '"':
		_, _, ok = s.str()
	case 't':
		ok = s.word("true")
	case 'f':
		ok = s.word("false")
	case 'n':
		ok = s.word("null")
	default:
		ok = s.number() != nil
	}
	if !ok {
		return badJSON
	}
	return fine
}

// skip leaves s.i behind the value at s.i, or where it stops being one.
func (s *scanner) skip() fault {
	if end := passOver(s.b, s.i); end > 0 {
		s.i = end
		return fine
	}
	return s.walk()
}

// walk is skip, byte by byte. It keeps its own stack, one bit a level (set: an object), so that no input can overflow Go's.
func (s *scanner) walk() fault {
	var object [MaxNesting/64 + 1]uint64
	depth := 0
	for {
		s.space()
		opened := false
		switch c := s.peek(); c {
		case '{', '[':
			if depth++; depth > MaxNesting {
				return tooDeep
			}
			bit := uint64(1) << (depth % 64)
			object[depth/64] &^= bit
			if c == '{' {
				object[depth/64] |= bit
			}
			s.i++
			opened = true
		default:
			if f := s.scalar(); f != fine {
				return f
			}
		}
		for depth > 0 { // after a value: close levels, or go to the next member
			isObject := object[depth/64]>>(depth%64)&1 == 1
			s.space()
			c := s.peek()
			if (isObject && c == '}') || (!isObject && c == ']') {
				s.i++
				depth--
				opened = false
				continue
			}
			if !opened {
				if c != ',' {
					return badJSON
				}
				s.i++
			}
			if isObject && !s.key() {
				return badJSON
			}
			break
		}
		if depth == 0 {
			return fine
		}
	}
}

// key leaves s.i behind a member's name and colon.
func (s *scanner) key() bool {
	s.space()
	if s.peek() != '"' {
		return false
	}
	if _, _, ok := s.str(); !ok {
		return false
	}
	return s.colon()
}

func (s *scanner) colon() bool {
	if s.i < len(s.b) && s.b[s.i] == ':' {
		s.i++
		return true
	}
	s.spaces()
	if s.peek() != ':' {
		return false
	}
	s.i++
	return true
}

// integer scans the number at s.i: its token (nil when it is none), and its value when it is an int64.
func (s *scanner) integer() (token []byte, n int64, ok bool) {
	i := s.i
	for i < len(s.b) && s.b[i]-'0' <= 9 {
		n = n*10 + int64(s.b[i]-'0')
		i++
	}
	length := i - s.i
	if length == 0 || length > 18 || (s.b[s.i] == '0' && length > 1) || (i < len(s.b) && (s.b[i] == '.' || s.b[i]|0x20 == 'e')) {
		token = s.number()
		n, err := strconv.ParseInt(string(token), 10, 64)
		return token, n, err == nil
	}
	token = s.b[s.i:i]
	s.i = i
	return token, n, true
}
