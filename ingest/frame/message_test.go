package frame

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// say spells what a message says about itself, for comparison.
func say(f *Frame) string {
	s := f.Kind.String()
	add := func(name string, value []byte) {
		if value != nil {
			s += fmt.Sprintf(" %s=%s", name, value)
		}
	}
	add("id", f.ID)
	add("method", f.Method)
	add("name", f.Name)
	add("request", f.RequestID)
	if m := f.More; m != nil {
		add("token", m.Token)
		add("era", m.Era)
		add("type", m.ResultType)
		if m.HasCode {
			s += fmt.Sprintf(" code=%d", m.Code)
		}
		if m.ToolError {
			s += " toolerror"
		}
		if m.Caps != nil {
			s += fmt.Sprintf(" caps=%q", m.Caps)
		}
	}
	if f.Trunc {
		s += " cut"
	}
	return s
}

var messages = []struct{ name, text, want string }{
	{"request", `{"jsonrpc":"2.0","id":47,"method":"tools/call","params":{"name":"list","arguments":{"name":"no","id":9}}}`,
		`request id=47 method=tools/call name=list`},
	{"TypeScript order", `{"method":"tools/call","params":{"arguments":{},"name":"list"},"jsonrpc":"2.0","id":"a-1"}`,
		`request id="a-1" method=tools/call name=list`},
	{"spaces", "\t { \"id\" : 0 ,\r\n \"method\" : \"ping\" } \r", `request id=0 method=ping`},
	{"empty string id", `{"id":"","method":"ping"}`, `request id="" method=ping`},
	{"empty method", `{"id":1,"method":""}`, `request id=1 method=`},
	{"digits kept", `{"id":9007199254740993,"method":"ping"}`, `request id=9007199254740993 method=ping`},
	{"1.0 is not 1", `{"id":1.0,"method":"ping"}`, `request id=1.0 method=ping`},
	{"escaped string id", `{"id":"\u0061\/\u00e9","method":"ping"}`, `request id="a/é" method=ping`},
	{"escaped keys", `{"\u0069d":1,"m\u0065thod":"ping"}`, `request id=1 method=ping`},
	{"other case is another key", `{"ID":1,"id":2,"Method":"x","method":"ping"}`, `request id=2 method=ping`},
	{"escaped method", `{"id":1,"method":"tools\/call"}`, `request id=1 method=tools/call`},
	{"params no object", `{"id":1,"method":"x","params":[{"name":"no"}]}`, `request id=1 method=x`},
	{"facts of other types", `{"id":1,"method":"x","params":{"name":{"name":"no"},"uri":5,"_meta":[1],"capabilities":"no"}}`, `request id=1 method=x`},
	{"uri", `{"id":1,"method":"resources/read","params":{"uri":"file:///a"}}`, `request id=1 method=resources/read name=file:///a`},
	{"name before uri", `{"id":1,"method":"x","params":{"uri":"u","name":"n"}}`, `request id=1 method=x name=n`},
	{"initialize", `{"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` +
		`{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":null},"tasks":false,"x":{"y":false}},"clientInfo":{"name":"no"}}}`,
		`request id=0 method=initialize era=2025-11-25 caps=["roots" "roots.listChanged" "sampling" "elicitation" "elicitation.form" "x"]`},
	{"protocolVersion elsewhere", `{"id":0,"method":"x","params":{"protocolVersion":"2025-11-25"}}`, `request id=0 method=x`},
	{"modern request", `{"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{"a":{}}}},"progressToken":"p"}}}`,
		`request id=1 method=tools/list token="p" era=2026-07-28 caps=["extensions" "extensions.io.modelcontextprotocol/tasks"]`},
	{"no capabilities", `{"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		`request id=1 method=tools/list caps=[]`},
	{"token", `{"id":1,"method":"tools/call","params":{"_meta":{"progressToken":7},"progressToken":8}}`, `request id=1 method=tools/call token=7`},
	{"null token", `{"id":1,"method":"tools/call","params":{"_meta":{"progressToken":null}}}`, `request id=1 method=tools/call`},
	{"notification", `{"method":"notifications/initialized","jsonrpc":"2.0"}`, `notification method=notifications/initialized`},
	{"cancel", `{"params":{"requestId":"\u0061","reason":"x"},"method":"notifications/cancelled"}`, `notification method=notifications/cancelled request="a"`},
	{"cancel of null", `{"method":"notifications/cancelled","params":{"requestId":null}}`, `notification method=notifications/cancelled`},
	{"requestId elsewhere", `{"method":"notifications/x","params":{"requestId":1}}`, `notification method=notifications/x`},
	{"progress", `{"method":"notifications/progress","params":{"progressToken":7,"progress":1}}`, `notification method=notifications/progress token=7`},
	{"response", `{"result":{"id":9,"method":"no","error":{"code":1}},"jsonrpc":"2.0","id":5}`, `response id=5`},
	{"result no object", `{"result":null,"id":5}`, `response id=5`},
	{"initialize result", `{"id":0,"result":{"capabilities":{"tools":{"listChanged":true},"logging":{}},"protocolVersion":"2025-06-18","serverInfo":{}}}`,
		`response id=0 era=2025-06-18 caps=["tools" "tools.listChanged" "logging"]`},
	{"modern result", `{"id":1,"result":{"resultType":"input_required","isError":false}}`, `response id=1 type=input_required`},
	{"tool error", `{"id":1,"result":{"content":[{"isError":false}],"isError":true}}`, `response id=1 toolerror`},
	{"error", `{"id":1,"error":{"message":"m","code":-32601,"data":{"code":5}}}`, `error id=1 code=-32601`},
	{"error of nobody", `{"error":{"code":-32700},"id":null}`, `error id=null code=-32700`},
	{"error without id", `{"error":{"code":"x"}}`, `error`},
	{"code too big", `{"error":{"code":99999999999999999999}}`, `error`},
	{"code no integer", `{"error":{"code":1.5}}`, `error`},

	{"empty", ``, `not JSON`},
	{"empty object", `{}`, `not a JSON-RPC message`},
	{"no kind", `{"jsonrpc":"2.0","id":1}`, `not a JSON-RPC message`},
	{"array", `[{"id":1,"method":"x"}]`, `not an object`},
	{"number", `5`, `not an object`},
	{"null id", `{"id":null,"method":"ping"}`, `null id on a request`},
	{"null id of a result", `{"id":null,"result":{}}`, `null id on a request`},
	{"no id", `{"result":{}}`, `no id`},
	{"id true", `{"id":true,"method":"ping"}`, `id type`},
	{"id object", `{"id":{"id":1},"result":{}}`, `id type`},
	{"method and result", `{"id":1,"method":"x","result":{}}`, `not a JSON-RPC message`},
	{"method and error", `{"method":"x","error":{}}`, `not a JSON-RPC message`},
	{"result and error", `{"id":1,"result":{},"error":null}`, `not a JSON-RPC message`},
	{"method no string", `{"id":1,"method":5}`, `not a JSON-RPC message`},
	{"id twice", `{"id":1,"method":"x","id":1}`, `duplicate key`},
	{"id twice, once escaped", `{"id":1,"method":"x","\u0069d":2}`, `duplicate key`},
	{"result twice", `{"id":1,"result":{},"result":{}}`, `duplicate key`},
	{"other key twice", `{"id":1,"method":"x","x":1,"x":2}`, `request id=1 method=x`},
	{"garbage behind", `{"id":1,"method":"x"}}`, `not JSON`},
	{"two", `{"id":1,"method":"x"}{"id":2,"method":"x"}`, `not JSON`},
	{"comma", `{"id":1,"method":"x",}`, `not JSON`},
	{"no comma", `{"id":1 "method":"x"}`, `not JSON`},
	{"no colon", `{"id" 1}`, `not JSON`},
	{"bad inside", `{"id":1,"method":"x","params":{"a":01}}`, `not JSON`},
	{"bad after a duplicate", `{"id":1,"id":2,`, `not JSON`},
	{"single quotes", `{'id':1,'method':'x'}`, `not JSON`},
	{"NUL", "{\"id\":1,\x00\"method\":\"x\"}", `not JSON`},
	{"NUL in a string", "{\"id\":1,\"method\":\"x\x00\"}", `not JSON`},
}

func TestDecodeMessage(t *testing.T) {
	for _, test := range messages {
		t.Run(test.name, func(t *testing.T) {
			f := Frame{Line: 7, Side: Server, Dir: C2S, Bytes: 12, Rows: Unknown}
			got := string(DecodeMessage([]byte(test.text), &f))
			if got == "" {
				got = say(&f)
			} else if f.Kind != NoKind || f.ID != nil || f.Method != nil || f.More != nil {
				t.Errorf("refused, and yet the frame says %s", say(&f))
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if f.Line != 7 || f.Side != Server || f.Dir != C2S || f.Bytes != 12 || f.Rows != Unknown {
				t.Errorf("touched what is the caller's: %+v", f)
			}
		})
	}
}

func TestDecodeMessageNesting(t *testing.T) {
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, text := range []string{`{"id":1,"result":{"x":` + deep + `}}`, `{"x":` + deep + `,"id":1,"result":{}}`, deep,
		strings.Repeat(`{"params":`, 100_000)} {
		var f Frame
		if got := DecodeMessage([]byte(text), &f); got != Nesting {
			t.Errorf("%.30s…: got %q", text, got)
		}
	}
	var f Frame
	if got := DecodeMessage([]byte(`{"id":1,"result":{"x":`+strings.Repeat("[", MaxNesting)+strings.Repeat("]", MaxNesting)+`}}`), &f); got != NoReason {
		t.Errorf("at the limit: %q", got)
	}
}

// An id that comes after megabytes of result is still the id, and those inside the result are not.
func TestDecodeMessageLateID(t *testing.T) {
	result := strings.Repeat(`{"id":1,"text":"\"id\":2 \\"},`, 200_000)
	text := `{"result":{"content":[` + result + `{}]},"jsonrpc":"2.0","id":3}`
	var f Frame
	if got := DecodeMessage([]byte(text), &f); got != NoReason || say(&f) != "response id=3" {
		t.Errorf("got %q, %s", got, say(&f))
	}
}

func TestDecodeCut(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{"jsonrpc":"2.0","id":47,"result":{"content":[{"type":"text","text":"row row`, `response id=47 cut`},
		{`{"result":{"content":[{"type":"text","text":"sail`, `response cut`},
		{`{"result":{"id":3,"x":`, `response cut`},
		{`{"result":{"resultType":"complete","content":[`, `response type=complete cut`},
		{`{"result":`, `response cut`},
		{`{"result":{},"jsonrpc":"2.0","id":4`, `response cut`}, // of 4 or 47
		{`{"result":{},"jsonrpc":"2.0","id":"4`, `response cut`},
		{`{"result":{},"jsonrpc":"2.0","id":4,`, `response id=4 cut`},
		{`{"result":{},"jsonrpc":"2.0","id":4 `, `response id=4 cut`},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-3260`, `error id=1 cut`},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"mess`, `error id=1 code=-32601 cut`},
		{`{"error":{"code":-32601,"message":"x"},"id":null,`, `error id=null code=-32601 cut`},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"list","arguments":{"a":tr`, `request id=5 method=tools/call name=list cut`},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/ca`, `request id=5 cut`},
		{`{"method":"tools/call","params":{"name":"list","arguments":{"port":"N\u00`, `request method=tools/call name=list cut`},
		{`{"method":"tools/call","params":{"na`, `request method=tools/call cut`},
		{`{"method":"tools/ca`, `request cut`},
		{`{"method":"notifications/message","params":{"data":"`, `notification method=notifications/message cut`},
		{`{"method":"notifications/mess`, `notification cut`},
		{`{"jsonrpc":"2.0","id":5,"meth`, ``}, // a request or an answer
		{`{"jsonrpc":"2.0","method":"no`, ``}, // a request or a notification
		{`{"jsonrpc":"2.0","method":`, ``},
		{`{"jsonrpc":"2.0","id":5`, ``},
		{`{`, ``},
		{``, ``},
		{`not json`, ``},
		{`[{"result":{`, ``},
		{`{"id":null,"method":"x","params":{`, ``},
		{`{"id":true,"method":"x","params":{`, ``},
		{`{"id":1,"id":2,"method":"x","params":{`, ``},
		{`{"method":5,"params":{`, ``},
		{`{"id":1,"method":"x","result":{`, ``},
		{`{"id":1,"result":{"a":"b"oops`, ``}, // wrong, not cut
		{`{"id":1,"result":{"te{"jsonrpc":"2.0"`, ``},
		{`{"id":1,"result":{"text":"a` + "\x01", ``},
		{`{"id":1,"result":{"text":"a\q`, ``},
		{`{"id":1,"result":{}}`, ``}, // whole
		{`{"id":1,"result":{}} x`, ``},
	} {
		f := Frame{Bytes: 9}
		got := ""
		if DecodeCut([]byte(test.text), &f) {
			got = say(&f)
		}
		if got != test.want {
			t.Errorf("%s\ngot  %q\nwant %q", test.text, got, test.want)
		}
	}
}

// Whatever a cut message still shows must be what the whole one says.
func checkCuts(t *testing.T, b []byte) {
	var whole Frame
	if DecodeMessage(b, &whole) != NoReason {
		return
	}
	for n := range len(b) {
		var f Frame
		if !DecodeCut(b[:n], &f) {
			continue
		}
		call := func(k Kind) bool { return k == Request || k == Notification }
		sameKind := f.Kind == whole.Kind || (call(f.Kind) && call(whole.Kind))
		sameID := f.ID == nil || bytes.Equal(f.ID, whole.ID)
		sameMethod := f.Method == nil || bytes.Equal(f.Method, whole.Method)
		if !sameKind || !sameID || !sameMethod || !f.Trunc {
			t.Fatalf("%q cut at %d: %s, whole %s", b, n, say(&f), say(&whole))
		}
	}
}

func TestDecodeCutEverywhere(t *testing.T) {
	for _, test := range messages {
		checkCuts(t, []byte(test.text))
	}
}

func TestScanObject(t *testing.T) {
	for _, test := range []struct {
		text  string
		end   int
		shape Shape
	}{
		{`{}`, 2, PlainObject},
		{`{"jsonrpc":"2.0"} { metadata: undefined }`, 17, MessageObject},
		{`{"json\u0072pc":1}`, 18, MessageObject},
		{`{"a":{"jsonrpc":"2.0"}},`, 23, PlainObject},
		{`{ metadata: undefined }`, 2, NoObject},
		{`{"a":"\q"}`, 10, NoObject},
		{`{"a":1]`, 6, NoObject},
		{`{"a":"b`, 7, CutObject},
		{`{"a":[tr`, 8, CutObject},
		{`{"jsonrpc":"2.0"`, 16, CutObject},
		{`{`, 1, CutObject},
		{`x`, 0, NoObject},
		{``, 0, NoObject},
	} {
		if end, shape := ScanObject([]byte(test.text)); end != test.end || shape != test.shape {
			t.Errorf("%s: got %d, %d", test.text, end, shape)
		}
	}
}

func TestParseID(t *testing.T) {
	for _, test := range []struct{ text, id, rest string }{
		{`47 x`, `47`, ` x`}, {`"a b"c`, `"a b"`, `c`}, {`"\u0061"`, `"a"`, ``}, {`-0.5e3`, `-0.5e3`, ``}, {`01`, `0`, `1`},
		{`null`, ``, `null`}, {`abc`, ``, `abc`}, {`"a`, ``, `"a`}, {`-`, ``, `-`}, {`{}`, ``, `{}`}, {``, ``, ``},
	} {
		id, rest, ok := ParseID([]byte(test.text))
		if string(id) != test.id || string(rest) != test.rest || ok != (test.id != "") {
			t.Errorf("%s: got %q, %q, %v", test.text, id, rest, ok)
		}
	}
}

func TestMessageAllocates(t *testing.T) {
	for _, text := range []string{messages[0].text, messages[1].text, `{"id":1,"result":{"content":[{"text":"a\nb"}]}}`, `{"method":"notifications/initialized"}`} {
		b := []byte(text)
		if n := testing.AllocsPerRun(100, func() {
			var f Frame
			DecodeMessage(b, &f)
			DecodeCut(b[:len(b)-3], &f)
			ScanObject(b)
		}); n > 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func FuzzDecodeMessage(f *testing.F) {
	for _, test := range messages {
		f.Add([]byte(test.text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		var got Frame
		reason := DecodeMessage(b, &got)
		checkJSON(t, b, reason)
		if reason == NoReason {
			checkEnvelope(t, b, &got)
		}
		if len(b) < 512 {
			checkCuts(t, b)
		}
		if end, shape := ScanObject(b); end > len(b) || (shape >= PlainObject && !json.Valid(b[:end])) {
			t.Fatalf("%q is no whole object", b[:end])
		}
	})
}

// checkJSON holds a decoder's reason against encoding/json's opinion whether b is JSON.
func checkJSON(t *testing.T, b []byte, reason Reason) {
	switch valid := json.Valid(b); {
	case reason == Nesting:
	case valid && reason == NotJSON:
		t.Fatalf("%q is JSON", b)
	case !valid && reason != NotJSON:
		t.Fatalf("%q is no JSON, and the reason is %q", b, reason)
	}
}

// checkEnvelope holds a message against what encoding/json reads.
func checkEnvelope(t *testing.T, b []byte, f *Frame) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	_, hasMethod := m["method"]
	_, hasResult := m["result"]
	_, hasError := m["error"]
	if hasMethod != (f.Kind == Request || f.Kind == Notification) || hasResult != (f.Kind == Response) || hasError != (f.Kind == Error) {
		t.Fatalf("%q: %s", b, say(f))
	}
	checkText(t, m["method"], f.Method)
	checkToken(t, m["id"], f.ID)
}

func checkToken(t *testing.T, raw json.RawMessage, id ID) {
	if len(raw) == 0 || raw[0] != '"' {
		if string(raw) != string(id) {
			t.Fatalf("id %q, want %q", id, raw)
		}
		return
	}
	if !id.IsString() || !json.Valid(id.JSON()) {
		t.Fatalf("id %q of %q", id, raw)
	}
	checkText(t, raw, []byte(id.Bare()))
}

// checkText compares a decoded string; where it is no UTF-8, encoding/json replaces what we keep.
func checkText(t *testing.T, raw json.RawMessage, text []byte) {
	var want string
	if len(raw) == 0 || json.Unmarshal(raw, &want) != nil || strings.ContainsRune(want, '\uFFFD') {
		return
	}
	if want != string(text) {
		t.Fatalf("text %q of %q", text, raw)
	}
}
