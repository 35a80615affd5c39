package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mcpdiag": main, "answers": answers})
}

// TestScript runs the scripts. Each client*.txt and server*.txt in one becomes the .log of that name; see package logtest for
// how it is written. SAMPLES is the folder of the samples.
func TestScript(t *testing.T) {
	samples, err := filepath.Abs("../../samples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SAMPLES", samples)
			return writeLogs(e.WorkDir)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "gzip": gzipFile, "mode": mode, "clean": clean, "only": only,
		},
	})
}

func writeLogs(dir string) error {
	for _, side := range []frame.Side{frame.Client, frame.Server} {
		paths, err := filepath.Glob(filepath.Join(dir, side.String()+"*.txt"))
		if err != nil {
			return err
		}
		for _, path := range paths {
			script, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text := ""
			if len(bytes.TrimSpace(script)) > 0 {
				text = logtest.Text(side, string(script))
			}
			if err := os.WriteFile(strings.TrimSuffix(path, ".txt")+".log", []byte(text), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// exits runs a command and wants its exit status: exits 1 mcpdiag join client.log server.log.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// gzipFile compresses a file: gzip FROM TO.
func gzipFile(ts *testscript.TestScript, _ bool, args []string) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(z.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o600))
}

// mode wants the permissions of a file: mode 600 FILE.
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// clean wants a file (or stdout, stderr) without anything that a terminal would act on.
func clean(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		text := ts.ReadFile(name)
		if !utf8.ValidString(text) {
			ts.Fatalf("%s is not UTF-8", name)
		}
		for i, r := range text {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				ts.Fatalf("%s has %U at byte %d: %.60q", name, r, i, text[max(0, i-30):])
			}
		}
	}
}

// only wants a folder to hold these files and nothing else: only DIR FILE….
func only(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := args[1:]; !slices.Equal(names, want) {
		ts.Fatalf("%s holds %v, want %v", args[0], names, want)
	}
}

// answers is a server that answers each request on its stdin, the id last.
func answers() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var f frame.Frame
		if frame.DecodeMessage(lines.Bytes(), &f) == frame.NoReason && f.Kind == frame.Request {
			fmt.Printf("{\"result\":{\"method\":%q},\"jsonrpc\":\"2.0\",\"id\":%s}\n", f.Method, f.ID)
		}
	}
}
