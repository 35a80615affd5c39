package dialect

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpdiag/ingest/frame"
)

// sayRecord spells a frame with all that this dialect can tell: SIDE DIR KIND ID METHOD, then size, phase, name, raw and status.
func sayRecord(f *frame.Frame) string {
	words := []string{"?", "?", f.Kind.String(), sayID(f)}
	if f.Side != frame.NoSide {
		words[0] = f.Side.String()
	}
	if f.Dir != frame.NoDir {
		words[1] = f.Dir.String()
	}
	for _, w := range [][]byte{f.Method, f.Name} {
		if len(w) > 0 {
			words = append(words, string(w))
		}
	}
	if f.Bytes != frame.Unknown {
		words = append(words, fmt.Sprintf("%dB", f.Bytes))
	}
	if f.Phase != frame.NoPhase {
		words = append(words, f.Phase.String())
	}
	if m := f.More; m != nil {
		if m.Raw != nil {
			words = append(words, fmt.Sprintf("%q", m.Raw))
		}
		if m.HasStatus {
			words = append(words, fmt.Sprint("http ", m.Status))
		}
	}
	return strings.Join(words, " ")
}

func sayAll(b *Batch) string {
	var lines []string
	for i := range b.Frames {
		lines = append(lines, sayRecord(&b.Frames[i]))
	}
	for _, bad := range b.Bad {
		lines = append(lines, "bad "+string(bad.Reason))
	}
	return strings.Join(lines, "\n")
}

const (
	askText    = `{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}`
	answerText = `{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}`
)

func TestJSONLEvents(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"frame", `{"side":"server","ev":"frame","dir":"c2s","kind":"req","id":7,"n":71,"msg":"` + askText + `"}`, "server c2s request 7 tools/call echo 72B"},
		{"size with its line end", `{"side":"server","ev":"frame","dir":"c2s","n":72,"msg":"` + askText + `"}`, "server c2s request 7 tools/call echo 72B"},
		{"no size", `{"side":"server","ev":"frame","dir":"c2s","msg":"` + askText + `"}`, "server c2s request 7 tools/call echo 72B"},
		{"an object", `{"side":"server","ev":"frame","dir":"c2s","n":90,"msg":{"jsonrpc":"2.0","id":7,"method":"ping"}}`, "server c2s request 7 ping 90B"},
		{"a cut payload", `{"side":"server","ev":"frame","dir":"s2c","kind":"res","id":7,"n":900,"msg":"{\"result\":{\"content\":[{\"ty"}`, "server s2c response 7 900B"},
		{"a cut payload alone", `{"side":"server","ev":"frame","dir":"s2c","n":900,"msg":"{\"result\":{\"content\":[{\"ty"}`, "server s2c response ? 900B"},
		{"no payload", `{"dir":"c2s","ev":"frame_out","id":3,"method":"tools/call","n":96,"tool":"big"}`, "client c2s request 3 tools/call big 96B"},
		{"no payload, an answer", `{"dir":"s2c","ev":"frame_in","id":3,"method":"","n":181}`, "client s2c response 3 181B"},
		{"no payload, null id", `{"dir":"c2s","ev":"frame_in","id":null,"method":"notifications/cancelled","n":97}`, "server c2s notification - notifications/cancelled 97B"},
		{"an id is a token", `{"dir":"c2s","ev":"frame_out","id":"7","method":"ping"}`, "client c2s request 7 ping"},
		{"in and out by the side", `{"side":"client","ev":"frame_in","msg":"` + answerText + `"}`, "client s2c response 7 37B"},
		{"no JSON", `{"side":"client","ev":"frame","dir":"s2c","msg":"Listening on 3000"}`, `client s2c invalid - "Listening on 3000"`},
		{"an event of HTTP", `{"ev":"http_write","dir":"s2c","id":7,"n":60,"msg":"event: message\ndata: ` + answerText + `\n\n"}`, "server s2c response 7 37B"},
		{"HTTP without a frame", `{"ev":"http_in","side":"server","verb":"POST"}`, ""},
		{"handler", `{"ev":"handler_enter","id":2,"method":"tools/call","tool":"slow","session":""}`, "? c2s handler_enter 2 tools/call slow"},
		{"handler without id", `{"side":"server","ev":"handler_exit","id":null,"tool":"slow"}`, "server c2s handler_exit - slow"},
		{"handler of a client", `{"side":"client","ev":"handler_enter","id":2,"method":"sampling/createMessage"}`, "client s2c handler_enter 2 sampling/createMessage"},
		{"handler of a notification", `{"ev":"handler_enter","id":null,"method":"notifications/initialized"}`, ""},
		{"send_done", `{"side":"server","ev":"frame","dir":"s2c","msg":"` + answerText + `"}` + "\n" + `{"side":"server","ev":"send_done","id":7}`,
			"server s2c response 7 37B\nserver s2c response 7 queued"},
		{"write_done", `{"ev":"frame_out","dir":"s2c","msg":"` + answerText + `"}` + "\n" + `{"ev":"write_done","dir":"s2c","id":7}` + "\n" + strings.ReplaceAll(`{"ev":"frame_out","dir":"s2c","msg":"`+answerText+`"}`, ":7", ":8"),
			"server s2c response 7 37B\nserver s2c response 7 written\nserver s2c response 8 37B queued"},
		{"send_done of a request", `{"side":"client","ev":"frame","dir":"c2s","msg":"` + askText + `"}` + "\n" + `{"side":"client","ev":"send_done","id":7}`, "client c2s request 7 tools/call echo 72B"},
		{"written alone", `{"side":"server","ev":"response_written","id":0,"method":"initialize","n":141}`, "server s2c response 0 141B written"},
		{"onerror of a line", `{"side":"client","ev":"onerror","err":"SyntaxError: Unexpected token 'D', \"DEBUG echo\"... is not valid JSON"}`, `client s2c invalid - "DEBUG echo"`},
		{"onerror of something else", `{"side":"client","ev":"onerror","err":"Error: SSE stream disconnected: TypeError: terminated"}`, ""},
		{"read error", `{"dir":"s2c","err":"invalid character 'D' looking for beginning of value","ev":"frame_in"}`, `client s2c invalid - "invalid character 'D' looking for beginning of value"`},
		{"read EOF", `{"dir":"c2s","err":"EOF","ev":"frame_in"}`, "server c2s eof -"},
		{"refused", `{"side":"client","ev":"send_error","id":2,"err":"Error POSTing to endpoint: {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32001,\"message\":\"Session not found\"},\"id\":null}"}`, "client s2c error null http 404"},
		{"refused by HTML", `{"side":"client","ev":"send_error","id":2,"err":"<h1>504 Gateway Time-out</h1>"}`, `client s2c invalid - "<h1>504 Gateway Time-out</h1>" http 504`},
		{"not sent", `{"side":"client","ev":"send_error","id":2,"err":"Error: Not connected"}`, ""},
		{"close", `{"side":"client","ev":"close"}`, "client c2s eof -"},
		{"close after an error", `{"dir":"s2c","err":"invalid character 'D'","ev":"frame_in"}` + "\n" + `{"ev":"close"}`, "client s2c invalid - \"invalid character 'D'\"\n? c2s eof -\n? s2c eof -"},
		{"onclose", `{"side":"client","ev":"onclose"}`, "client s2c eof -"},
		{"stdin_eof", `{"side":"server","ev":"stdin_eof"}`, "server c2s eof -"},
		{"an event of the program", `{"side":"client","ev":"app","step":"list","ok":true}`, ""},
		{"an event nobody knows", `{"ev":"metrics","heap":5}`, ""},
		{"a message with no event", `{"dir":"c2s","data":{"jsonrpc":"2.0","id":1,"method":"ping"}}`, "? c2s request 1 ping"},
		{"another program's line", `{"level":"info","msg":"hello"}`, "bad " + string(noEventTold)},
		{"no frame", `{"ev":"frame","dir":"c2s"}`, ""},
		{"no JSON line", `Listening`, "bad " + string(frame.NotJSON)},
	} {
		if got := sayAll(read(jsonl(), []byte(c.log))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestJSONLAliases spells each member in each of its ways.
func TestJSONLAliases(t *testing.T) {
	record := func(change map[string]any) string {
		m := map[string]any{"ev": "frame", "side": "server", "dir": "c2s", "kind": "req", "id": 7, "method": "tools/call", "tool": "echo", "n": 99}
		for k, v := range change {
			if v == nil {
				delete(m, k)
			} else {
				m[k] = v
			}
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	const want = "server c2s request 7 tools/call echo 99B"
	check := func(change map[string]any) {
		t.Helper()
		if got := sayAll(read(jsonl(), []byte(record(change)))); got != want {
			t.Errorf("%v: %s", change, got)
		}
	}
	for _, m := range []struct {
		is    string
		names []string
		value any
	}{
		{"ev", eventNames, "frame"}, {"dir", dirNames, "c2s"}, {"side", sideNames, "server"}, {"kind", kindNames, "request"}, {"id", idNames, 7},
		{"method", methodNames, "tools/call"}, {"tool", toolNames, "echo"}, {"n", sizeNames, 99},
	} {
		for _, name := range m.names {
			change := map[string]any{m.is: nil}
			change[name] = m.value
			check(change)
		}
	}
	for _, dir := range []string{"c2s", "C2S", "c->s", "client_to_server", "client->server", "CLIENT -> SERVER", "clientToServer", "client-to-server", "client→server",
		"editor -> server", "to server", "client", "stdin", "in", "recv", "received", "incoming", "inbound"} {
		check(map[string]any{"dir": dir})
	}
	for _, name := range payloadNames[:len(payloadNames)-1] { // the last is for bytes
		check(map[string]any{"kind": nil, "id": nil, "method": nil, "tool": nil, name: map[string]any{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": map[string]any{"name": "echo"}}})
	}
	for _, name := range sessionNames {
		b := read(jsonl(), []byte(record(map[string]any{name: "s1", "pid": 12, "conn": "c"})))
		if f := b.Frames[0]; string(f.Session) != "s1" || string(f.More.PID) != "12" || string(f.More.Conn) != "c" {
			t.Errorf("%s: session %q, pid %q, conn %q", name, f.Session, f.More.PID, f.More.Conn)
		}
	}
}

func TestJSONLDirections(t *testing.T) {
	log := `{"ev":"frame","dir":"out","msg":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}
{"ev":"frame","dir":"in","msg":{"jsonrpc":"2.0","id":1,"result":{}}}
{"ev":"frame","dir":"in","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}
{"ev":"frame","dir":"out","msg":{"jsonrpc":"2.0","id":1,"result":{}}}
`
	var got []string
	for _, f := range read(jsonl(), []byte(log)).Frames {
		got = append(got, f.Dir.String())
	}
	if s := strings.Join(got, " "); s != "c2s s2c c2s s2c" && s != "c2s s2c s2c c2s" {
		t.Errorf("directions %s", s)
	}
}

func TestJSONLTimes(t *testing.T) {
	const day = `"2026-11-30T02:22:11.193687Z"`
	for _, c := range []struct{ members, want string }{
		{`"wall":` + day, "wall 1796005331193687000"},
		{`"ts":` + day + `,"ms":1.06`, "wall 1796005331193687000 mono 1060000"},
		{`"timestamp":` + day, "wall 1796005331193687000"},
		{`"@timestamp":` + day, "wall 1796005331193687000"},
		{`"ts":1796005331`, "wall 1796005331000000000"},
		{`"ts":1796005331.193687`, "wall 1796005331193687000"},
		{`"ts":1796005331193`, "wall 1796005331193000000"},
		{`"ts":1796005331193687`, "wall 1796005331193687000"},
		{`"ts":1796005331193687123`, "wall 1796005331193687123"},
		{`"ts_ms":1796005331193`, "wall 1796005331193000000"},
		{`"ms":1796005331193`, "wall 1796005331193000000"},
		{`"ms":335.231339`, "mono 335231339"},
		{`"mono_ns":5`, "mono 5"},
		{`"monotonic_ns":1796005331193687123`, "mono 1796005331193687123"},
		{`"mono":81240.118`, "mono 81240118000000"},
		{`"ts":81240.118`, "mono 81240118000000"},
		{`"mono":81240118`, ""}, // of what unit?
		{`"time":"noon"`, ""},
		{`"ms":-5`, ""},
		{`"ms":99999999999999999999999`, ""},
	} {
		b := read(jsonl(), []byte(`{"ev":"frame","dir":"c2s","id":1,"method":"ping",`+c.members+`}`))
		if got := sayTime(b.Frames[0].At); got != c.want {
			t.Errorf("%s: %q, want %q", c.members, got, c.want)
		}
	}
}

func sayTime(at frame.Instant) string {
	var words []string
	if ns, ok := at.WallNS(); ok {
		words = append(words, fmt.Sprint("wall ", ns))
	}
	if at.HasMono() {
		words = append(words, fmt.Sprint("mono ", at.MonoNS()))
	}
	return strings.Join(words, " ")
}

// TestJSONLTicks finds the unit of a bare number by the wall clock beside it.
func TestJSONLTicks(t *testing.T) {
	for unit, second := range map[int64]int64{1: 1e9, 1e3: 1e6, 1e6: 1e3, 1e9: 1} {
		var log strings.Builder
		for i := range int64(4) {
			fmt.Fprintf(&log, `{"ev":"frame","dir":"c2s","id":%d,"method":"ping","wall":"2026-11-30T02:22:1%d.000Z","mono":%d}`+"\n", i, i, (5+i)*second)
		}
		b := read(jsonl(), []byte(log.String()))
		if got := b.Frames[3].At.MonoNS(); got != 8e9 {
			t.Errorf("unit %d ns: %d", unit, got)
		}
		if b.Frames[0].At.HasMono() {
			t.Errorf("unit %d ns: known before it can be", unit)
		}
	}
}

func TestJSONLMatch(t *testing.T) {
	for line, want := range map[string]bool{
		`{"ev":"frame","dir":"c2s","id":1,"method":"ping"}`:                                            true,
		`{"ev":"frame_in","side":"server","id":1,"method":"ping"}`:                                     true,
		`{"ev":"handler_enter","id":0,"method":"initialize"}`:                                          true,
		`{"ev":"read","dir":"c2s","off":0,"n":3,"data":"{}\n"}`:                                        true,
		`{"ev":"eof","dir":"c2s"}`:                                                                     true,
		`{"event":"mcp.message","direction":"out","message":{"jsonrpc":"2.0","id":1,"method":"ping"}}`: true,
		`{"ts":1,"side":"client","dir":"c2s","kind":"request","id":1,"method":"ping"}`:                 false, // native
		`{"side":"client","dir":"c2s","kind":"request","id":1,"method":"ping","ev":"frame"}`:           false, // native, with a member more
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                                                     false, // wire
		`{"dir":"c2s","data":{"jsonrpc":"2.0","id":1,"method":"ping"}}`:                                false, // no event
		`{"level":"info","event":"request","direction":"in","id":"a","method":"GET"}`:                  false, // access log
		`{"event":"message","from":"client","message":"hello"}`:                                        false, // chat
		`{"level":"info","msg":"server starting"}`:                                                     false,
		`{"ev":"app","step":"list"}`:                                                                   false,
		`{"ev":"read","path":"/etc/x","data":"y"}`:                                                     false,
		`{"ev":"frame","dir":"c2s"`:                                                                    false,
		`["ev"]`:                                                                                       false,
		``:                                                                                             false,
	} {
		if got := matchJSONL([]byte(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

// FuzzJSONL starts from short logs: whole recordings would cost the fuzzer its time.
func FuzzJSONL(f *testing.F) {
	const msg = `"msg":"` + askText + `"}`
	fuzzDialect(f, "jsonl", `{"side":"server","ev":"frame","dir":"c2s","kind":"req","id":7,"n":71,`+msg+"\n"+`{"side":"server","ev":"send_done","id":7}`,
		`{"ev":"frame_out","dir":"s2c","id":7,"n":900,`+msg+"\n"+`{"ev":"write_done","dir":"s2c","id":7}`+"\n"+`{"ev":"close"}`,
		`{"ev":"read","dir":"c2s","off":9,"n":99,"b64":"eyJq","conn":1,"mono":5,"wall":"2026-11-30T02:22:10.000Z"}`,
		chunkLog(1, stdout, false, 40, 90)+`{"pid":1,"dir":"s2c","ev":"eof"}`,
		`{"side":"client","ev":"send_error","id":2,"err":"504 Gateway Time-out"}`+"\n"+`{"side":"client","ev":"onerror","err":"SyntaxError, \"x\" is not valid JSON"}`)
}

// captures are recordings of real peers, by a byte recorder. The counts are those of the bytes that it stored beside them.
var captures = []string{"gosdk-gosdk-stdio-legacy", "mcpgo-mcpgo-stdio-modern", "ts2-everything-stdio-sibling", "batch-gosdk-20250326", "ts2-ts2-stdio-auto"}

var onTheWire = map[string][2]int{"gosdk-gosdk-stdio-legacy": {15, 16}, "mcpgo-mcpgo-stdio-modern": {7, 6}, "ts2-everything-stdio-sibling": {6, 9},
	"batch-gosdk-20250326": {4, 3}, "ts2-ts2-stdio-auto": {19, 17}}

func capture(t testing.TB, name string) []byte {
	b, err := os.ReadFile(filepath.Join("testdata", "captures", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCaptures(t *testing.T) {
	for _, name := range captures {
		log := capture(t, name)
		if d := Detect(log, nil); d.Name != "jsonl" {
			t.Errorf("%s is detected as %s", name, d.Name)
		}
		b := read(jsonl(), log)
		var got [2]int
		for i := range b.Frames {
			switch f := &b.Frames[i]; {
			case f.Kind.Message():
				got[f.Dir-frame.C2S]++
			case f.Kind != frame.EOF:
				t.Errorf("%s: %s", name, sayRecord(f))
			}
		}
		if got != onTheWire[name] || len(b.Bad) > 0 {
			t.Errorf("%s: %v frames and %d bad lines, want %v", name, got, len(b.Bad), onTheWire[name])
		}
		if one := sayAll(readByLine(jsonl(), log)); one != sayAll(b) {
			t.Errorf("%s reads differently by line", name)
		}
	}
}

// chunkLog records data as chunks that end at the cuts.
func chunkLog(pid int, data string, b64 bool, cuts ...int) string {
	var log strings.Builder
	from := 0
	for _, to := range append(cuts, len(data)) {
		m := map[string]any{"pid": pid, "dir": "s2c", "ev": "read", "off": from, "n": to - from, "data": data[from:to], "ms": float64(to)}
		if b64 {
			delete(m, "data")
			m["b64"] = base64.StdEncoding.EncodeToString([]byte(data[from:to]))
		}
		line, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		log.Write(line)
		log.WriteByte('\n')
		from = to
	}
	return log.String()
}

const stdout = `{"jsonrpc":"2.0","id":1,"result":{}}` + "\r\n\nDEBUG ü\n" + `[{"jsonrpc":"2.0","id":2,"result":{}}, {"jsonrpc":"2.0","id":3,"result":{}}]` + "\n" +
	`{"level":"info"}` + "\n" + `progress 5% {"jsonrpc":"2.0","id":4,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":5,"result":{}}` + "\n"

const stdoutFrames = `proxy s2c response 1 38B
proxy s2c invalid - 9B "DEBUG ü"
proxy s2c response 2 36B
proxy s2c response 3 36B
proxy s2c invalid - 17B "{\"level\":\"info\"}"
proxy s2c invalid - 49B "progress 5% {\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}"
proxy s2c response 5 37B`

func TestChunksSplitAnywhere(t *testing.T) {
	for i := range len(stdout) {
		for _, j := range []int{i, (i + len(stdout)) / 2} {
			if got := sayAll(read(jsonl(), []byte(chunkLog(1, stdout, true, i, j)))); got != stdoutFrames {
				t.Fatalf("split at %d and %d:\n%s", i, j, got)
			}
		}
	}
	if got := sayAll(read(jsonl(), []byte(chunkLog(1, stdout, false)))); got != stdoutFrames {
		t.Errorf("as text:\n%s", got)
	}
}

// TestChunkTime: a frame is there when its last byte is.
func TestChunkTime(t *testing.T) {
	b := read(jsonl(), []byte(chunkLog(1, `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n", true, 9, 20)))
	if f := b.Frames[0]; f.Line != 3 || f.At.MonoNS() != 37e6 {
		t.Errorf("line %d, %d ns", f.Line, f.At.MonoNS())
	}
}

func TestChunksOfTwoProcesses(t *testing.T) {
	one, two := strings.SplitAfter(chunkLog(1, stdout, true, 10, 60), "\n"), strings.SplitAfter(chunkLog(2, stdout, true, 30, 90), "\n")
	var log strings.Builder
	for i := range one {
		log.WriteString(one[i] + two[i])
	}
	by := map[string]*Batch{"1": {}, "2": {}}
	for _, f := range read(jsonl(), []byte(log.String())).Frames {
		b := by[string(f.More.PID)]
		b.Frames = append(b.Frames, f)
	}
	for pid, b := range by {
		if got := sayAll(b); got != stdoutFrames {
			t.Errorf("process %s:\n%s", pid, got)
		}
	}
}

func TestChunkLoss(t *testing.T) {
	lines := strings.SplitAfter(chunkLog(1, stdout, true, 10, 60, 70), "\n")
	for _, c := range []struct{ name, log, want string }{
		{"a chunk is missing", lines[0] + lines[2] + lines[3], "proxy ? gap -\n" + after(stdoutFrames, 4)},
		{"the head is missing", lines[1] + lines[2] + lines[3], "proxy ? gap -\n" + after(stdoutFrames, 1)},
		{"a chunk twice", lines[0] + lines[1] + lines[1] + lines[2] + lines[3], stdoutFrames},
		{"the recorder kept less", strings.Replace(lines[0], `"n":10`, `"n":60`, 1) + lines[2] + lines[3], "proxy ? gap -\n" + after(stdoutFrames, 4)},
		{"bytes that are no base64", `{"pid":1,"dir":"s2c","ev":"read","off":0,"n":60,"b64":"%"}` + "\n" + lines[2] + lines[3], "proxy ? gap -\n" + after(stdoutFrames, 4)},
	} {
		if got := sayAll(read(jsonl(), []byte(c.log))); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// after is text without its first n lines.
func after(text string, n int) string {
	return strings.Join(strings.Split(text, "\n")[n:], "\n")
}

func TestChunkEnd(t *testing.T) {
	const eof = `{"pid":1,"dir":"s2c","ev":"eof"}` + "\n"
	for _, c := range []struct{ data, want string }{
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, "proxy s2c response 1 36B\n? s2c eof -"},
		{`{"jsonrpc":"2.0","id":1,"result":{}}{"jsonrpc":"2.0","id":2,"result":{}}`, "proxy s2c response 1 36B\nproxy s2c response 2 36B\n? s2c eof -"},
		{`{"jsonrpc":"2.0","id":1,"resu`, "proxy s2c invalid - 29B \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"resu\"\n? s2c eof -"},
		{"", "? s2c eof -"},
	} {
		if got := sayAll(read(jsonl(), []byte(chunkLog(1, c.data, true)+eof))); got != c.want {
			t.Errorf("%s:\n%s", c.data, got)
		}
	}
}

// TestChunksOfHTTP: only bodies hold messages, a body has no line end, and a connection's end is not the session's.
func TestChunksOfHTTP(t *testing.T) {
	chunk := func(dir, data string) string {
		line, err := json.Marshal(map[string]any{"conn": 1, "dir": dir, "ev": "read", "data": data})
		if err != nil {
			t.Fatal(err)
		}
		return string(line) + "\n"
	}
	log := chunk("c2s", "POST /mcp HTTP/1.1\r\ncontent-length: 40\r\n\r\n"+`{"jsonrpc":"2.0","id":1,"method":"ping"}`) +
		chunk("s2c", "HTTP/1.1 200 OK\r\n\r\n2f\r\nevent: message\ndata: "+`{"jsonrpc":"2.0","id":1,"result":{}}`+"\n\n\r\n0\r\n\r\n") +
		chunk("c2s", "POST /mcp HTTP/1.1\r\n\r\n"+`{"jsonrpc":"2.0","id":2,`) + chunk("c2s", `"method":"ping"}`) +
		chunk("s2c", "HTTP/1.1 404 Not Found\r\n\r\n"+`{"jsonrpc":"2.0","error":{"code":-32001,"message":"x"},"id":null}`) +
		`{"conn":1,"dir":"s2c","ev":"eof"}` + "\n"
	b := read(jsonl(), []byte(log))
	const want = "proxy c2s request 1 ping 40B\nproxy s2c response 1 36B http 200\nproxy c2s request 2 ping 40B\nproxy s2c error null 65B http 404"
	if got := sayAll(b); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	var exchanges []string
	for _, f := range b.Frames {
		exchanges = append(exchanges, string(f.More.Exchange))
	}
	if got := strings.Join(exchanges, " "); got != "1.1 1.1 1.2 1.2" {
		t.Errorf("exchanges %s", got)
	}
}

func BenchmarkJSONL(b *testing.B) {
	log := bytes.Repeat(capture(b, "ts2-ts2-stdio-auto"), 20)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		read(jsonl(), log)
	}
}
