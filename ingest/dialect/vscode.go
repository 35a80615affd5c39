package dialect

import (
	"bytes"
	"encoding/json"

	"mcpdiag/ingest/frame"
)

// vscode reads the MCP output channel of VS Code, whose frames show at Debug or Trace only. The time has no zone.
//
//	2026-08-27 07:03:14.089 [debug] [editor -> server] {"jsonrpc":"2.0","id":1,"method":"initialize",…}
//	2025-04-26 18:38:00.970 [info] [Client Says] {…}
func vscode() *Dialect {
	return &Dialect{
		Name: "vscode", Writer: "VS Code, the output channel `MCP: NAME`", Vantage: "the editor, both directions, before the write; the server's stderr is spliced in",
		Knob: "set the level of the output channel `MCP: NAME` to Trace or Debug and reproduce: at Info it holds no frames",
		Sees: fullPayload, Side: frame.Client, Clock: true, Ordered: true, Carried: true,
		Match: func(line []byte) bool {
			_, rest, ok := levelHead(line)
			return ok && isVSCode(rest)
		},
		Weight: weights(func(line []byte) bool {
			_, rest, _ := levelHead(line)
			_, dir := editorFrame(rest)
			return dir != frame.NoDir
		}, hostFrame),
		New: text(func() grammar { return &editor{} }),
	}
}

// levelHead reads `DATE TIME [level] `.
func levelHead(line []byte) (at frame.Instant, rest []byte, ok bool) {
	at, rest, ok = stamp(line)
	if !ok || !at.Zoneless() {
		return at, nil, false
	}
	level, rest, ok := bracket(rest)
	return at, rest, ok && isLevel(level)
}

// editorWords are what the lines of the channel start with, but for frames.
var editorWords = []string{"[server stderr]", "Failed to parse message", "Waiting for server to respond", "Connection state", "Starting server",
	"Server command line", "Discovered ", "Stopping server", "Error ", "[editor -> server]", "[server -> editor]", "[Client Says]", "[Server Says]"}

func isVSCode(rest []byte) bool {
	if _, dir := editorFrame(rest); dir != frame.NoDir {
		return true
	}
	for _, w := range editorWords {
		if bytes.HasPrefix(rest, []byte(w)) {
			return true
		}
	}
	return false
}

var editorMarks = []struct {
	mark string
	dir  frame.Dir
}{{"[editor -> server] ", frame.C2S}, {"[server -> editor] ", frame.S2C}, {"[Client Says] ", frame.C2S}, {"[Server Says] ", frame.S2C}}

// editorFrame finds the body of a frame behind its mark; a server's name may stand in front.
func editorFrame(rest []byte) (body []byte, dir frame.Dir) {
	head := rest[:min(len(rest), 120)]
	for _, m := range editorMarks {
		if i := bytes.Index(head, []byte(m.mark)); i == 0 || i > 1 && bytes.HasSuffix(head[:i], []byte(": ")) {
			return rest[i+len(m.mark):], m.dir
		}
	}
	return nil, frame.NoDir
}

type editor struct{ spliced spliced }

func (e *editor) line(r *textReader, line []byte) {
	at, rest, ok := levelHead(line)
	if !ok {
		r.stderr(&e.spliced, line, r.blank())
		return
	}
	f := r.blank()
	f.At = at
	if body, dir := editorFrame(rest); dir != frame.NoDir {
		if !r.message(body, f, dir) {
			r.bad(line, frame.NotMessage)
		}
		return
	}
	switch {
	case bytes.HasPrefix(rest, []byte("[server stderr]")):
		f.At = frame.Instant{} // the editor's clock at the time of reading, while the server's own may be in the text
		r.stderr(&e.spliced, bytes.TrimLeft(rest[len("[server stderr]"):], " "), f)
	case bytes.HasPrefix(rest, []byte("Failed to parse message: ")):
		r.noise(unquoted(rest[len("Failed to parse message: "):]), f, frame.S2C)
	case bytes.HasPrefix(rest, []byte("Connection state: Stopped")), bytes.HasPrefix(rest, []byte("Connection state: Error")):
		r.ended(f, frame.S2C)
	}
}

// unquoted decodes a JSON string; other text is as it is.
func unquoted(b []byte) []byte {
	var s string
	if json.Unmarshal(b, &s) == nil {
		return []byte(s)
	}
	return b
}
