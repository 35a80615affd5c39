package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// claudeDesktop reads mcp.log, which holds all servers of Claude Desktop, and mcp-server-NAME.log, which holds one and its
// standard error. The same event stands in both, with the two brackets swapped. Builds of 2026 tell no payload; a file may
// hold lines of both kinds, so both rows read both.
//
//	2025-04-05T11:14:20.515Z [ledgerbox] [info] Message from client: {"method":"initialize",…,"id":0} { metadata: undefined }
//	2025-05-02T18:34:58.401Z [info] [pressroom] Message from client: {…}
//	2026-09-21T16:26:40.130Z [quarryindex] [info] Message from server: id=0 result { metadata: undefined }
func claudeDesktop() *Dialect {
	return &Dialect{
		Name: "claude-desktop", Writer: "Claude Desktop, builds before mid-2026: mcp.log and mcp-server-NAME.log", Vantage: "the host, both directions, with the server's stderr spliced in",
		Knob: desktopKnob, Sees: fullPayload, Side: frame.Client, Ordered: true, Carried: true,
		Match: isDesktop,
		Weight: weights(func(line []byte) bool {
			return bytes.Contains(line, fromClient) && !isMeta(line) || bytes.Contains(line, fromServer) && !isMeta(line)
		}, hostFrame),
		New: text(func() grammar { return &desktop{} }),
	}
}

// claudeDesktopMeta is the row of the builds that log metadata only.
func claudeDesktopMeta() *Dialect {
	return &Dialect{
		Name: "claude-desktop-meta", Writer: "Claude Desktop, builds since mid-2026", Vantage: "the host, both directions, without payload or tool names; the server's stderr is spliced in",
		Knob: desktopKnob, Sees: fullPayload &^ Sizes, Side: frame.Client, Ordered: true, Carried: true,
		Match:  isDesktop,
		Weight: weights(isMeta, hostFrame),
		New:    text(func() grammar { return &desktop{} }),
	}
}

const desktopKnob = "no frames in it: builds from 1.34493 on log to %LOCALAPPDATA%\\Claude\\Logs and the old folder stays behind; take mcp-server-NAME.log from there, or record with mcpdiag tee"

var (
	fromClient = []byte("] Message from client: ")
	fromServer = []byte("] Message from server: ")
)

// noMetadata stands behind most lines of mcp-server-NAME.log.
var noMetadata = []byte(" { metadata: undefined }")

// desktopHead reads `TIME [a] [b] `: one of the two is the level. A paste may have lost the first digit of the year.
func desktopHead(line []byte) (at frame.Instant, server []byte, twin uint8, rest []byte, ok bool) {
	if len(line) > 3 && line[3] == '-' {
		line = append([]byte{'2'}, line...)
	}
	if len(line) < 24 || line[10] != 'T' {
		return
	}
	at, rest, ok = stampWord(line)
	if !ok {
		return
	}
	a, rest, ok := bracket(rest)
	if !ok {
		return
	}
	b, rest, ok := bracket(rest)
	switch {
	case !ok:
	case isLevel(b):
		return at, a, 1, rest, true
	case isLevel(a):
		return at, b, 2, rest, true
	}
	return at, nil, 0, nil, false
}

// stampWord cuts a time that is one word off the front.
func stampWord(line []byte) (at frame.Instant, rest []byte, ok bool) {
	word, rest, ok := bytes.Cut(line, []byte{' '})
	return at, rest, ok && frame.ParseWall(word, &at)
}

func isDesktop(line []byte) bool {
	_, _, _, _, ok := desktopHead(line)
	return ok
}

func isMeta(line []byte) bool {
	for _, mark := range [...][]byte{fromClient, fromServer} {
		if _, body, ok := bytes.Cut(line, mark); ok {
			return bytes.HasPrefix(body, []byte("method=")) || bytes.HasPrefix(body, []byte("id="))
		}
	}
	return false
}

// desktop reads the lines. It remembers per server what it has said already: the ends of a transport are told many times.
type desktop struct {
	over    map[string]map[frame.Dir]bool
	last    []byte // the server of the line before: what it writes to its standard error stands without a name
	spliced spliced
}

func (d *desktop) line(r *textReader, line []byte) {
	at, server, twin, rest, ok := desktopHead(line)
	if !ok {
		f := r.blank()
		f.Extra().Conn = d.last
		r.stderr(&d.spliced, line, f)
		return
	}
	if string(server) != string(d.last) {
		d.last = bytes.Clone(server)
	}
	f := r.blank()
	f.At = at
	f.Extra().Conn, f.More.Twin = server, twin
	body, dir := rest, frame.NoDir
	if b, ok := bytes.CutPrefix(rest, fromClient[2:]); ok {
		body, dir = b, frame.C2S
	} else if b, ok := bytes.CutPrefix(rest, fromServer[2:]); ok {
		body, dir = b, frame.S2C
	}
	switch {
	case dir == frame.NoDir:
		d.life(r, rest, f, server)
	case len(body) > 0 && (body[0] == '{' || body[0] == '['):
		d.speaks(server)
		if !r.message(bytes.TrimSuffix(body, noMetadata), f, dir) {
			r.bad(line, frame.NotMessage)
		}
	default:
		d.speaks(server)
		if !metaBody(body, &f) {
			r.bad(line, frame.NotMessage)
			return
		}
		f.Dir = dir
		r.add(f)
	}
}

// speaks forgets that the server's transport had ended.
func (d *desktop) speaks(server []byte) {
	if len(d.over) > 0 {
		delete(d.over, string(server))
	}
}

// life reads the lines that tell of a connection's life.
func (d *desktop) life(r *textReader, rest []byte, f frame.Frame, server []byte) {
	switch {
	case bytes.HasPrefix(rest, []byte("Client transport closed")):
		d.closed(r, f, server, frame.C2S)
	case bytes.HasPrefix(rest, []byte("Server transport closed")), bytes.HasPrefix(rest, []byte("Server disconnected")):
		d.closed(r, f, server, frame.S2C)
	case isUnparsed(string(rest[:min(len(rest), 512)])):
		r.noise(quotedIn(string(rest)), f, frame.S2C)
	}
}

func (d *desktop) closed(r *textReader, f frame.Frame, server []byte, dir frame.Dir) {
	if d.over == nil {
		d.over = map[string]map[frame.Dir]bool{}
	}
	if d.over[string(server)] == nil {
		d.over[string(server)] = map[frame.Dir]bool{}
	}
	if !d.over[string(server)][dir] {
		d.over[string(server)][dir] = true
		r.ended(f, dir)
	}
}

// metaBody reads `method="tools/call" id=3 params`, `id=3 result(1 blocks)` or `id=3 error(code=-32603)`.
func metaBody(body []byte, f *frame.Frame) bool {
	if rest, ok := bytes.CutPrefix(body, []byte(`method="`)); ok {
		method, rest, ok := bytes.Cut(rest, []byte{'"'})
		if !ok || len(method) == 0 {
			return false
		}
		f.Kind, f.Method, body = frame.Notification, method, bytes.TrimLeft(rest, " ")
	}
	if rest, ok := bytes.CutPrefix(body, []byte("id=")); ok {
		id, rest, _ := bytes.Cut(rest, []byte{' '})
		f.ID, body = bareID(id), bytes.TrimLeft(rest, " ")
		if f.Kind == frame.Notification {
			f.Kind = frame.Request
			return f.ID.Known()
		}
	}
	switch {
	case f.Kind != frame.NoKind:
		return true
	case bytes.HasPrefix(body, []byte("result")):
		f.Kind = frame.Response
		return f.ID.Known()
	case bytes.HasPrefix(body, []byte("error")):
		f.Kind = frame.Error
		if code, _, ok := between(body, "(code=", ")"); ok {
			f.Extra().Code, f.More.HasCode = integer(code)
		}
		return true
	}
	return false
}

// integer reads a number with a sign.
func integer(b []byte) (int64, bool) {
	digits, negative := bytes.CutPrefix(b, []byte{'-'})
	n, ok := decimal(digits)
	if negative {
		n = -n
	}
	return n, ok
}
