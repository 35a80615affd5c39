package tap

import "bytes"

// sseEvents cuts a stream of server-sent events into the data of each event, as browsers and SDKs read it: lines end in LF, CR
// or CRLF, the data lines of an event are joined by LF, a comment is none, and a blank line ends the event. An event without
// data (a priming event, a bare id) is no message. The zero value is ready.
type sseEvents struct {
	limit int // an event's data is kept up to so many bytes; 0 is all
	line  []byte
	data  []byte
	has   bool  // the event has data
	size  int64 // of its data, kept or not
	cr    bool  // the last byte was a CR: an LF after it belongs to the same line end
	begun bool
	over  int64 // bytes of the line that were not kept
}

// sseEvent is one event with data.
type sseEvent struct {
	data []byte // good until the next call
	size int64  // of the data, which is longer than data when it was cut
}

// feed takes the next bytes of the stream and hands every event that ends in them to do.
func (s *sseEvents) feed(b []byte, do func(sseEvent)) {
	for len(b) > 0 {
		if s.cr {
			s.cr = false
			if b[0] == '\n' {
				b = b[1:]
				continue
			}
		}
		end := bytes.IndexAny(b, "\r\n")
		if end < 0 {
			s.keep(b)
			return
		}
		s.keep(b[:end])
		s.cr = b[end] == '\r'
		s.lineEnds(do)
		b = b[end+1:]
	}
}

// room is for the name of the field before the data.
const room = len("\uFEFFdata: ")

func (s *sseEvents) keep(b []byte) {
	if free := s.limit + room - len(s.line); s.limit > 0 && len(b) > free {
		s.over += int64(len(b) - max(free, 0))
		b = b[:max(free, 0)]
	}
	s.line = append(s.line, b...)
}

func (s *sseEvents) lineEnds(do func(sseEvent)) {
	line, over := s.line, s.over
	s.line, s.over = s.line[:0], 0
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	if len(line) == 0 {
		if s.has && s.size > 0 {
			do(sseEvent{s.data, s.size})
		}
		s.data, s.has, s.size = s.data[:0], false, 0
		return
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	if string(field) != "data" {
		return
	}
	value = bytes.TrimPrefix(value, []byte(" "))
	if s.has {
		value = append([]byte("\n"), value...)
	}
	s.has = true
	s.size += int64(len(value)) + over
	if free := s.limit - len(s.data); s.limit > 0 && len(value) > free {
		value = value[:max(free, 0)]
	}
	s.data = append(s.data, value...)
}
