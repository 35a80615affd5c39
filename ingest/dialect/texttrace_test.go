package dialect

import (
	"fmt"
	"testing"
	"time"

	"mcpdiag/ingest/frame"
)

// sayTrace spells all that a line of the trace may tell.
func sayTrace(f *frame.Frame) string {
	s := say(f, true)
	if f.Kind.Handler() {
		s += " " + f.Dir.String()
		if f.ID != nil {
			s += " id=" + string(f.ID)
		}
		if f.Method != nil {
			s += " method=" + string(f.Method)
		}
	} else if f.Name != nil {
		s += " name=" + string(f.Name)
	}
	if f.Bytes != frame.Unknown {
		s += fmt.Sprintf(" %dB", f.Bytes)
	}
	if f.Rows != frame.Unknown {
		s += fmt.Sprintf(" rows=%d", f.Rows)
	}
	if f.At.HasWall() {
		s += " " + f.At.Time().Format("2/15:04:05.999999999")
	}
	return s
}

func TestTraceLines(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{`client  09:41:03.118  c->s  req  id=47  tools/call list_sailings  312B`, `client c2s req 47 tools/call name=list_sailings 312B 1/09:41:03.118`},
		{`client	09:41:03 c->s req tools/call list id="a b" 12B`, `client c2s req a b tools/call name=list 12B 1/09:41:03`},
		{`client 09:41:03,5 c->s req id="\u0061" ping`, `client c2s req a ping 1/09:41:03.5`},
		{`client 9:41 c->s req id=0 ping`, `client c2s req 0 ping`},
		{`client 09:41:63 c->s req id=0 ping`, `client c2s req 0 ping`},
		{`client 09:41:03Z c->s req id=0 ping`, `client c2s req 0 ping`},
		{`client — c->s req id=1.0 ping`, `client c2s req 1.0 ping`},
		{`client c->s req id=1 ping`, `client c2s req 1 ping`},
		{`client c->s req id=1`, `client c2s req 1 -`},
		{`client c->s req id=1 tools/list slow 5B`, `client c2s req 1 tools/list 5B`}, // no name belongs there
		{`client c->s req id=1 tools/call 5B slow`, `client c2s req 1 tools/call name=slow 5B`},
		{`client c->s req id=1 resources/read file:///a?b=c`, `client c2s req 1 resources/read name=file:///a?b=c`},
		{`client c->s req id=1 tools/call x level=info and more words`, `client c2s req 1 tools/call name=x`},
		{`client c->s req id=1 tools/call ... x 5B`, `client c2s req 1 tools/call`},
		{`client s->c res id=47 41827B rows=418 ok`, `client s2c res 47 - 41827B rows=418`},
		{`client s->c res id=47 12.5B 99999999999999999999B xB B`, `client s2c res 47 -`},
		{`client s->c err id=47 code=-32601 no such method`, `client s2c err 47 code=-32601`},
		{`client s->c err id=null`, `client s2c err null -`},
		{`client s->c err code=x`, `client s2c err - -`},
		{`client c->s ntf notifications/cancelled requestId=47`, `client c2s ntf - notifications/cancelled requestId=47`},
		{`client c->s ntf notifications/cancelled request_id="x" ...`, `client c2s ntf - notifications/cancelled requestId=x`},
		{`client c->s ntf notifications/cancelled requestId=x`, `client c2s ntf - notifications/cancelled`},
		{`client c->s ntf id=5 notifications/initialized`, `client c2s ntf - notifications/initialized`},
		{`client s->c bad 5B`, `client unparsed s2c  5B`},
		{`client s->c invalid`, `client unparsed s2c `},
		{`client s->c eof`, `client s2c eof - -`},
		{`server 09:41:03 handler exit list  rows=418`, `server handler exit list c2s rows=418 1/09:41:03`},
		{`server handler enter tools/call list id=47`, `server handler enter list c2s id=47 method=tools/call`},
		{`server handler enter list id=null`, `server handler enter list c2s`},
		{`server handler enter`, `server handler enter  c2s`},
		{`client handler enter pick`, `client handler enter pick s2c`},
		{`client 09:41:03 (nothing)`, ``},
		{`client (nothing) yet`, ``},

		{`starting server`, `not a text-trace line`},
		{`client`, `not a text-trace line`},
		{`Client c->s req id=1`, `not a text-trace line`},
		{`client -> server req id=1`, `not a text-trace line`},
		{`client c->s call id=1`, `not a text-trace line`},
		{`client handler stuck list`, `not a text-trace line`},
		{`client c->s req ping`, `no id`},
		{`client c->s req id=null ping`, `null id on a request`},
		{`client s->c res 5B`, `no id`},
		{`client c->s req id=abc-1 ping`, `client c2s req abc-1 ping`},
		{`client c->s req id=abc"1 ping`, `id type`},
		{`client c->s req id=47x ping`, `id type`},
		{`client c->s req id= ping`, `id type`},
		{`client c->s req id="a ping`, `id type`},
		{`client c->s req id=true ping`, `id type`},
	} {
		b := read(textTrace(), []byte(test.line))
		got := ""
		switch {
		case len(b.Frames) == 1:
			got = sayTrace(&b.Frames[0])
		case len(b.Bad) == 1:
			got = string(b.Bad[0].Reason)
		}
		if got != test.want || len(b.Frames)+len(b.Bad) > 1 {
			t.Errorf("%s\ngot  %s\nwant %s", test.line, got, test.want)
		}
	}
}

func TestTraceFigures(t *testing.T) {
	b := read(textTrace(), sample(t, "text_trace"))
	read, written := &b.Frames[1], &b.Frames[4]
	if d, ok := written.At.Sub(read.At); !ok || d != 83*time.Millisecond || !read.At.Zoneless() {
		t.Errorf("read to write: %v, %v", d, ok)
	}
	if exit := &b.Frames[3]; exit.Rows != 418 || exit.ID != nil || written.Bytes != 41827 {
		t.Errorf("%+v, %+v", exit, written)
	}
}

// Midnight shows as a fall of more than half a day, on each side by itself: their clocks have nothing to do with each other.
func TestTraceMidnight(t *testing.T) {
	log := `client 23:59:59.9 c->s req id=1 ping
server 00:00:00.1 c->s req id=1 ping
client 23:59:59.95 c->s req id=2 ping
client 00:00:00.2 s->c res id=1
client 00:00:00.1 s->c res id=2
server 00:00:00.3 s->c res id=1
client 13:00:00 c->s req id=3 ping
client 00:59:59 s->c res id=3
`
	want := []string{"1/23:59:59.9", "1/00:00:00.1", "1/23:59:59.95", "2/00:00:00.2", "2/00:00:00.1", "1/00:00:00.3", "2/13:00:00", "3/00:59:59"}
	b := read(textTrace(), []byte(log))
	if len(b.Frames) != len(want) {
		t.Fatalf("%d frames, bad %+v", len(b.Frames), b.Bad)
	}
	for i := range b.Frames {
		if got := b.Frames[i].At.Time().Format("2/15:04:05.999999999"); got != want[i] {
			t.Errorf("line %d: %s, want %s", i+1, got, want[i])
		}
	}
}

func TestTraceAllocates(t *testing.T) {
	line := []byte(`client  09:41:03.118  c->s  req  id=47  tools/call list_sailings  312B`)
	r := new(traceReader)
	var f frame.Frame
	if n := testing.AllocsPerRun(100, func() {
		f = frame.Frame{}
		r.line(line, &f)
	}); n > 0 || f.Kind != frame.Request {
		t.Errorf("%v allocations, %+v", n, f)
	}
}
