package dialect

import (
	"bytes"
	"strings"

	"mcpdiag/ingest/frame"
)

// wire is the format-blind reader: it takes whole JSON-RPC objects out of any line and knows nothing of the format around
// them. What is no such object it does not guess at.
func wire() *Dialect {
	return &Dialect{
		Name: "wire", Writer: "anything that logs whole JSON-RPC messages", Vantage: "not known",
		Sees:    Everything &^ (Handlers | Ends),
		Ordered: true, // the direction of an answer is found by who asked
		Match:   matchWire,
		New:     func() Reader { return &wireLog{wireReader: wireReader{open: map[string]held{}}} },
	}
}

// The reasons for which a line of this dialect is none.
const (
	noObject frame.Reason = "no JSON-RPC object on the line"
	cutOff   frame.Reason = "cut off inside an object"
	tangled  frame.Reason = "too many braces to look through"
)

// matchWire wants a whole object with "jsonrpc" on the line. A native record may carry one as its payload, and stays native.
func matchWire(line []byte) bool {
	o := newObjects(line)
	if o.next() == nil {
		return false
	}
	var d frame.Decoder
	var f frame.Frame
	return line[0] != '{' || d.Decode(line, &f) != frame.NoReason
}

// objects walks the JSON-RPC objects on a line. An object that is none may hold some, so it is looked into; one that is may
// hold some as its payload, so it is not. Nor is one that the line's end cuts: what it holds could be either.
type objects struct {
	line   []byte
	i      int
	first  int // where the first one starts; -1 before it is found
	budget int
	cut    bool
}

// lookInto bounds how often a byte is read again, since braces that open without end would cost the square of the line.
const lookInto = 16

func newObjects(line []byte) objects {
	o := objects{line: line, first: -1, budget: lookInto * len(line)}
	if !bytes.Contains(line, []byte(`"jsonrpc"`)) {
		o.i = len(line)
	}
	return o
}

// next takes the next object; nil when there is none.
func (o *objects) next() []byte {
	for o.budget > 0 {
		start := bytes.IndexByte(o.line[o.i:], '{')
		if start < 0 {
			return nil
		}
		o.i += start
		object := o.line[o.i:]
		end, shape := frame.ScanObject(object)
		o.budget -= end
		switch shape {
		case frame.MessageObject:
			if o.first < 0 {
				o.first = o.i
			}
			o.i += end
			return object[:end]
		case frame.CutObject:
			o.cut, o.i = true, len(o.line)
		default:
			o.i++
		}
	}
	return nil
}

// reason says why a line with no object is none.
func (o *objects) reason() frame.Reason {
	switch {
	case o.budget <= 0 && bytes.IndexByte(o.line[o.i:], '{') >= 0:
		return tangled
	case o.first >= 0:
		return frame.NoReason
	case o.cut:
		return cutOff
	}
	return noObject
}

// wireReader remembers who holds which id open.
type wireReader struct{ open map[string]held }

// held is a set of the directions in which a request with an id is unanswered.
type held uint8

func heldIn(d frame.Dir) held { return 1 << d }

// line takes the messages out of a line. The reason is about the first object that is no message, or about the line.
func (r *wireReader) line(n uint32, line []byte, b *Batch) frame.Reason {
	o := newObjects(line)
	var first frame.Reason
	var at frame.Instant
	leadingTime(line, &at)
	for object := o.next(); object != nil; object = o.next() {
		f := frame.Frame{Line: n, Bytes: frame.Unknown, Rows: frame.Unknown, At: at}
		if reason := frame.DecodeMessage(object, &f); reason != frame.NoReason {
			if first == frame.NoReason {
				first = reason
			}
			continue
		}
		if len(object) == len(line) {
			f.Bytes = int64(len(object)) + 1
		}
		f.Dir = r.direction(&f, line[:o.first])
		b.Frames = append(b.Frames, f)
	}
	if first == frame.NoReason {
		first = o.reason()
	}
	return first
}

// leadingTime reads the time that a line starts with, if there is one.
func leadingTime(line []byte, t *frame.Instant) {
	const date, longest = len("2006-01-02"), 40
	line = bytes.TrimLeft(line, "[ ")
	n := 0
	for n < len(line) && n < longest && (n == date || strings.IndexByte("0123456789-:.,+Zz", line[n]) >= 0) {
		n++
	}
	frame.ParseWall(bytes.TrimRight(line[:n], "-:.,+ "), t)
}

// direction tells which way a message went: by what only one side may send, by who holds the id open, by the words in front
// of it; and when none of them tells, a client asks and a server answers and notifies.
func (r *wireReader) direction(f *frame.Frame, before []byte) frame.Dir {
	if f.Kind.Answer() {
		d := r.answerDirection(f.ID, before)
		r.answered(f.ID, opposite(d))
		return d
	}
	d := methodDirections[string(f.Method)]
	if d == frame.NoDir && f.RequestID.Known() { // a cancel goes the way of the request
		d = r.onlyHolder(f.RequestID)
	}
	if d == frame.NoDir {
		d = spokenDirection(before)
	}
	if d == frame.NoDir {
		d = usualDirection(f)
	}
	if f.Kind == frame.Request {
		r.open[string(f.ID)] |= heldIn(d)
	}
	return d
}

func usualDirection(f *frame.Frame) frame.Dir {
	if f.Kind == frame.Notification && string(f.Method) != "notifications/cancelled" {
		return frame.S2C
	}
	return frame.C2S
}

func (r *wireReader) answerDirection(id frame.ID, before []byte) frame.Dir {
	if d := opposite(r.onlyHolder(id)); d != frame.NoDir {
		return d
	}
	if d := spokenDirection(before); d != frame.NoDir {
		return d
	}
	return frame.S2C
}

// onlyHolder is the direction of the request that holds the id open, if there is one and not one each way.
func (r *wireReader) onlyHolder(id frame.ID) frame.Dir {
	switch r.open[string(id)] {
	case heldIn(frame.C2S):
		return frame.C2S
	case heldIn(frame.S2C):
		return frame.S2C
	}
	return frame.NoDir
}

func (r *wireReader) answered(id frame.ID, request frame.Dir) {
	h, ok := r.open[string(id)]
	if h &^= heldIn(request); h != 0 {
		r.open[string(id)] = h
	} else if ok {
		delete(r.open, string(id))
	}
}

func opposite(d frame.Dir) frame.Dir {
	switch d {
	case frame.C2S:
		return frame.S2C
	case frame.S2C:
		return frame.C2S
	}
	return frame.NoDir
}

// spokenDirections are words that tell a direction, in small letters.
var spokenDirections = [...]struct {
	words string
	dir   frame.Dir
}{
	{"from client", frame.C2S}, {"to server", frame.C2S}, {"client ->", frame.C2S}, {"-> server", frame.C2S}, {"client->", frame.C2S},
	{"->server", frame.C2S}, {"c->s", frame.C2S}, {"c2s", frame.C2S}, {"client_to_server", frame.C2S},
	{"from server", frame.S2C}, {"to client", frame.S2C}, {"server ->", frame.S2C}, {"-> client", frame.S2C}, {"server->", frame.S2C},
	{"->client", frame.S2C}, {"s->c", frame.S2C}, {"s2c", frame.S2C}, {"server_to_client", frame.S2C},
}

// spokenDirection finds the last such words in front of a message.
func spokenDirection(before []byte) frame.Dir {
	const near = 256
	if len(before) > near {
		before = before[len(before)-near:]
	}
	var room [near]byte
	small := append(room[:0], before...)
	for i, c := range small {
		if c >= 'A' && c <= 'Z' {
			small[i] = c + 'a' - 'A'
		}
	}
	dir, last := frame.NoDir, -1
	for _, s := range spokenDirections {
		if i := bytes.LastIndex(small, []byte(s.words)); i > last {
			dir, last = s.dir, i
		}
	}
	return dir
}

// methodDirections are the methods that one side alone may send (the spec's method catalogue, all versions).
var methodDirections = map[string]frame.Dir{
	"initialize": frame.C2S, "server/discover": frame.C2S, "tools/list": frame.C2S, "tools/call": frame.C2S,
	"resources/list": frame.C2S, "resources/templates/list": frame.C2S, "resources/read": frame.C2S,
	"resources/subscribe": frame.C2S, "resources/unsubscribe": frame.C2S, "prompts/list": frame.C2S, "prompts/get": frame.C2S,
	"completion/complete": frame.C2S, "logging/setLevel": frame.C2S, "subscriptions/listen": frame.C2S, "tasks/update": frame.C2S,
	"sampling/createMessage": frame.S2C, "roots/list": frame.S2C, "elicitation/create": frame.S2C,

	"notifications/initialized": frame.C2S, "notifications/roots/list_changed": frame.C2S,
	"notifications/message": frame.S2C, "notifications/tools/list_changed": frame.S2C, "notifications/prompts/list_changed": frame.S2C,
	"notifications/resources/list_changed": frame.S2C, "notifications/resources/updated": frame.S2C,
	"notifications/elicitation/complete": frame.S2C, "notifications/subscriptions/acknowledged": frame.S2C, "notifications/tasks": frame.S2C,
}
