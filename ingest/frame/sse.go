package frame

import "bytes"

// Event is one server-sent event.
type Event struct {
	Type  string // of the field `event`; "" is "message"
	ID    string // of the field `id`
	HasID bool
	Retry string // of the field `retry`, as it stands there
	Data  []byte // the `data` lines, joined by LF; good until the next call of Feed. Empty: a priming event, no message
	Cut   bool   // Data is the beginning: the event was longer than MaxEvent
}

// Message reports whether the event carries a message: it has data, and is of the type that MCP sends messages in.
func (e *Event) Message() bool {
	return len(bytes.TrimSpace(e.Data)) > 0 && (e.Type == "" || e.Type == "message")
}

// MaxEvent bounds the data of an event in bytes, as memory is finite and a stream is not.
const MaxEvent = 64 << 20

// EventStream puts a stream of server-sent events together from whatever chunks it comes in (HTML standard, server-sent
// events). Its zero value is ready. Lines end at CR, LF or CRLF, even one that is cut between two chunks. Comments, which
// servers send to keep a connection alive, are no events. An event that the stream's end cuts is none either: the
// blank line is what sends it.
type EventStream struct {
	line    []byte // a line without its end so far
	event   Event
	data    []byte
	hasData bool
	any     bool // the event has a field
	begun   bool
	cr      bool // the last byte was CR: an LF that follows is of the same line end
}

// Feed reads the next bytes and calls emit with each event that they complete.
func (s *EventStream) Feed(b []byte, emit func(*Event)) {
	for len(b) > 0 {
		if s.cr && b[0] == '\n' {
			b = b[1:]
		}
		s.cr = false
		end := bytes.IndexAny(b, "\r\n")
		if end < 0 {
			s.keep(b)
			return
		}
		s.cr = b[end] == '\r'
		line := b[:end]
		if len(s.line) > 0 {
			s.keep(line)
			line = s.line
		}
		s.read(line, emit)
		s.line = s.line[:0]
		b = b[end+1:]
	}
}

// keep adds to the line that is being read, up to what an event may hold.
func (s *EventStream) keep(b []byte) {
	room := MaxEvent + len("data: ") - len(s.line)
	if len(b) > room {
		b, s.event.Cut = b[:max(room, 0)], true
	}
	s.line = append(s.line, b...)
}

// Pending reports whether an event has begun and was not sent.
func (s *EventStream) Pending() bool { return s.any || len(s.line) > 0 }

func (s *EventStream) read(line []byte, emit func(*Event)) {
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
	}
	if len(line) == 0 {
		s.send(emit)
		return
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		s.addData(value)
	case "event":
		s.event.Type = string(value)
	case "id":
		if bytes.IndexByte(value, 0) >= 0 {
			return
		}
		s.event.ID, s.event.HasID = string(value), true
	case "retry":
		s.event.Retry = string(value)
	default:
		return // a comment, or a field that is not known
	}
	s.any = true
}

func (s *EventStream) addData(value []byte) {
	if s.hasData {
		s.data = append(s.data, '\n')
	}
	s.hasData = true
	if room := MaxEvent - len(s.data); len(value) > room {
		value, s.event.Cut = value[:max(room, 0)], true
	}
	s.data = append(s.data, value...)
}

func (s *EventStream) send(emit func(*Event)) {
	if s.any {
		s.event.Data = s.data
		emit(&s.event)
	}
	s.event, s.data, s.hasData, s.any = Event{}, s.data[:0], false, false
}

// AnswerIn finds, among the events of a whole stream, the message that answers the request with this id; requests and
// notifications may stand in front of it. nil when the stream does not hold it.
func AnswerIn(stream []byte, id ID) (message []byte) {
	var s EventStream
	s.Feed(stream, func(e *Event) {
		var f Frame
		if message == nil && e.Message() && DecodeMessage(e.Data, &f) == NoReason && f.Kind.Answer() && id.Known() && string(f.ID) == string(id) {
			message = bytes.Clone(e.Data)
		}
	})
	return message
}
