package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// cursor reads Cursor's MCP log: events of calls, without ids; what the server writes to its standard error stands there as
// [error].
//
//	2025-04-05 04:21:18.277 [info] gauges: Handling CallTool action for tool 'readGauges'
func cursor() *Dialect {
	return &Dialect{
		Name: "cursor", Writer: "Cursor, `Cursor MCP.log`", Vantage: "the client's calls, not its frames; the server's stderr is spliced in",
		Knob: "no calls in it; the log never shows frames: record with mcpdiag tee, or take the server's log",
		Sees: eventsOnly, Side: frame.Client, Clock: true, Ordered: true, Carried: true,
		Match: func(line []byte) bool {
			_, _, rest, ok := cursorHead(line)
			return ok && isCursor(rest)
		},
		Weight: func([]byte) int { return 10 },
		New:    text(func() grammar { return &cursorLog{} }),
	}
}

// cursorHead reads `DATE TIME [level] SERVER: `.
func cursorHead(line []byte) (at frame.Instant, server, rest []byte, ok bool) {
	at, rest, ok = levelHead(line)
	if !ok {
		return
	}
	if server, rest, ok = bytes.Cut(rest, []byte(": ")); !ok || bytes.ContainsAny(server, "{[\"") && !bytes.HasPrefix(server, []byte("[MCP]")) {
		return at, nil, nil, false
	}
	return at, server, rest, true
}

var cursorWords = []string{"Handling ", "Calling tool ", "Successfully called tool ", "Error calling tool ", "getOrCreateClient", "Reusing existing",
	"Client closed for command", "Client error for command", "Error in MCP:", "Creating new ", "Successfully connected", "CreateClient action"}

func isCursor(rest []byte) bool {
	for _, w := range cursorWords {
		if bytes.HasPrefix(rest, []byte(w)) {
			return true
		}
	}
	return false
}

type cursorLog struct{ spliced spliced }

func (c *cursorLog) line(r *textReader, line []byte) {
	f := r.blank()
	at, server, rest, ok := cursorHead(line)
	if !ok {
		r.stderr(&c.spliced, line, f)
		return
	}
	f.At = at
	f.Extra().Conn = server
	if tool, _, ok := between(rest, "Handling CallTool action for tool '", "'"); ok {
		r.began(f, server, tool, "call start "+string(tool))
		return
	}
	if tool, _, ok := between(rest, "Successfully called tool '", "'"); ok {
		f.Kind = frame.Response
		r.over(f, server, tool, -1, "call ok "+string(tool))
		return
	}
	if tool, why, ok := between(rest, "Error calling tool '", "'"); ok {
		r.failed(f, server, tool, -1, why)
		return
	}
	if bytes.HasPrefix(rest, []byte("Client closed for command")) {
		f.Extra().Word = "lifecycle closed"
		r.ended(f, frame.S2C)
		return
	}
	r.stderr(&c.spliced, rest, f)
}
