package frame

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
)

func TestAppendNative(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"order", `{"kind":"request","bytes":312,"dir":"c2s","session":"s1","name":"x","method":"tools/call","id":47,"side":"client","ts":"2026-03-02T09:41:03.118Z"}`,
			`{"v":1,"ts":"2026-03-02T09:41:03.118Z","side":"client","dir":"c2s","kind":"request","id":47,"method":"tools/call","name":"x","bytes":312,"session":"s1"}`},
		{"every member", `{"v":1,"ts":"2026-03-02T10:41:00.1234+01:00","mono_ns":-5,"clock":"k","seq":3,"side":"server","dir":"s2c","kind":"error","id":"a","method":"m","name":"n",` +
			`"bytes":0,"rows":4,"session":"","conn":1,"exchange":"e","pid":99,"request_id":7.0,"token":"t","code":-32603,"tool_error":true,"result_type":"complete","status":200,` +
			`"caps":["tools",1,"logging"],"era":"2026-07-28","phase":"queued","raw":"\u001b","frame":{"id":9},"trunc":true,"dropped":2}`,
			`{"v":1,"ts":"2026-03-02T09:41:00.1234Z","mono_ns":-5,"clock":"k","seq":3,"side":"server","dir":"s2c","kind":"error","id":"a","method":"m","name":"n",` +
				`"bytes":0,"rows":4,"session":"","conn":1,"exchange":"e","pid":99,"request_id":7.0,"token":"t","code":-32603,"tool_error":true,"result_type":"complete","status":200,` +
				`"caps":["tools","logging"],"era":"2026-07-28","phase":"queued","raw":"\u001b","trunc":true,"dropped":2}`},
		{"no zone", `{"side":"client","kind":"open","ts":"2026-03-02 09:41:03"}`, `{"v":1,"ts":"2026-03-02T09:41:03.000","side":"client","kind":"open"}`},
		{"nanoseconds", `{"side":"client","kind":"open","ts":"2026-03-02T09:41:03.000000001Z"}`, `{"v":1,"ts":"2026-03-02T09:41:03.000000001Z","side":"client","kind":"open"}`},
		{"before year 1", `{"side":"client","kind":"open","ts":"0001-01-01T00:00:00+05:00"}`, `{"v":1,"ts":"0001-01-01T18:59:00.000+23:59","side":"client","kind":"open"}`},
		{"after year 9999", `{"side":"client","kind":"open","ts":"9999-12-31T23:59:59-05:00"}`, `{"v":1,"ts":"9999-12-31T05:00:59.000-23:59","side":"client","kind":"open"}`},
		{"texts", `{` + goodHead + `,"id":"\u202e\u0000é🙂\"\\","method":"a` + "\x7f\xff" + `\ud800"}`,
			`{"v":1,` + goodHead + `,"id":"\u202e\u0000\u00e9\ud83d\ude42\"\\","method":"a\u007f\ufffd\ufffd"}`},
		{"labels", `{"side":"client","kind":"open","conn":"007","exchange":-1,"pid":1.5}`, `{"v":1,"side":"client","kind":"open","conn":"007","exchange":"-1","pid":"1.5"}`},
		{"empty list", `{` + goodHead + `,"id":0,"caps":[]}`, `{"v":1,` + goodHead + `,"id":0,"caps":[]}`},
	} {
		var d Decoder
		var f Frame
		if reason := d.Decode([]byte(test.line), &f); reason != NoReason {
			t.Errorf("%s: %s", test.name, reason)
			continue
		}
		if got := string(AppendNative([]byte("x"), &f)); got != "x"+test.want+"\n" {
			t.Errorf("%s:\ngot  %swant x%s", test.name, got, test.want)
		}
	}
}

func TestAppendNativeIDs(t *testing.T) {
	for _, id := range []string{`0`, `-0`, `1.0`, `1e400`, `9007199254740993`, `""`, `"1"`, `"a b"`} {
		f := Frame{Side: Client, Dir: C2S, Kind: Request, ID: ID(id), Bytes: Unknown, Rows: Unknown}
		if got, want := string(AppendNative(nil, &f)), `{"v":1,`+goodHead+`,"id":`+id+"}\n"; got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
	// Two ids that differ in a byte that no JSON string can hold stay two.
	a, b := Frame{Kind: Request, ID: StringID("\xfe")}, Frame{Kind: Request, ID: StringID("\xff")}
	if x, y := AppendNative(nil, &a), AppendNative(nil, &b); bytes.Equal(x, y) || !json.Valid(x) {
		t.Errorf("%s %s", x, y)
	}
}

func TestAppendBrief(t *testing.T) {
	request := Frame{Side: Client, Dir: C2S, Kind: Request, ID: ID(`47`), Method: []byte("tools/call")}
	for _, test := range []struct {
		want string
		f    Frame
	}{
		{"client c2s req 47 tools/call", request},
		{"client c2s req call-1 tools/call", Frame{Side: Client, Dir: C2S, Kind: Request, ID: ID(`"call-1"`), Method: []byte("tools/call")}},
		{`client c2s req a\x1b[2J\x20\x20b x\x20y`, Frame{Side: Client, Dir: C2S, Kind: Request, ID: StringID("a\x1b[2J  b"), Method: []byte("x y")}},
		{`client c2s req "" ping`, Frame{Side: Client, Dir: C2S, Kind: Request, ID: ID(`""`), Method: []byte("ping")}},
		{"server s2c res 47 -", Frame{Side: Server, Dir: S2C, Kind: Response, ID: ID(`47`)}},
		{"s2c res ? -", Frame{Dir: S2C, Kind: Response, Trunc: true}},
		{"s2c err null code=-32700", Frame{Dir: S2C, Kind: Error, ID: ID(`null`), More: &More{Code: -32700, HasCode: true}}},
		{"c2s gave_up 4 tools/call", Frame{Dir: C2S, Kind: GaveUp, ID: ID(`4`), Method: []byte("tools/call")}},
		{"call start sail\\n", Frame{Dir: C2S, Kind: Request, More: &More{Call: 1, Word: "call start sail\n"}}},
		{"s2c err - code=0", Frame{Dir: S2C, Kind: Error, More: &More{HasCode: true}}},
		{"c2s ntf - notifications/cancelled requestId=47", Frame{Dir: C2S, Kind: Notification, Trunc: true, Method: []byte("notifications/cancelled"), RequestID: ID(`47`)}},
		{"c2s handler_enter 47 tools/call", Frame{Dir: C2S, Kind: HandlerEnter, ID: ID(`47`), Method: []byte("tools/call")}},
		{"c2s handler_exit - -", Frame{Dir: C2S, Kind: HandlerExit}},
		{"s2c invalid", Frame{Dir: S2C, Kind: Invalid}},
		{"s2c eof", Frame{Dir: S2C, Kind: EOF}},
		{"proxy open", Frame{Side: Proxy, Kind: Open}},
		{"gap", Frame{Kind: Gap}},
	} {
		if got := string(AppendBrief(nil, &test.f, true)); got != test.want+"\n" {
			t.Errorf("got %swant %s", got, test.want)
		}
	}
	if got := string(AppendBrief(nil, &request, false)); got != "c2s req 47 tools/call\n" {
		t.Errorf("without side: %s", got)
	}
}

// What the sample logs say survives a round trip, and an encoded record is the same line again.
func TestRoundTripSamples(t *testing.T) {
	for _, name := range []string{"client.log", "server.log", "incident/client.log", "incident/server.log"} {
		b, err := os.ReadFile("../../samples/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			checkRoundTrip(t, line)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	for _, test := range records {
		f.Add([]byte(test.line))
	}
	f.Add([]byte(`{"side":"client","kind":"open","ts":"0001-01-01T00:00:00.5+23:59","conn":-0,"caps":["\ud83d\ude42"],"clock":""}`))
	f.Fuzz(checkRoundTrip)
}

// checkRoundTrip decodes, encodes and decodes a line and wants the same record.
func checkRoundTrip(t *testing.T, line []byte) {
	var d Decoder
	var f, g Frame
	if d.Decode(line, &f) != NoReason {
		return
	}
	encoded := AppendNative(nil, &f)
	if n := len(encoded) - 1; !plainText(encoded[:n]) || encoded[n] != '\n' {
		t.Fatalf("%q: not one line of ASCII: %q", line, encoded)
	}
	var again Decoder
	if reason := again.Decode(encoded, &g); reason != NoReason || sayWarnings(&again.Warnings) != "" {
		t.Fatalf("%q: %s: %q %s", line, encoded, reason, sayWarnings(&again.Warnings))
	}
	if a, b := sayExact(&f), sayExact(&g); a != b {
		t.Fatalf("%q: %s\ngot  %s\nwant %s", line, encoded, b, a)
	}
	if twice := AppendNative(nil, &g); !bytes.Equal(encoded, twice) {
		t.Fatalf("%q: %s, and then %s", line, encoded, twice)
	}
}

// sayExact spells a record with its times, as it is after a way through ASCII.
func sayExact(f *Frame) string {
	g := *f
	for _, t := range []*[]byte{&g.Method, &g.Name, &g.Session} {
		*t = throughASCII(*t)
	}
	for _, id := range []*ID{&g.ID, &g.RequestID} {
		*id = idThroughASCII(*id)
	}
	if f.More != nil {
		m := *f.More
		for _, t := range []*[]byte{&m.Conn, &m.Exchange, &m.PID, &m.Clock, &m.ResultType, &m.Era, &m.Raw} {
			*t = throughASCII(*t)
		}
		m.Token = idThroughASCII(m.Token)
		m.Caps = slices.Clone(m.Caps)
		for i, c := range m.Caps {
			m.Caps[i] = string(throughASCII([]byte(c)))
		}
		g.More = &m
	}
	return fmt.Sprintf("%s wall=%d.%09d mono=%d has=%b", sayRecord(&g), g.At.sec, g.At.nsec, g.At.mono, g.At.is)
}

func throughASCII(b []byte) []byte {
	if b == nil {
		return nil
	}
	return []byte(string([]rune(string(b))))
}

func idThroughASCII(id ID) ID {
	if !id.IsString() {
		return id
	}
	return StringID(id.Bare())
}

func BenchmarkEncoder(b *testing.B) {
	line := []byte(`{"ts":"2026-03-02T09:41:00.123456789Z","mono_ns":5123456789,"clock":"0123456789abcdef","seq":12345,"side":"server","dir":"c2s","kind":"request",` +
		`"id":1,"method":"tools/call","name":"search_invoices","bytes":312,"pid":4711}`)
	var d Decoder
	var f Frame
	d.Decode(line, &f)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	var e Encoder
	var buf []byte
	for b.Loop() {
		buf = e.Append(buf[:0], &f, nil)
	}
}

// What a recorder adds is one line of ASCII too, and readers pass over it.
func TestEncoder(t *testing.T) {
	f := Frame{Side: Server, Dir: S2C, Kind: Response, ID: ID("1"), Bytes: 5, Rows: Unknown, Trunc: true}
	line := (&Encoder{}).Append(nil, &f, &Recorded{ResultBytes: 41, ResultTokens: 9, Tools: map[string]string{"b\n": "02", "a": "01"}, Payload: []byte("{\t\"é🙂\":\"\\n\x7f\xff\"}")})
	want := `{"v":1,"side":"server","dir":"s2c","kind":"response","id":1,"bytes":5,"result_bytes":41,"result_tokens":9,"tools":{"a":"01","b\u000a":"02"},` +
		`"frame":{ "\u00e9\ud83d\ude42":"\n\u007f\ufffd"},"trunc":true}` + "\n"
	if string(line) != want {
		t.Errorf("got  %swant %s", line, want)
	}
	var d Decoder
	var g Frame
	if reason := d.Decode(bytes.TrimSpace(line), &g); reason != NoReason || string(g.ID) != "1" || g.Bytes != 5 {
		t.Errorf("%s %+v", reason, g)
	}
}
