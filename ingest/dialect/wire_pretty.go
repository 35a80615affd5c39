package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// wireLog reads a log with the format-blind reader, and puts messages that are printed over several lines together first: a
// line that ends in an opening brace begins one, and what that turns out not to be is so many lines without an object.
type wireLog struct {
	wireReader
	pretty object
	first  uint32 // the line on which it began, over the whole log
	begun  uint32 // lines of the spans before
	head   []byte // that line
	before int    // how much of it stands in front of the brace
}

func (l *wireLog) Read(span []byte, b *Batch) {
	n := eachLine(span, func(n uint32, line []byte, hole int) {
		if hole == 0 && l.goesOn(n, line, b) {
			return
		}
		l.abandon(n, noObject, b)
		var reason frame.Reason
		if len(line) > 0 {
			reason = l.line(n, line, b)
		}
		b.refuse(n, line, hole, reason)
	})
	b.Lines += n
	l.begun += n
}

// Finish ends a message that the log's end cut off.
func (l *wireLog) Finish(b *Batch) { l.abandon(1, cutOff, b) }

// goesOn takes a line that begins a message of several lines, or is part of one.
func (l *wireLog) goesOn(n uint32, line []byte, b *Batch) bool {
	if !l.pretty.open() {
		if len(line) == 0 || line[len(line)-1] != '{' || bytes.Contains(line, []byte(`"jsonrpc"`)) {
			return false
		}
		l.first, l.head, l.before = l.begun+n, bytes.Clone(line), len(line)-1
		l.pretty.feed([]byte{'{'})
		return true
	}
	if o := newObjects(line); o.next() != nil { // a record of its own: what was open is none
		return false
	}
	whole := l.pretty.feed(line)
	if whole == nil && l.pretty.open() {
		return true
	}
	if end, shape := frame.ScanObject(whole); shape == frame.MessageObject && end == len(whole) {
		l.message(whole, b)
		l.head = nil
		return true
	}
	l.abandon(n+1, noObject, b)
	return true
}

// message adds the message, on the line on which it began and at the time that stands there.
func (l *wireLog) message(whole []byte, b *Batch) {
	f := frame.Frame{Line: l.first - l.begun, Bytes: frame.Unknown, Rows: frame.Unknown}
	leadingTime(l.head, &f.At)
	if reason := frame.DecodeMessage(whole, &f); reason != frame.NoReason {
		b.refuse(f.Line, l.head, 0, reason)
		return
	}
	f.Dir = l.direction(&f, l.head[:l.before])
	b.Frames = append(b.Frames, f)
}

// abandon reports the lines from the first one up to before line n as what they are by themselves.
func (l *wireLog) abandon(n uint32, reason frame.Reason, b *Batch) {
	if l.head == nil {
		return
	}
	for line := l.first; line < l.begun+n; line++ {
		b.refuse(line-l.begun, prefix(l.head), 0, reason)
	}
	l.pretty.drop()
	l.head = nil
}
