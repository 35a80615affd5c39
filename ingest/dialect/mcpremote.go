package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// mcpRemote reads the standard error of mcp-remote: a request's method, an answer's bare id, and the handshake as JSON over
// several lines.
//
//	[5150] [Local→Remote] tools/list
//	[5150] [Remote→Local] 3
func mcpRemote() *Dialect {
	return &Dialect{
		Name: "mcp-remote", Writer: "mcp-remote, stderr", Vantage: "a bridge from stdio to HTTP, before each send; requests without ids", Moment: "before the send",
		Knob: "run it with --debug: then ids show",
		Sees: Requests | Responses | Large | Flying, Ordered: true, Carried: true, Side: frame.Server,
		Match: func(line []byte) bool { _, _, ok := remoteLine(line); return ok || isPid(line) && remoteSays(line) },
		New:   text(func() grammar { return &remote{} }),
	}
}

// mcpRemoteDebug reads its debug log.
//
//	[2026-05-01T10:00:00.000Z][5150] Local → Remote message {"method":"tools/call","id":3,"params":"…"}
func mcpRemoteDebug() *Dialect {
	return &Dialect{
		Name: "mcp-remote-debug", Writer: "mcp-remote --debug, HASH_debug.log", Vantage: "a bridge from stdio to HTTP, before each send", Moment: "before the send", Source: fromDescription,
		Sees: Everything &^ (Handlers | BadLines | Sizes | Ends), Ordered: true, Carried: true, Side: frame.Server,
		Match:  func(line []byte) bool { _, dir := remoteDebug(line); return dir != frame.NoDir },
		Weight: func([]byte) int { return 10 },
		New:    text(func() grammar { return remoteLog{} }),
	}
}

// remoteWords are what mcp-remote says of its own life; that a line starts with a number in brackets many programs share.
var remoteWords = []string{"] Using ", "] Connecting to ", "] Connected to ", "] Proxy established", "] Local STDIO server", "] Discovering OAuth",
	"] Press Ctrl+C", "] Shutting down", "] Authentication ", "] Error from remote", "] {"}

func remoteSays(line []byte) bool { return saysAny(line, remoteWords) }

// isPid reports whether the line starts with `[123] `.
func isPid(line []byte) bool {
	pid, _, ok := bracket(line)
	return ok && len(pid) > 0 && digitsLen(pid) == len(pid)
}

// remoteLine reads `[pid] [Local→Remote] word`.
func remoteLine(line []byte) (word []byte, dir frame.Dir, ok bool) {
	if !isPid(line) {
		return nil, frame.NoDir, false
	}
	_, rest, _ := bracket(line)
	where, word, ok := bracket(rest)
	switch string(where) {
	case "Local→Remote":
		return word, frame.C2S, ok
	case "Remote→Local":
		return word, frame.S2C, ok
	}
	return nil, frame.NoDir, false
}

type remote struct {
	pretty object
	held   frame.Frame // a request whose message follows on the next lines
	from   uint32      // its line, over the whole log
	wants  bool
}

func (m *remote) line(r *textReader, line []byte) {
	if m.wants && m.whole(r, line) {
		return
	}
	word, dir, ok := remoteLine(line)
	if !ok || len(word) == 0 {
		return
	}
	f := r.blank()
	f.Dir = dir
	if at, _, timed := stamp(line); timed {
		f.At = at
	}
	if id := bareID(word); word[0]-'0' <= 9 || word[0] == '"' || id.IsNull() {
		f.Kind, f.ID = frame.Response, id
		r.add(f)
		return
	}
	f.Kind, f.Method, f.Trunc = frame.Request, bytes.Clone(word), true
	if bytes.HasPrefix(word, []byte("notifications/")) {
		f.Kind, f.Trunc = frame.Notification, false
	}
	if m.wants = string(word) == "initialize"; m.wants {
		m.held, m.from = f, r.here()
		return
	}
	r.add(f)
}

// whole reads the message that follows a handshake; it reports whether the line was part of it.
func (m *remote) whole(r *textReader, line []byte) bool {
	body := line
	if !m.pretty.open() && isPid(line) {
		_, body, _ = bracket(line)
	}
	whole := m.pretty.feed(body)
	if whole == nil && (m.pretty.open() || r.partial) {
		return true
	}
	m.wants = false
	f := m.held
	r.at(m.from, &f)
	if whole != nil {
		g := f
		if frame.DecodeMessage(whole, &g) == frame.NoReason {
			g.Trunc = false
			f = g
		}
	}
	r.add(f)
	return whole != nil
}

// atEnd notes a request whose message the log's end cut off.
func (m *remote) atEnd(r *textReader) {
	if m.wants {
		r.at(m.from, &m.held)
		r.b.refuse(m.held.Line, m.held.Method, 0, cutOff)
	}
}

type remoteLog struct{}

// remoteDebug finds the message of a line of the debug log.
func remoteDebug(line []byte) (body []byte, dir frame.Dir) {
	if _, body, ok := bytes.Cut(line, []byte("] Local → Remote message ")); ok {
		return body, frame.C2S
	}
	if _, body, ok := bytes.Cut(line, []byte("] Remote → Local message ")); ok {
		return body, frame.S2C
	}
	return nil, frame.NoDir
}

func (remoteLog) line(r *textReader, line []byte) {
	body, dir := remoteDebug(line)
	if dir == frame.NoDir {
		return
	}
	f := r.blank()
	f.At, _, _ = stamp(line)
	if frame.DecodeMessage(bytes.TrimSpace(body), &f) != frame.NoReason && !r.cut(bytes.TrimSpace(body), &f) {
		r.bad(line, frame.NotMessage)
		return
	}
	f.Name = nil // params are text there
	r.directed(&f, dir)
}
