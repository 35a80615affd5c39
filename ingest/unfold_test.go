package ingest_test

import (
	"strings"
	"testing"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// TestUnfoldRefuses: rows that no fold has written are an error that says which log, never a panic.
func TestUnfoldRefuses(t *testing.T) {
	const body = `{"Dialect":"native","Files":[{"Path":"a","Before":0}],"Notes":{"x":null,"y":{"Kind":"y"}},"Groups":[null,{"Members":[7]}]}`
	half := func(numbers string) *ingest.HalfRow {
		r := &ingest.HalfRow{Log: "l", ID: []byte("1")}
		if !r.ParseNumbers([]byte(numbers)) {
			t.Fatalf("numbers %q", numbers)
		}
		return r
	}
	const rest = " 1 1 -1 -1 -1 1 0 1 1 -1 -1 -1 -1 5 -1 -1 -1 -1"
	for name, rows := range map[string]func(*ingest.Unfolding) error{
		"a log's body is no JSON": func(u *ingest.Unfolding) error { return u.AddLog("m", frame.Client, "m", []byte("{")) },
		"a dialect that is none": func(u *ingest.Unfolding) error {
			return u.AddLog("m", frame.Client, "m", []byte(strings.Replace(body, "native", "no such", 1)))
		},
		"a log of no side":            func(u *ingest.Unfolding) error { return u.AddLog("m", frame.Proxy, "m", []byte(body)) },
		"a stretch of no log":         func(u *ingest.Unfolding) error { return u.AddStretch("m", 0, []byte("{}")) },
		"a stretch too early":         func(u *ingest.Unfolding) error { return u.AddStretch("l", 5, []byte("{}")) },
		"a stretch that ends nowhere": func(u *ingest.Unfolding) error { return u.AddStretch("l", 1, []byte(`{"End":[{"Kind":99},{}]}`)) },
		"a mark of no stretch":        func(u *ingest.Unfolding) error { return u.AddMark("l", []byte(`{"Stretch":9}`)) },
		"a mark of no kind":           func(u *ingest.Unfolding) error { return u.AddMark("l", []byte(`{"Kind":99}`)) },
		"a mark with no direction":    func(u *ingest.Unfolding) error { return u.AddMark("l", []byte(`{"Dir":99}`)) },
		"a half of no stretch":        func(u *ingest.Unfolding) error { return u.AddHalf(half("0 9" + rest)) },
		"a half that nobody asked":    func(u *ingest.Unfolding) error { return u.AddHalf(half("0 0 9" + rest[2:])) },
		"facts that are no JSON": func(u *ingest.Unfolding) error {
			r := half("0 0" + rest)
			r.More = []byte("[")
			return u.AddHalf(r)
		},
	} {
		u := ingest.NewUnfolding(nil)
		if err := u.AddLog("l", frame.Client, "l", []byte(body)); err != nil {
			t.Fatal(err)
		}
		if err := u.AddStretch("l", 0, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if err := rows(u); err == nil {
			t.Errorf("%s: no error", name)
		}
		if logs := u.Logs(); len(logs) != 1 || len(logs[0].Notes) != 0 {
			t.Errorf("%s: logs %v", name, logs)
		}
	}
}
