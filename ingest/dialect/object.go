package dialect

import "bytes"

// object puts a JSON object, or an object as JavaScript prints it, that stands on several lines together again.
type object struct {
	text  []byte
	depth int
	lines int
}

// The most that one object may take; what is longer was never closed.
const (
	objectLines = 100_000
	objectBytes = 16 << 20
)

// feed takes the next line, and gives the object that it completes; nil before that.
func (o *object) feed(line []byte) []byte {
	bare := bytes.TrimRight(line, " ,\r")
	if len(o.text) == 0 {
		if len(bare) == 0 || bare[0] != '{' {
			return nil
		}
		if o.depth = braces(bare); o.depth <= 0 {
			return bare
		}
		o.text = append(bytes.Clone(line), '\n')
		return nil
	}
	if o.lines++; o.lines > objectLines || len(o.text) > objectBytes {
		o.drop()
		return nil
	}
	o.text = append(append(o.text, line...), '\n')
	if o.depth += braces(line); o.depth > 0 {
		return nil
	}
	text := bytes.TrimRight(o.text, " ,\r\n")
	o.drop()
	return text
}

// open reports whether an object has begun and not ended.
func (o *object) open() bool { return len(o.text) > 0 }

func (o *object) drop() { *o = object{} }

// pretty reports whether a log starts with an object that is printed over several lines, or an array of such, and holds the
// words.
func pretty(head []byte, words ...string) bool {
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte{'\n'})
	switch string(bytes.TrimRight(first, " \r")) {
	case "{", "[", "[{":
	default:
		return false
	}
	for _, w := range words {
		if !bytes.Contains(head, []byte(w)) {
			return false
		}
	}
	return true
}

// braces counts how many more braces and brackets a line opens than it closes, outside strings, which end with their line.
func braces(line []byte) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	return depth
}
