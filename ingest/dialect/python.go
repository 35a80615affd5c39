package dialect

import (
	"bytes"
	"time"

	"mcpdiag/ingest/frame"
)

// pythonSDK reads what the Python SDK v1, and FastMCP on it, log: at INFO that a handler was entered, without an id; at DEBUG,
// over SSE, the messages too. Rich wraps its lines at 80 columns and prints a time only when it changes; with a second handler
// everything stands twice.
//
//	[05/19/25 09:13:31] DEBUG    Received JSON: b'{"jsonrpc":"2.0","id":8,…}'                             sse.py:160
//	2025-05-19 09:13:31,606 - mcp.server.lowlevel.server - INFO - Processing request of type ListResourcesRequest
//	INFO:mcp.server.lowlevel.server:Processing request of type CallToolRequest
func pythonSDK() *Dialect {
	return &Dialect{
		Name: "python-sdk", Writer: "python-sdk v1 and FastMCP: stderr, plain or Rich", Vantage: "the server's dispatch (over SSE at DEBUG its messages; a client's too)", Moment: "dispatch; answers are queued in memory, not written",
		Knob: "python-sdk v2 logs no requests, and v1 needs level INFO (handlers) or DEBUG (messages over SSE): record with mcpdiag tee",
		Sees: Handlers | Times | IDs | Large | Flying, Side: frame.Server, Clock: true, Ordered: true, Carried: true,
		Match: prose(pythonWord),
		Weight: weights(func(line []byte) bool {
			return bytes.Contains(line, []byte("Received JSON: ")) || bytes.Contains(line, []byte("Sending message via SSE: ")) || bytes.Contains(line, []byte("client message: "))
		}, 4),
		Faint: func(line []byte) bool { return !saysAny(line, pythonWords[1:]) },
		New:   text(func() grammar { return &python{} }),
	}
}

// pythonWords start with the logger's name, which alone shows nothing.
var pythonWords = []string{"mcp.server.lowlevel", processing, "Dispatching request of type", "Received JSON: b", "Sending message via SSE: ", "Sending client message: ",
	"SSE message: ", "Failed to parse JSONRPC message", "dropping response for unknown/late request id", "Response sent"}

func pythonWord(line []byte) bool { return saysAny(line, pythonWords) }

func saysAny(line []byte, any []string) bool {
	for _, w := range any {
		if bytes.Contains(line, []byte(w)) {
			return true
		}
	}
	return false
}

// python reads the lines.
type python struct {
	spliced  spliced
	handlers numbered
	last     string // the line before, and how it was written
	form     form
}

func (p *python) line(r *textReader, line []byte) {
	f := r.blank()
	f.At = pythonTime(line)
	text, form := pythonText(line), formOf(line)
	if key := string(text[:min(len(text), 200)]); key != "" {
		if key == p.last && form != p.form {
			p.last = ""
			finer(r, f.At)
			return
		}
		p.last, p.form = key, form
	}
	if p.message(r, text, f) {
		return
	}
	kind, method := p.spliced.event(line)
	if kind == frame.NoKind {
		return
	}
	f.Kind, f.Dir, f.Side = kind, frame.C2S, frame.Server
	if method != "" {
		f.Method = []byte(method)
	}
	p.handlers.add(r, f)
}

// finer gives the frame of the line before the time of its copy, which the log's other handler counts more finely.
func finer(r *textReader, at frame.Instant) {
	if n := len(r.b.Frames); n > 0 && at.Known() {
		if last := &r.b.Frames[n-1]; last.Line+1 == r.n {
			last.At = at
		}
	}
}

// message reads the lines that hold one, as JSON or as Python prints an object.
func (p *python) message(r *textReader, text []byte, f frame.Frame) bool {
	for _, k := range [...]struct {
		words string
		dir   frame.Dir
		side  frame.Side
	}{{"Received JSON: ", frame.C2S, frame.Server}, {"Sending message via SSE: ", frame.S2C, frame.Server},
		{"Sending client message: ", frame.C2S, frame.Client}, {"SSE message: ", frame.S2C, frame.Client}, {"Received server message: ", frame.S2C, frame.Client}} {
		_, body, ok := bytes.Cut(text, []byte(k.words))
		if !ok {
			continue
		}
		f.Side, f.Dir = k.side, k.dir
		if literal := bytes.TrimRight(body, " "); len(literal) > 2 && literal[0] == 'b' {
			payload, size, ok := pythonBytes(literal)
			if !ok || frame.DecodeMessage(bytes.TrimSpace(payload), &f) != frame.NoReason {
				return true
			}
			f.Bytes = int64(size)
		} else if !reprMessage(body, &f) {
			return true
		}
		if f.Kind.Answer() && k.side == frame.Server {
			f.Phase = frame.Queued
		}
		p.handlers.talks = true
		f.Dir = k.dir
		r.add(f)
		return true
	}
	if bytes.Contains(text, []byte("Failed to parse JSONRPC message")) {
		f.Side = frame.Client
		r.noise(text, f, frame.S2C)
		return true
	}
	return false
}

// pythonText is the line without time, level and logger in front and without the place in the source behind.
func pythonText(line []byte) []byte {
	if formOf(line) == rich {
		line = line[:bytes.LastIndexByte(line, ' ')+1]
		if rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " "), []byte{'['}); ok {
			if _, after, ok := bytes.Cut(rest, []byte{']'}); ok {
				line = after
			}
		}
		w := words{line}
		if isLevel(w.next()) {
			line = w.rest()
		}
		return bytes.TrimSpace(line)
	}
	for _, level := range [...]string{" - DEBUG - ", " - INFO - ", " - WARNING - ", " - ERROR - "} {
		if _, rest, ok := bytes.Cut(line, []byte(level)); ok {
			return bytes.TrimSpace(rest)
		}
	}
	return bytes.TrimSpace(line)
}

// pythonTime reads `2025-05-19 09:13:31,600`, or Rich's `[05/19/25 09:13:31]`, which counts seconds only.
func pythonTime(line []byte) (at frame.Instant) {
	if at, _, ok := stamp(line); ok {
		return at
	}
	const form = "[01/02/06 15:04:05]"
	if len(line) >= len(form) && line[0] == '[' {
		if t, err := time.Parse(form, string(line[:len(form)])); err == nil {
			at.Wall(t.Unix(), 0, false)
		}
	}
	return at
}

// reprMessage reads `root=JSONRPCResponse(jsonrpc='2.0', id=8, result={…})`, as Python prints a message; from v1.8 on it stands
// within `SessionMessage(message=JSONRPCMessage(…), metadata=…)`.
func reprMessage(b []byte, f *frame.Frame) bool {
	if inner, ok := bytes.CutPrefix(b, []byte("SessionMessage(message=JSONRPCMessage(")); ok {
		b = inner
	}
	class, rest, ok := between(b, "JSONRPC", "(")
	if !ok {
		return false
	}
	switch string(class) {
	case "Request":
		f.Kind = frame.Request
	case "Notification":
		f.Kind = frame.Notification
	case "Response":
		f.Kind = frame.Response
	case "Error":
		f.Kind = frame.Error
		if _, code, ok := bytes.Cut(rest, []byte("code=")); ok {
			n := digitsLen(bytes.TrimPrefix(code, []byte{'-'})) + len(code) - len(bytes.TrimPrefix(code, []byte{'-'}))
			f.Extra().Code, f.More.HasCode = integer(code[:n])
		}
	default:
		return false
	}
	if f.Kind == frame.Request || f.Kind == frame.Notification {
		f.Method, _, _ = between(rest, "method='", "'")
		if takesName(f.Method) {
			f.Name, _, _ = between(rest, "'name': '", "'")
		}
	}
	if f.Kind != frame.Notification {
		f.ID = reprID(rest)
		f.Trunc = f.ID == nil
	}
	return f.Method != nil || f.Kind.Answer()
}

// reprID finds the member id, which stands last or second and not within a value.
func reprID(b []byte) frame.ID {
	i := bytes.LastIndex(b, []byte(" id="))
	if first := bytes.Index(b, []byte(" id=")); bytes.HasPrefix(b, []byte("jsonrpc=")) {
		i = first
	}
	if i < 0 {
		return nil
	}
	b = b[i+len(" id="):]
	if len(b) > 0 && b[0] == '\'' {
		if s, _, ok := bytes.Cut(b[1:], []byte{'\''}); ok {
			return frame.StringID(string(s))
		}
		return nil
	}
	if n := digitsLen(b); n > 0 && n < len(b) {
		return frame.ID(b[:n])
	}
	return nil
}
