package dialect

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mcpdiag/ingest/frame"
)

// read reads a log as one span.
func read(d *Dialect, log []byte) *Batch {
	b := new(Batch)
	d.New().Read(log, b)
	return b
}

// readByLine reads a log as spans of one line. A dialect whose lines depend on each other keeps its reader, as the ingest does.
func readByLine(d *Dialect, log []byte) *Batch {
	whole := new(Batch)
	r := d.New()
	for line := range bytes.Lines(log) {
		if !d.Ordered {
			r = d.New()
		}
		b := new(Batch)
		r.Read(bytes.Clone(line), b)
		for _, f := range b.Frames {
			f.Line += whole.Lines
			whole.Frames = append(whole.Frames, f)
		}
		for _, bad := range b.Bad {
			bad.Line += whole.Lines
			whole.Bad = append(whole.Bad, bad)
		}
		whole.Lines += b.Lines
		whole.Warnings.Add(&b.Warnings)
	}
	return whole
}

// say spells a frame as the samples' right readings do: [SIDE ]DIR KIND ID|-|? METHOD|-, and then what they add.
func say(f *frame.Frame, withSide bool) string {
	var s string
	if withSide {
		s = f.Side.String() + " "
	}
	switch {
	case f.Kind.Handler():
		return s + strings.Replace(f.Kind.String(), "_", " ", 1) + " " + string(f.Name)
	case f.Kind == frame.Invalid:
		return s + "unparsed " + f.Dir.String() + " " + strings.TrimSpace(string(f.Extra().Raw))
	}
	words := map[frame.Kind]string{frame.Request: "req", frame.Response: "res", frame.Error: "err", frame.Notification: "ntf", frame.EOF: "eof"}
	s += f.Dir.String() + " " + words[f.Kind] + " " + sayID(f)
	switch {
	case f.Kind == frame.Error && f.More != nil && f.More.HasCode:
		return s + fmt.Sprintf(" code=%d", f.More.Code)
	case f.Method == nil:
		return s + " -"
	case f.RequestID != nil:
		return s + " " + string(f.Method) + " requestId=" + f.RequestID.Bare()
	}
	return s + " " + string(f.Method)
}

func sayID(f *frame.Frame) string {
	switch {
	case f.ID != nil:
		return f.ID.Bare()
	case f.Trunc && f.Kind != frame.Notification:
		return "?"
	}
	return "-"
}

// rightReading takes the frames block out of a sample's description, without the events that are no records.
func rightReading(t *testing.T, name string) string {
	text, err := os.ReadFile(filepath.Join("testdata", name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```frames\n")
	block, _, ok := strings.Cut(block, "```")
	if !ok {
		t.Fatalf("%s.md has no frames block", name)
	}
	return strings.ReplaceAll(block, "client none\n", "")
}

func sample(t *testing.T, name string) []byte {
	log, err := os.ReadFile(filepath.Join("testdata", name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

var samples = []struct {
	dialect, name string
	bad           int
}{
	{"tee-mcp", "tee_mcp", 1},
	{"tee-mcp", "tee_mcp_ts_key_order", 0},
	{"text-trace", "text_trace", 0},
	{"wire", "text_log", 2},
	{"wire", "raw_wire_batch", 1},
	{"wire", "claude_desktop_mcplog_late_error", 4},
	{"wire", "vscode_debug_frames", 8},
}

func byName(t *testing.T, name string) *Dialect {
	d, ok := ByName(name)
	if !ok {
		t.Fatalf("no dialect %s", name)
	}
	return d
}

func TestSamples(t *testing.T) {
	for _, test := range samples {
		t.Run(test.name, func(t *testing.T) {
			d, log := byName(t, test.dialect), sample(t, test.name)
			b := read(d, log)
			var got strings.Builder
			for i := range b.Frames {
				fmt.Fprintln(&got, say(&b.Frames[i], test.dialect == "text-trace"))
			}
			if want := rightReading(t, test.name); got.String() != want {
				t.Errorf("got\n%swant\n%s", got.String(), want)
			}
			if len(b.Bad) != test.bad || int(b.Lines) != bytes.Count(log, []byte("\n")) {
				t.Errorf("%d lines, bad %+v", b.Lines, b.Bad)
			}
		})
	}
}

func TestDetect(t *testing.T) {
	for _, test := range samples[:3] {
		log := sample(t, test.name)
		if d := Detect(log, nil); d.Name != test.dialect {
			t.Errorf("%s is taken for %s", test.name, d.Name)
		}
		if d := Detect(nil, log); d.Name != test.dialect {
			t.Errorf("the tail of %s is taken for %s", test.name, d.Name)
		}
	}
}

// A line is one dialect's, and what is nobody's is nobody's.
func TestMatch(t *testing.T) {
	const record = `{"ts":"2026-03-02T09:41:00Z","side":"client","dir":"c2s","kind":"request","id":1,"method":"ping","bytes":40`
	for _, test := range []struct{ line, want string }{
		{record + `}`, "native"},
		{record + `,"raw":"{\"jsonrpc\":\"2.0\"}"}`, "native"},
		{`81240.118000 c->s 119B b'{"id":47,"method":"ping"}\n'`, "tee-mcp"},
		{`5 s->c 1B b"x"`, "tee-mcp"},
		{`5 s->c 1B x`, ""},
		{`5 s->c b'x'`, ""},
		{`5 up 1B b'x'`, ""},
		{`x5 s->c 1B b'x'`, ""},
		{`client  09:41:03.118  c->s  req  id=47  tools/call list_sailings  312B`, "text-trace"},
		{`client c->s eof`, "text-trace"},
		{`server  09:41:03.124  handler enter  list_sailings`, "text-trace"},
		{`client  ————          (nothing)`, "text-trace"},
		{`client - (nothing)`, "text-trace"},
		{`client connected to server`, ""},
		{`server 09:41:03 c->s`, ""},
		{`server handler failed`, ""},
		{`proxy 09:41:03 c->s req id=1`, ""},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "wire"},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "wire"},
		{`x {"jsonrpc":"2.0"} y`, "wire"},
		{`{"ts":1,"dir":"c2s","data":{"jsonrpc":"2.0","id":1,"method":"ping"}}`, "mcptap"},
		{`{"id":1,"method":"ping"}`, ""},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"`, ""},
		{`jsonrpc "jsonrpc" {}`, ""},
		{`starting files server v2`, ""},
		{`{`, ""},
		{``, ""},
	} {
		var got []string
		for _, d := range Table() {
			if d.Match([]byte(test.line)) {
				got = append(got, d.Name)
			}
		}
		if s := strings.Join(got, " "); s != test.want && !strings.HasPrefix(s, test.want+" ") || test.want == "" && s != "" {
			t.Errorf("%s: claimed by %q", test.line, s)
		}
	}
}

// A native record that carries its payload is a native record still.
func TestWireLeavesNativeAlone(t *testing.T) {
	line := []byte(`{"side":"client","dir":"c2s","kind":"request","id":1,"frame":{"jsonrpc":"2.0","id":1,"method":"ping"}}`)
	if matchWire(line) {
		t.Error("claimed")
	}
	if d := Detect(append(line, '\n'), nil); d.Name != "native" {
		t.Errorf("detected as %s", d.Name)
	}
}

// A hole of NUL bytes is told of, whatever the dialect, and the line behind it is read.
func TestHoles(t *testing.T) {
	for name, line := range map[string]string{
		"native":     `{"side":"client","dir":"c2s","kind":"request","id":1}`,
		"tee-mcp":    `5 c->s 9B b'{"id":1,"method":"x"}'`,
		"text-trace": `client 09:41:03 c->s req id=1 ping`,
		"wire":       `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
	} {
		b := read(byName(t, name), []byte("\n\x00\x00\x00"+line+"\n\x00\x00\n"))
		if len(b.Frames) != 1 || b.Frames[0].Line != 2 || len(b.Bad) != 2 {
			t.Errorf("%s: frames %+v, bad %+v", name, b.Frames, b.Bad)
			continue
		}
		before, alone := b.Bad[0], b.Bad[1]
		if before.Line != 2 || before.Hole != 3 || before.Reason != "" || alone.Line != 3 || alone.Hole != 2 || alone.Reason != "" {
			t.Errorf("%s: bad %+v", name, b.Bad)
		}
	}
}

func TestMissing(t *testing.T) {
	for name, want := range map[string]string{
		"native": "", "tee-mcp": "handler events, stream ends", "text-trace": "unparsed lines, stream ends", "wire": "handler events, stream ends",
	} {
		if got := strings.Join(byName(t, name).Sees.Missing(), ", "); got != want {
			t.Errorf("%s cannot show %q, want %q", name, got, want)
		}
	}
}

// fuzzDialect checks that a dialect reads anything, and reads the same whether the log comes whole or line by line.
func fuzzDialect(f *testing.F, name string, seeds ...string) {
	for _, s := range samples {
		if log, err := os.ReadFile(filepath.Join("testdata", s.name+".log")); err == nil && s.dialect == name {
			f.Add(log)
		}
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		d := byName(t, name)
		whole, parts := read(d, log), readByLine(d, log)
		if !sameBatch(whole, parts) {
			t.Fatalf("whole %+v\nby line %+v", whole, parts)
		}
		for i := range whole.Frames {
			checkFrame(t, whole, &whole.Frames[i])
		}
		for line := range bytes.Lines(log) {
			d.Match(bytes.TrimSpace(line))
		}
	})
}

func sameBatch(a, b *Batch) bool {
	return a.Lines == b.Lines && a.Warnings == b.Warnings && len(a.Frames) == len(b.Frames) && len(a.Bad) == len(b.Bad) &&
		(len(a.Frames) == 0 || reflect.DeepEqual(a.Frames, b.Frames)) && (len(a.Bad) == 0 || reflect.DeepEqual(a.Bad, b.Bad))
}

// checkFrame wants what every reader of frames relies on.
func checkFrame(t *testing.T, b *Batch, f *frame.Frame) {
	switch {
	case f.Line < 1 || f.Line > b.Lines:
		t.Fatalf("line %d of %d", f.Line, b.Lines)
	case f.Kind == frame.NoKind:
		t.Fatalf("no kind: %+v", f)
	case f.Dir == frame.NoDir && f.Kind != frame.Open && f.Kind != frame.Gap:
		t.Fatalf("no direction: %+v", f)
	case f.Bytes < frame.Unknown || f.Rows < frame.Unknown:
		t.Fatalf("sizes: %+v", f)
	case (f.Kind == frame.Request || f.Kind == frame.Response) && !f.ID.Known() && !f.Trunc:
		t.Fatalf("no id: %+v", f)
	case f.Kind == frame.Notification && f.ID != nil:
		t.Fatalf("a notification with an id: %+v", f)
	}
}

func FuzzNative(f *testing.F) {
	fuzzDialect(f, "native", `{"side":"client","dir":"c2s","kind":"request","id":1,"bytes":-1}`+"\r\n\n\x00\x00{}\nx",
		`{"ts":"yesterday","side":"server","dir":"s2c","kind":"response","id":"\u0061"}`)
}

func FuzzTeeMCP(f *testing.F) {
	fuzzDialect(f, "tee-mcp", `1.5 c->s 9B b"{'\x7b\\'"`+"\n\n"+`1. s->c 0B b''`)
}

func FuzzTextTrace(f *testing.F) {
	fuzzDialect(f, "text-trace", "client 23:59:59 c->s req id=\"a b\" tools/call x 1B\nclient 00:00:01,5 s->c err id=null code=-5 ...\nserver 1 s->c eof",
		"client c->s bad 5B\nserver handler exit tools/call x rows=5 id=4")
}

func FuzzWire(f *testing.F) {
	fuzzDialect(f, "wire", `2026-03-02 09:41:00,5 from server {"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"+`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0"}]`,
		`{"a":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}}`)
}
