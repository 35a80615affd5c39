package frame

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const goodHead = `"side":"client","dir":"c2s","kind":"request"`

// records are native lines and what becomes of them: a record as sayRecord spells it, or a reason.
var records = []struct{ name, line, want string }{
	{"minimal", `{` + goodHead + `,"id":1}`, `client c2s request id=1`},
	{"spaces", " {\t" + goodHead + " , \"id\" : 1 } \r", `client c2s request id=1`},
	{"everything", `{"v":1,"ts":"2026-03-02T09:41:00Z","mono_ns":5,"clock":"k","seq":3,"side":"server","dir":"s2c","kind":"response","id":"a","name":"n",` +
		`"bytes":12,"rows":4,"session":"s","conn":1,"exchange":"e","pid":99,"result_type":"complete","tool_error":true,"status":200,"era":"2026-07-28",` +
		`"phase":"queued","caps":["tools",1,"logging"],"token":7,"frame":{"id":9},"future":[{}],"trunc":false}`,
		`server s2c response id="a" name=n session=s bytes=12 rows=4 phase=queued wall mono clock=k conn=1 exchange=e pid=99 token=7 type=complete era=2026-07-28 ` +
			`seq=3 status=200 toolerror caps=[tools logging]`},
	{"handler", `{"side":"server","dir":"c2s","kind":"handler_exit","id":1,"method":"tools/call","name":"x","rows":0}`,
		`server c2s handler_exit id=1 method=tools/call name=x rows=0`},
	{"handler without id", `{"side":"server","dir":"c2s","kind":"handler_enter","id":null}`, `server c2s handler_enter`},
	{"error of nobody", `{"side":"server","dir":"s2c","kind":"error","id":null,"code":-32700}`, `server s2c error id=null code=-32700`},
	{"cancel", `{"side":"client","dir":"c2s","kind":"notification","id":5,"method":"notifications/cancelled","request_id":"\u0061"}`,
		`client c2s notification method=notifications/cancelled request="a"`},
	{"invalid", `{"side":"client","dir":"s2c","kind":"invalid","bytes":3,"raw":"\u001bx"}`, "client s2c invalid bytes=3 raw=\x1bx"},
	{"open without direction", `{"side":"client","kind":"open","pid":"p"}`, `client open pid=p`},
	{"gap", `{"side":"client","kind":"gap","dropped":17}`, `client gap dropped=17`},
	{"eof", `{"side":"proxy","dir":"s2c","kind":"eof"}`, `proxy s2c eof`},
	{"no side", `{"dir":"c2s","kind":"request","id":1}`, `c2s request id=1`}, // the command line may give it
	{"cut record", `{` + goodHead + `,"trunc":true}`, `client c2s request cut`},
	{"escaped keys and values", `{"\u0073ide":"cli\u0065nt","d\u0069r":"c2s","kind":"requ\u0065st","\u0069d":1,"m\u0065thod":"tools\/call"}`,
		`client c2s request id=1 method=tools/call`},
	{"other case is another key", `{` + goodHead + `,"id":1,"ID":2,"Kind":"x"}`, `client c2s request id=1`},
	{"unknown key twice", `{` + goodHead + `,"id":1,"x":1,"x":2}`, `client c2s request id=1`},
	{"optional nulls", `{` + goodHead + `,"id":1,"ts":null,"bytes":null,"v":null,"caps":null,"trunc":null}`, `client c2s request id=1`},
	{"token kinds", `{` + goodHead + `,"id":1,"token":"\u0061","conn":"c"}`, `client c2s request id=1 conn=c token="a"`},

	{"empty", ``, `not JSON`},
	{"words", `starting server`, `not JSON`},
	{"cut line", `{` + goodHead + `,"id":1`, `not JSON`},
	{"cut in a string", `{` + goodHead + `,"method":"to`, `not JSON`},
	{"trailing comma", `{` + goodHead + `,"id":1,}`, `not JSON`},
	{"two records", `{` + goodHead + `,"id":1} {}`, `not JSON`},
	{"NUL", `{` + goodHead + `,"id":1` + "\x00}", `not JSON`},
	{"NUL in a string", `{` + goodHead + `,"id":"` + "\x00\"}", `not JSON`},
	{"NUL in front", "\x00{" + goodHead + `,"id":1}`, `not JSON`},
	{"bad after a bad kind", `{"kind":"x","side":`, `not JSON`},
	{"garbage behind a bad kind", `{"side":"client","dir":"c2s","kind":"x"} y`, `not JSON`},
	{"array", `[{}]`, `not an object`},
	{"cut array", `[{}`, `not JSON`},
	{"null", `null`, `not an object`},
	{"number", ` 12 `, `not an object`},
	{"string and more", `"a" b`, `not JSON`},
	{"empty object", `{}`, `side/dir`},
	{"bad side", `{"side":"me","dir":"c2s","kind":"request","id":1}`, `side/dir`},
	{"null side", `{"side":null,"dir":"c2s","kind":"request","id":1}`, `side/dir`},
	{"bad dir", `{"side":"client","dir":"up","kind":"request","id":1}`, `side/dir`},
	{"dir number", `{"side":"client","dir":1,"kind":"request","id":1}`, `side/dir`},
	{"no dir", `{"side":"client","kind":"request","id":1}`, `side/dir`},
	{"bad kind", `{"side":"client","dir":"c2s","kind":"call","id":1}`, `kind`},
	{"kind list", `{"side":"client","dir":"c2s","kind":["request"],"id":1}`, `kind`},
	{"no kind", `{"side":"client","dir":"c2s","id":1}`, `kind`},
	{"id true", `{` + goodHead + `,"id":true}`, `id type`},
	{"id object", `{` + goodHead + `,"id":{}}`, `id type`},
	{"id list", `{` + goodHead + `,"id":[1]}`, `id type`},
	{"null id", `{` + goodHead + `,"id":null}`, `null id on a request`},
	{"null id of a response", `{"side":"client","dir":"s2c","kind":"response","id":null}`, `null id on a request`},
	{"no id", `{` + goodHead + `}`, `no id`},
	{"no id of a response", `{"side":"client","dir":"s2c","kind":"response"}`, `no id`},
	{"version 2", `{"v":2,` + goodHead + `,"id":1}`, `format version`},
	{"version text", `{"v":"1",` + goodHead + `,"id":1}`, `format version`},
	{"version 1.0", `{"v":1.0,` + goodHead + `,"id":1}`, `format version`},
	{"id twice", `{` + goodHead + `,"id":1,"id":2}`, `duplicate key`},
	{"kind twice, once escaped", `{` + goodHead + `,"id":1,"k\u0069nd":"request"}`, `duplicate key`},
}

// sayRecord spells what a record says, for comparison.
func sayRecord(f *Frame) string {
	words := []string{}
	word := func(w string) {
		if w != "" {
			words = append(words, w)
		}
	}
	pair := func(name string, value any, there bool) {
		if there {
			words = append(words, fmt.Sprintf("%s=%s", name, fmt.Sprint(value)))
		}
	}
	word(f.Side.String())
	word(f.Dir.String())
	word(f.Kind.String())
	texts := func(list ...any) {
		for i := 0; i < len(list); i += 2 {
			b := list[i+1].([]byte)
			pair(list[i].(string), string(b), b != nil)
		}
	}
	texts("id", []byte(f.ID), "method", f.Method, "name", f.Name, "request", []byte(f.RequestID), "session", f.Session)
	pair("bytes", f.Bytes, f.Bytes != Unknown)
	pair("rows", f.Rows, f.Rows != Unknown)
	pair("phase", f.Phase, f.Phase != NoPhase)
	if f.At.HasWall() {
		word("wall")
	}
	if f.At.HasMono() {
		word("mono")
	}
	if m := f.More; m != nil {
		texts("clock", m.Clock, "conn", m.Conn, "exchange", m.Exchange, "pid", m.PID, "token", m.Token, "type", m.ResultType, "era", m.Era, "raw", m.Raw)
		pair("code", m.Code, m.HasCode)
		pair("seq", m.Seq, m.HasSeq)
		pair("status", m.Status, m.HasStatus)
		pair("dropped", m.Dropped, m.Dropped != 0)
		if m.ToolError {
			word("toolerror")
		}
		pair("caps", m.Caps, m.Caps != nil)
	}
	if f.Trunc {
		word("cut")
	}
	return strings.Join(words, " ")
}

// One decoder reads all the lines, twice: what it remembers of earlier lines must not change what a line says.
func TestDecode(t *testing.T) {
	var warm Decoder
	for range 2 {
		for _, test := range records {
			f := Frame{Line: 3}
			got := string(warm.Decode([]byte(test.line), &f))
			if got == "" {
				got = sayRecord(&f)
			}
			if got != test.want || f.Line != 3 {
				t.Errorf("%s: line %d\ngot  %s\nwant %s", test.name, f.Line, got, test.want)
			}
		}
	}
	warm.Warnings.Each(func(member string, n uint32) {
		t.Errorf("%d warnings about %s", n, member)
	})
}

func TestWarnings(t *testing.T) {
	bad := map[string][]string{
		"ts": {`"yesterday"`, `""`, `12`, `{}`}, "mono_ns": {`"5"`, `1.5`, `9223372036854775808`}, "clock": {`5`, `[]`}, "seq": {`"1"`, `1e3`},
		"method": {`5`, `true`}, "name": {`5`, `{}`}, "bytes": {`-1`, `"12"`, `1.0`, `1234567890123456789012345678901`, `true`}, "rows": {`-1`, `[]`},
		"session": {`5`}, "conn": {`true`, `{}`}, "exchange": {`[]`}, "pid": {`{}`}, "request_id": {`true`, `{}`}, "token": {`[1]`, `false`},
		"code": {`"x"`, `1.5`}, "tool_error": {`"true"`, `1`}, "result_type": {`5`}, "status": {`"200"`}, "caps": {`"tools"`, `5`, `{}`}, "era": {`5`},
		"phase": {`"sent"`, `5`}, "raw": {`5`}, "trunc": {`"true"`, `0`}, "dropped": {`-1`, `"1"`},
	}
	for m := mV; m < members; m++ {
		name := memberNames[m]
		if m == mV || m == mSide || m == mDir || m == mKind || m == mID {
			continue // a record is nothing without these
		}
		if len(bad[name]) == 0 {
			t.Errorf("no bad value of %s is tried", name)
		}
		for _, value := range bad[name] {
			checkWarning(t, name, value)
		}
	}
}

// checkWarning wants a bad optional member to be unknown and counted, and the record kept.
func checkWarning(t *testing.T, name, value string) {
	var d Decoder
	var f Frame
	if reason := d.Decode(fmt.Appendf(nil, `{%s,"id":1,"%s":%s}`, goodHead, name, value), &f); reason != NoReason {
		t.Errorf("%s: %s: %q", name, value, reason)
		return
	}
	if got := sayRecord(&f); got != `client c2s request id=1` {
		t.Errorf("%s: %s: record is %s", name, value, got)
	}
	if got := sayWarnings(&d.Warnings); got != name+" 1" {
		t.Errorf("%s: %s: warnings are %q", name, value, got)
	}
}

func sayWarnings(w *Warnings) string {
	var list []string
	w.Each(func(member string, n uint32) { list = append(list, fmt.Sprint(member, " ", n)) })
	return strings.Join(list, ", ")
}

func TestWarningsOfRefusedLines(t *testing.T) {
	var d Decoder
	var f Frame
	d.Decode([]byte(`{`+goodHead+`,"id":1,"bytes":-1}`), &f)
	d.Decode([]byte(`{`+goodHead+`,"id":true,"bytes":-1,"ts":5}`), &f)
	if got := sayWarnings(&d.Warnings); got != "bytes 1" {
		t.Errorf("got %q", got)
	}
	sum := Warnings{mTS: 2}
	if sum.Add(&d.Warnings); sayWarnings(&sum) != "ts 2, bytes 1" {
		t.Errorf("sum is %q", sayWarnings(&sum))
	}
}

// Eleven ways to write an id that are eleven ids (hostile input 08).
func TestBigIDs(t *testing.T) {
	ids := []string{`9007199254740993`, `9007199254740992`, `18446744073709551616`, `1` + strings.Repeat("0", 400), `1e400`, `-0`, `0`, `1.0`, `1`, `1e0`, `"1"`}
	var d Decoder
	for _, id := range ids {
		var f Frame
		if reason := d.Decode([]byte(`{`+goodHead+`,"id":`+id+`,"request_id":`+id+`}`), &f); reason != NoReason || string(f.ID) != id || string(f.RequestID) != id {
			t.Errorf("%s: %q, id %s, request_id %s", id, reason, f.ID, f.RequestID)
		}
		if want := !strings.ContainsAny(id, `.e"`); f.ID.IsInteger() != want {
			t.Errorf("%s: integer is %v", id, !want)
		}
	}
}

func TestDecodeNesting(t *testing.T) {
	deep := strings.Repeat("[", 100_000)
	for _, line := range []string{deep, deep + strings.Repeat("]", 100_000), `{"x":` + deep, `{` + goodHead + `,"id":1,"x":` + deep + strings.Repeat("]", 100_000) + `}`,
		strings.Repeat(`{"frame":`, 100_000)} {
		var d Decoder
		var f Frame
		if got := d.Decode([]byte(line), &f); got != Nesting {
			t.Errorf("%.20s…: %q", line, got)
		}
	}
}

func TestDecodeAllocates(t *testing.T) {
	line := []byte(`{"ts":"2026-03-02T09:41:00.123Z","mono_ns":5,` + goodHead + `,"id":1,"method":"tools/call","name":"x","bytes":12}`)
	var d Decoder
	var f Frame
	d.Decode(line, &f)
	if n := testing.AllocsPerRun(100, func() { d.Decode(line, &f) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDecode(f *testing.F) {
	for _, test := range records {
		f.Add([]byte(test.line))
	}
	var warm Decoder
	f.Fuzz(func(t *testing.T, line []byte) {
		var cold Decoder
		var a, b, c Frame
		reason := cold.Decode(line, &a)
		checkJSON(t, line, reason)
		if r := cold.Decode(line, &b); r != reason || (reason == NoReason && !reflect.DeepEqual(a, b)) {
			t.Fatalf("%q: %q %s, and then %q %s", line, reason, sayRecord(&a), r, sayRecord(&b))
		}
		if r := warm.Decode(line, &c); r != reason || (reason == NoReason && !reflect.DeepEqual(a, c)) {
			t.Fatalf("%q: %q %s, and to a warm decoder %q %s", line, reason, sayRecord(&a), r, sayRecord(&c))
		}
		if reason == NoReason {
			checkRecord(t, line, &a)
		}
	})
}

// checkRecord holds a record's id and method against what encoding/json reads.
func checkRecord(t *testing.T, line []byte, f *Frame) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatal(err)
	}
	if f.ID != nil {
		checkToken(t, m["id"], f.ID)
	}
	if f.Method != nil {
		checkText(t, m["method"], f.Method)
	}
	if f.Dir == NoDir && f.Kind != Open && f.Kind != Gap {
		t.Fatalf("%q: no direction", line)
	}
}
