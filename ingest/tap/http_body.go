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

// whole reads a body of one or more messages, up to the limit of the copy. size is what came, kept or not.
func (x *exchange) whole(body *chunks, header http.Header) (text []byte, size int64) {
	r, err := decoded(header.Get("Content-Encoding"), body)
	if err != nil {
		io.Copy(io.Discard, body)
		return nil, -1
	}
	text, _ = io.ReadAll(io.LimitReader(r, int64(x.h.maxBody())))
	more, _ := io.Copy(io.Discard, r)
	return text, int64(len(text)) + more
}

// request records what a request's body says. It has come to its end, or as far as it will.
func (x *exchange) request(body *chunks, header http.Header) {
	text, size := x.whole(body, header)
	switch {
	case size < 0 || size > int64(len(text)) || body.broken():
		x.unread(frame.C2S, text, size, body.at(), 0)
	case size == 0:
	default:
		x.messages(frame.C2S, text, body.at(), 0)
	}
}

// unread records a body that the copy does not hold whole. Without any of it, all that can be said is that something is missing.
func (x *exchange) unread(dir frame.Dir, text []byte, size int64, at time.Time, status int) {
	e := Event{Time: at}
	if len(text) == 0 || !frame.DecodeCut(text, &e.Frame) {
		x.h.Recorder.Lose(1)
		return
	}
	e.Bytes, e.Rows = max(size, frame.Unknown), frame.Unknown
	x.stamp(&e, status)
	x.follow(&e, dir, nil)
	x.record(&e, dir)
}

// messages records the messages of one body or event: one, or a batch of them.
func (x *exchange) messages(dir frame.Dir, text []byte, at time.Time, status int) {
	text = bytes.TrimSpace(text)
	var batch []json.RawMessage
	if len(text) > 0 && text[0] == '[' && json.Unmarshal(text, &batch) == nil && len(batch) > 0 {
		for _, m := range batch {
			x.message(dir, m, int64(len(m)), at, status)
		}
		return
	}
	x.message(dir, text, int64(len(text)), at, status)
}

// message records one message, or bytes that are none.
func (x *exchange) message(dir frame.Dir, text []byte, size int64, at time.Time, status int) {
	e := Event{Time: at, Payload: text}
	reason := frame.DecodeMessage(text, &e.Frame)
	switch {
	case reason == frame.NoReason:
	case size > int64(len(text)) && frame.DecodeCut(text, &e.Frame):
	default:
		e.Kind = frame.Invalid
		e.Extra().Raw = text[:min(len(text), rawPrefix)]
		e.Payload = nil
	}
	if e.Kind == frame.Error && e.ID == nil && !e.Trunc {
		e.ID = frame.ID("null") // the format's word for an error that names no request
	}
	e.Bytes, e.Rows = size, frame.Unknown
	x.stamp(&e, status)
	x.follow(&e, dir, text)
	x.record(&e, dir)
}

// rawPrefix is how much of what is no message is recorded, in bytes.
const rawPrefix = 200

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

// response records what a response says, until its body ends. ended tells how, once it has.
func (x *exchange) response(h head, body *chunks, ended func() ending) {
	x.newSession(h)
	media, _, _ := mime.ParseMediaType(h.header.Get("Content-Type"))
	switch {
	case media == "text/event-stream" && h.status < 300:
		x.events(h, body)
	default:
		x.document(h, body)
	}
	x.end(h, body, ended())
}

// newSession lets an exchange that had no session and opens none by an answer of its own, say a GET, belong to the one that
// its response names.
func (x *exchange) newSession(h head) {
	if x.session == nil && x.asked == 0 {
		x.session = x.h.session(h.header)
	}
}

func (x *exchange) events(h head, body *chunks) {
	r, err := decoded(h.header.Get("Content-Encoding"), body)
	if err != nil {
		x.lost(body)
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
				x.unread(frame.S2C, e.Data, frame.Unknown, body.at(), h.status)
			default:
				x.messages(frame.S2C, e.Data, body.at(), h.status)
			}
		})
	}
	if body.broken() {
		x.h.Recorder.Lose(1)
	}
	io.Copy(io.Discard, body)
}

// lost gives up on a body in an encoding that cannot be undone.
func (x *exchange) lost(body *chunks) {
	x.h.Recorder.Lose(1)
	io.Copy(io.Discard, body)
	clear(x.open)
}

// document records a body that is not a stream of events.
func (x *exchange) document(h head, body *chunks) {
	text, size := x.whole(body, h.header)
	at := body.at()
	if at.IsZero() {
		at = h.at
	}
	switch {
	case size < 0:
		x.lost(body)
	case size == 0:
		x.refusal(h, 0)
	case size > int64(len(text)) || body.broken():
		x.unread(frame.S2C, text, size, at, h.status)
	case h.status >= 400 && !isMessage(text):
		if x.asked > 0 {
			x.message(frame.S2C, text, size, at, h.status)
		}
	case h.status < 400 && x.asked == 0 && !isMessage(text):
		// An acknowledgement, or a page of something that is no MCP endpoint.
	default:
		x.messages(frame.S2C, text, at, h.status)
	}
}

func isMessage(text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(text) > 0 && text[0] == '[' {
		return true
	}
	var f frame.Frame
	return frame.DecodeMessage(text, &f) == frame.NoReason
}

// refusal records that the transport said no to a request, with nothing but a status.
func (x *exchange) refusal(h head, size int64) {
	if h.status < 400 || x.asked == 0 {
		return
	}
	e := Event{Time: h.at}
	e.Kind, e.ID, e.Bytes, e.Rows = frame.Error, frame.ID("null"), size, frame.Unknown
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
	stream := x.verb == http.MethodGet && h.status < 300
	owed := len(x.open) > 0 && h.status < 300
	switch {
	case x.verb == http.MethodDelete && h.status < 300:
		x.eof(frame.C2S, h, how) // the client ended the session
	case stream || owed:
		dir := frame.S2C
		if how.client {
			dir = frame.C2S
		}
		x.eof(dir, h, how)
	}
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
	if x.asked == 0 && x.verb != http.MethodGet {
		return
	}
	dir := frame.S2C
	if how.client {
		dir = frame.C2S
	}
	x.eof(dir, head{}, how)
}
