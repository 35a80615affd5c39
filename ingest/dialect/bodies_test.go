package dialect

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"mcpdiag/ingest/frame"
)

// bodiesOf reads a log with its texts, one line for each frame.
func bodiesOf(t *testing.T, log string) []string {
	t.Helper()
	var b Batch
	Detect([]byte(log), nil).WithBodies().New().Read([]byte(log), &b)
	b.pad()
	if len(b.Bodies) != len(b.Frames) {
		t.Fatalf("%d bodies of %d frames", len(b.Bodies), len(b.Frames))
	}
	var out []string
	for i, f := range b.Frames {
		body, head := b.Bodies[i], ""
		if h := body.HTTP; h != nil {
			head = fmt.Sprintf(" %s%d of %s empty=%t", h.Verb, h.Status, h.Exchange, h.Empty)
			if h.Event != nil {
				head += " event " + h.Event.ID
			}
		}
		if body.Parts > 0 {
			head += fmt.Sprintf(" %d/%d batch=%t", body.Part, body.Parts, body.Batch)
		}
		if body.Cut {
			head += " cut"
		}
		if body.Guess {
			head += " guess"
		}
		out = append(out, fmt.Sprintf("%d %s %s %s%s", f.Line, f.Dir, f.Kind, body.Text, head))
	}
	for _, bad := range b.Bad {
		out = append(out, fmt.Sprintf("%d bad %s", bad.Line, bad.Reason))
	}
	return out
}

func chunk(dir string, conn int, off int, data string) string {
	b, _ := json.Marshal(map[string]any{"wall": "2026-11-30T02:16:38Z", "conn": conn, "dir": dir, "ev": "read", "off": off, "n": len(data), "data": data})
	return string(b) + "\n"
}

func TestBodies(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	post := "POST /mcp HTTP/1.1\r\nAccept: a\r\naccept: b\r\nContent-Length: 40\r\n\r\n" + ping
	answer := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	events := "id: 7\ndata:\n\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}\n\n"
	chunked := fmt.Sprintf("%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", 20, events[:20], len(events)-20, events[20:])
	for _, tt := range []struct {
		name, log string
		want      []string
	}{
		{"native", `{"v":1,"side":"server","dir":"c2s","kind":"request","id":1,"method":"ping","frame":` + ping + `}` + "\n" +
			`{"v":1,"side":"server","dir":"s2c","kind":"response","id":1,"bytes":7}` + "\n" +
			`{"v":1,"side":"server","dir":"s2c","kind":"response","id":2,"trunc":true,"frame":"{\"id\":2,\"resu"}` + "\n",
			[]string{"1 c2s request " + ping, "2 s2c response ", `3 s2c response {"id":2,"resu cut`}},
		{"wire", "from client: " + ping + "\nnoise\n" + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n",
			[]string{"1 c2s request " + ping, `3 s2c response {"jsonrpc":"2.0","id":1,"result":{}}`, "2 bad no JSON-RPC object on the line"}},
		{"wire, a batch", ping + "\n[" + ping + `, {"jsonrpc":"2.0","method":"notifications/initialized"}]` + "\n",
			[]string{"1 c2s request " + ping + " guess", "2 c2s request " + ping + " 1/2 batch=true guess", `2 c2s notification {"jsonrpc":"2.0","method":"notifications/initialized"} 2/2 batch=true`}},
		{"wire, whose ping", ping + "\nfrom client: " + ping + "\n" + strings.Replace(ping, "ping", "tools/list", 1) + "\n",
			[]string{"1 c2s request " + ping + " guess", "2 c2s request " + ping, "3 c2s request " + strings.Replace(ping, "ping", "tools/list", 1)}},
		{"wire, no message", ping + "\n" + `c2s {"jsonrpc":"2.0","id":null,"method":"ping"}` + "\n" + `{"id":3,"method":"x"}` + "\n",
			[]string{"1 c2s request " + ping + " guess", `2 c2s invalid {"jsonrpc":"2.0","id":null,"method":"ping"}`, `3  invalid {"id":3,"method":"x"}`}},
		{"tee", `1.000000 c->s 41B b'` + ping + `\n'` + "\n", []string{"1 c2s request " + ping}},
		{"records", `{"side":"client","ev":"frame","dir":"c2s","kind":"req","id":1,"n":400,"msg":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"par"}` + "\n",
			[]string{`1 c2s request {"jsonrpc":"2.0","id":1,"method":"ping","par cut`}},
		{"a record's array", `{"ev":"frame","dir":"c2s","msg":[` + ping + "," + ping + "]}\n" + `{"ev":"frame","dir":"c2s","msg":` + strconv.Quote("["+ping+"]") + "}\n",
			[]string{"1 c2s request " + ping + " 1/2 batch=true", "1 c2s request " + ping + " 2/2 batch=true", "2 c2s request " + ping + " 1/1 batch=true"}},
		{"a tap's text, array, and message that is none", `{"dir":"c2s","data":` + strconv.Quote(ping) + "}\n" + `{"dir":"c2s","data":[` + ping + "]}\n" + `{"dir":"c2s","data":{"id":3,"method":"x"}}` + "\n",
			[]string{"1 c2s request " + ping, "2 c2s request " + ping + " 1/1 batch=true", `3 c2s request {"id":3,"method":"x"}`}},
		{"chunks of a pipe", chunk("c2s", 1, 0, ping[:9]) + chunk("c2s", 1, 9, ping[9:]+"\nWarning: x\n"+ping+ping+"\n["+ping+"]\n[]\n"),
			[]string{"2 c2s request " + ping, "2 c2s invalid Warning: x", "2 c2s request " + ping + " 1/2 batch=false", "2 c2s request " + ping + " 2/2 batch=false",
				"2 c2s request " + ping + " 1/1 batch=true", "2 c2s invalid []"}},
		{"chunks of HTTP", chunk("c2s", 3, 0, post) + chunk("s2c", 3, 0, answer+chunked[:31]) + chunk("s2c", 3, len(answer)+31, chunked[31:]) + chunk("c2s", 3, len(post), "DELETE /mcp HTTP/1.1\r\n\r\n") +
			chunk("s2c", 3, len(answer)+len(chunked), "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"),
			[]string{"1 c2s open  POST0 of 3.1 empty=false", "1 c2s request " + ping + " POST0 of 3.1 empty=false", "2 s2c open  200 of 3.1 empty=false",
				"2 s2c open  200 of 3.1 empty=false event 7", "3 s2c response {\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":{}} 200 of 3.1 empty=false event ",
				"4 c2s open  DELETE0 of 3.2 empty=true", "5 s2c open  202 of 3.2 empty=true"}},
	} {
		if got := bodiesOf(t, tt.log); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, strings.Join(got, "\n     "), strings.Join(tt.want, "\n     "))
		}
	}
}

type holdsBack struct{ Reader }

func (holdsBack) Finish(b *Batch) { b.Frames = append(b.Frames, frame.Frame{Kind: frame.EOF}) }

// What a reader holds back to the end has a body too.
func TestBodiesFinish(t *testing.T) {
	var b Batch
	(&bodyReader{inner: holdsBack{}}).Finish(&b)
	if len(b.Frames) != 1 || len(b.Bodies) != 1 {
		t.Errorf("%d frames, %d bodies", len(b.Frames), len(b.Bodies))
	}
	(&bodyReader{inner: new(nativeReader)}).Finish(&b)
}

// FuzzBodies: total, and a body for each frame.
func FuzzBodies(f *testing.F) {
	f.Add(chunk("c2s", 1, 0, "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}") + chunk("s2c", 1, 0, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {}\n\n"))
	f.Add(chunk("s2c", 1, 0, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n{}"))
	f.Add("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"},[]]\n[]\n")
	f.Fuzz(func(t *testing.T, log string) {
		for _, d := range Table() {
			var b Batch
			d.WithBodies().New().Read([]byte(log), &b)
			if b.pad(); len(b.Bodies) != len(b.Frames) {
				t.Fatalf("%s: %d bodies of %d frames", d.Name, len(b.Bodies), len(b.Frames))
			}
		}
	})
}
