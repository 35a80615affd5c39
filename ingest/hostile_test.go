package ingest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// expectedRead is what expected.json says of a file.
type expectedRead struct {
	Any                 bool // either way, as long as nothing goes wrong
	Records, Unreadable int
	Why                 map[frame.Reason]int
	FieldWarnings       map[string]int `json:"field_warnings"`
}

// big holds the two inputs that are made here and not stored.
var big = map[string]func() string{
	"06-5mb-line.log": func() string {
		return logtest.Text(frame.Client, "0 > req 46\n! {\"side\":\"client\",\"dir\":\"s2c\",\"kind\":\"invalid\",\"raw\":\""+strings.Repeat("x", 5<<20)+"\"}\n9 > req 47")
	},
	"07-deep-nesting-100k.log": func() string {
		n := 100_000
		deep := strings.Repeat("[", n)
		return `{"side":"client","dir":"c2s","kind":"request","id":1,"method":"ping"}` + "\n" +
			`{"side":"client","dir":"c2s","kind":"request","id":2,"method":"ping","deep":` + deep + strings.Repeat("]", n) + "}\n" + deep + "\n" +
			`{"side":"client","dir":"s2c","kind":"response","id":1}` + "\n"
	},
}

func hostileExpectations(t *testing.T) map[string]expectedRead {
	t.Helper()
	b, err := os.ReadFile("testdata/hostile/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]expectedRead
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// readPath reads one file as the client's log, within the time that any small file may take.
func readPath(t *testing.T, path string, set ingest.Set, o ingest.Options) ([]*ingest.Log, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	set.Sources = []ingest.Source{{Path: path, Label: filepath.Base(path)}}
	type result struct {
		logs []*ingest.Log
		err  error
	}
	done := make(chan result, 1)
	go func() {
		logs, err := ingest.Read(ctx, set, o)
		done <- result{logs, err}
	}()
	select {
	case r := <-done:
		return r.logs, r.err
	case <-time.After(30 * time.Second):
		t.Fatalf("%s: still reading", path)
		return nil, nil
	}
}

func hostilePath(t *testing.T, name string) string {
	if make, ok := big[name]; ok {
		return logtest.File(t, name, make())
	}
	return filepath.Join("testdata/hostile", name)
}

// TestHostile reads every hostile input.
func TestHostile(t *testing.T) {
	for name, want := range hostileExpectations(t) {
		t.Run(name, func(t *testing.T) {
			logs, err := readPath(t, hostilePath(t, name), ingest.Set{Side: frame.Client}, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			l := logs[0]
			if want.Any {
				return
			}
			if int(l.Records) != want.Records || len(l.BadLines) != want.Unreadable {
				t.Errorf("%d records, %d unreadable %v; want %d, %d %v", l.Records, len(l.BadLines), l.Reasons, want.Records, want.Unreadable, want.Why)
			}
			for _, reasons := range []map[frame.Reason]int{l.Reasons, want.Why} {
				for r := range reasons {
					if l.Reasons[r] != want.Why[r] {
						t.Errorf("%q: %d times, want %d", r, l.Reasons[r], want.Why[r])
					}
				}
			}
			warnings := map[string]int{}
			l.Warnings.Each(func(member string, n uint32) { warnings[member] = int(n) })
			for _, members := range []map[string]int{warnings, want.FieldWarnings} {
				for m := range members {
					if warnings[m] != want.FieldWarnings[m] {
						t.Errorf("member %s: %d warnings, want %d", m, warnings[m], want.FieldWarnings[m])
					}
				}
			}
		})
	}
}

// TestHostileDetails: what the counts do not say.
func TestHostileDetails(t *testing.T) {
	read := func(name string) *ingest.Log {
		logs, err := readPath(t, hostilePath(t, name), ingest.Set{Side: frame.Client}, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return logs[0]
	}
	answered := func(l *ingest.Log, id string) bool {
		for i := range uint32(l.Halves()) {
			if string(l.ID(i)) == id && l.Line(i, ingest.Request) != 0 {
				return l.Line(i, ingest.Answer) != 0
			}
		}
		t.Fatalf("%s: no request %s in %s", l.Path, id, sayHalves(l))
		return false
	}
	if !answered(read("02-bom.log"), "47") {
		t.Error("BOM: the first line was lost")
	}
	if l := read("04-nul-bytes.log"); l.Gaps != 1 || l.Notes["hole"] == nil {
		t.Errorf("NUL bytes: %d gaps, %s", l.Gaps, sayNotes(l))
	}
	if l := read("08-huge-ints.log"); !answered(l, "9007199254740993") || answered(l, "9007199254740992") || l.Notes["id_not_integer"] == nil {
		t.Errorf("huge ints: %s; %s", sayHalves(l), sayNotes(l))
	}
	if l := read("11-gzip.log"); l.Records != 2 || l.StreamCut != "" {
		t.Errorf("gzip: %d records, %q", l.Records, l.StreamCut)
	}
	if l := read("11b-gzip-truncated.log.gz"); !l.CutTail || l.StreamCut == "" {
		t.Errorf("gzip that is cut: cut tail %t, %q", l.CutTail, l.StreamCut)
	}
	if l := read("12-truncated-last-line.log"); !l.CutTail || l.StreamCut != "" || !strings.Contains(l.Bad[0].Prefix, "side") {
		t.Errorf("cut last line: cut tail %t, %v", l.CutTail, l.Bad)
	}
	if l := read("14-utf16le.log"); l.Records != 2 || len(l.BadLines) != 0 {
		t.Errorf("UTF-16: %d records, %v", l.Records, l.Reasons)
	}
	if l := read("15-no-final-newline.log"); l.CutTail || !answered(l, string(l.ID(0))) {
		t.Errorf("no final newline: cut tail %t, %s", l.CutTail, sayHalves(l))
	}
	if l := read("20-text-log.log"); l.Dialect.Name != "claude-desktop" || l.Records == 0 {
		t.Errorf("text log: %s, %d records", l.Dialect.Name, l.Records)
	}
	if l := read("23-raw-wire-batch.log"); l.Dialect.Name != "wire" || l.Records < 2 {
		t.Errorf("batch: %s, %d records", l.Dialect.Name, l.Records)
	}
	if l := read("25-blank-and-spaces.log"); l.LastLine <= 2 {
		t.Errorf("blank lines: the last record is on line %d", l.LastLine)
	}
	if l := read("10-binary.log"); len(l.Bad) > 16 || l.CutTail && len(l.Bad) == 0 {
		t.Errorf("noise: %d prefixes kept", len(l.Bad))
	}
}

// TestNoFile: paths that are no log.
func TestNoFile(t *testing.T) {
	secret := logtest.File(t, "secret.log", "x")
	if err := os.Chmod(secret, 0); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{filepath.Join(t.TempDir(), "none.log"): "no such file", t.TempDir(): "is a directory"}
	if os.Geteuid() != 0 { // root reads everything
		cases[secret] = "permission denied"
	}
	for path, want := range cases {
		_, err := readPath(t, path, ingest.Set{Side: frame.Client}, ingest.Options{})
		var input *ingest.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	for magic, want := range map[string]string{"PK\x03\x04rest": "a ZIP archive", "%PDF-1.7": "a PDF document", "SQLite format 3\x00": "a SQLite database", "\x1F\x8Bnot gzip at all": "gzip"} {
		_, err := readPath(t, logtest.File(t, "other.log", magic), ingest.Set{Side: frame.Client}, ingest.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", magic, err, want)
		}
	}
	logs, err := readPath(t, os.DevNull, ingest.Set{Side: frame.Server}, ingest.Options{})
	if err != nil || logs[0].Records != 0 || logs[0].Side != frame.Server || len(logs[0].BadLines) != 0 {
		t.Errorf("%s: %v", os.DevNull, err)
	}
}

// TestReadError: a log whose reading fails half-way is no shorter log. Many rounds, since the reader and the fold race.
func TestReadError(t *testing.T) {
	text := strings.Repeat(logtest.Text(frame.Client, "0 > req 1\n5 < res 1"), 2000)
	broken := errors.New("device on fire")
	for range 40 {
		in := io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))
		logs, err := readPath(t, "-", ingest.Set{Side: frame.Client}, ingest.Options{Stdin: in})
		if err == nil || !strings.Contains(err.Error(), broken.Error()) {
			t.Fatalf("%v, and %d records as if nothing had happened", err, logs[0].Records)
		}
	}
}

// TestUnknownDialect names what it does not know.
func TestUnknownDialect(t *testing.T) {
	_, err := readPath(t, hostilePath(t, "02-bom.log"), ingest.Set{}, ingest.Options{Dialect: "klingon"})
	if err == nil || !strings.Contains(err.Error(), "klingon") {
		t.Errorf("%v", err)
	}
}

// TestEveryPrefix cuts a small log at every byte.
func TestEveryPrefix(t *testing.T) {
	text := logtest.Text(frame.Server, "0 > req 1 name=a bytes=80\n1 > enter 1\n2 < ntf method=notifications/message\n!not json\n3 > exit 1 rows=4\n4 < res 1 bytes=90\n5 < eof")
	lines := strings.Split(text, "\n")
	path := filepath.Join(t.TempDir(), "log")
	for n := range len(text) + 1 {
		if err := os.WriteFile(path, []byte(text[:n]), 0o600); err != nil {
			t.Fatal(err)
		}
		logs, err := readPath(t, path, ingest.Set{Side: frame.Server}, ingest.Options{Dialect: "native"})
		if err != nil {
			t.Fatal(err)
		}
		records, bad, cut := 0, 0, false
		pieces := strings.Split(text[:n], "\n")
		for i, line := range pieces {
			switch {
			case line == "":
			case line == lines[i] && line != "not json":
				records++
			default:
				bad++
				cut = i == len(pieces)-1
			}
		}
		if l := logs[0]; int(l.Records) != records || len(l.BadLines) != bad || l.CutTail != cut {
			t.Errorf("%d bytes: %d records, %d bad lines, cut tail %t; want %d, %d, %t", n, l.Records, len(l.BadLines), l.CutTail, records, bad, cut)
		}
	}
}

// TestNoise reads random bytes, and a log with random bytes changed, through every dialect: nothing may panic or hang.
func TestNoise(t *testing.T) {
	log := []byte(logtest.Text(frame.Server, strings.Repeat("0 > req 1 name=a bytes=80\n1 > enter 1\n4 < res 1 bytes=90\n", 20)))
	state := uint32(47)
	next := func() uint32 { state ^= state << 13; state ^= state >> 17; state ^= state << 5; return state }
	path := filepath.Join(t.TempDir(), "log")
	for range 60 {
		b := bytes.Clone(log)
		for range 1 + next()%40 {
			b[next()%uint32(len(b))] = byte(next())
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, d := range []string{"", "native", "wire", "text-trace", "tee-mcp"} {
			logs, err := readPath(t, path, ingest.Set{Side: frame.Server}, ingest.Options{Dialect: d})
			if err != nil {
				continue // changed into something else, and refused
			}
			if lines := uint32(bytes.Count(b, []byte("\n")) + 1); logs[0].Lines > lines || len(logs[0].BadLines) > int(lines) {
				t.Errorf("%s: %d lines of %d", d, logs[0].Lines, lines)
			}
		}
	}
}
