package frame

// DecodeLine reads the message that is the line that b begins with, as DecodeMessage does. It does not look for the line's end
// first: that is where the message ends, and a long line is read once. It returns the length of the line, its LF included; 0, with f
// as it was, when the line is not one message, or has no LF. It reads no further than the line.
func DecodeLine(b []byte, f *Frame) (size int) {
	m := message{scanner: scanner{b: b, line: true}}
	if m.space(); m.peek() != '{' || m.object(inEnvelope) != fine {
		return 0
	}
	if m.space(); m.peek() != '\n' {
		return 0
	}
	kind, reason := m.kind()
	if reason != NoReason {
		return 0
	}
	m.fill(kind, f)
	return m.i + 1
}
