package dialect

import (
	"bytes"
	"strconv"

	"mcpdiag/ingest/frame"
)

// librechat reads LibreChat's debug log as builds of 2025 wrote it: whole messages, cut when they are long, and only those
// that it sent.
//
//	2025-05-03T03:00:19.562Z debug: [MCP][ferryline] Transport sending: {"method":"tools/list","jsonrpc":"2.0","id":1}
func librechat() *Dialect {
	return &Dialect{
		Name: "librechat", Writer: "LibreChat, builds of 2025 (debug log)", Vantage: "the client, before the write; sent messages only, cut when long",
		Knob: "set DEBUG_LOGGING=true (level debug): at other levels it holds no frames",
		Sees: Everything &^ (Responses | Handlers | Sizes), Side: frame.Client, Ordered: true, Carried: true,
		Match:  isChat,
		Weight: weights(func(line []byte) bool { return chatFrame(line, false) }, hostFrame),
		New:    text(func() grammar { return chat{} }),
	}
}

// librechatMeta is the row of later builds: both directions, metadata only.
//
//	2026-07-04T12:51:59.946Z debug: [MCP][ferryline] Transport received: method=response id=4 {"userId":"…"}
func librechatMeta() *Dialect {
	return &Dialect{
		Name: "librechat-meta", Writer: "LibreChat, builds of 2026 (debug log)", Vantage: "the client, both directions, without payload",
		Knob: "set DEBUG_LOGGING=true (level debug): at other levels it holds no frames",
		Sees: Everything &^ (Handlers | Sizes | BadLines), Side: frame.Client, Ordered: true, Carried: true,
		Match:  isChat,
		Weight: weights(func(line []byte) bool { return chatFrame(line, true) }, hostFrame),
		New:    text(func() grammar { return chat{} }),
	}
}

// chatHead reads `TIME level: [MCP][User: U][SERVER] `; the user may be absent.
func chatHead(line []byte) (at frame.Instant, server, user, rest []byte, ok bool) {
	i := bytes.Index(line, []byte(": [MCP]["))
	if i < 0 || i > 120 {
		return
	}
	head := line[:i]
	if k := bytes.LastIndexByte(head, ' '); k < 0 || !isLevel(head[k+1:]) {
		return
	} else if t, _, timed := stamp(head); timed {
		at = t
	}
	rest = line[i+len(": [MCP]"):]
	for len(rest) > 0 && rest[0] == '[' {
		var inside []byte
		if inside, rest, ok = bytes.Cut(rest[1:], []byte{']'}); !ok {
			return at, nil, nil, nil, false
		}
		if u, is := bytes.CutPrefix(inside, []byte("User: ")); is {
			user = u
		} else {
			server = inside
		}
	}
	return at, server, user, bytes.TrimLeft(rest, " "), server != nil
}

func isChat(line []byte) bool {
	_, _, _, _, ok := chatHead(line)
	return ok
}

func chatFrame(line []byte, meta bool) bool {
	_, body, ok := bytes.Cut(line, []byte("] Transport "))
	_, body, told := bytes.Cut(body, []byte(": "))
	return ok && told && bytes.HasPrefix(body, []byte("method=")) == meta
}

type chat struct{}

func (chat) line(r *textReader, line []byte) {
	at, server, user, rest, ok := chatHead(line)
	if !ok {
		return
	}
	f := r.blank()
	f.At = at
	body, dir := rest, frame.NoDir
	if b, ok := bytes.CutPrefix(rest, []byte("Transport sending: ")); ok {
		body, dir = b, frame.C2S
	} else if b, ok := bytes.CutPrefix(rest, []byte("Transport received: ")); ok {
		body, dir = b, frame.S2C
	}
	if user == nil {
		user, _, _ = between(body, `{"userId":"`, `"`)
	}
	f.Extra().Conn = bytes.Join([][]byte{server, user}, []byte{'/'})
	if user == nil {
		f.More.Conn = server
	}
	switch {
	case dir == frame.NoDir:
		chatFailure(r, rest, f)
	case bytes.HasPrefix(body, []byte("method=")):
		chatMeta(r, body, f, dir)
	case !r.message(body, f, dir):
		r.bad(line, frame.NotMessage)
	}
}

// chatFailure reads the client's own word that it gave up. It names no request.
func chatFailure(r *textReader, rest []byte, f frame.Frame) {
	if code, ok := errorCode(rest); ok && (code == -32001 || code == -32000) {
		r.gaveUp(f, "gave up "+strconv.FormatInt(code, 10))
	}
}

// chatMeta reads `method=ping id=4 {…}`, whose method is `response` or `error` where there is none.
func chatMeta(r *textReader, body []byte, f frame.Frame, dir frame.Dir) {
	method, rest, _ := bytes.Cut(body[len("method="):], []byte{' '})
	if id, ok := bytes.CutPrefix(rest, []byte("id=")); ok {
		id, _, _ = bytes.Cut(id, []byte{' '})
		f.ID = bareID(id)
	}
	f.Dir = dir
	switch string(method) {
	case "response":
		f.Kind = frame.Response
	case "error":
		f.Kind = frame.Error
	default:
		f.Method = method
		if f.Kind = frame.Request; f.ID == nil {
			f.Kind = frame.Notification
		}
	}
	f.Trunc = f.Kind == frame.Response && f.ID == nil
	r.add(f)
}
