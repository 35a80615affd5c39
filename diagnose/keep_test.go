package diagnose_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/report"
)

// kept is a diagnosis and what it was made from.
type kept struct {
	*diagnose.Diagnosis
	sets []ingest.Set
}

// keep diagnoses the sets.
func keep(t *testing.T, sets ...ingest.Set) kept {
	t.Helper()
	ctx := context.Background()
	var logs []*ingest.Log
	for _, set := range sets {
		l, err := ingest.Read(ctx, set, ingest.Options{Quiet: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l...)
	}
	conn, err := ingest.OpenDB(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	d, err := diagnose.Diagnose(ctx, conn, logs, diagnose.Options{All: true,
		Limits: ingest.Limits{Slow: 2 * time.Second, Patience: 30 * time.Second, Quiet: 30 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	return kept{d, sets}
}

// fileSet names the files of one side by their own names alone.
func fileSet(side frame.Side, paths ...string) ingest.Set {
	set := ingest.Set{Side: side}
	for _, p := range paths {
		set.Sources = append(set.Sources, ingest.Source{Path: p, Label: filepath.Base(p)})
	}
	return set
}

func pairOf(dir string) []ingest.Set {
	return []ingest.Set{fileSet(frame.Client, filepath.Join(dir, "client.log")), fileSet(frame.Server, filepath.Join(dir, "server.log"))}
}

func (k kept) to(path string) error {
	return k.Keep(context.Background(), path, "test", k.sets, ingest.Options{})
}

// query lists the rows of a query over a kept database, as Go prints their values.
func query(t *testing.T, path, q string) []string {
	t.Helper()
	ctx := context.Background()
	conn, err := ingest.OpenDB(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(ctx, "ATTACH '"+path+"' AS kept (READ_ONLY); USE kept"); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, places := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		places[i] = &values[i]
	}
	var out []string
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		out = append(out, say(values...))
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return out
}

// say spells values, pointers by what they point to.
func say(values ...any) string {
	var words []string
	for _, v := range values {
		if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer {
			if v = nil; !p.IsNil() {
				v = p.Elem().Interface()
			}
		}
		words = append(words, fmt.Sprint(v))
	}
	return strings.Join(words, " | ")
}

const callsQuery = `SELECT requester, session, connection, id, nth, method, name, leaf, no_leaf_reason, outcome, stalled, slow, quiet, q1, q2, q3,
	request_bytes, response_bytes, rows, dispatch_ms, handler_ms, flush_ms, total_ms, residual_ms, wait_ms, cancel_ms, next,
	request_sent, request_read, handler_enter, handler_exit, response_written, response_read, cancel, cause FROM calls`

// sayCalls spells the calls of the JSON as callsQuery does those of the table.
func sayCalls(d *diagnose.Diagnosis) []string {
	var out []string
	for i, c := range report.NewDocument(d).Calls {
		cause := ""
		if len(c.Causes) > 0 {
			cause = c.Causes[0].Cause
		}
		l := c.Lines
		out = append(out, say(c.Requester, c.Session, c.Connection, string(d.Calls[i].ID()), c.Nth, c.Method, c.Name, c.Leaf, c.NoLeafReason, c.Outcome,
			c.Stalled, c.Slow, c.Quiet, c.Q[0], c.Q[1], c.Q[2], c.RequestBytes, c.ResponseBytes, c.Rows,
			c.ResponderMS.Dispatch, c.ResponderMS.Handler, c.ResponderMS.Flush, c.ResponderMS.Total, c.ResponderMS.Residual,
			c.RequesterMS.Wait, c.RequesterMS.Cancel, c.Next,
			l["request_sent"], l["request_read"], l["handler_enter"], l["handler_exit"], l["response_written"], l["response_read"], l["cancel"], null(cause)))
	}
	return out
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// restarted is a log of two connections without a name, in two files, in which ids are used again.
func restarted(t *testing.T) ingest.Set {
	dir := t.TempDir()
	line := `{"side":"client","dir":"%s","kind":"%s","id":%d,"mono_ns":%d}` + "\n"
	var paths []string
	for k := range 2 {
		text := fmt.Sprintf(`{"side":"client","kind":"open","pid":%d,"caps":["a","b"]}`+"\n\n", k)
		for id := range 3 {
			text += fmt.Sprintf(line, "c2s", "request", id, 10*id) + fmt.Sprintf(line, "s2c", "response", id, 10*id+k)
		}
		path := filepath.Join(dir, fmt.Sprintf("c%d.log", k))
		if err := os.WriteFile(path, []byte(text+`{"side":"client","dir":"c2s","kind":"eof"}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return fileSet(frame.NoSide, paths...)
}

// The table calls says of each call what the JSON says, and the other tables hold what the logs hold.
func TestKeep(t *testing.T) {
	cases, err := filepath.Glob("testdata/cases/*")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	tests := map[string][]ingest.Set{"sample": pairOf("../samples"), "incident": pairOf("../samples/incident"), "restarted": {restarted(t)},
		"client alone": {fileSet(frame.NoSide, "../samples/incident/client.log")}}
	for i := 0; i < len(cases); i += 4 { // enough of them; each costs a database
		dir := cases[i]
		tests[filepath.Base(dir)] = pairOf(dir)
	}
	for name, sets := range tests {
		t.Run(name, func(t *testing.T) {
			d, path := keep(t, sets...), filepath.Join(t.TempDir(), "x.duckdb")
			if err := d.to(path); err != nil {
				t.Fatal(err)
			}
			same(t, "calls", query(t, path, callsQuery), sayCalls(d.Diagnosis))
			checkLogs(t, path, d.Logs)
			if got := query(t, path, "SELECT count(*) FROM findings"); got[0] != fmt.Sprint(len(d.Findings)) {
				t.Errorf("%s findings, want %d", got[0], len(d.Findings))
			}
		})
	}
}

func checkLogs(t *testing.T, path string, logs []*ingest.Log) {
	t.Helper()
	var frames, halves []string
	for _, l := range logs {
		frames = append(frames, say(l.Side, l.Records))
		for i := range uint32(l.Halves()) {
			halves = append(halves, say(l.Side, i, l.Half(i).By, string(l.ID(i)), l.NthInFile(i), l.Outcome(i), l.Line(i, ingest.Request), l.Line(i, ingest.Answer)))
		}
	}
	same(t, "frames", query(t, path, "SELECT log, count(*) FROM frames GROUP BY ALL"), frames)
	same(t, "halves", query(t, path, "SELECT side, half, requester, id, nth, outcome, coalesce(request_line, 0), coalesce(answer_line, 0) FROM halves"), halves)
	// Times of one clock subtract to the durations beside them.
	if bad := query(t, path, "FROM halves WHERE answer_at - request_at <> took_ns OR exit_at - enter_at <> handler_ns"); len(bad) > 0 {
		t.Errorf("durations do not follow from the times: %s", bad)
	}
	// Each half's lines lead to its records.
	if bad := query(t, path, "FROM halves h JOIN frames f ON f.log = h.side AND f.log_line = h.request_line WHERE f.kind <> 'request' OR f.id IS DISTINCT FROM h.id"); len(bad) > 0 {
		t.Errorf("halves cite other records: %s", bad)
	}
}

// The public tables, as they stand for the sample.
func TestKeepSample(t *testing.T) {
	d, path := keep(t, pairOf("../samples")...), filepath.Join(t.TempDir(), "x.duckdb")
	if err := d.to(path); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ query, want string }{
		{"SELECT log, file, line, ts::VARCHAR, zoneless, mono_ns, side, dir, kind, id, method, name, bytes, session, trunc, request_id, phase FROM frames WHERE file = 'client.log' LIMIT 1",
			"client | client.log | 1 | 2026-03-02 09:41:03.118 | false | <nil> | client | c2s | request | 47 | tools/call | search_invoices | 312 | s1 | false | <nil> | <nil>"},
		{"SELECT request_id, id FROM frames WHERE log = 'client' AND line = 2", "47 | <nil>"},
		{"SELECT clock, clock_no, answer_at - request_at, took_ns, dispatch_ns, handler_ns, flush_ns, rows, session, late FROM halves WHERE side = 'server'",
			"wall | <nil> | 83000000 | 83000000 | 3000000 | 72000000 | 8000000 | 418 | s1 | false"},
		{"SELECT requester_half, responder_half, cause_status IS NOT NULL FROM calls", "0 | 0 | true"},
		{"SELECT schema_version, program_version, created > '2020-01-01', logs[2] FROM mcpdiag_meta",
			"1 | test | true | map[dialect:native path:server.log records:4 side:server unreadable:0]"},
		{"SELECT count(*) FROM duckdb_columns() WHERE database_name = 'kept' AND table_name = 'calls' AND comment IS NULL", "2"}, // method and outcome speak for themselves
	} {
		if got := query(t, path, test.query); len(got) != 1 || (got[0] != test.want && !strings.Contains(test.query, "comment")) {
			t.Errorf("%s:\ngot  %s\nwant %s", test.query, got, test.want)
		}
	}
}

// Whatever a log says, it is text in the tables.
func TestKeepHostile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "client.log")
	text := `{"side":"client","dir":"c2s","kind":"request","id":"'); DROP TABLE frames; --","method":"a\u0000b","name":"` + "\xff\xc3" + `","session":"` + "\xfe" + `","caps":["` + "\xff" + `",""],"conn":"\ud800","era":"\u202e"}` + "\n" +
		`{"side":"client","dir":"s2c","kind":"gap","dropped":3,"seq":9,"clock":"a clock with a long name"}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, db := keep(t, fileSet(frame.NoSide, path)), filepath.Join(t.TempDir(), "x.duckdb")
	if err := d.to(db); err != nil {
		t.Fatal(err)
	}
	got := query(t, db, "SELECT id, method, name, session, caps, conn, era FROM frames WHERE kind = 'request'")
	if want := "\"'); DROP TABLE frames; --\" | a\x00b | \ufffd\ufffd | \ufffd | [\ufffd ] | \ufffd | \u202e"; len(got) != 1 || got[0] != want {
		t.Errorf("got %q", got)
	}
	got = query(t, db, "SELECT dropped, seq, clock, caps FROM frames WHERE kind = 'gap'")
	if want := "3 | 9 | a clock with a long name | <nil>"; len(got) != 1 || got[0] != want {
		t.Errorf("got %q", got)
	}
}

func TestKeepReplaces(t *testing.T) {
	d, dir := keep(t, pairOf("../samples")...), t.TempDir()
	path := filepath.Join(dir, "it's.duckdb")
	for range 3 { // each time over the one before
		if err := d.to(path); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	alone(t, dir, "it's.duckdb")
}

// alone wants nothing in dir but these files.
func alone(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		got = append(got, f.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s holds %v, want %v", dir, got, want)
	}
}

func TestKeepRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	client, server := write("client.log", ""), write("server.log", "")
	for _, log := range []string{client, server} {
		b, err := os.ReadFile(filepath.Join("../samples", filepath.Base(log)))
		if err != nil {
			t.Fatal(err)
		}
		write(filepath.Base(log), string(b))
	}
	if err := os.Link(client, filepath.Join(dir, "hard.link")); err != nil {
		t.Fatal(err)
	}
	write("notes.txt", "my notes")
	write("open.duckdb.wal", "")
	foreignDB(t, filepath.Join(dir, "z.duckdb"))
	before, _ := os.ReadDir(dir)
	d := keep(t, pairOf(dir)...)
	for _, test := range []struct{ name, want string }{
		{"client.log", "is an input"}, {"hard.link", "is an input"}, {"notes.txt", "exists and is not a database that mcpdiag wrote"},
		{"z.duckdb", "exists and is not a database that mcpdiag wrote"}, {".", "is a directory"}, {"open.duckdb", "is open in another program"},
		{"a?b.duckdb", "question mark"}, {"nowhere/x.duckdb", "cannot be written: no such file or directory"}, {"client.log/x.duckdb", "cannot be written"},
	} {
		err := d.to(filepath.Join(dir, test.name))
		var input *ingest.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	after, _ := os.ReadDir(dir)
	if len(before) != len(after) {
		t.Errorf("files were left: %v", after)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "notes.txt")); err != nil || string(b) != "my notes" {
		t.Errorf("the file is %q now", b)
	}
}

func foreignDB(t *testing.T, path string) {
	t.Helper()
	ctx := context.Background()
	conn, err := ingest.OpenDB(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(ctx, "ATTACH '"+path+"' AS other; CREATE TABLE other.frames (a INTEGER); DETACH other"); err != nil {
		t.Fatal(err)
	}
}

// A log that grew since it was read is kept as it was read; one that is another now is refused, and no file is left.
func TestKeepChangedLogs(t *testing.T) {
	record := `{"side":"client","dir":"c2s","kind":"request","id":1}` + "\n"
	for _, test := range []struct{ name, before, after, want string }{
		{"grown", record + record, record + record + record, "2"},
		{"cut line made whole", record + record[:20], record + record + record, "1"},
		{"whole line without its end", record + record[:len(record)-1], record + record + record, "2"},
		{"shorter", record + record, record, "changed"},
		{"gone", record, "", "changed"},
	} {
		log, dir := filepath.Join(t.TempDir(), "client.log"), t.TempDir()
		if err := os.WriteFile(log, []byte(test.before), 0o600); err != nil {
			t.Fatal(err)
		}
		d := keep(t, fileSet(frame.NoSide, log))
		if err := os.WriteFile(log, []byte(test.after), 0o600); err != nil {
			t.Fatal(err)
		}
		err := d.to(filepath.Join(dir, "x.duckdb"))
		if test.want == "changed" {
			if err == nil || !strings.Contains(err.Error(), "changed while it was being read") {
				t.Errorf("%s: %v", test.name, err)
			}
			alone(t, dir)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if got := query(t, filepath.Join(dir, "x.duckdb"), "SELECT count(*) FROM frames"); got[0] != test.want {
			t.Errorf("%s: %s frames", test.name, got[0])
		}
	}
}

// After a failure the diagnosis can be kept all the same, and nothing of the failure is left.
func TestKeepFails(t *testing.T) {
	d, dir := keep(t, pairOf("../samples/incident")...), t.TempDir()
	path := filepath.Join(dir, "x.duckdb")
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := d.Keep(ctx, path, "test", d.sets, ingest.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	alone(t, dir)
	stdin := []ingest.Set{{Sources: []ingest.Source{{Path: "-", Label: "-"}}}}
	if err := d.Keep(context.Background(), path, "test", stdin, ingest.Options{}); err == nil || !strings.Contains(err.Error(), "can be read only once") {
		t.Errorf("standard input: %v", err)
	}
	gone := slices.Clone(d.sets)
	gone[1] = fileSet(frame.Server, filepath.Join(dir, "gone.log"))
	if err := d.Keep(context.Background(), path, "test", gone, ingest.Options{}); err == nil || !strings.Contains(err.Error(), "gone.log: no such file") {
		t.Errorf("a log that has gone: %v", err)
	}
	alone(t, dir)
	if err := d.to(path); err != nil {
		t.Error(err)
	}
	alone(t, dir, "x.duckdb")
}
