package diagnose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/join"
	"mcpdiag/report"
	"mcpdiag/samples/logtest"
)

// fold folds each log by itself, as hosts do, into one folder.
func fold(t *testing.T, logs ...*ingest.Log) string {
	t.Helper()
	dir := t.TempDir()
	for _, l := range logs {
		conn := openDB(t)
		if _, err := ingest.Fold(context.Background(), conn, []*ingest.Log{l}, dir); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openDB(t *testing.T) *ingest.Conn {
	t.Helper()
	conn, err := ingest.OpenDB(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// unfolded diagnoses what is wanted of the logs in the folders.
func unfolded(t *testing.T, o diagnose.Options, want join.Want, dirs ...string) *diagnose.Diagnosis {
	t.Helper()
	store, err := join.OpenFolders(context.Background(), openDB(t), dirs)
	if err != nil {
		t.Fatal(err)
	}
	return broughtFrom(t, store, o, want)
}

func broughtFrom(t *testing.T, store join.Store, o diagnose.Options, want join.Want) *diagnose.Diagnosis {
	t.Helper()
	b, err := join.Bring(context.Background(), store, nil, &o.Limits, want)
	if err != nil {
		t.Fatal(err)
	}
	d, err := diagnose.DiagnoseBrought(context.Background(), openDB(t), b, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// said is the report of the calls with a problem, and of all that was found.
func said(t *testing.T, d *diagnose.Diagnosis) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Text(&b, d, report.Style{Width: 120}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sides are the logs of a folder with a client and a server log.
func sides(t *testing.T, dir string) (client, server *ingest.Log) {
	t.Helper()
	read := func(side frame.Side) *ingest.Log {
		paths, err := filepath.Glob(filepath.Join(dir, side.String()+".*"))
		if err != nil || len(paths) != 1 {
			t.Fatalf("%s: logs of the %s: %v", dir, side, paths)
		}
		return logtest.ReadText(t, side, string(readFile(t, paths[0])))
	}
	return read(frame.Client), read(frame.Server)
}

// TestFoldedCases: what is said of folded logs is what is said of the logs, to the letter; whether every call was brought in, or
// only those that are not plainly healthy.
func TestFoldedCases(t *testing.T) {
	entries, err := os.ReadDir("testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			client, server := sides(t, filepath.Join("testdata/cases", e.Name()))
			want := said(t, logtest.Diagnose(t, client, server))
			dir := fold(t, server, client)
			for _, wanted := range []join.Want{join.Each, join.Odd} {
				if got := said(t, unfolded(t, logtest.Options(), wanted, dir)); got != want {
					t.Errorf("wanted %d: got\n%s\nwant\n%s", wanted, got, want)
				}
			}
		})
	}
}

// many generates more calls than a report lists by themselves.
func many(t *testing.T) (client, server *ingest.Log) {
	t.Helper()
	g := generate(rand.New(rand.NewPCG(5, 6)), 3000, func(n int) string { return fmt.Sprint(n) }, false)
	return logtest.ReadText(t, frame.Client, g.client), logtest.ReadText(t, frame.Server, g.server)
}

// TestFoldedFilters: so it is of a part of many calls, listed or not.
func TestFoldedFilters(t *testing.T) {
	client, server := many(t)
	dir := fold(t, client, server)
	at := func(s string) ingest.Bound {
		b := ingest.Bound{Set: true}
		if err := b.Wall.UnmarshalText([]byte(s)); err != nil {
			t.Fatal(err)
		}
		return b
	}
	first, _ := client.Span()
	for name, change := range map[string]func(*diagnose.Options){
		"all":       func(*diagnose.Options) {},
		"session":   func(o *diagnose.Options) { o.Session = "s7" },
		"no such":   func(o *diagnose.Options) { o.Session = "'); DROP TABLE calls_here; --" },
		"id":        func(o *diagnose.Options) { o.ID = "77" },
		"since":     func(o *diagnose.Options) { o.Since = ingest.Bound{Set: true, After: 20e9} },
		"until":     func(o *diagnose.Options) { o.Until = at(first.Time().Add(5e9).Format("2006-01-02T15:04:05Z07:00")) },
		"slow":      func(o *diagnose.Options) { o.Slow = 500e6 },
		"few, slow": func(o *diagnose.Options) { o.Slow, o.Session = 500e6, "s7" },
	} {
		t.Run(name, func(t *testing.T) {
			o := logtest.Options()
			o.All = false
			change(&o)
			want := inJSON(t, logtest.DiagnoseWith(t, o, client, server))
			if got := inJSON(t, unfolded(t, o, join.Few, dir)); got != want {
				t.Error(firstDifference(got, want))
			}
		})
	}
}

// firstDifference is the first line in which two texts differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for k := range min(len(g), len(w)) {
		if g[k] != w[k] {
			return fmt.Sprintf("line %d is\n%s\nwant\n%s", k+1, g[k], w[k])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

func inJSON(t *testing.T, d *diagnose.Diagnosis) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, d, report.Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFoldedTwice: the same log gives the same bytes, and in two folders it counts once.
func TestFoldedTwice(t *testing.T) {
	client, server := many(t)
	a, b := fold(t, client, server), fold(t, server, client)
	if x, y := contents(t, a), contents(t, b); len(x) < 6 || fmt.Sprint(x) != fmt.Sprint(y) {
		t.Errorf("files of one: %d, of the other: %d, and not the same bytes", len(x), len(y))
	}
	once, twice := unfolded(t, logtest.Options(), join.Few, a), unfolded(t, logtest.Options(), join.Few, a, b)
	if said(t, once) != said(t, twice) {
		t.Error("a log in two folders counts twice")
	}
}

// contents are the files below a folder, by path, which only their owner may read.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
		}
		name, _ := filepath.Rel(dir, path)
		files[name] = string(readFile(t, path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestFleet: the logs of several hosts meet by session. A log that started late does not cover what its neighbour does.
func TestFleet(t *testing.T) {
	call := func(ms int, id, session string) string {
		return fmt.Sprintf("%d > req %s method=tools/call name=t bytes=100 session=%s\n%d < res %s bytes=50 session=%[3]s\n", ms, id, session, ms+9, id)
	}
	lost := func(ms int, id, session string) string {
		return fmt.Sprintf("%d > req %s method=tools/call name=t bytes=100 session=%s\n%d > ntf method=notifications/cancelled request_id=%[2]s session=%[3]s\n", ms, id, session, ms+9000)
	}
	clientA := logtest.Read(t, frame.Client, call(0, "1", "a")+lost(20, "2", "a")+call(30, "1", "c"))
	clientB := logtest.Read(t, frame.Client, lost(0, "1", "b")+call(20, "2", "b")+lost(30, "2", "c"))
	serverA := logtest.Read(t, frame.Server, call(0, "1", "a")+call(30, "1", "c"))
	serverB := logtest.Read(t, frame.Server, call(21, "2", "b")) // it has lost its head: the first call may have been there
	for _, want := range []join.Want{join.Each, join.Odd} {
		d := unfolded(t, logtest.Options(), want, fold(t, clientA, serverB), fold(t, serverA, clientB))
		var got []string
		for _, c := range d.Calls {
			if c.Problem() || c.Leaf == diagnose.NoLeaf {
				got = append(got, fmt.Sprintf("%s %s: %s", c.Session(), c.ID(), c.Leaf.Words()))
			}
		}
		slices.Sort(got)
		if say := strings.Join(got, "; "); d.Summary.Calls != 6 || say != "a 2: never arrived; b 1: no leaf; c 2: never arrived" {
			t.Errorf("wanted %d: %d calls: %s", want, d.Summary.Calls, say)
		}
	}
}

// hostile is a pair of logs whose sessions and ids are what an attacker would have them be.
func hostile(t *testing.T) (client, server *ingest.Log, names []string) {
	t.Helper()
	names = []string{"'); DROP TABLE halves_here; --", "tab\there", "line\nbreak", `back\slash\n`, `"quoted", 'twice'`, "null\x00byte", "ünïcödé \u2028", " space ", `\N`, "{calls}"}
	var logs [2]strings.Builder
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	write := func(side int, kind string, id, session any, more map[string]any) {
		at = at.Add(time.Millisecond)
		line := map[string]any{"ts": at.Format(time.RFC3339Nano), "side": []string{"client", "server"}[side], "kind": kind, "id": id, "session": session, "bytes": 10}
		for k, v := range more {
			line[k] = v
		}
		text, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		logs[side].Write(append(text, '\n'))
	}
	for _, session := range names {
		for k, id := range names {
			call := map[string]any{"dir": "c2s", "method": "tools/call", "name": session + id}
			write(0, "request", id, session, call)
			write(1, "request", id, session, call)
			write(1, "response", id, session, map[string]any{"dir": "s2c"})
			if k != 3 {
				write(0, "response", id, session, map[string]any{"dir": "s2c"})
			}
		}
		write(0, "eof", nil, session, map[string]any{"dir": "s2c"})
	}
	return logtest.ReadText(t, frame.Client, logs[0].String()), logtest.ReadText(t, frame.Server, logs[1].String()), names
}

// askHostile asks a store for each of the names, as session and as id, and for what its neighbours are not hurt by.
func askHostile(t *testing.T, store join.Store, client, server *ingest.Log, names []string) {
	t.Helper()
	questions := [][2]string{{"", ""}, {"", names[0]}, {"", names[3]}, {names[3], names[3]}}
	for _, name := range names {
		questions = append(questions, [2]string{name, ""})
	}
	for _, q := range questions {
		o := logtest.Options()
		o.All, o.Session, o.ID = false, q[0], q[1]
		d := logtest.DiagnoseWith(t, o, client, server)
		want, brief := inJSON(t, d), said(t, d)
		if got := inJSON(t, broughtFrom(t, store, o, join.Few)); got != want {
			t.Errorf("session %q, id %q: %s", q[0], q[1], firstDifference(got, want))
		}
		if got := said(t, broughtFrom(t, store, o, join.Odd)); got != brief {
			t.Errorf("session %q, id %q, odd: %s", q[0], q[1], firstDifference(got, brief))
		}
	}
}

// TestFoldedHostile: session names and ids are data.
func TestFoldedHostile(t *testing.T) {
	client, server, names := hostile(t)
	store, err := join.OpenFolders(context.Background(), openDB(t), []string{fold(t, client, server)})
	if err != nil {
		t.Fatal(err)
	}
	askHostile(t, store, client, server, names)
}

// TestFoldedParts: the parts that a folder is joined in have each call once, both halves of it in one.
func TestFoldedParts(t *testing.T) {
	client, server := many(t)
	logs, err := ingest.FoldedLogs([]string{fold(t, client, server)})
	if err != nil {
		t.Fatal(err)
	}
	conn, ctx := openDB(t), context.Background()
	parts := map[string]int{} // by call
	halves := 0
	for part := range 5 {
		if err := ingest.OpenPart(ctx, conn, logs, part, 5); err != nil {
			t.Fatal(err)
		}
		rows, err := conn.Query(ctx, "SELECT session, id, count(*) FROM halves_here GROUP BY ALL")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var session, id string
			var n int
			if err := rows.Scan(&session, &id, &n); err != nil {
				t.Fatal(err)
			}
			if before, ok := parts[session+" "+id]; ok {
				t.Errorf("call %s of %s is in parts %d and %d", id, session, before, part)
			}
			parts[session+" "+id] = part
			halves += n
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		rows.Close()
	}
	if want := client.Halves() + server.Halves(); halves != want || len(parts) != 3000 {
		t.Errorf("%d halves of %d calls, want %d of 3000", halves, len(parts), want)
	}
}
