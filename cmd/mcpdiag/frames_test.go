package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// called is what a command did.
type called struct {
	out, err string
	status   int
}

// call runs one command in process.
func call(t *testing.T, stdin string, args ...string) called {
	t.Helper()
	var out, complaints bytes.Buffer
	e := &env{stdin: strings.NewReader(stdin), stdout: &out, stderr: &complaints, getenv: func(string) string { return "" }, now: time.Now}
	status := run(context.Background(), e, args)
	return called{out.String(), complaints.String(), status}
}

// logFile writes a log of the test.
func logFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFramesBrief(t *testing.T) {
	got := call(t, "", "frames", "--format", "brief", "../../samples/client.log")
	if want := "c2s req 47 tools/call\nc2s ntf - notifications/cancelled requestId=47\n"; got.out != want || got.err != "" || got.status != 0 {
		t.Errorf("one side: %+v", got)
	}
	got = call(t, "", "frames", "--format", "brief", "../../samples/client.log", "../../samples/server.log")
	want := `client c2s req 47 tools/call
client c2s ntf - notifications/cancelled requestId=47
server c2s req 47 tools/call
server c2s handler_enter 47 tools/call
server c2s handler_exit 47 tools/call
server s2c res 47 -
`
	if got.out != want || got.status != 0 {
		t.Errorf("two sides: %+v", got)
	}
}

// A second side that comes after the lines held back is named from there on.
func TestBriefHoldsBack(t *testing.T) {
	var out bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &out}
	w := &framesWriter{printer: &briefPrinter{w: &out, limit: 30}, complaints: complaints{w: &out}}
	for _, line := range []string{`{"side":"client","dir":"c2s","kind":"eof"}`, `{"side":"server","dir":"s2c","kind":"eof"}`} {
		path := logFile(t, "a.log", strings.Repeat(line+"\n", 5))
		if err := w.log(context.Background(), setOf(path), optionsOf(e)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.printer.finish(); err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("c2s eof\n", 4) + "client c2s eof\n" + strings.Repeat("server s2c eof\n", 5); out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

// What frames writes says the same as what it read.
func TestFramesNative(t *testing.T) {
	got := call(t, "", "frames", "../../samples/client.log")
	want := `{"v":1,"ts":"2026-03-02T09:41:03.118Z","side":"client","dir":"c2s","kind":"request","id":47,"method":"tools/call","name":"search_invoices","bytes":312,"session":"s1"}
{"v":1,"ts":"2026-03-02T09:41:07.550Z","side":"client","dir":"c2s","kind":"notification","method":"notifications/cancelled","bytes":110,"session":"s1","request_id":47}
`
	if got.out != want || got.status != 0 {
		t.Errorf("%+v", got)
	}
	once := call(t, "", "frames", "../../samples/incident/server.log")
	twice := call(t, once.out, "frames", "-")
	if once.out == "" || twice.out != once.out || twice.err != "" {
		t.Errorf("a second pass differs:\n%s%s", twice.out, twice.err)
	}
}

func TestFramesSide(t *testing.T) {
	sideless := `{"dir":"c2s","kind":"eof"}` + "\n" + `{"side":"client","dir":"c2s","kind":"eof"}` + "\n"
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, `{"v":1,"dir":"c2s","kind":"eof"}`}, // a guess is not written down
		{[]string{"--side", "server"}, `{"v":1,"side":"server","dir":"c2s","kind":"eof"}`},
	} {
		got := call(t, sideless, append([]string{"frames", "-"}, test.args...)...)
		if want := test.want + "\n" + `{"v":1,"side":"client","dir":"c2s","kind":"eof"}` + "\n"; got.out != want {
			t.Errorf("%v: %s", test.args, got.out)
		}
	}
}

func TestFramesUnreadable(t *testing.T) {
	path := logFile(t, "a.log", "\x1b[2Jboo\n"+`{"side":"client","dir":"c2s","kind":"eof"}`+"\n"+strings.Repeat("noise\n", 30))
	got := call(t, "", "frames", "n="+path)
	lines := strings.Split(strings.TrimSpace(got.err), "\n")
	if got.status != 0 || strings.Count(got.out, "\n") != 1 || len(lines) != 21 || lines[0] != `mcpdiag: n:1: not JSON: \x1b[2Jboo` ||
		lines[1] != "mcpdiag: n:3: not JSON: noise" || lines[20] != "mcpdiag: and 11 lines more" {
		t.Errorf("%+v", got)
	}
}

func TestFramesRefuses(t *testing.T) {
	empty, noise := logFile(t, "empty.log", ""), logFile(t, "noise.log", "noise\n")
	good := "../../samples/client.log"
	for _, test := range []struct {
		args   []string
		status int
		err    string
	}{
		{[]string{empty}, 0, ""},
		{[]string{noise}, 2, "noise.log: no record could be read\nhint: "},
		{[]string{good, noise}, 2, "no record could be read"},
		{[]string{}, 2, "no log given\nhint: "},
		{[]string{"nowhere.log"}, 2, "nowhere.log: no such file"},
		{[]string{"--format", "xml", good}, 2, `unknown format "xml"`},
		{[]string{"--side", "proxy", good}, 2, `--side "proxy" is no side`},
		{[]string{"--dialect", "nonsense", good}, 2, "no such dialect"},
	} {
		got := call(t, "", append([]string{"frames"}, test.args...)...)
		if got.status != test.status || !strings.Contains(got.err, test.err) || (test.err == "" && got.err != "") {
			t.Errorf("%v: %+v", test.args, got)
		}
	}
	if got := call(t, "", "frames", good, "nowhere.log"); strings.Count(got.out, "\n") != 2 {
		t.Errorf("what was read before a failure is not written: %+v", got)
	}
}
