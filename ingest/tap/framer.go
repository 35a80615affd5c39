package tap

import (
	"bytes"
	"time"

	"mcpdiag/ingest/frame"
)

// Framer puts the chunks of one direction together into events, one for each line. Lines end at LF and nowhere else, and may be
// of any length: of one that is longer than the Framer's room it keeps what the event needs. How the bytes were cut into chunks
// makes no difference.
type Framer struct {
	dir  frame.Dir
	room int
	emit func(*Event)

	line    []byte  // the line so far, up to room
	size    int64   // of the line so far
	long    bool    // the line is longer than room, and goes through outline
	outline outline // of the long line
	blind   bool    // part of the line was not copied
	event   Event
}

// DefaultRoom is how much of a line a Framer holds when no payload asks for more.
const DefaultRoom = 1 << 20

// NewFramer makes a Framer for one direction. What it emits is valid until emit returns.
func NewFramer(dir frame.Dir, room int, emit func(*Event)) *Framer {
	return &Framer{dir: dir, room: room, emit: emit}
}

// Room is how much of a line the policy needs.
func (p Payload) Room() int {
	const most = 64 << 20
	if p == Full {
		return most
	}
	return int(min(max(int64(p), DefaultRoom), most))
}

// Write takes the next chunk, which crossed at a time.
func (f *Framer) Write(chunk []byte, at time.Time) {
	for {
		if f.size == 0 && !f.blind { // the usual case: nothing to be put together
			chunk = chunk[f.lines(chunk, at):]
		}
		n := bytes.IndexByte(chunk, '\n')
		if n < 0 {
			f.part(chunk)
			return
		}
		if f.size == 0 && !f.blind {
			f.decode(chunk[:n+1], int64(n+1), at)
		} else {
			f.part(chunk[:n+1])
			f.end(at)
		}
		chunk = chunk[n+1:]
	}
}

// lines emits the messages that the chunk begins with, as long as each is a line, and returns their length.
func (f *Framer) lines(chunk []byte, at time.Time) (length int) {
	for {
		e := f.fresh(at)
		n := frame.DecodeLine(chunk[length:], &e.Frame)
		if n == 0 {
			return length
		}
		e.Bytes, e.Payload = int64(n), chunk[length:length+n]
		f.emit(e)
		length += n
	}
}

// Message takes a text that crossed as one frame of its own: an HTTP body, or the data of an SSE event. size is what it was
// on the wire.
func (f *Framer) Message(text []byte, size int64, at time.Time) { f.decode(text, size, at) }

// Skip takes note that bytes crossed and were not copied: how many LF were among them, and whether they ended within a line. It
// returns how many events that loses, of which none is counted twice.
func (f *Framer) Skip(ends int64, open bool) (lost int64) {
	lost = ends
	switch {
	case f.blind && ends > 0: // the first of these lines is the one that was lost before
		lost--
	case f.blind:
		open = false
	}
	blind := f.blind && ends == 0
	f.next()
	if open {
		lost++
	}
	f.blind = blind || open
	return lost
}

// part takes bytes of a line.
func (f *Framer) part(b []byte) {
	f.size += int64(len(b))
	if f.blind {
		return
	}
	fits := min(len(b), f.room-len(f.line))
	if f.line = append(f.line, b[:fits]...); fits == len(b) {
		return
	}
	if !f.long {
		f.long = true
		f.outline.reset()
		f.outline.feed(f.line)
	}
	f.outline.feed(b[fits:])
}

// end is told that the line ends here.
func (f *Framer) end(at time.Time) {
	switch {
	case f.blind:
	case f.long:
		f.emitOutline(f.line, true, at)
	default:
		f.decode(f.line, f.size, at)
	}
	f.next()
}

// next makes ready for another line.
func (f *Framer) next() {
	f.line, f.size, f.long, f.blind = f.line[:0], 0, false, false
	if cap(f.line) > keptRoom {
		f.line = nil
	}
}

// Close is told that the direction has ended. A last line without LF may be a message: some peers read it as one.
func (f *Framer) Close(at time.Time) {
	if f.size > 0 {
		f.end(at)
	}
}

// decode emits what stands in a text.
func (f *Framer) decode(text []byte, size int64, at time.Time) {
	e := f.fresh(at)
	if frame.DecodeMessage(text, &e.Frame) == frame.NoReason {
		e.Bytes, e.Payload = size, text
		f.emit(e)
		return
	}
	if start := bytes.TrimLeft(text, " \t\r\n"); len(start) > 0 && start[0] == '[' {
		f.size = size
		f.outline.reset()
		f.outline.feed(text)
		f.emitOutline(text, false, at)
		f.size = 0
		return
	}
	f.invalid(text, size, at)
}

// fresh is the event to be filled in.
func (f *Framer) fresh(at time.Time) *Event {
	e := &f.event
	*e = Event{}
	e.Dir, e.Bytes, e.Rows, e.Time = f.dir, frame.Unknown, frame.Unknown, at
	return e
}

// emitOutline emits what the outline found in the text, of which only the beginning may be at hand. The size of one message
// among several is not known: no frame of its own crossed.
func (f *Framer) emitOutline(text []byte, cut bool, at time.Time) {
	o := &f.outline
	if !o.finish() || len(o.found) == 0 {
		f.invalid(text, f.size, at)
		return
	}
	for i := range o.found {
		found := &o.found[i]
		e := f.fresh(at)
		e.Frame = found.frame
		e.Dir = f.dir
		if !o.batch {
			e.Bytes = f.size
		}
		begin, end := min(found.start, int64(len(text))), min(found.end, int64(len(text)))
		e.Payload, e.Cut = text[begin:end], cut && end < found.end
		f.emit(e)
	}
	if o.bad > 0 {
		f.invalid(text, f.size, at)
	}
	if o.more > 0 {
		e := f.fresh(at)
		e.Kind = frame.Gap
		e.Extra().Dropped = o.more
		f.emit(e)
	}
	o.found = nil
}

// rawBytes is how much of a line that is no message is shown.
const rawBytes = 256

func (f *Framer) invalid(text []byte, size int64, at time.Time) {
	e := f.fresh(at)
	e.Kind, e.Bytes, e.Payload = frame.Invalid, size, text
	e.Extra().Raw = bytes.TrimRight(text[:min(len(text), rawBytes)], "\n")
	f.emit(e)
}
