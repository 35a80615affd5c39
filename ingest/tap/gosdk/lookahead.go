package gosdk

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"

	"mcpdiag/ingest/tap"
)

// lookahead keeps what the SDK's decoder has read until the SDK says what it made of it. It cuts the bytes as that decoder
// does: at the ends of JSON values, not of lines.
type lookahead struct {
	io.ReadCloser
	mu    sync.Mutex
	bytes []byte
	batch []tap.Event // rest of a batch whose first message is read
}

func (l *lookahead) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	l.mu.Lock()
	l.bytes = append(l.bytes, p[:n]...)
	l.mu.Unlock()
	return n, err
}

// next is the message that the SDK has just read.
func (l *lookahead) next() tap.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.batch) == 0 {
		l.batch = messages(l.cut())
	}
	e := l.batch[0]
	l.batch = l.batch[1:]
	e.Time = time.Now()
	return e
}

// cut takes the next value off the bytes, with the line end behind it.
func (l *lookahead) cut() []byte {
	l.bytes = bytes.TrimLeft(l.bytes, " \t\r\n")
	var value json.RawMessage
	d := json.NewDecoder(bytes.NewReader(l.bytes))
	if d.Decode(&value) != nil {
		return l.line()
	}
	end := int(d.InputOffset())
	if end < len(l.bytes) && l.bytes[end] == '\r' {
		end++
	}
	if end < len(l.bytes) && l.bytes[end] == '\n' {
		end++
	}
	value = bytes.Clone(l.bytes[:end])
	l.bytes = l.bytes[end:]
	return value
}

// line takes the next line off.
func (l *lookahead) line() []byte {
	end := bytes.IndexByte(l.bytes, '\n') + 1
	if end == 0 {
		end = len(l.bytes)
	}
	line := bytes.Clone(l.bytes[:end])
	l.bytes = l.bytes[end:]
	return line
}

// bad is the line that the SDK could not read.
func (l *lookahead) bad() (tap.Event, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes = bytes.TrimLeft(l.bytes, "\r\n")
	if len(l.bytes) == 0 {
		return tap.Event{}, false
	}
	return event(l.line()), true
}

// messages takes a batch apart.
func messages(value []byte) []tap.Event {
	var parts []json.RawMessage
	if len(value) > 0 && value[0] == '[' && json.Unmarshal(value, &parts) == nil && len(parts) > 0 {
		var list []tap.Event
		for _, p := range parts {
			list = append(list, event(p))
		}
		return list
	}
	return []tap.Event{event(value)}
}
