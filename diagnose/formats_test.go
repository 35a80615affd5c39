package diagnose_test

import (
	"path/filepath"
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

func formatSample(t *testing.T, name string) string {
	t.Helper()
	return string(readFile(t, filepath.Join("..", "ingest", "dialect", "testdata", "formats", name+".log")))
}

// TestOneSidedFormats: what a client's log alone decides, and what it does not.
func TestOneSidedFormats(t *testing.T) {
	for name, want := range map[string]string{
		"claude_desktop_delivered_agent_timeout": `
			client 3 agent_level yyy answered quiet
			client 4 agent_level yyy answered`,
		"claude_desktop_init_timeout": `
			client 0 cannot_tell ??n cancelled stalled`,
		"claude_desktop_mcp_remote_interleaved": `
			client 0 agent_level yyy answered
			client 1 cannot_tell ??n cancelled stalled
			client 2 cannot_tell ??n cancelled stalled
			client 3 cannot_tell ??n cancelled stalled`,
		"claude_desktop_mcplog_late_error": `
			client 388 never_written ynn cancelled stalled
			client 12 agent_level yyy answered
			client 419 agent_level yyy answered
			client 420 agent_level yyy answered
			client 421 cannot_tell ??n open stalled`,
		"claude_desktop_metadata_only": `
			client 0 agent_level yyy answered slow
			client 1 agent_level yyy answered
			client 2 agent_level yyy answered
			client 3 agent_level yyy answered
			client 4 cannot_tell ??n open`,
		"claude_desktop_duplicate_sessions": `
			client 0 cannot_tell ??? open
			client 0 cannot_tell ??? open`,
		"claude_desktop_tail_both_files": `
			client 6 cannot_tell ??n cancelled stalled`,
		"claude_desktop_python_rich_traceback": `
			client 7 agent_level yyy answered`,
		"vscode_debug_frames": `
			client 1 agent_level yyy answered
			client 2 agent_level yyy answered
			client 3 agent_level yyy answered
			client 4 cannot_tell ??n open
			server 1 cannot_tell yy? answered`,
		"jetbrains_ai_assistant": `
			client 61 agent_level yyy answered
			client 62 cannot_tell y?n open stalled`,
		"librechat_old_json": `
			client 1 cannot_tell ??n cancelled stalled`,
		"librechat_new_meta": `
			client 4 agent_level yyy answered
			client 4 agent_level yyy answered
			client 5 cannot_tell ??n cancelled stalled`,
		"claude_code_mcp_logs_jsonl": `
			client none agent_level yyy answered
			client none cannot_tell ??n cancelled stalled`,
		"cursor_calltool": `
			client none agent_level yyy answered
			client none cannot_tell ??n cancelled stalled`,
		"zed_context_server": `
			client 0 cannot_tell ??n cancelled stalled`,
		"mcp_go_slog_text": `
			client 1 agent_level yyy answered
			client 2 agent_level yyy answered
			client 3 agent_level yyy answered
			client 4 cannot_tell ??n cancelled stalled`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := logtest.Diagnose(t, logtest.ReadText(t, frame.Client, formatSample(t, name)))
			got, want := strings.TrimSpace(logtest.Say(d)), strings.TrimSpace(strings.ReplaceAll(want, "\t", ""))
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A verdict on the beginning of a log is that on the whole, or says that the log ends there.
func TestVerdictsOfPrefixes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "ingest", "dialect", "testdata", "formats", "*.log"))
	if err != nil || len(files) < 34 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			log := string(readFile(t, file))
			whole := verdicts(logtest.Diagnose(t, logtest.ReadText(t, frame.NoSide, log)))
			for _, n := range []int{len(log) * 2 / 5, len(log) * 4 / 5} {
				d := logtest.Diagnose(t, logtest.ReadText(t, frame.NoSide, log[:n]))
				for key, v := range verdicts(d) {
					if v.ends || whole[key].word == v.word {
						continue
					}
					t.Errorf("cut at %d: %s is %q, and of the whole log %q", n, key, v.word, whole[key].word)
				}
			}
		})
	}
}

type verdict struct {
	word string
	ends bool // it says that the log ends there
}

// verdicts are the placed and the stalled calls of a diagnosis.
func verdicts(d *diagnose.Diagnosis) map[string]verdict {
	out := map[string]verdict{}
	for _, c := range d.Calls {
		if c.Leaf == diagnose.NoLeaf && !c.Stalled {
			continue
		}
		v := verdict{word: string(c.Leaf)}
		if c.Stalled {
			v.word += " stalled"
		}
		notes := strings.Join(d.NotesOf(c), "\n")
		for _, l := range d.Logs {
			notes += strings.Join(d.LogWarnings(l), "\n")
		}
		v.ends = strings.Contains(notes, "log ends here") || strings.Contains(notes, "last line is cut off")
		out[c.Requester.String()+" "+c.FirstLine()] = v
	}
	return out
}

const desktop = `2026-05-01T10:00:00.100Z [tide] [info] Message from client: {"method":"initialize","params":{},"jsonrpc":"2.0","id":0}
2026-05-01T10:00:00.300Z [tide] [info] Message from server: {"jsonrpc":"2.0","id":0,"result":{}}
2026-05-01T10:00:01.000Z [tide] [info] Message from client: {"method":"tools/call","params":{"name":"table"},"jsonrpc":"2.0","id":1}
2026-05-01T10:00:01.200Z [tide] [info] Message from server: {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
2026-05-01T10:00:02.000Z [tide] [info] Message from client: {"method":"tools/call","params":{"name":"ebb"},"jsonrpc":"2.0","id":2}
2026-05-01T10:01:02.000Z [tide] [info] Message from client: {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}
2026-05-01T10:01:03.000Z [tide] [info] Message from client: {"method":"tools/call","params":{"name":"flood"},"jsonrpc":"2.0","id":3}
2026-05-01T10:02:03.000Z [tide] [info] Message from client: {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}
`

const goServer = `read: {"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}
write: {"jsonrpc":"2.0","id":0,"result":{}}
read: {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"table"}}
write: {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
read: {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ebb"}}
write: {"jsonrpc":"2.0","id":2,"result":{"content":[]}}
read: {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}
read: {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"flood"}}
read: {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}
`

// dotnet writes the console of a C# server: e enters, x leaves, of initialize (i) or tools/call (c).
func dotnet(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		method := map[byte]string{'i': "initialize", 'c': "tools/call"}[e[1]]
		what := map[byte]string{'e': "called.", 'x': "completed in 8.4117ms."}[e[0]]
		b.WriteString("info: ModelContextProtocol.Server.McpServer[570385771]\n      Server (Tide 1.0), Client (claude-ai 0.1.0) method '" + method + "' request handler " + what + "\n")
	}
	return b.String()
}

const dotnetTrace = `trce: ModelContextProtocol.Server.StdioServerTransport[2118211034]
      Server (stream) (Tide) transport received message. Message: '{"method":"tools/call","params":{"name":"table"},"jsonrpc":"2.0","id":1}'.
trce: ModelContextProtocol.Server.StdioServerTransport[1191263223]
      Server (stream) (Tide) transport sending message. Message: '{"result":{"content":[]},"id":1,"jsonrpc":"2.0"}'.
trce: ModelContextProtocol.Server.StdioServerTransport[2118211034]
      Server (stream) (Tide) transport received message. Message: '{"method":"tools/call","params":{"name":"ebb"},"jsonrpc":"2.0","id":2}'.
trce: ModelContextProtocol.Server.StdioServerTransport[2118211034]
      Server (stream) (Tide) transport received message. Message: '{"method":"tools/call","params":{"name":"flood"},"jsonrpc":"2.0","id":3}'.
`

const pythonServer = `2026-05-01 12:00:01,100 - mcp.server.lowlevel.server - INFO - Processing request of type CallToolRequest
2026-05-01 12:00:02,100 - mcp.server.lowlevel.server - INFO - Processing request of type CallToolRequest
2026-05-01 12:01:03,100 - mcp.server.lowlevel.server - INFO - Processing request of type CallToolRequest
`

// TestTwoSidedFormats joins a desktop log with what three servers log: by id, and where there is none by tool and order.
func TestTwoSidedFormats(t *testing.T) {
	for _, test := range []struct {
		name, client, server, want string
		byOrder                    bool
	}{
		{name: "go-sdk", client: desktop, server: goServer, want: `
			client 0 agent_level yyy answered
			client 1 agent_level yyy answered
			client 2 written_not_read yyn cancelled stalled
			client 3 never_written ynn cancelled stalled`},
		{name: "C# at trace", client: desktop, server: dotnetTrace, want: `
			client 0 cannot_tell ??y answered
			client 1 agent_level yyy answered
			client 2 never_written ynn cancelled stalled
			client 3 never_written ynn cancelled stalled`},
		{name: "C# at information", client: desktop, server: dotnet("ei", "xi", "ec", "xc", "ec", "xc", "ec"), byOrder: true, want: `
			client 0 agent_level yyy answered
			client 1 agent_level yyy answered
			client 2 cannot_tell y?n cancelled stalled
			client 3 cannot_tell y?n cancelled stalled`},
		{name: "C#, one call missing", client: desktop, server: dotnet("ei", "xi", "ec", "xc", "ec"), byOrder: true, want: `
			client 0 agent_level yyy answered
			client 1 cannot_tell ??y answered
			client 2 cannot_tell ??n cancelled stalled
			client 3 cannot_tell ??n cancelled stalled`},
		{name: "Python", client: desktop, server: pythonServer, byOrder: true, want: `
			client 0 cannot_tell ??y answered
			client 1 agent_level yyy answered
			client 2 cannot_tell y?n cancelled stalled
			client 3 cannot_tell y?n cancelled stalled`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := logtest.Diagnose(t, logtest.ReadText(t, frame.Client, test.client), logtest.ReadText(t, frame.Server, test.server))
			got, want := strings.TrimSpace(logtest.Say(d)), strings.TrimSpace(strings.ReplaceAll(test.want, "\t", ""))
			if got = strings.ReplaceAll(got, "log_incomplete", "cannot_tell"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			for _, c := range d.Calls {
				if said := strings.Contains(strings.Join(d.NotesOf(c), ""), "paired by tool and order"); said != (test.byOrder && c.Sent.OK() && c.Served.OK()) || c.ByOrder() != said {
					t.Errorf("id %s: paired by order %t, said %t", c.ID(), c.ByOrder(), said)
				}
			}
		})
	}
}

// A client's log without ids meets a server's with them: the halves pair by tool, and only where both have as many.
func TestKeylessClient(t *testing.T) {
	const client = `{"debug":"Calling MCP tool: table","timestamp":"2026-05-01T10:00:01.000Z","sessionId":"s"}
{"debug":"Tool 'table' completed successfully in 200ms","timestamp":"2026-05-01T10:00:01.200Z","sessionId":"s"}
{"debug":"Calling MCP tool: ebb","timestamp":"2026-05-01T10:00:02.000Z","sessionId":"s"}
{"debug":"Tool 'ebb' failed after 60s: MCP error -32001: Request timed out","timestamp":"2026-05-01T10:01:02.000Z","sessionId":"s"}
{"debug":"Calling MCP tool: flood","timestamp":"2026-05-01T10:01:03.000Z","sessionId":"s"}
{"debug":"Tool 'flood' failed after 60s: MCP error -32001: Request timed out","timestamp":"2026-05-01T10:02:03.000Z","sessionId":"s"}
`
	const more = `{"debug":"Calling MCP tool: flood","timestamp":"2026-05-01T10:03:03.000Z","sessionId":"s"}
{"debug":"Tool 'flood' failed after 60s: MCP error -32001: Request timed out","timestamp":"2026-05-01T10:04:03.000Z","sessionId":"s"}
`
	pair := func(client string) *diagnose.Diagnosis {
		return logtest.Diagnose(t, logtest.ReadText(t, frame.Client, client), logtest.ReadText(t, frame.Server, goServer))
	}
	say := func(d *diagnose.Diagnosis, id string) string {
		return logtest.SayCall(logtest.Call(t, d, frame.Client, id, 1))
	}
	d := pair(client)
	for id, want := range map[string]string{"1": "agent_level yyy answered", "2": "written_not_read yyn cancelled stalled", "3": "never_written ynn cancelled stalled"} {
		if got := say(d, id); got != "client "+id+" "+want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if d = pair(client + more); len(logtest.Finding(d, "uneven")) != 1 {
		t.Error("two calls of flood against one are not told apart, and nothing says so")
	}
	if got := logtest.Call(t, d, frame.Client, "3", 1); got.Sent.OK() {
		t.Errorf("paired all the same: %s", logtest.SayCall(got))
	}
	for _, c := range d.Calls {
		if c.NoID() && string(c.IDJSON()) != "null" {
			t.Errorf("an id is made up: %s", c.IDJSON())
		}
		if c.Leaf == diagnose.NeverArrived {
			t.Errorf("%s rests on the order of calls", logtest.SayCall(c))
		}
	}
}

// The acknowledgement of a cancel is no answer. An error with another code, or later, is one.
func TestAcknowledgedCancel(t *testing.T) {
	for line, want := range map[string]string{
		"1003 < err 7 code=0":      "client 7 never_written ynn cancelled stalled",
		"1003 < err 7 code=-32603": "client 7 agent_level yyy late stalled",
		"1900 < err 7 code=0":      "client 7 agent_level yyy late stalled",
		"1003 < res 7":             "client 7 agent_level yyy late stalled",
	} {
		d := logtest.Diagnose(t, logtest.Read(t, frame.Client, "0 > req 7\n1000 > ntf - method=notifications/cancelled request_id=7\n"+line))
		if got := strings.TrimSpace(logtest.Say(d)); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

// What a dialect cannot show is never absent.
func TestBlindDialects(t *testing.T) {
	client := "0 > req 1 name=ebb\n90 < res 1\n1000 > req 2 name=chart\n61000 > ntf - method=notifications/cancelled request_id=2"
	spy := func(id string, dir string) string {
		from, to, raw := "501", "622", `{\"jsonrpc\":\"2.0\",\"id\":`+id+`,\"method\":\"tools/call\",\"params\":{\"name\":\"ebb\"}}`
		if dir == "<" {
			from, to, raw = to, from, `{\"jsonrpc\":\"2.0\",\"id\":`+id+`,\"result\":{}}`
		}
		return `{"timestamp":"2026-02-19T14:00:00.1Z","transport_type":"stdio","stdio_transport":{"from_pid":` + from + `,"to_pid":` + to + `},"type":"x","error":{},"raw":"` + raw + `"}` + "\n"
	}
	for name, server := range map[string]string{"the request is missing": spy("1", ">") + spy("1", "<"), "the answer is missing": spy("1", ">") + spy("1", "<") + spy("2", ">")} {
		d := logtest.Diagnose(t, logtest.Read(t, frame.Client, client), logtest.ReadText(t, frame.Server, server))
		if c := logtest.Call(t, d, frame.Client, "2", 1); c.Leaf != diagnose.NoLeaf {
			t.Errorf("%s: %s", name, logtest.SayCall(c))
		}
	}
}

// The same events in Claude Desktop's two files are one each, mixed or one file after the other.
func TestTwins(t *testing.T) {
	all := strings.ReplaceAll(desktop, "[tide] [info]", "[info] [tide]") + `2026-05-01T10:05:00.000Z [info] [moor] Message from client: {"method":"tools/list","jsonrpc":"2.0","id":1}` + "\n"
	l := logtest.ReadText(t, frame.Client, desktop, all)
	if l.Twins != 8 || l.Halves() != 5 || l.Copies != 1 {
		t.Errorf("%d twins, %d halves, %d copies", l.Twins, l.Halves(), l.Copies)
	}
	mixed := desktop + all
	if l = logtest.ReadText(t, frame.Client, mixed); l.Twins != 8 || l.Halves() != 5 {
		t.Errorf("mixed: %d twins, %d halves", l.Twins, l.Halves())
	}
	if l = logtest.ReadText(t, frame.Client, desktop, desktop); l.Twins != 0 {
		t.Errorf("%d twins of one file", l.Twins)
	}
}
