package frame

// Members calls f with each member of the JSON object that b is, in order: its name, unescaped, and its value's text, which
// points into b. It reports whether b is one whole object; until then f may have been called.
func Members(b []byte, f func(name string, value []byte)) bool {
	s := scanner{b: b}
	if s.space(); s.peek() != '{' {
		return false
	}
	return s.values('}', func() bool {
		name, ok := s.memberName()
		if !ok {
			return false
		}
		value := s.value()
		if value != nil {
			f(string(name), value)
		}
		return value != nil
	})
}

// Elements calls f with each element of the JSON array that b is, in order. It reports whether b is one whole array.
func Elements(b []byte, f func(value []byte)) bool {
	s := scanner{b: b}
	if s.space(); s.peek() != '[' {
		return false
	}
	return s.values(']', func() bool {
		value := s.value()
		if value != nil {
			f(value)
		}
		return value != nil
	})
}

// values reads what stands between the brackets that s.i is at, one value by each call of next, and wants nothing behind.
func (s *scanner) values(last byte, next func() bool) bool {
	s.i++
	if s.space(); s.peek() == last {
		s.i++
		s.space()
		return s.i == len(s.b)
	}
	for next() {
		s.space()
		switch s.peek() {
		case ',':
			s.i++
		case last:
			s.i++
			s.space()
			return s.i == len(s.b)
		default:
			return false
		}
	}
	return false
}

// value reads one value; nil when there is none.
func (s *scanner) value() []byte {
	s.space()
	start := s.i
	if s.skip() != fine {
		return nil
	}
	return s.b[start:s.i]
}

// Member is the text of a member of the JSON object that b is; nil when there is none. Of several with the name it is the
// first.
func Member(b []byte, name string) (value []byte) {
	Members(b, func(n string, v []byte) {
		if value == nil && n == name {
			value = v
		}
	})
	return value
}

// Text is the string that the JSON text b is; ok is false when it is something else.
func Text(b []byte) (s string, ok bool) {
	t := scanner{b: b}
	if t.space(); t.peek() != '"' {
		return "", false
	}
	body, escaped, ok := t.str()
	if escaped {
		body = unescape(body)
	}
	return string(body), ok
}
