package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// textTrace reads the text trace that holds both sides of a session in one file. Each line says whose it is.
//
//	client  09:41:03.118  c->s  req  id=47  tools/call list_sailings  312B
//	server  09:41:03.196  handler exit   list_sailings  rows=418
//	client  ————          (nothing)
func textTrace() *Dialect {
	return &Dialect{
		Name: "text-trace", Writer: "text trace", Vantage: "as each line says",
		Sees:    Everything &^ (BadLines | Ends),
		Clock:   true,
		Ordered: true,
		Match: func(line []byte) bool {
			w := words{line}
			_, _, event := traceHead(&w)
			return event != noEvent
		},
		New: func() Reader { return new(traceReader) },
	}
}

const notTrace frame.Reason = "not a text-trace line"

// event is what a line of the trace tells of.
type event uint8

const (
	noEvent event = iota
	nothing       // the writer says that there was none
	handled
	crossed
)

// traceHead reads the words that make a line one of this dialect: the side, the time if there is one, and what follows is of.
// It leaves w at that.
func traceHead(w *words) (side frame.Side, clock []byte, e event) {
	side, ok := frame.ParseSide(w.next())
	if !ok || side == frame.Proxy {
		return frame.NoSide, nil, noEvent
	}
	if c := w.rest(); len(c) > 0 && (c[0]-'0' <= 9 || c[0] == '-' || bytes.HasPrefix(c, []byte("—")) || bytes.HasPrefix(c, []byte("–"))) {
		clock = w.next()
	}
	ahead := *w
	switch word := ahead.next(); {
	case string(word) == "(nothing)":
		return side, clock, nothing
	case string(word) == "handler":
		verb := ahead.next()
		if string(verb) == "enter" || string(verb) == "exit" {
			return side, clock, handled
		}
	case arrow(word) != frame.NoDir && traceKind(ahead.next()) != frame.NoKind:
		return side, clock, crossed
	}
	return frame.NoSide, nil, noEvent
}

func traceKind(word []byte) frame.Kind {
	switch string(word) {
	case "req":
		return frame.Request
	case "res":
		return frame.Response
	case "err":
		return frame.Error
	case "ntf":
		return frame.Notification
	case "bad", "invalid":
		return frame.Invalid
	case "eof":
		return frame.EOF
	}
	return frame.NoKind
}

// traceReader remembers the time of day of each side, since midnight shows only as a fall.
type traceReader struct {
	day [2]struct{ days, last int64 }
}

func (r *traceReader) Read(span []byte, b *Batch) {
	b.Lines += eachLine(span, func(n uint32, line []byte, hole int) {
		var reason frame.Reason
		if len(line) > 0 {
			f := frame.Frame{Line: n, Bytes: frame.Unknown, Rows: frame.Unknown}
			if reason = r.line(line, &f); reason == frame.NoReason && f.Kind != frame.NoKind {
				b.Frames = append(b.Frames, f)
			}
		}
		b.refuse(n, line, hole, reason)
	})
}

// line reads one line. A line that says "nothing" leaves f.Kind empty.
func (r *traceReader) line(line []byte, f *frame.Frame) frame.Reason {
	w := words{line}
	side, clock, e := traceHead(&w)
	if e == noEvent {
		return notTrace
	}
	f.Side = side
	r.time(clock, f)
	var reason frame.Reason
	switch e {
	case handled:
		reason = traceHandler(&w, f)
	case crossed:
		reason = traceFrame(&w, f)
	}
	return reason
}

// time reads a time of day as a zone-less time of 1970-01-01, or of the day after when it falls by more than half a day. A
// smaller fall is a stepped clock, and stays one.
func (r *traceReader) time(clock []byte, f *frame.Frame) {
	const half, whole = 43_200, 86_400
	sec, nsec, ok := timeOfDay(clock)
	if !ok {
		return
	}
	day := &r.day[f.Side-frame.Client]
	if sec < day.last-half {
		day.days++
	}
	day.last = sec
	f.At.Wall(day.days*whole+sec, nsec, false)
}

// timeOfDay reads hh:mm:ss with up to nine decimals.
func timeOfDay(b []byte) (sec int64, nsec int32, ok bool) {
	const date = "1970-01-01T"
	var room [len(date) + 18]byte
	if len(b) < 8 || len(b) > 18 || bytes.ContainsAny(b, "+-zZ") { // a zone has no place here
		return 0, 0, false
	}
	var t frame.Instant
	if !frame.ParseWall(append(append(room[:0], date...), b...), &t) {
		return 0, 0, false
	}
	ns, ok := t.WallNS()
	return ns / 1_000_000_000, int32(ns % 1_000_000_000), ok
}

// traceHandler reads "handler enter NAME". The line has no id, as a rule; the fold looks for the call it belongs to.
func traceHandler(w *words, f *frame.Frame) frame.Reason {
	w.next()
	f.Kind = frame.HandlerEnter
	if string(w.next()) == "exit" {
		f.Kind = frame.HandlerExit
	}
	f.Dir = frame.C2S // of the call that it serves: a server's handlers serve the client
	if f.Side == frame.Client {
		f.Dir = frame.S2C
	}
	t := traceWords{words: *w, nextIs: aName}
	reason := t.read(f)
	if !f.ID.Known() {
		f.ID = nil
	}
	return reason
}

func traceFrame(w *words, f *frame.Frame) frame.Reason {
	f.Dir = arrow(w.next())
	f.Kind = traceKind(w.next())
	t := traceWords{words: *w}
	if f.Kind == frame.Request || f.Kind == frame.Notification {
		t.nextIs = aMethod
	}
	if reason := t.read(f); reason != frame.NoReason {
		return reason
	}
	return traceID(f)
}

// traceID refuses a frame without the id that its kind needs.
func traceID(f *frame.Frame) frame.Reason {
	switch f.Kind {
	case frame.Request, frame.Response:
		if f.ID.IsNull() {
			return frame.NullID
		}
		if f.ID == nil {
			return frame.NoID
		}
	case frame.Notification, frame.Invalid, frame.EOF:
		f.ID = nil
	}
	return frame.NoReason
}

// traceWords reads the rest of a line: words of known form anywhere, and a bare word only where it can be but one thing.
type traceWords struct {
	words
	nextIs bare
}

// bare says what a bare word would be.
type bare uint8

const (
	unknown bare = iota
	aMethod
	aName
)

func (t *traceWords) read(f *frame.Frame) frame.Reason {
	for {
		if token, ok := bytes.CutPrefix(t.rest(), []byte("id=")); ok {
			if f.ID, ok = t.token(token); !ok {
				return frame.BadID
			}
			continue
		}
		word := t.next()
		if len(word) == 0 || string(word) == "..." || string(word) == "…" {
			return frame.NoReason
		}
		t.word(word, f)
	}
}

// token reads an id as raw JSON, or a bare word that can be nothing but a string because it starts with a letter. Another word
// that is no JSON is no id.
func (t *traceWords) token(b []byte) (frame.ID, bool) {
	if rest, ok := bytes.CutPrefix(b, []byte("null")); ok && ends(rest) {
		t.b = rest
		return b[:4], true
	}
	id, rest, ok := frame.ParseID(b)
	if !ok {
		word := (&words{b}).next()
		if len(word) == 0 || word[0] < 'A' || word[0] > 'z' || bytes.ContainsAny(word, `"[]{}`) || string(word) == "true" || string(word) == "false" {
			return nil, false
		}
		id, rest = frame.StringID(string(word)), b[len(word):]
	}
	if !ends(rest) {
		return nil, false
	}
	t.b = rest
	return id, true
}

func ends(b []byte) bool { return len(b) == 0 || b[0] == ' ' || b[0] == '\t' }

func (t *traceWords) word(word []byte, f *frame.Frame) {
	if n, ok := byteCount(word); ok {
		f.Bytes = n
		return
	}
	if key, value, ok := bytes.Cut(word, []byte{'='}); ok && isKey(key) {
		traceMember(key, value, f)
		return
	}
	switch t.nextIs {
	case aMethod:
		f.Method, t.nextIs = word, unknown
		if takesName(word) {
			t.nextIs = aName
		}
	case aName:
		if t.nextIs = unknown; f.Kind.Handler() && takesName(word) {
			f.Method, t.nextIs = word, aName
			return
		}
		f.Name = word
	}
}

func isKey(b []byte) bool {
	for _, c := range b {
		if (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' {
			return false
		}
	}
	return len(b) > 0
}

func traceMember(key, value []byte, f *frame.Frame) {
	switch string(key) {
	case "rows":
		if n, ok := decimal(value); ok {
			f.Rows = n
		}
	case "code":
		sign, digits := int64(1), value
		if bytes.HasPrefix(value, []byte{'-'}) {
			sign, digits = -1, value[1:]
		}
		if n, ok := decimal(digits); ok && f.Kind == frame.Error {
			f.Extra().Code, f.More.HasCode = sign*n, true
		}
	case "requestId", "request_id":
		if id, rest, ok := frame.ParseID(value); ok && len(rest) == 0 && f.Kind == frame.Notification {
			f.RequestID = id
		}
	}
}

// takesName reports whether a request of the method is about something with a name: a tool, a prompt or a resource.
func takesName(method []byte) bool {
	switch string(method) {
	case "tools/call", "prompts/get", "resources/read", "resources/subscribe", "resources/unsubscribe":
		return true
	}
	return false
}
