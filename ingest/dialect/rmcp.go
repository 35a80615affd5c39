package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// rmcp reads the tracing lines of the Rust SDK, in Rust's Debug spelling. `response message` is logged when the handler
// returned, before anything is written, so it is the handler's exit and no answer.
//
//	2026-06-07T15:00:04.000311Z DEBUG serve_inner: rmcp::service: received request id=1 request=CallToolRequest(Request { … name: "ebb", … })
func rmcp() *Dialect {
	return &Dialect{
		Name: "rmcp", Writer: "Rust SDK (rmcp), tracing at debug", Vantage: "the server's dispatch (a client's alike)", Moment: "dispatch; answers: the handler returned, before the write",
		Knob: "set RUST_LOG=rmcp=debug",
		Sees: Requests | Handlers | Times | IDs | Large | Flying, Side: frame.Server, Ordered: true, Carried: true,
		Match: prose(func(line []byte) bool { return bytes.Contains(line, rmcpMark) }),
		Weight: weights(func(line []byte) bool {
			return bytes.Contains(line, []byte("received request id=")) || bytes.Contains(line, []byte("received notification "))
		}, 10),
		New: text(func() grammar { return &rust{side: frame.Server} }),
	}
}

// rmcpInfo is the row of a log at INFO, which holds notifications and no requests: the absence of one there says nothing. A
// line at DEBUG tips the balance to rmcp.
func rmcpInfo() *Dialect {
	d := rmcp()
	d.Name, d.Writer, d.Sees, d.Source = "rmcp-info", "Rust SDK (rmcp), tracing at info", Times|IDs|Large, fromDescription
	debug := d.Match
	d.Match = func(line []byte) bool {
		head, _, _ := bytes.Cut(line, rmcpMark)
		return debug(line) && !bytes.Contains(head, []byte("DEBUG")) && !bytes.Contains(head, []byte("TRACE"))
	}
	return d
}

var rmcpMark = []byte("rmcp::service: ")

type rust struct{ side frame.Side }

func (s *rust) line(r *textReader, line []byte) {
	_, said, ok := bytes.Cut(line, rmcpMark)
	if !ok {
		return
	}
	if place, rest, ok := bytes.Cut(said, []byte(": ")); ok && bytes.Contains(place, []byte(".rs")) {
		said = rest // a subscriber that was told to writes the place in the source
	}
	f := r.blank()
	f.At, _, _ = stamp(line)
	if bytes.HasPrefix(said, []byte("Service initialized as client")) {
		s.side = frame.Client
	}
	f.Side = s.side
	f.Dir = inward.dir(s.side)
	for _, k := range [...]struct {
		words string
		read  func(r *textReader, rest []byte, f frame.Frame)
	}{{"received request ", rustRequest}, {"received notification ", rustNotification}, {"response message ", rustExit}, {"response error ", rustExit},
		{"cancelled ", rustCancel}, {"dropping response for cancelled request ", rustDropped}} {
		if rest, ok := bytes.CutPrefix(said, []byte(k.words)); ok {
			k.read(r, rest, f)
			return
		}
	}
}

// rustID reads `id=1` or `id="x"`.
func rustID(rest []byte) frame.ID {
	rest, ok := bytes.CutPrefix(rest, []byte("id="))
	if !ok {
		return nil
	}
	if id, _, ok := frame.ParseID(rest); ok {
		return id
	}
	word, _, _ := bytes.Cut(rest, []byte{' '})
	return bareID(word)
}

func rustRequest(r *textReader, rest []byte, f frame.Frame) {
	f.Kind, f.ID = frame.Request, rustID(rest)
	_, rest, _ = bytes.Cut(rest, []byte("request="))
	class, _, _ := bytes.Cut(rest, []byte{'('})
	f.Method = []byte(requestTypes[string(class)])
	if len(f.Method) == 0 {
		f.Method = class
	}
	if takesName(f.Method) {
		if f.Name, _, _ = between(rest, ` name: "`, `"`); f.Name == nil {
			f.Name, _, _ = between(rest, ` uri: "`, `"`)
		}
	}
	f.Trunc = f.ID == nil
	r.add(f)
}

func rustNotification(r *textReader, rest []byte, f frame.Frame) {
	_, rest, _ = bytes.Cut(rest, []byte("notification="))
	class, _, _ := bytes.Cut(rest, []byte{'('})
	f.Kind, f.Method = frame.Notification, []byte(requestTypes[string(class)])
	if len(f.Method) == 0 {
		f.Method = class
	}
	if string(f.Method) == "notifications/cancelled" {
		if f.RequestID = rustRequestID(rest); f.RequestID == nil && r.partial { // it may stand in what was cut off
			r.bad(rest, cutOff)
			return
		}
	}
	r.add(f)
}

// rustRequestID reads `request_id: Number(2)` or `request_id: String("x")`.
func rustRequestID(rest []byte) frame.ID {
	for _, before := range [...]string{"request_id: Number(", "request_id: String("} {
		if _, id, ok := bytes.Cut(rest, []byte(before)); ok {
			id, _, _ := frame.ParseID(id)
			return id
		}
	}
	return nil
}

func rustExit(r *textReader, rest []byte, f frame.Frame) {
	if f.ID = rustID(rest); f.ID == nil {
		return
	}
	f.Kind = frame.HandlerExit
	f.Extra().Word = "handler-exit res " + f.ID.Bare() + " -"
	r.add(f)
}

func rustCancel(r *textReader, rest []byte, f frame.Frame) {
	if f.ID = rustID(rest); f.ID == nil {
		return
	}
	f.Kind = frame.GaveUp
	f.Extra().Word = "cancel " + f.ID.Bare()
	r.add(f)
}

func rustDropped(r *textReader, rest []byte, f frame.Frame) {
	if f.ID = rustID(rest); f.ID == nil {
		return
	}
	f.Kind = frame.HandlerExit
	f.Extra().Word = "dropped res " + f.ID.Bare()
	r.add(f)
}
