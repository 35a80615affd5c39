package tap

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"mcpdiag/ingest/frame"
)

// errEncoding is a Content-Encoding that this package does not know.
var errEncoding = errors.New("unknown content encoding")

// decoded undoes the Content-Encoding of the copy.
func decoded(encoding string, r io.Reader) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return r, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(r)
	case "deflate": // zlib by the letter of RFC 9110, and bare flate by some servers
		b := bufio.NewReader(r)
		if head, err := b.Peek(2); err == nil && head[0]&15 == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			return zlib.NewReader(b)
		}
		return flate.NewReader(b), nil
	}
	return nil, errEncoding
}

// text is the copy of a body.
type text struct {
	b    []byte
	size int64 // of the body; Unknown when its coding cannot be undone
	cut  bool  // b is the beginning of it
}

// whole reads a body to its end.
func (x *exchange) whole(body *chunks, header http.Header) text {
	encoding := header.Get("Content-Encoding")
	r, err := decoded(encoding, body)
	if err != nil {
		body.wait()
		return text{size: frame.Unknown}
	}
	var t text
	t.b, _ = io.ReadAll(io.LimitReader(r, int64(x.h.maxBody())))
	more := rest(r, encoding)
	onWire := body.wait()
	_, lost := body.broken()
	if t.size, t.cut = int64(len(t.b))+more, more > 0 || lost; t.cut && encoding == "" {
		t.size = onWire
	} else if t.cut {
		t.size = frame.Unknown
	}
	return t
}

// rest is how much more there is. What is compressed may become a thousand times as long, and is not followed there: the traffic
// would wait for it.
func rest(r io.Reader, encoding string) int64 {
	if encoding != "" {
		r = io.LimitReader(r, 1)
	}
	n, _ := io.Copy(io.Discard, r)
	return n
}

// request records what a request's body says. It has come to its end, or as far as it will.
func (x *exchange) request(body *chunks, header http.Header) {
	switch t := x.whole(body, header); {
	case len(t.b) == 0 && t.size == 0:
	case len(t.b) == 0 || t.cut:
		x.unread(frame.C2S, t, body.at(), 0)
	default:
		x.asks(t.b, header.Get("Content-Type"), body.at())
	}
}

// asks records the messages of a request's body. What is none is not always quoted: beside the MCP endpoint there may be an
// authorization server's behind the same address, and what is sent there are credentials.
func (x *exchange) asks(text []byte, contentType string, at time.Time) {
	quote := isJSON(contentType) && (spoken(text) || !json.Valid(text))
	x.eachMessage(frame.C2S, text, at, func(e *Event) {
		if e.Kind == frame.Invalid && !quote {
			e.Extra().Raw, e.Payload = nil, nil
		}
		x.record(e, frame.C2S)
	})
}

func isJSON(contentType string) bool {
	media, _, _ := mime.ParseMediaType(contentType)
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

// spoken reports whether a text at least means to be JSON-RPC.
func spoken(text []byte) bool { return bytes.Contains(text, []byte(`"jsonrpc"`)) }

// unread records a body that the copy does not hold whole. Without any of it, all that can be said is that something is missing.
func (x *exchange) unread(dir frame.Dir, t text, at time.Time, status int) {
	e := Event{Time: at}
	if !frame.DecodeCut(t.b, &e.Frame) {
		x.gap(dir)
		return
	}
	e.Bytes, e.Rows = t.size, frame.Unknown
	x.stamp(&e, status)
	x.follow(&e, dir)
	x.record(&e, dir)
}

// gap records that something crossed that cannot be told. It may have been any answer.
func (x *exchange) gap(dir frame.Dir) {
	var e Event
	e.Kind = frame.Gap
	e.Extra().Dropped = 1
	x.record(&e, dir)
	if dir == frame.S2C {
		clear(x.open)
	}
}

// messages records the messages of one body or event: one, or a batch of them, or bytes that are none.
func (x *exchange) messages(dir frame.Dir, text []byte, at time.Time, status int) {
	x.eachMessage(dir, text, at, func(e *Event) {
		x.stamp(e, status)
		x.record(e, dir)
	})
}

func (x *exchange) eachMessage(dir frame.Dir, text []byte, at time.Time, emit func(*Event)) {
	f := NewFramer(dir, len(text), func(e *Event) {
		if e.Kind == frame.Error && e.ID == nil && !e.Trunc {
			e.ID = frame.ID("null") // the format's word for an error that names no request
		}
		x.follow(e, dir)
		emit(e)
	})
	f.Message(text, int64(len(text)), at)
}

func (x *exchange) stamp(e *Event, status int) {
	if status != 0 {
		m := e.Extra()
		m.Status, m.HasStatus = int64(status), true
	}
}

// head is what a response says before its body.
type head struct {
	status int
	header http.Header
	at     time.Time
}

// events reports whether the body is a stream of events.
func (h *head) events() bool {
	media, _, _ := mime.ParseMediaType(h.header.Get("Content-Type"))
	return media == "text/event-stream" && h.status < 300
}

// response records what a response says, until its body ends. ended tells how, once it has.
func (x *exchange) response(h head, body *chunks, ended func() ending) {
	x.newSession(h)
	if h.events() {
		x.events(h, body)
	} else {
		x.document(h, body)
	}
	x.end(h, body, ended())
}

// newSession lets an exchange without a session that asks for nothing, say a GET, or that opens one belong to the session that
// its response names.
func (x *exchange) newSession(h head) {
	named := x.h.session(h.header)
	if held := x.opens.release(x, named); (held || x.asked == 0) && x.session == nil {
		x.session = named
	}
}

func (x *exchange) events(h head, body *chunks) {
	r, err := decoded(h.header.Get("Content-Encoding"), body)
	if err != nil {
		body.wait()
		x.gap(frame.S2C)
		return
	}
	var events frame.EventStream
	buf := make([]byte, 32<<10)
	for err == nil {
		var n int
		n, err = r.Read(buf)
		events.Feed(buf[:n], func(e *frame.Event) {
			switch {
			case !e.Message():
			case e.Cut:
				x.unread(frame.S2C, text{b: e.Data, size: frame.Unknown}, body.at(), h.status)
			default:
				x.messages(frame.S2C, e.Data, body.at(), h.status)
			}
		})
	}
	if _, lost := body.broken(); lost {
		x.gap(frame.S2C)
	}
	body.wait()
}

// document records a body that is not a stream of events.
func (x *exchange) document(h head, body *chunks) {
	t := x.whole(body, h.header)
	at := body.at()
	if at.IsZero() {
		at = h.at
	}
	switch {
	case len(t.b) == 0 && t.size == 0:
		x.refusal(h)
	case len(t.b) == 0 || t.cut:
		x.unread(frame.S2C, t, at, h.status)
	case x.asked > 0 || isMessage(t.b):
		x.messages(frame.S2C, t.b, at, h.status)
	default:
		// An acknowledgement of what asked for nothing, or a page of something that is no MCP endpoint.
	}
}

func isMessage(text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(text) > 0 && text[0] == '[' {
		return spoken(text) // a list of something else is not quoted
	}
	var f frame.Frame
	return frame.DecodeMessage(text, &f) == frame.NoReason
}

// refusal records that the transport did not take a request, with nothing but a status: an error's, or that of a redirect.
func (x *exchange) refusal(h head) {
	if h.status < 300 || x.asked == 0 {
		return
	}
	e := Event{Time: h.at}
	e.Kind, e.ID, e.Bytes, e.Rows = frame.Error, frame.ID("null"), 0, frame.Unknown
	x.stamp(&e, h.status)
	x.record(&e, frame.S2C)
	clear(x.open)
}

// ending is how an exchange ended.
type ending struct {
	at     time.Time
	client bool // the client went away
	cut    bool // without the end that HTTP gives a body
}

// end records the end of a stream that owed an answer, or that nobody had asked anything on.
func (x *exchange) end(h head, body *chunks, how ending) {
	stream := x.verb == http.MethodGet && h.events()
	owed := len(x.open) > 0 && h.status < 300
	switch {
	case x.verb == http.MethodDelete && h.status < 300:
		x.sessionEnds(h, how)
	case stream || owed:
		dir := frame.S2C
		if how.client {
			dir = frame.C2S
		}
		x.eof(dir, h, how)
	}
}

// sessionEnds records that the client ended the session, which is the end of more than this exchange.
func (x *exchange) sessionEnds(h head, how ending) {
	e := Event{Time: how.at}
	e.Kind, e.Dir, e.Side, e.Session = frame.EOF, frame.C2S, x.h.Side, x.session
	x.stamp(&e, h.status)
	x.h.Recorder.Record(&e)
}

func (x *exchange) eof(dir frame.Dir, h head, how ending) {
	e := Event{Time: how.at}
	e.Kind, e.Trunc = frame.EOF, how.cut
	e.Bytes, e.Rows = frame.Unknown, frame.Unknown
	x.stamp(&e, h.status)
	x.record(&e, dir)
}

// none records that a request got no response at all.
func (x *exchange) none(how ending) {
	x.opens.release(x, nil)
	if x.asked == 0 && x.verb != http.MethodGet {
		return
	}
	dir := frame.S2C
	if how.client {
		dir = frame.C2S
	}
	x.eof(dir, head{}, how)
}
