package dialect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mcpdiag/ingest/frame"
)

func TestWireDirections(t *testing.T) {
	const (
		ping   = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		roots  = `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`
		call   = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"from server","arguments":{"jsonrpc":"2.0"}}}`
		answer = `{"jsonrpc":"2.0","id":1,"result":{}}`
		cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
		other  = `{"jsonrpc":"2.0","method":"notifications/other"}`
	)
	for _, test := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"method tells", []string{call, answer}, "c2s s2c"},
		{"method tells against the words", []string{"from server: " + call, "from client: " + answer}, "c2s s2c"},
		{"the server asks", []string{roots, answer}, "s2c c2s"},
		{"nobody asked", []string{answer}, "s2c"},
		{"nobody asked, words tell", []string{"Message from client: " + answer}, "c2s"},
		{"answered once", []string{roots, answer, answer}, "s2c c2s s2c"},
		{"ping", []string{ping, answer}, "c2s s2c"},
		{"ping of the server", []string{"[srv] Message from server: " + ping, answer}, "s2c c2s"},
		{"both hold it, words tell", []string{call, roots, "[editor -> server] " + answer, answer}, "c2s s2c c2s s2c"},
		{"both hold it", []string{call, roots, answer, answer}, "c2s s2c s2c c2s"},
		{"cancel of the server's", []string{roots, cancel}, "s2c s2c"},
		{"cancel of the client's", []string{call, cancel}, "c2s c2s"},
		{"cancel of nobody's", []string{cancel}, "c2s"},
		{"cancel, words tell", []string{"s->c " + cancel}, "s2c"},
		{"unknown notification", []string{other}, "s2c"},
		{"unknown notification, words tell", []string{"C2S " + other}, "c2s"},
		{"the last words tell", []string{"from server: from client: " + other}, "c2s"},
		{"words in a recorder's member", []string{`{"ts":5,"dir":"client->server","data":` + other + `}`}, "c2s"},
		{"a name is no word", []string{"[my-server] [client] " + other}, "s2c"},
		{"words far away", []string{"from client" + strings.Repeat(" ", 300) + other}, "s2c"},
		{"words in a payload", []string{`[` + call + `,` + other + `]`}, "c2s s2c"},
		{"ids keep their type", []string{roots, strings.Replace(answer, "1,", `"1",`, 1), answer}, "s2c s2c c2s"},
		{"error of nobody", []string{roots, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`}, "s2c s2c"},
	} {
		b := read(wire(), []byte(strings.Join(test.lines, "\n")))
		var got []string
		for _, f := range b.Frames {
			got = append(got, f.Dir.String())
		}
		if s := strings.Join(got, " "); s != test.want || len(b.Bad) > 0 {
			t.Errorf("%s: %s, want %s; bad %+v", test.name, s, test.want, b.Bad)
		}
	}
}

func TestWireObjects(t *testing.T) {
	const m = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, test := range []struct{ name, line, want string }{
		{"bare", m, "ping:41"},
		{"spaces around", "  " + m + " \r", "ping:41"},
		{"in text", "x " + m + " { metadata: undefined }", "ping:-1"},
		{"behind braces", "{oops {a {" + m, "ping:-1"},
		{"two", m + m, "ping:-1 ping:-1"},
		{"batch of one", "[" + m + "]", "ping:-1"},
		{"inside another object", `{"a":[{"b":` + m + `}]}`, "ping:-1"},
		{"a payload is not looked into", `{"jsonrpc":"2.0","id":1,"result":` + m + `}`, ":75"},
		{"glued into another", `{"jsonrpc":"2.0","id":9,"result":{"text":"` + m + `"}}`, "ping:-1"},
		{"inside a cut one", `{"jsonrpc":"2.0","id":9,"result":{"a":` + m + `,"b":"c`, "cut off inside an object"},
		{"in front of an open brace", m + ` {`, "ping:-1"},
		{"one good, one not", m + ` {"jsonrpc":"2.0"} {"jsonrpc":"2.0","id":null,"method":"x"}`, "ping:-1 not a JSON-RPC message"},
		{"envelope without a message", `{"jsonrpc":"2.0","id":1}`, "not a JSON-RPC message"},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}`, "duplicate key"},
		{"no envelope", `{"id":1,"method":"ping"}`, "no JSON-RPC object on the line"},
		{"cut", m[:len(m)-1], "cut off inside an object"},
		{"empty batch", `[]`, "no JSON-RPC object on the line"},
		{"metadata only", `Message from client: method="tools/call" id=3 params { metadata: undefined }`, "no JSON-RPC object on the line"},
	} {
		b := read(wire(), []byte(test.line+"\n"))
		var got []string
		for _, f := range b.Frames {
			got = append(got, fmt.Sprintf("%s:%d", f.Method, f.Bytes))
		}
		for _, bad := range b.Bad {
			got = append(got, string(bad.Reason))
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: %s, want %s", test.name, s, test.want)
		}
	}
}

func TestWireTimes(t *testing.T) {
	for prefix, want := range map[string]string{
		"2026-03-02T09:41:00.5Z [x] ":            "2026-03-02T09:41:00.5Z",
		"2026-03-02 09:41:00.110 [error] files:": "2026-03-02T09:41:00.11Z",
		"2026-03-02 09:41:00,110 - mcp - ":       "2026-03-02T09:41:00.11Z",
		"[2026-03-02T09:41:00+01:00] ":           "2026-03-02T08:41:00Z",
		"2026-03-02T09:41:00Z: ":                 "2026-03-02T09:41:00Z",
		"2026-03-02T09:41:00":                    "2026-03-02T09:41:00Z",
		"at 2026-03-02T09:41:00Z ":               "",
		"2026-03-02T25:41:00Z ":                  "",
		"2026-03-02 ":                            "",
		"":                                       "",
	} {
		b := read(wire(), []byte(prefix+`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		at := b.Frames[0].At
		if got := at.Time().Format(time.RFC3339Nano); at.HasWall() != (want != "") || (at.HasWall() && got != want) {
			t.Errorf("%q: %s, want %s", prefix, got, want)
		}
	}
}

// Braces that open without end must not cost the square of the line.
func TestWireTangled(t *testing.T) {
	for name, line := range map[string]string{
		"open objects":  strings.Repeat(`{"jsonrpc":`, 1<<17),
		"open arrays":   strings.Repeat(`{"jsonrpc":[`, 1<<17),
		"one string":    `{"jsonrpc":"` + strings.Repeat(`{"a`, 1<<18),
		"deep and wide": strings.Repeat(`{"jsonrpc":[1,1,1,1,1,1,1,1,1,1],"x":`, 900) + strings.Repeat(`{},`, 1<<18),
		"many objects":  `"jsonrpc" [` + strings.Repeat(`{"a":{}},`, 1<<17),
	} {
		start := time.Now()
		b := read(wire(), []byte(line))
		if len(b.Frames) > 0 || len(b.Bad) != 1 {
			t.Errorf("%s: %d frames, bad %+v", name, len(b.Frames), b.Bad)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%s: %v for %d bytes", name, d, len(line))
		}
	}
}

// Every method of the table is a client's or a server's, and none that both may send stands in it.
func TestMethodDirections(t *testing.T) {
	for _, both := range []string{"ping", "notifications/cancelled", "notifications/progress", "tasks/get", "tasks/result", "tasks/list", "tasks/cancel",
		"notifications/tasks/status"} {
		if d, ok := methodDirections[both]; ok {
			t.Errorf("%s is said to be %s only", both, d)
		}
	}
	for method, d := range methodDirections {
		if d == frame.NoDir {
			t.Errorf("%s has no direction", method)
		}
	}
}
