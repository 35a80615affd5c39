package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/spf13/cobra"

	"mcpdiag/samples"
)

// notAlone are the commands that run until they are stopped, or talk to a server; their examples are run by tests of their own.
var notAlone = map[string]bool{"watch": true, "tee": true, "proxy": true, "ship": true}

// TestExamples runs the examples of every help text, in a folder that has the logs which they name.
func TestExamples(t *testing.T) {
	root := newRoot(&env{stdin: strings.NewReader(""), stdout: os.Stdout, stderr: os.Stderr})
	for _, c := range commands(root) {
		if c.Example == "" {
			t.Errorf("%s has no examples", c.CommandPath())
		}
		if notAlone[c.Name()] {
			continue
		}
		dir := exampleLogs(t)
		if c.Name() == "sql" {
			runExample(t, dir, "mcpdiag join --db incident.duckdb client.log server.log")
		}
		for line := range strings.Lines(c.Example) {
			if line = strings.TrimSpace(line); line != "" {
				runExample(t, dir, line)
			}
		}
	}
}

func commands(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.Name() != "completion" && sub.Name() != "help" {
			list = append(list, commands(sub)...)
		}
	}
	return list
}

// runExample wants what the exit statuses promise of a command line without a mistake, and nothing on standard error.
func runExample(t *testing.T, dir, line string) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	var complaints strings.Builder
	cmd.Stderr = &complaints
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == exitStalled || exit.ExitCode() == exitUnsure) {
		err = nil
	}
	if err != nil || complaints.Len() > 0 {
		t.Errorf("%s: %v %s", line, err, complaints.String())
	}
}

func exampleLogs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("client.log", samples.Client)
	put("client.log.1", samples.Client[:0])
	put("server.log", samples.Server)
	put("old.log", []byte("1.5 c->s 47B b'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}'\n"))
	session, err := os.ReadFile(filepath.Join("testdata", "captures", "ts2-ts2-stdio-auto.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"session.jsonl", "search.jsonl", "billing.jsonl"} {
		put(name, session)
	}
	f, err := os.Create(filepath.Join(dir, "server.log.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	z.Write(samples.Server)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}
