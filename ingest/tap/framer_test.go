package tap

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpdiag/ingest/frame"
)

// framed runs a stream through a Framer, cut into chunks at the given places, and spells what it emits.
func framed(room int, stream []byte, cuts ...int) []string {
	var events []string
	f := NewFramer(frame.S2C, room, func(e *Event) { events = append(events, spell(e)) })
	at := time.Unix(0, 0)
	last := 0
	for _, cut := range cuts {
		f.Write(bytes.Clone(stream[last:cut]), at)
		last = cut
	}
	f.Write(bytes.Clone(stream[last:]), at)
	f.Close(at)
	return events
}

func spell(e *Event) string {
	f := e.Frame
	f.At = frame.Instant{}
	return strings.TrimSuffix(string(frame.AppendNative(nil, &f)), "\n")
}

// short leaves out what every record of these tests has.
func short(events []string) string {
	for i, e := range trimRaw(events) {
		e = strings.TrimPrefix(e, `{"v":1,"dir":"s2c","kind":"`)
		e = strings.NewReplacer(`","`, " ", `":`, "=", `,"`, " ", `"}`, "", "}", "", `"`, "").Replace(e)
		events[i] = e
	}
	return strings.Join(events, "; ")
}

func TestFramer(t *testing.T) {
	big := strings.Repeat("x", 3000)
	for _, test := range []struct{ name, stream, want string }{
		{"a message", `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n", "response id=1 bytes=37"},
		{"id last", `{"result":{"content":[{"text":"` + big + `"}]},"jsonrpc":"2.0","id":0}` + "\n", "response id=0 bytes=3060"},
		{"CRLF", `{"jsonrpc":"2.0","id":1,"result":{}}` + "\r\n", "response id=1 bytes=38"},
		{"no final line end", `{"jsonrpc":"2.0","id":1,"result":{}}`, "response id=1 bytes=36"},
		{"cut tail", `{"jsonrpc":"2.0","id":1,"res`, `invalid bytes=28`},
		{"noise", "starting\n\x1b[2J\xff\x00\n", `invalid bytes=9; invalid bytes=7`},
		{"blank lines", "\n\r\n", `invalid bytes=1; invalid bytes=2`},
		{"BOM", "\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n", `invalid bytes=40`},
		{"glued", `debug {"jsonrpc":"2.0","id":1,"result":{}}` + "\n", `invalid bytes=43`},
		{"JSON, no message", `{"level":"info"}` + "\n", `invalid bytes=17`},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"result":{}}, {"jsonrpc":"2.0","method":"m"}]` + "\n", "response id=1; notification method=m"},
		{"a batch with something else in it", `[{"jsonrpc":"2.0","id":1,"result":{}},7]` + "\n", `response id=1; invalid bytes=41`},
		{"an empty batch", "[]\n", `invalid bytes=3`},
		{"a batch that is no JSON", `[{"jsonrpc":"2.0","id":1,"result":{}},]` + "\n", `invalid bytes=40`},
		{"members that matter, deep and late", `{"params":{"x":{"name":"no","id":5},"arguments":["` + big + `"],"_meta":{"y":[1],"progressToken":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":{"roots":{"listChanged":true,"z":{"w":1}},"no":false}},"n\u0061me":"search"},"method":"tools/call","id":"a\"b"}` + "\n",
			`request id=a\b method=tools/call name=search bytes=3302 token=t caps=[roots roots.listChanged roots.z] era=2026-07-28`},
		{"an error", `{"error":{"data":{"code":1},"code":-32603,"message":"` + big + `"},"id":null}` + "\n", "error id=null bytes=3067 code=-32603"},
		{"a tool error", `{"result":{"content":[],"isError":true,"resultType":"complete"},"id":2.50}` + "\n", "response id=2.50 bytes=75 tool_error=true result_type=complete"},
		{"an id twice", `{"jsonrpc":"2.0","id":1,"id":2,"result":{}}` + "\n", `invalid bytes=44`},
	} {
		stream := []byte(test.stream)
		want := framed(DefaultRoom, stream)
		if got := short(slices.Clone(want)); got != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", test.name, got, test.want)
		}
		if got := framed(20, stream); !slices.Equal(trimRaw(got), trimRaw(want)) {
			t.Errorf("%s: with little room\ngot  %s\nwant %s", test.name, got, want)
		}
	}
}

// TestRaw: the record of a line that is no message shows how it begins.
func TestRaw(t *testing.T) {
	for stream, want := range map[string]string{
		"\x1b[2J\xff\x00 noise\r\n":           `\u001b[2J\ufffd\u0000 noise\u000d`,
		"\n":                                  ``,
		`debug {"jsonrpc":`:                   `debug {\"jsonrpc\":`,
		strings.Repeat("x", 5000) + "y\n":     strings.Repeat("x", rawBytes),
		"\xef\xbb\xbf{\"method\":\"ping\"}\n": `\ufeff{\"method\":\"ping\"}`,
	} {
		events := framed(DefaultRoom, []byte(stream))
		if len(events) != 1 || !strings.HasSuffix(events[0], `,"raw":"`+want+`"}`) {
			t.Errorf("%q: %s", stream, events)
		}
	}
}

// trimRaw forgets the prefixes, of which a Framer with little room has less.
func trimRaw(events []string) []string {
	out := slices.Clone(events)
	for i, e := range out {
		e, _, _ = strings.Cut(e, `,"raw":`)
		out[i] = strings.TrimSuffix(e, "}")
	}
	return out
}

// TestLongLine: the id stands behind 64 MB, and little of that is held.
func TestLongLine(t *testing.T) {
	var got []string
	f := NewFramer(frame.S2C, DefaultRoom, func(e *Event) { got = append(got, spell(e)) })
	at := time.Unix(0, 0)
	f.Write([]byte(`{"result":{"content":[{"type":"text","text":"`), at)
	chunk := bytes.Repeat([]byte("0123456789abcde\\n"), 4096)
	size := 0
	for size < 64<<20 {
		f.Write(chunk, at)
		size += len(chunk)
	}
	if held := cap(f.line) + cap(f.outline.kept); held > 4<<20 {
		t.Errorf("%d bytes held", held)
	}
	f.Write([]byte(`"}]},"jsonrpc":"2.0","id":9007199254740993}`+"\n"), at)
	want := fmt.Sprintf(`{"v":1,"dir":"s2c","kind":"response","id":9007199254740993,"bytes":%d}`, size+45+44)
	if len(got) != 1 || got[0] != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestOutlineBounds: what is kept of a message stays small, whatever is large in it.
func TestOutlineBounds(t *testing.T) {
	huge := strings.Repeat("n", 5<<20)
	for _, test := range []struct{ name, line, want string }{
		{"a huge name", `{"method":"tools/call","params":{"name":"` + huge + `"},"id":7}`, `request id=7 method=tools/call name= bytes=5242932`},
		{"a huge id", `{"method":"tools/call","id":"` + huge + `"}`, `request method=tools/call bytes=5242912 trunc=true`},
		{"a huge key", `{"` + huge + `":1,"method":"ping","id":7}`, `request id=7 method=ping bytes=5242910`},
		{"many members", `{"id":7,"result":{` + strings.Repeat(`"a":{"b":[]},`, 400_000) + `"z":1}}`, `response id=7 bytes=5200026`},
		{"many elements", `[` + strings.Repeat(`{"id":7,"result":1},`, 100_000) + `{"id":8,"result":1}]`, ``},
	} {
		events := framed(DefaultRoom, []byte(test.line+"\n"), len(test.line)/2)
		if test.want == "" {
			if got := short(events[mostElements:]); len(events) != mostElements+1 || got != "" && !strings.Contains(got, "gap dropped=95905") {
				t.Errorf("%s: %d events, %s", test.name, len(events), got)
			}
			continue
		}
		if got := short(events); got != test.want {
			t.Errorf("%s\ngot  %.300s\nwant %s", test.name, got, test.want)
		}
	}
}

// TestSkip: bytes that were not copied spoil the lines that they were part of, and no other.
func TestSkip(t *testing.T) {
	at := time.Unix(0, 0)
	line := `{"jsonrpc":"2.0","method":"m"}` + "\n"
	for _, test := range []struct {
		name         string
		before       string
		ends         int64
		open         bool
		again        bool
		after        string
		events, lost int64
	}{
		{"whole lines", line, 3, false, false, line, 2, 3},
		{"the middle of a line", line + line[:5], 0, true, false, line[9:] + line, 2, 1},
		{"a tail and a head", line[:5], 2, true, false, line[9:] + line, 1, 3},
		{"the head of a line", "", 0, true, false, line[9:] + line, 1, 1},
		{"twice in one line", line[:5], 0, true, true, line[9:] + line, 1, 1},
	} {
		events := int64(0)
		f := NewFramer(frame.C2S, 100, func(e *Event) {
			if events++; e.Kind != frame.Notification {
				t.Errorf("%s: %s", test.name, spell(e))
			}
		})
		f.Write([]byte(test.before), at)
		lost := f.Skip(test.ends, test.open)
		if test.again {
			lost += f.Skip(test.ends, test.open)
		}
		f.Write([]byte(test.after), at)
		f.Close(at)
		if events != test.events || lost != test.lost {
			t.Errorf("%s: %d events, %d lost", test.name, events, lost)
		}
	}
}

// FuzzFramer: however a stream is cut, and however little of a line is held, the records are the same.
func FuzzFramer(f *testing.F) {
	f.Add([]byte(`{"result":{"content":[{"text":"x"}],"isError":true},"jsonrpc":"2.0","id":0}`+"\n"), uint64(1))
	f.Add([]byte(`[{"id":1,"method":"a","params":{"_meta":{"progressToken":1.5e-3}}},{"error":{"code":-1}}]`+"\r\n\n{"), uint64(2))
	f.Add([]byte("noise\n"+`{"id":"\u0061","m\u0065thod":"tools/call","params":{"name":"\ud83d\ude42","capabilities":{"a":{"b":true,"c":[]}}}}`), uint64(3))
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		if bytes.Count(stream, []byte("{"))+bytes.Count(stream, []byte("[")) > 900 {
			return // where nesting is refused may differ by a level
		}
		want := framed(DefaultRoom, stream)
		random := rand.New(rand.NewPCG(seed, 0))
		var cuts []int
		for range random.IntN(8) {
			cuts = append(cuts, random.IntN(len(stream)+1))
		}
		slices.Sort(cuts)
		if got := framed(DefaultRoom, stream, cuts...); !slices.Equal(got, want) {
			t.Fatalf("cut at %v\ngot  %s\nwant %s", cuts, got, want)
		}
		room := random.IntN(40)
		if got := framed(room, stream, cuts...); !slices.Equal(trimRaw(got), trimRaw(want)) {
			t.Fatalf("room %d, cut at %v\ngot  %s\nwant %s", room, cuts, got, want)
		}
	})
}

func BenchmarkFramer(b *testing.B) {
	text := `{"result":{"content":[{"type":"text","text":"` + strings.Repeat("word \\\"and\\\" word, ", 2000) + `"}]},"jsonrpc":"2.0","id":7}` + "\n"
	nested := `{"result":{"rows":[` + strings.Repeat(`{"name":"abc","n":12.5,"ok":true},`, 2000) + `{}]},"jsonrpc":"2.0","id":7}` + "\n"
	for _, bench := range []struct {
		name, text string
		room       int
	}{{"text", text, DefaultRoom}, {"nested", nested, DefaultRoom}, {"text long", text, 10}, {"nested long", nested, 10}} {
		b.Run(bench.name, func(b *testing.B) {
			f := NewFramer(frame.S2C, bench.room, func(*Event) {})
			b.SetBytes(int64(len(bench.text)))
			for b.Loop() {
				f.Write([]byte(bench.text), time.Time{})
			}
		})
	}
}
