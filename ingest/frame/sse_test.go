package frame

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// eventsOf reads a stream in chunks of n bytes; 0 is all at once.
func eventsOf(in string, n int) []string {
	var s EventStream
	var out []string
	emit := func(e *Event) {
		out = append(out, fmt.Sprintf("%s|%s %t|%s|%s|%t", e.Type, e.ID, e.HasID, e.Retry, e.Data, e.Message()))
	}
	if n == 0 {
		n = len(in)
	}
	for len(in) > 0 {
		k := min(n, len(in))
		s.Feed([]byte(in[:k]), emit)
		in = in[k:]
	}
	return out
}

func TestEventStream(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"LF", "event: message\nid: 7\ndata: {}\n\n", []string{"message|7 true||{}|true"}},
		{"CR", "event: message\rid: 7\rdata: {}\r\r", []string{"message|7 true||{}|true"}},
		{"CRLF", "event: message\r\nid: 7\r\ndata: {}\r\n\r\n", []string{"message|7 true||{}|true"}},
		{"mixed ends", "data: a\rdata: b\ndata: c\r\n\rdata: d\n\n", []string{"| false||a\nb\nc|true", "| false||d|true"}},
		{"several data lines", "data: {\ndata:   \"a\":1}\n\n", []string{"| false||{\n  \"a\":1}|true"}},
		{"no space behind the colon", "data:{}\n\n", []string{"| false||{}|true"}},
		{"one space only is taken", "data:  x\n\n", []string{"| false|| x|true"}},
		{"comments and keep-alives", ": hello\n\n:\ndata: {}\n: more\n\n:\n\n", []string{"| false||{}|true"}},
		{"priming event", "id: abc\ndata:\n\ndata: {}\n\n", []string{"|abc true|||false", "| false||{}|true"}},
		{"id alone", "id: abc\n\n", []string{"|abc true|||false"}},
		{"retry", "retry: 500\n\n", []string{"| false|500||false"}},
		{"other type", "event: endpoint\ndata: /post\n\n", []string{"endpoint| false||/post|false"}},
		{"unknown fields", "foo: 1\ndata\ndatax: 1\n\n", []string{"| false|||false"}},
		{"an id with NUL is ignored", "id: a\x00b\ndata: 1\n\n", []string{"| false||1|true"}},
		{"not sent", "data: {}\n", nil},
		{"byte order mark", "\xEF\xBB\xBFdata: 1\n\n", []string{"| false||1|true"}},
		{"state does not leak", "event: x\ndata: 1\n\ndata: 2\n\n", []string{"x| false||1|false", "| false||2|true"}},
		{"U+2028 ends no line", "data: a\u2028b\n\n", []string{"| false||a\u2028b|true"}},
	} {
		for _, n := range []int{0, 1, 2, 3, 7} {
			if got := eventsOf(tt.in, n); strings.Join(got, "~") != strings.Join(tt.want, "~") {
				t.Errorf("%s, chunks of %d:\n got %q\nwant %q", tt.name, n, got, tt.want)
			}
		}
	}
}

func TestEventTooLong(t *testing.T) {
	var s EventStream
	n, cut := 0, false
	emit := func(e *Event) { n, cut = len(e.Data), e.Cut }
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	s.Feed([]byte("data: "), emit)
	for range MaxEvent>>20 + 3 {
		s.Feed(chunk, emit)
	}
	s.Feed([]byte("\n\n"), emit)
	if n != MaxEvent || !cut {
		t.Errorf("%d bytes, cut %t", n, cut)
	}
}

func TestAnswerIn(t *testing.T) {
	stream := []byte(": hi\n\nid: 1\ndata:\n\n" +
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":7}}\n\n" +
		"data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sampling/createMessage\"}\n\n" +
		"data: {\"jsonrpc\":\"2.0\",\"id\":\"7\",\"result\":{\"other\":1}}\n\n" +
		"data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":7,\"result\":{}}\n\n")
	if got, want := string(AnswerIn(stream, ID("7"))), "{\"jsonrpc\":\"2.0\",\n\"id\":7,\"result\":{}}"; got != want {
		t.Errorf("%q", got)
	}
	if got, want := string(AnswerIn(stream, StringID("7"))), `{"jsonrpc":"2.0","id":"7","result":{"other":1}}`; got != want {
		t.Errorf("%q", got)
	}
	for _, id := range []ID{ID("8"), nil, ID("null")} {
		if got := AnswerIn(stream, id); got != nil {
			t.Errorf("%s: %q", id, got)
		}
	}
}

// FuzzEventStream: total, and the same whatever the chunks.
func FuzzEventStream(f *testing.F) {
	for _, s := range []string{"data: a\rdata: b\n\r\n", "id:1\ndata:\n\n: c\n\nevent:x\rdata:y\r\r", "\xEF\xBB\xBFdata: 1\n\n"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, in string, n int) {
		whole := eventsOf(in, 0)
		if got := eventsOf(in, max(n, 1)); strings.Join(got, "~") != strings.Join(whole, "~") {
			t.Fatalf("chunks of %d: %q, whole: %q", n, got, whole)
		}
		AnswerIn([]byte(in), ID("1"))
	})
}
