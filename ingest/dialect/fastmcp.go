package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// fastMCP reads the lines of FastMCP's logging middleware, as key=value or as JSON: handlers, without ids.
//
//	event=request_start method=tools/call source=client
//	event=request_success method=tools/call duration_ms=12.3
func fastMCP() *Dialect {
	return &Dialect{
		Name: "fastmcp", Writer: "FastMCP, logging middleware (key=value or JSON)", Vantage: "the server's handlers", Moment: "handler entered, handler left", Source: fromDescription,
		Sees: Handlers | Times | Large | Flying, Side: frame.Server, Clock: true, Ordered: true, Carried: true,
		Match:  func(line []byte) bool { return isMiddleware(middleware(line)) },
		Weight: func([]byte) int { return 3 },
		New:    text(func() grammar { return &fast{} }),
	}
}

// middleware reads the members of a line, whatever logger stands around them.
func middleware(line []byte) fields {
	if i := bytes.Index(line, []byte("event=request_")); i >= 0 {
		return logfmt(line[i:])
	}
	if i := bytes.Index(line, []byte(`{"event": "request_`)); i >= 0 {
		return jsonFields(line[i:])
	}
	if i := bytes.Index(line, []byte(`{"event":"request_`)); i >= 0 {
		return jsonFields(line[i:])
	}
	return nil
}

func isMiddleware(f fields) bool {
	switch f.text("event") {
	case "request_start", "request_success", "request_error":
		return f["method"] != nil
	}
	return false
}

type fast struct{ handlers numbered }

func (m *fast) line(r *textReader, line []byte) {
	rec := middleware(line)
	if !isMiddleware(rec) || bytes.HasPrefix(rec["method"], []byte("notifications/")) {
		return
	}
	f := r.blank()
	f.At = pythonTime(line)
	f.Dir, f.Method, f.Side = frame.C2S, rec["method"], frame.Server
	if f.Kind = frame.HandlerExit; rec.text("event") == "request_start" {
		f.Kind = frame.HandlerEnter
	}
	m.handlers.add(r, f)
}
