package dialect

import (
	"bytes"
	"encoding/json"

	"mcpdiag/ingest/frame"
)

// goose reads the tracing lines of goose's agent, which stand above its MCP client: no ids. A tool's name is
// `extension__tool`; the server's own is behind the strokes.
//
//	2025-05-21T17:02:04.361515Z DEBUG dispatch_tool_call: …: input="{\"name\":\"rookery__count\",…}"
func goose() *Dialect {
	return &Dialect{
		Name: "goose", Writer: "goose, logs/cli and logs/server", Vantage: "the agent's calls, before its MCP client",
		Knob: "no calls in it; the log never shows frames: record with mcpdiag tee, or take the server's log",
		Sees: eventsOnly, Side: frame.Client, Ordered: true, Carried: true,
		Match:  prose(func(line []byte) bool { return bytes.Contains(line, []byte(" dispatch_tool_call: ")) }),
		Weight: func([]byte) int { return 2 },
		New:    text(func() grammar { return &gooseLog{} }),
	}
}

type gooseLog struct{ open []gooseCall }

type gooseCall struct{ server, tool string }

func (g *gooseLog) line(r *textReader, line []byte) {
	_, rest, ok := bytes.Cut(line, []byte(" dispatch_tool_call: "))
	if !ok {
		return
	}
	f := r.blank()
	f.At, _, _ = stamp(line)
	if _, input, ok := bytes.Cut(rest, []byte(" input=")); ok {
		g.begin(r, input, f)
	} else if _, output, ok := bytes.Cut(rest, []byte(" output=")); ok {
		g.end(r, output, f)
	}
}

func (g *gooseLog) begin(r *textReader, input []byte, f frame.Frame) {
	var call struct{ Name string }
	if json.Unmarshal(unquoted(input), &call) != nil || call.Name == "" {
		return
	}
	server, tool := "", call.Name
	if a, b, ok := bytes.Cut([]byte(call.Name), []byte("__")); ok {
		server, tool = string(a), string(b)
	}
	f.Extra().Conn = []byte(server)
	if len(g.open) >= maxAlike {
		g.open = nil
	}
	g.open = append(g.open, gooseCall{server, tool})
	r.began(f, []byte(server), []byte(tool), "call start "+call.Name)
}

// end reads an output. It names no tool, so it ends the only call that is open, or none for certain.
func (g *gooseLog) end(r *textReader, output []byte, f frame.Frame) {
	if len(g.open) != 1 {
		if g.open = nil; len(r.calls.open) > 0 {
			f.Kind, f.Dir, f.Trunc = frame.Response, frame.S2C, true
			f.Extra().Word = "call end ?"
			r.add(f)
		}
		return
	}
	call := g.open[0]
	g.open = nil
	f.Extra().Conn = []byte(call.server)
	name := call.server + "__" + call.tool
	text := unquoted(output)
	switch {
	case isLocal(text) && bytes.Contains(text, []byte("failed")):
		f.Kind = frame.GaveUp
		r.over(f, []byte(call.server), []byte(call.tool), -1, "call fail "+name+" timeout")
	case bytes.HasPrefix(text, []byte("Execution failed")):
		f.Kind = frame.Error
		r.over(f, []byte(call.server), []byte(call.tool), -1, "call fail "+name)
	default:
		f.Kind = frame.Response
		r.over(f, []byte(call.server), []byte(call.tool), -1, "call ok "+name)
	}
}
