package dialect

import (
	"strings"
	"testing"

	"mcpdiag/ingest/frame"
)

func TestTeeLines(t *testing.T) {
	long := strings.Repeat("row ", 90)
	for _, test := range []struct{ line, want string }{
		{`1.5 c->s 119B b'{"id":47,"method":"ping"}\n'`, `c2s req 47 ping`},
		{`1.5  c->s	119B   b"{'id':47}"`, `unparsed c2s {'id':47}`},
		{`1.5 c->s 41B b'{"id":"it\'s","method":"a\\"b"}\n'`, `c2s req it's a"b`},
		{`1.5 c->s 41B b'{"id":"\xc3\xa9","method":"x"}'`, `c2s req é x`},
		{`1.5 s->c 900B b'{"result":{"content":"` + long + `'`, `s2c res ? -`},
		{`1.5 s->c 900B b'{"jsonrpc":"2.0","id":4,"result":{"content":"` + long + `'`, `s2c res 4 -`},
		{`1.5 s->c 900B b'{"jsonrpc":"2.0","id":4,"error":{"code":-5,"data":"\\n` + long + `'`, `s2c err 4 code=-5`},
		{`1.5 s->c 900B b'{"jsonrpc":"2.0","id":4,"me'`, `unparsed s2c {"jsonrpc":"2.0","id":4,"me`}, // its kind is lost
		{`1.5 s->c 23B b'{"id":4,"result":{"a":\n'`, `unparsed s2c {"id":4,"result":{"a":`},          // not cut: written like that
		{`1.5 s->c 22B b'{"id":4,"result":{"a":'`, `unparsed s2c {"id":4,"result":{"a":`},
		{`1.5 s->c 31B b'loading {"id":4,"result":{}}\n'`, `unparsed s2c loading {"id":4,"result":{}}`},
		{`1.5 s->c 1B b'\n'`, `unparsed s2c `},
		{`1.5 s->c 0B b''`, `unparsed s2c `},

		{`loading charts...`, `not a tee-mcp line`},
		{`1.5 c->s 119B`, `not a tee-mcp line`},
		{`1.5 c->s 119 b'{}'`, `not a tee-mcp line`},
		{`1.5 c->s B b'{}'`, `not a tee-mcp line`},
		{`1.5 c->s -1B b'{}'`, `not a tee-mcp line`},
		{`1.5 c-s 1B b'{}'`, `not a tee-mcp line`},
		{`1.5x c->s 1B b'{}'`, `not a tee-mcp line`},
		{`-1.5 c->s 1B b'{}'`, `not a tee-mcp line`},
		{`99999999999 c->s 1B b'{}'`, `not a tee-mcp line`},
		{`1.5 c->s 1B '{}'`, `not a tee-mcp line`},
		{`1.5 c->s 9B b'{"id":1,"meth`, `not a bytes literal`}, // the log's own last line, cut
		{`1.5 c->s 9B b'`, `not a bytes literal`},
		{`1.5 c->s 9B b'a'b'`, `not a bytes literal`},
		{`1.5 c->s 9B b'a\'`, `not a bytes literal`},
		{`1.5 c->s 9B b'\q'`, `not a bytes literal`},
		{`1.5 c->s 9B b'\xg0'`, `not a bytes literal`},
		{`1.5 c->s 9B b'\x1'`, `not a bytes literal`},
		{`1.5 c->s 9B b'x' and more`, `not a bytes literal`},
	} {
		b := read(teeMCP(), []byte(test.line))
		got := ""
		switch {
		case len(b.Frames) == 1:
			got = say(&b.Frames[0], false)
		case len(b.Bad) == 1:
			got = string(b.Bad[0].Reason)
		}
		if got != test.want || len(b.Frames)+len(b.Bad) != 1 {
			t.Errorf("%s\ngot  %s\nwant %s", test.line, got, test.want)
		}
	}
}

func TestTeeFigures(t *testing.T) {
	b := read(teeMCP(), sample(t, "tee_mcp"))
	first, last := &b.Frames[3], &b.Frames[4]
	if wait, ok := last.At.Sub(first.At); !ok || wait.Milliseconds() != 83 {
		t.Errorf("the answer took %v, %v", wait, ok)
	}
	if first.Bytes != 119 || last.Bytes != 875 || string(first.Name) != "list_sailings" || !last.Trunc || first.Trunc {
		t.Errorf("%+v, %+v", first, last)
	}
	if f := &b.Frames[5]; string(f.More.Raw) != "not json at all" || f.Bytes != 16 {
		t.Errorf("raw %q, %d bytes", f.More.Raw, f.Bytes)
	}
	if b.Bad[0].Line != 5 || b.Bad[0].Reason != notTee || string(b.Bad[0].Prefix) != "loading charts..." {
		t.Errorf("bad %+v", b.Bad)
	}
}

func TestTeeSeconds(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1.5": 1_500_000_000, "81240.118000": 81_240_118_000_000, "1.123456789": 1_123_456_789, "1.1234567899": 1_123_456_789, "7.": 7_000_000_000,
		"9000000000.999999999": 9_000_000_000_999_999_999, "9000000001": -1, ".5": -1, "": -1, "1.x": -1, "1e5": -1, "1.2.3": -1,
	} {
		ns, ok := seconds([]byte(text))
		if ok != (want >= 0) || (ok && ns != want) {
			t.Errorf("%s: %d, %v", text, ns, ok)
		}
	}
}

func TestTeeAllocates(t *testing.T) {
	line := []byte(`81240.118000 c->s 119B b'{"jsonrpc":"2.0","id":47,"method":"tools/call","params":{"name":"list"}}\n'`)
	var f frame.Frame
	if n := testing.AllocsPerRun(100, func() {
		f = frame.Frame{}
		teeLine(line, &f)
	}); n > 0 || f.Kind != frame.Request {
		t.Errorf("%v allocations, %+v", n, f)
	}
}
