package frame

import "bytes"

const notificationPrefix = "notifications/"

// DecodeCut reads what a cut message still shows into f: its kind, and its id and method when they stand before the cut.
// An id that is not there is lost, not absent, and f.Trunc says so: without that mark its call would look unanswered. It
// reports whether b is the beginning of a message whose kind can be told; if not, f is as it was.
func DecodeCut(b []byte, f *Frame) bool {
	m := message{scanner: scanner{b: b}, cut: true}
	m.space()
	if m.peek() != '{' || m.object(inEnvelope) != badJSON || !m.endsInside() {
		return false
	}
	kind := m.cutKind()
	if kind == NoKind || m.wrong != NoReason || (kind != Error && ID(m.id).IsNull()) {
		return false
	}
	m.fill(kind, f)
	f.Trunc = true
	return true
}

// cutKind tells the kind of a cut message; NoKind when what is left could be either of two.
func (m *message) cutKind() Kind {
	switch m.seen & (hasMethod | hasResult | hasError) {
	case hasResult:
		return Response
	case hasError:
		return Error
	case hasMethod:
	default:
		return NoKind
	}
	method := m.method
	if method == nil {
		method = bytes.TrimPrefix(m.half, []byte{'"'})
	}
	switch {
	case m.seen&hasID != 0:
		return Request
	case bytes.HasPrefix(method, []byte(notificationPrefix)):
		return Notification
	case m.method == nil && bytes.HasPrefix([]byte(notificationPrefix), method):
		return NoKind
	}
	return Request
}

// cutNumber reports whether the number just read may have lost digits: a cut 47 may have been 471.
func (m *message) cutNumber() bool { return m.cut && m.i == len(m.b) }

// endsInside reports whether a scan stopped because the text ends there, and not because it is wrong: text glued into a
// message is no cut message.
func (s *scanner) endsInside() bool {
	rest := s.b[s.i:]
	switch {
	case len(rest) == 0:
		return true
	case rest[0] == '"':
		return unclosed(rest[1:])
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if len(rest) < len(word) && string(rest) == word[:len(rest)] {
			return true
		}
	}
	return false
}

// unclosed reports whether b, the text behind a quote, is all of one string and ends before it does.
func unclosed(b []byte) bool {
	for len(b) > 0 {
		n := 1
		switch {
		case b[0] == '"' || b[0] < 0x20:
			return false
		case b[0] == '\\':
			if n = escapeLen(b); n == 0 {
				return cutEscape(b)
			}
		}
		b = b[n:]
	}
	return true
}

// cutEscape reports whether b is an escape without its end: one that zeros can complete.
func cutEscape(b []byte) bool {
	const whole = `\u0000`
	return len(b) < len(whole) && escapeLen([]byte(string(b)+whole[len(b):])) > 0
}
