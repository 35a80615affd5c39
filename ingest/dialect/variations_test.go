package dialect

import (
	"strings"
	"testing"
)

// Logs of a kind vary: what stood wrong in one of them stands here, by its dialect and with its right reading.
func TestVariations(t *testing.T) {
	noise := strings.Repeat("the server says a word {\n", 600)
	dispatch := strings.Repeat("INFO:mcp.server.lowlevel.server:a word\n", 20)
	for _, test := range []struct{ name, dialect, log, want string }{
		{"an id asked for by another server", "claude-desktop", `2025-06-01T10:00:01.000Z [info] [b] Message from client: {"method":"tools/list","jsonrpc":"2.0","id":1}
2025-06-01T10:00:02.000Z [info] [a] Message from server: {"method":"roots/list","jsonrpc":"2.0","id":1}
2025-06-01T10:00:03.000Z [info] [a] Message from client: {"result":{},"jsonrpc":"2.0","id":1}
2025-06-01T10:00:04.000Z [info] [b] Message from server: {"result":{},"jsonrpc":"2.0","id":1}
`, "c2s req 1 tools/list|s2c req 1 roots/list|c2s res 1 -|s2c res 1 -"},
		{"an id asked for before the rotation", "vscode", `2026-08-27 07:03:14.155 [debug] [server -> editor] {"jsonrpc":"2.0","id":1,"method":"roots/list"}
2026-08-27 07:03:14.156 [debug] [server -> editor] {"jsonrpc":"2.0","id":1,"result":{}}
`, "s2c req 1 roots/list|s2c res 1 -"},
		{"one line a record, a client's", "csharp", `trce: ModelContextProtocol.Client.StdioClientSessionTransport[21] Client (stdio) (Grid) transport sending message. Message: '{"method":"ping","jsonrpc":"2.0","id":0}'.
`, "c2s req 0 ping"},
		{"a batch", "claude-desktop", `2025-06-01T10:00:01.000Z [a] [info] Message from client: [{"method":"ping","jsonrpc":"2.0","id":1},{"method":"notifications/initialized","jsonrpc":"2.0"}] { metadata: undefined }
`, "c2s req 1 ping|c2s ntf - notifications/initialized"},
		{"a part that begins with answers", "go-sdk", `write: {"jsonrpc":"2.0","id":1,"result":{}}
read: {"jsonrpc":"2.0","id":0,"result":{"roots":[]}}
read: {"jsonrpc":"2.0","id":2,"method":"tools/list"}
`, "s2c res 1 -|c2s res 0 -|c2s req 2 tools/list"},
		{"logback's pattern", "java-sdk", `20:33:28.242 [main] DEBUG i.m.c.t.StdioClientTransport - Sending message JSONRPCRequest[jsonrpc=2.0, method=ping, id=a-0, params=null]
20:33:28.250 [main] DEBUG i.m.spec.McpSchema - Received JSON message: {"jsonrpc":"2.0","id":"a-0","result":{}}
20:33:28.251 [main] DEBUG i.m.spec.McpClientSession - Received response: JSONRPCResponse[jsonrpc=2.0, id=a-0, result={}, error=null]
`, "c2s req a-0 ping|s2c res a-0 -"},
		{"the place in the source, an id in quotes", "rmcp", `2026-06-07T15:00:04.000311Z DEBUG serve_inner: rmcp::service: /r/rmcp-3.1.0/src/service.rs:712: received request id="s-1" request=PingRequest(RequestNoParam { method: PingRequestMethod })
2026-06-07T15:00:09.121002Z  INFO serve_inner: rmcp::service: received notification notification=CancelledNotification(Notification { method: CancelledNotificationMethod, params: CancelledNotificationParam { request_id: String("s-1"), reason: None } })
`, "c2s req s-1 ping|c2s ntf - notifications/cancelled requestId=s-1"},
		{"a message within a session's", "python-sdk", `2025-05-19 09:13:31,609 - mcp.server.sse - DEBUG - Sending message via SSE: SessionMessage(message=JSONRPCMessage(root=JSONRPCResponse(jsonrpc='2.0', id=0, result={'a': 'b id=4'})), metadata=None)
`, "s2c res 0 -"},
		{"a host between its server's words", "claude-desktop", noise + `2025-06-01T10:00:01.000Z [a] [info] Message from client: {"method":"ping","jsonrpc":"2.0","id":0}
` + noise, "c2s req 0 ping"},
		{"a host between its server's lines", "claude-desktop", strings.Repeat(dispatch, 15) + strings.Repeat(`2025-06-01T10:00:01.000Z [a] [info] Message from client: {"method":"ping","jsonrpc":"2.0","id":0}
`, 31) + strings.Repeat(dispatch, 15), strings.Repeat("c2s req 0 ping|", 30) + "c2s req 0 ping"},
		{"times in front of a record of several lines", "supergateway", `2026-03-04T10:00:00+02:00 [supergateway] Child → SSE: {
2026-03-04T10:00:00+02:00   jsonrpc: '2.0',
2026-03-04T10:00:00+02:00   id: 'q-1',
2026-03-04T10:00:00+02:00   error: { code: -32602, message: 'bad' }
2026-03-04T10:00:00+02:00 }
`, "s2c err q-1 code=-32602"},
		{"a bracket that is no array", "mcptap", `[pod/tide-1/main] {"timestamp":"2026-03-04T10:00:00Z","direction":"client->server","message":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}
`, "c2s req 1 ping"},
		{"tabs between", "agentgateway", "2026-10-14T13:50:00.839649Z\tinfo\trequest gateway=o/a http.status=200 mcp.method.name=ping duration=1ms\n", "exch ping 200"},
		{"more of the server's stderr than frames", "tee-mcp", strings.Repeat(dispatch, 2) + `81240.118000 c->s 39B b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
81240.128000 s->c 37B b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
`, "c2s req 1 ping|s2c res 1 -"},
		{"a number in brackets that is nobody's", "wire", strings.Repeat("[1] cached\n", 9) + `[10:00:01] client -> server: {"jsonrpc":"2.0","id":1,"method":"ping"}
`, "c2s req 1 ping"},
		{"a logger's name beside calls", "docker-gateway", dispatch + "  - Calling tool sail with arguments: {}\n  > Calling tool sail took: 1s\n", "call start sail|call ok sail 1s"},
		{"messages over several lines", "wire", `2026-01-01T10:00:00Z to server: {
  "jsonrpc": "2.0",
  "method": "ping",
  "id": 1
}
`, "c2s req 1 ping"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := Detect([]byte(test.log), nil)
			if d.Name != test.dialect {
				t.Errorf("taken for %s, not %s", d.Name, test.dialect)
			}
			got := strings.ReplaceAll(told(brief(readWhole(d, []byte(test.log)).Frames)), "\n", "|")
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
