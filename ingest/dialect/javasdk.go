package dialect

import (
	"bytes"
	"strconv"

	"mcpdiag/ingest/frame"
)

// javaSDK reads the java-sdk at DEBUG, as Spring Boot prints it: what it sends as a record's toString, what it receives as
// JSON and then as a record again. Ids are strings. An HTTP status is the transport's word.
//
//	2026-03-04T20:33:28.242+01:00 DEBUG 56944 --- […] […] i.m.c.t.WebClientStreamableHttpTransport : Sending message JSONRPCRequest[jsonrpc=2.0, method=initialize, id=a1b2c3d4-0, …]
func javaSDK() *Dialect {
	return &Dialect{
		Name: "java-sdk", Writer: "java-sdk and Spring AI at DEBUG", Vantage: "either side, told by content", Moment: "before the send; after the read",
		Knob: "set logging.level.io.modelcontextprotocol=DEBUG",
		Sees: Everything &^ (Handlers | BadLines | Sizes | Ends), Ordered: true, Carried: true,
		Match: prose(func(line []byte) bool {
			for _, w := range javaWords {
				if bytes.Contains(line, []byte(w.words)) {
					return true
				}
			}
			return bytes.Contains(line, []byte(" i.m.")) || bytes.Contains(line, []byte(" io.modelcontextprotocol."))
		}),
		Weight: weights(func(line []byte) bool { return bytes.Contains(line, []byte("JSONRPC")) }, 10),
		New:    text(func() grammar { return &java{said: map[string]bool{}} }),
	}
}

// javaWords stand behind ` : ` in Spring's pattern and behind ` - ` in logback's own.
var javaWords = []struct {
	words string
	way   way
	again bool // a second report of what was read as JSON
}{
	{"Sending message JSONRPC", outward, false}, {"Received JSON message: ", inward, false}, {"Received response: JSONRPC", inward, true},
	{"Received request: JSONRPC", inward, true}, {"Received notification: JSONRPC", inward, true}, {"Received message: JSONRPC", inward, true},
}

type java struct {
	side frame.Side
	said map[string]bool // what was read as JSON and will be told again
}

func (j *java) line(r *textReader, line []byte) {
	f := r.blank()
	f.At, _, _ = stamp(line)
	for _, w := range javaWords {
		_, body, ok := bytes.Cut(line, []byte(w.words))
		if !ok {
			continue
		}
		asJSON := len(body) > 0 && body[0] == '{'
		if asJSON && frame.DecodeMessage(bytes.TrimSpace(body), &f) != frame.NoReason || !asJSON && !javaRecord(body, &f) {
			r.bad(line, frame.NotMessage)
			return
		}
		key := f.Kind.String() + string(f.ID) + string(f.Method)
		if w.again && j.said[key] {
			delete(j.said, key)
			return
		}
		if asJSON && len(j.said) < maxSent {
			j.said[key] = true
		}
		j.frame(r, f, w.way)
		return
	}
	if _, status, ok := bytes.Cut(line, []byte("] Response ")); ok {
		j.status(r, status, f)
	}
}

// frame gives the message its direction. Whose log it is shows when it sends or reads what only one side may.
func (j *java) frame(r *textReader, f frame.Frame, w way) {
	if sure := methodDirections[string(f.Method)]; j.side == frame.NoSide && !f.Kind.Answer() {
		j.side = w.side(sure)
	}
	f.Side, f.Dir = j.side, w.dir(j.side)
	if f.Kind.Answer() && w == outward {
		f.Phase = frame.Queued
	}
	r.directed(&f, f.Dir)
}

// status reads an HTTP status that refuses.
func (j *java) status(r *textReader, status []byte, f frame.Frame) {
	n, err := strconv.ParseInt(string(status[:digitsLen(status)]), 10, 32)
	if err != nil || n < 400 || n > 599 {
		return
	}
	f.Kind, f.Dir, f.Side = frame.Invalid, frame.S2C, j.side
	f.Extra().Status, f.More.HasStatus = n, true
	f.More.Raw, f.More.Word = status[:min(len(status), teeRaw)], "http "+strconv.FormatInt(n, 10)
	r.add(f)
}

// javaRecord reads `Request[jsonrpc=2.0, method=tools/call, id=a1b2c3d4-1, params=CallToolRequest[name=tide, …]]`.
func javaRecord(b []byte, f *frame.Frame) bool {
	class, rest, _ := bytes.Cut(b, []byte{'['})
	member := func(name string) []byte {
		if v, _, ok := between(rest, name+"=", ","); ok {
			return bytes.TrimRight(v, "]")
		}
		return nil
	}
	switch string(class) {
	case "Request":
		f.Kind = frame.Request
	case "Notification":
		f.Kind = frame.Notification
	case "Response":
		f.Kind = frame.Response
		if _, e, ok := bytes.Cut(rest, []byte(", error=JSONRPCError[code=")); ok {
			f.Kind = frame.Error
			code, _, _ := bytes.Cut(e, []byte{','})
			f.Extra().Code, f.More.HasCode = integer(code)
		}
	default:
		return false
	}
	if f.Kind != frame.Response && f.Kind != frame.Error {
		f.Method = member("method")
		if takesName(f.Method) {
			f.Name, _, _ = between(rest, "[name=", ",")
		}
	}
	if f.Kind != frame.Notification {
		f.ID = bareID(member("id"))
		f.Trunc = f.ID == nil
	}
	return true
}
