package dialect

import (
	"bytes"
	"encoding/json"

	"mcpdiag/ingest/frame"
)

// claudeCode reads the files mcp-logs-SERVER/*.jsonl of Claude Code: events of calls, without ids or payloads. Older files are
// one JSON array of the same objects.
//
//	{"debug":"Calling MCP tool: fire_kiln","timestamp":"2026-08-10T17:49:41.279Z","sessionId":"…","cwd":"/home/dev/kiln"}
func claudeCode() *Dialect {
	return &Dialect{
		Name: "claude-code", Writer: "Claude Code, mcp-logs-SERVER/*.jsonl", Vantage: "the client's calls, not its frames; the server's stderr is spliced in",
		Knob: "no calls in it; the log never shows frames: record with mcpdiag tee, or take the server's log",
		Sees: eventsOnly, Side: frame.Client, Ordered: true, Carried: true,
		Match:  func(line []byte) bool { _, _, ok := codeRecord(line); return ok },
		Weight: func([]byte) int { return 2 },
		Whole:  func(head []byte) bool { return pretty(head, `"timestamp"`, `"sessionId"`, `"debug"`) },
		New:    text(func() grammar { return &code{} }),
	}
}

// claudeCodeDebug reads what `claude --debug` prints.
//
//	2026-08-10T17:49:41.279Z [DEBUG] MCP server "kiln": Calling MCP tool: fire_kiln
func claudeCodeDebug() *Dialect {
	return &Dialect{
		Name: "claude-code-debug", Writer: "Claude Code with --debug", Vantage: "the client's calls, not its frames; the server's stderr is spliced in",
		Knob: "no calls in it; the log never shows frames: record with mcpdiag tee, or take the server's log",
		Sees: eventsOnly, Side: frame.Client, Ordered: true, Carried: true,
		Match:  func(line []byte) bool { _, _, _, ok := codeDebug(line); return ok },
		Weight: func([]byte) int { return 2 },
		New:    text(func() grammar { return &code{} }),
	}
}

// codeRecord reads one object: its text and its time.
func codeRecord(line []byte) (said []byte, at frame.Instant, ok bool) {
	line = bytes.Trim(line, " ,[]")
	if len(line) == 0 || line[0] != '{' || !bytes.Contains(line, []byte(`"timestamp"`)) {
		return nil, at, false
	}
	var rec struct {
		Debug, Error, Info, Warn *string
		Timestamp                string
	}
	if json.Unmarshal(line, &rec) != nil || !frame.ParseWall([]byte(rec.Timestamp), &at) {
		return nil, at, false
	}
	for _, s := range []*string{rec.Debug, rec.Error, rec.Info, rec.Warn} {
		if s != nil {
			return []byte(*s), at, true
		}
	}
	return nil, at, false
}

// codeDebug reads `[TIME ][LEVEL] MCP server "NAME": text`.
func codeDebug(line []byte) (server, said []byte, at frame.Instant, ok bool) {
	t, rest, timed := stamp(line)
	if timed {
		at = t
	} else {
		rest = line
	}
	level, rest, ok := bracket(rest)
	if !ok || !isLevel(level) {
		return nil, nil, at, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`MCP server "`)); !ok {
		return nil, nil, at, false
	}
	if server, rest, ok = bytes.Cut(rest, []byte{'"'}); !ok {
		return nil, nil, at, false
	}
	return server, bytes.TrimLeft(rest, ": "), at, true
}

type code struct {
	spliced spliced
	pretty  object
}

func (c *code) line(r *textReader, line []byte) {
	f := r.blank()
	if server, said, at, ok := codeDebug(line); ok {
		f.At = at
		f.Extra().Conn = server
		c.event(r, said, f, server)
		return
	}
	whole := c.pretty.feed(bytes.TrimLeft(line, " ,"))
	if whole == nil {
		return
	}
	said, at, ok := codeRecord(whole)
	if !ok {
		return
	}
	f.At = at
	c.event(r, said, f, nil)
}

// event reads one event in words.
func (c *code) event(r *textReader, said []byte, f frame.Frame, server []byte) {
	if tool, ok := bytes.CutPrefix(said, []byte("Calling MCP tool: ")); ok {
		tool = bytes.TrimSpace(tool)
		r.began(f, server, tool, "call start "+string(tool))
		return
	}
	if text, ok := bytes.CutPrefix(said, []byte("Server stderr:")); ok {
		for line := range bytes.Lines(text) {
			r.stderr(&c.spliced, bytes.TrimSpace(line), f)
		}
		return
	}
	tool, rest, ok := between(said, "Tool '", "' ")
	switch {
	case ok && bytes.HasPrefix(said, []byte("Tool '")):
		c.toolEvent(r, tool, rest, f, server)
	case bytes.Contains(said, []byte("connection dropped")), bytes.Contains(said, []byte("transport closed")), bytes.HasPrefix(said, []byte("Connection closed")):
		f.Extra().Word = "lifecycle dropped"
		r.ended(f, frame.S2C)
	}
}

func (c *code) toolEvent(r *textReader, tool, rest []byte, f frame.Frame, server []byte) {
	if text, ok := bytes.CutPrefix(rest, []byte("completed successfully")); ok {
		took, known := duration(bytes.TrimPrefix(text, []byte(" in ")))
		if !known {
			took = -1
		}
		f.Kind = frame.Response
		r.over(f, server, tool, took, "call ok "+string(tool)+took2(took))
		return
	}
	if text, ok := bytes.CutPrefix(rest, []byte("failed")); ok {
		after, why, _ := bytes.Cut(bytes.TrimPrefix(text, []byte(" after ")), []byte{':'})
		took, known := duration(after)
		if !known {
			took = -1
		}
		r.failed(f, server, tool, took, why)
	}
}

func took2[D ~int64](took D) string {
	if took < 0 {
		return ""
	}
	return " " + shortMS(int64(took))
}
