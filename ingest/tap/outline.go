package tap

import (
	"bytes"
	"encoding/json"

	"mcpdiag/ingest/frame"
)

// outline reads one JSON text in pieces and keeps of it what a frame is made of, however deep or late that comes: the members
// of the envelope, and those members of params, result and error that frame.DecodeMessage looks at. All else is checked for
// being JSON and dropped, so a message of any size needs little memory. What is kept is a JSON text again, the same message
// without its bulk, and frame.DecodeMessage reads it.
type outline struct {
	state   state
	wrong   frame.Reason // once it is clear that this is no JSON
	depth   int
	object  [frame.MaxNesting/64 + 1]uint64 // one bit a level, set: an object
	hex     int                             // digits that a \u escape still wants
	word    string                          // what is left of true, false or null
	inKey   bool                            // the string being read is a member's name
	key     []byte
	keyLong bool // too long to be a name that matters

	batch    bool    // an array of messages
	places   []place // of the open objects that are kept
	keep     bool    // the value to come is kept
	kept     []byte
	begun    int   // where in kept the value being read begins
	overflow bool  // what is kept is more than a frame can be
	offset   int64 // of the next byte
	start    int64 // of the message being read
	fresh    bool  // the value that just ended was a message
	found    []element
	more     int64 // elements that found has no room for
	bad      int   // elements that are no message
}

// element is a message that was found, and where it stood.
type element struct {
	frame      frame.Frame
	start, end int64
}

const (
	mostKept     = 256 << 10 // of one message
	mostValue    = 64 << 10  // of one value in it
	mostElements = 4096      // of one batch
	longestKey   = 256
)

// state is what may come next.
type state uint8

const (
	wantValue      state = iota
	wantFirstValue       // or the end of the array
	wantKey
	wantFirstKey // or the end of the object
	wantColon
	wantNext // a comma, or an end
	inString
	inEscape
	inHex
	inWord
	// A number, by what was read of it.
	afterMinus
	afterZero
	inDigits
	afterPoint
	inFraction
	afterE
	afterSign
	inExponent
)

// place says which object of a message is being read; elsewhere is one that is not kept.
type place uint8

const (
	elsewhere place = iota
	envelope
	params
	meta
	result
	errorObject
	capabilities
	capability
)

// inner tells for each place which members are kept, and what place a member is when it is an object.
var inner = map[place]map[string]place{
	envelope:    {"jsonrpc": elsewhere, "id": elsewhere, "method": elsewhere, "params": params, "result": result, "error": errorObject},
	params:      {"name": elsewhere, "uri": elsewhere, "requestId": elsewhere, "progressToken": elsewhere, "protocolVersion": elsewhere, "capabilities": capabilities, "_meta": meta},
	meta:        {"progressToken": elsewhere, "io.modelcontextprotocol/protocolVersion": elsewhere, "io.modelcontextprotocol/clientCapabilities": capabilities},
	result:      {"resultType": elsewhere, "isError": elsewhere, "protocolVersion": elsewhere, "capabilities": capabilities},
	errorObject: {"code": elsewhere},
}

// member tells whether a member is kept, and its place.
func member(at place, key string) (inside place, keep bool) {
	switch at {
	case capabilities:
		return capability, true
	case capability:
		return elsewhere, true
	}
	inside, keep = inner[at][key]
	return inside, keep
}

// reset makes o ready for another text.
func (o *outline) reset() {
	*o = outline{kept: o.kept[:0], key: o.key[:0], places: o.places[:0]}
}

// feed reads the next piece.
func (o *outline) feed(b []byte) {
	for i := 0; i < len(b) && o.wrong == frame.NoReason; {
		if o.state == inString {
			i += o.text(b[i:])
			continue
		}
		if o.step(b[i]) {
			i++
			o.offset++
		}
	}
}

func (o *outline) refuse(r frame.Reason) {
	if o.wrong == frame.NoReason {
		o.wrong = r
	}
}

// emit keeps bytes of a value that is kept. A text that is too long to be a name is let go; an id that is too long is not, since
// another id would be a lie.
func (o *outline) emit(b ...byte) {
	if !o.keep || o.overflow {
		return
	}
	if o.state == inString && len(o.kept)+len(b)-o.begun > mostValue && string(o.key) != `"id"` {
		o.kept = append(o.kept[:o.begun], '"', '"')
		o.keep = false
		return
	}
	if len(o.kept)+len(b) > mostKept {
		o.overflow = true
		return
	}
	o.kept = append(o.kept, b...)
}

// text reads the inside of a string, up to its end or an escape.
func (o *outline) text(b []byte) int {
	n := 0
	for n < len(b) && b[n] != '"' && b[n] != '\\' && b[n] >= 0x20 {
		n++
	}
	o.say(b[:n])
	if n == len(b) {
		o.offset += int64(n)
		return n
	}
	switch b[n] {
	case '"':
		o.say(b[n : n+1])
		o.endString()
	case '\\':
		o.say(b[n : n+1])
		o.state = inEscape
	default:
		o.refuse(frame.NotJSON)
	}
	o.offset += int64(n + 1)
	return n + 1
}

// say takes bytes of a string: of a name, or of a value.
func (o *outline) say(b []byte) {
	switch {
	case !o.inKey:
		o.emit(b...)
	case len(o.key)+len(b) > longestKey:
		o.keyLong = true
	default:
		o.key = append(o.key, b...)
	}
}

func (o *outline) endString() {
	if o.inKey {
		o.inKey, o.state = false, wantColon
		return
	}
	o.endValue()
}

// unquote reads a member's name.
func unquote(key []byte) string {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key[1 : len(key)-1])
	}
	var name string
	if json.Unmarshal(key, &name) != nil {
		return ""
	}
	return name
}

// message is told that a message is whole.
func (o *outline) message() {
	e := element{start: o.start, end: o.offset + 1}
	e.frame = frame.Frame{Bytes: frame.Unknown, Rows: frame.Unknown}
	text := bytes.Clone(o.kept)
	ok := false
	if o.overflow {
		ok = frame.DecodeCut(text, &e.frame)
	} else {
		ok = frame.DecodeMessage(text, &e.frame) == frame.NoReason
	}
	switch {
	case !ok:
		return
	case len(o.found) < mostElements:
		o.found = append(o.found, e)
	default:
		o.more++
	}
	o.fresh = true
}

// finish tells whether the text, which has ended, was JSON.
func (o *outline) finish() bool {
	return o.wrong == frame.NoReason && o.depth == 0 && o.state == wantNext
}
