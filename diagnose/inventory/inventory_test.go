package inventory

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

// read takes stock of a log of messages, 10 ms apart, each with its direction in front; "+name" and "-name" enter and leave the
// handler of a tool.
func read(log string, lines ...string) *Server {
	r := NewReader(log)
	for i, line := range lines {
		f := frame.Frame{Line: uint32(i + 1), Rows: frame.Unknown}
		f.At.Mono(int64(i) * 10_000_000)
		body := dialect.Body{}
		switch text := line[1:]; line[0] {
		case '+', '-':
			f.Dir, f.Name, f.Kind = frame.C2S, []byte(text), map[byte]frame.Kind{'+': frame.HandlerEnter, '-': frame.HandlerExit}[line[0]]
		default:
			f.Dir, body.Text = map[byte]frame.Dir{'>': frame.C2S, '<': frame.S2C}[line[0]], []byte(text)
			if frame.DecodeMessage(body.Text, &f) != frame.NoReason {
				f.Kind = frame.Invalid
			}
		}
		r.Add(&f, &body)
	}
	return r.Server()
}

func list(id int, cursor string) string {
	if cursor != "" {
		cursor = `"cursor":"` + cursor + `"`
	}
	return fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{%s}}`, id, cursor)
}

func listed(id int, next string, tools ...string) string {
	if next != "" {
		next = `,"nextCursor":"` + next + `"`
	}
	return fmt.Sprintf(`<{"jsonrpc":"2.0","id":%d,"result":{"tools":[%s]%s}}`, id, strings.Join(tools, ","), next)
}

const search = `{"name":"search","description":"Finds invoices.","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}`

func TestListing(t *testing.T) {
	s := read("a.log", `>{"jsonrpc":"2.0","id":0,"method":"initialize"}`, `<{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"billing","version":"2"}}}`,
		list(1, ""), listed(1, "p2", search), list(2, "p2"), listed(2, "", `{"name":"pay"}`))
	if s.Title() != "billing" || s.Version != "2" || len(s.Listings) != 1 || len(s.Listings[0].Tools) != 2 || !s.Listings[0].Complete {
		t.Fatalf("%+v", s)
	}
	tool := s.Latest("search")
	print, _ := frame.Fingerprint([]byte(search))
	canonical, _ := frame.Canonical([]byte(search))
	if tool.Fingerprint != print || tool.Bytes != int64(len(canonical)) || tool.Tokens != (tool.Bytes+3)/4 {
		t.Errorf("%+v", tool)
	}
}

func TestUses(t *testing.T) {
	s := read("a.log",
		`>{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search"}}`, "+search", "-search", `<{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`,
		`>{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search"}}`, `<{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"m"}}`,
		`>{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search"}}`, `garbage`+`<`, `<{"jsonrpc":"2.0","id":3,"result":{}}`, `<{"jsonrpc":"2.0","id":9,"result":{}}`)
	u := s.Uses["search"]
	if u.Calls != 3 || u.Errors != 2 || len(u.Handler) != 1 || u.Handler[0] != 10*time.Millisecond || len(u.Wait) != 3 || u.Wait[0] != 10*time.Millisecond || u.Wait[2] != 30*time.Millisecond {
		t.Errorf("%+v", u)
	}
	if n := int64(len(`{"content":[],"isError":true}`) + len(`{"code":1,"message":"m"}`) + 2); u.Result.Bytes != n || u.Sized() != 3 {
		t.Errorf("%+v, want %d bytes", u.Result, n)
	}
	if s.Strange != 1 {
		t.Errorf("%d strange frames", s.Strange)
	}
}

func TestQuantile(t *testing.T) {
	var ds []time.Duration
	for i := range 100 {
		ds = append(ds, time.Duration(i+1))
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 50, 0.99: 99, 1: 100} {
		if d, ok := Quantile(ds, q); !ok || d != want {
			t.Errorf("%v: %d", q, d)
		}
	}
	if _, ok := Quantile(nil, 0.5); ok {
		t.Error("a quantile of nothing")
	}
}

func driftOf(t *testing.T, before, after []string) string {
	t.Helper()
	s := read("a.log", list(1, ""), listed(1, "", before...), list(2, ""), listed(2, "", after...))
	var out []string
	for _, d := range Drifts([]*Server{s}) {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", d.Change, d.Tool, d.Was, strings.Join(d.Fields, ","))))
	}
	return strings.Join(out, "; ")
}

func TestDrift(t *testing.T) {
	other := `{"description":"Pays.","name":"pay"}`
	for _, tt := range []struct {
		name          string
		before, after []string
		want          string
	}{
		{"none", []string{search, other}, []string{other, search}, ""},
		{"key order and spelling", []string{other}, []string{`{ "name" : "p\u0061y", "description":"Pays." }`}, ""},
		{"added", []string{search}, []string{search, other}, "added pay"},
		{"removed", []string{search, other}, []string{search}, "removed pay"},
		{"one character", []string{search}, []string{strings.Replace(search, "invoices.", "invoices!", 1)}, "redefined search  description"},
		{"deep", []string{search}, []string{strings.Replace(search, `"string"`, `"number"`, 1)}, "redefined search  inputSchema.properties.q.type"},
		{"a member more", []string{search}, []string{strings.Replace(search, `{"name"`, `{"title":"S","name"`, 1)}, "redefined search  title"},
		{"renamed", []string{search, other}, []string{strings.Replace(search, `"search"`, `"find"`, 1), other}, "renamed find search"},
		{"renamed twice over", []string{`{"name":"a"}`, `{"name":"b"}`}, []string{`{"name":"c"}`}, "renamed c a; removed b"},
		{"renamed and redefined is both", []string{search}, []string{`{"name":"find"}`}, "added find; removed search"},
		{"no canonical form", []string{`{"name":"a","d":"\ud800"}`}, []string{`{"name":"a","d":"\ud801"}`}, ""},
	} {
		if tt.name == "no canonical form" {
			tt.want = "redefined a"
			if got := driftOf(t, tt.before, tt.after); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s: %q", tt.name, got)
			}
			continue
		}
		if got := driftOf(t, tt.before, tt.after); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A listing whose further pages are not in the log is compared with nothing.
func TestUnfinishedListing(t *testing.T) {
	s := read("a.log", list(1, ""), listed(1, "", search, `{"name":"pay"}`), list(2, ""), listed(2, "more", search))
	if d := Drifts([]*Server{s}); len(d) != 0 {
		t.Errorf("%+v", d)
	}
}

func TestSharedName(t *testing.T) {
	named := func(name string) *Server {
		return read(name+".log", `>{"jsonrpc":"2.0","id":0,"method":"initialize"}`, `<{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"`+name+`","version":"2"}}}`, list(1, ""), listed(1, "", search))
	}
	d := Drifts([]*Server{named("x"), named("y")})
	if len(d) != 1 || d[0].Change != Shared || d[0].Was != "x" || d[0].Server != "y" {
		t.Errorf("%+v", d)
	}
	if d := Drifts([]*Server{named("x"), named("x")}); len(d) != 0 {
		t.Errorf("one server, two logs: %+v", d)
	}
}

func TestFingerprintsOnly(t *testing.T) {
	r := NewReader("a.log")
	for i, tools := range []string{`{"a":"1111"}`, `{"b":"2222"}`, `{"a":"1111","b":"3333"}`} {
		ask := frame.Frame{Dir: frame.C2S, Kind: frame.Request, ID: frame.ID("1"), Method: []byte("tools/list")}
		r.Add(&ask, &dialect.Body{})
		f := frame.Frame{Dir: frame.S2C, Kind: frame.Response, ID: frame.ID("1"), Line: uint32(i)}
		r.Add(&f, &dialect.Body{Tools: []byte(tools)})
	}
	d := Drifts([]*Server{r.Server()})
	if len(d) != 1 || d[0].Change != Redefined || d[0].Tool != "b" || !strings.Contains(d[0].Fields[0], "not known") {
		t.Errorf("%+v", d)
	}
}

func TestBaseline(t *testing.T) {
	was := read("a.log", list(1, ""), listed(1, "", search))
	b := NewBaseline([]*Server{was})
	if d := b.Drifts([]*Server{was}); len(d) != 0 {
		t.Errorf("%+v", d)
	}
	now := read("b.log", list(1, ""), listed(1, "", strings.Replace(search, "Finds", "finds", 1), `{"name":"pay"}`))
	d := b.Drifts([]*Server{now})
	if len(d) != 2 || d[0].Change != Added || d[1].Change != Redefined || d[1].Fields[0] != "description" {
		t.Errorf("%+v", d)
	}
	for _, in := range []string{`{}`, `[`, `{"schema":"mcpdiag.audit-baseline/v1"}`} {
		if _, err := ParseBaseline([]byte(in)); err == nil {
			t.Errorf("%s is a baseline", in)
		}
	}
}

// FuzzAdd: total over any text.
func FuzzAdd(f *testing.F) {
	f.Add(list(1, "")[1:], listed(1, "x", search)[1:])
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, `{"id":1,"result":[]}`)
	f.Fuzz(func(t *testing.T, request, answer string) {
		s := read("log", ">"+request, "<"+answer, ">"+request, "<"+answer)
		d := Drifts([]*Server{s, s})
		d = append(d, NewBaseline([]*Server{s}).Drifts([]*Server{s})...)
		for _, x := range d {
			if s.Frames == 0 || x.Tool == "" && x.Change == "" {
				t.Errorf("%+v", x)
			}
		}
		s.Names()
	})
}
