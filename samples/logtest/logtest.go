// Package logtest writes small frame logs and runs them through the program, for the tests of several rooms. Only tests
// import it.
//
// A log is written as short lines, one record each:
//
//	0    > req 47 name=search_invoices bytes=312
//	83   < res 47 bytes=41827 rows=418
//	4432 > ntf - method=notifications/cancelled request_id=47
//
// that is: milliseconds on the log's own wall clock ("-" for no time), the direction (> is c2s, < is s2c, "-" is none), the kind, the
// id as a JSON token ("-" for none), and further members; a value that is no JSON is a string. A request without a method is
// a tools/call. A line that begins with "!" stands in the log as it is, without the "!"; an empty one stands there empty.
package logtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// Epoch is the time 0 of a client's log. A server's wall clock is ahead by Ahead, so that a difference between two logs shows.
var Epoch = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// Ahead is how far the server's clock is ahead of the client's.
const Ahead = 7321 * time.Second

var kinds = map[string]string{"req": "request", "res": "response", "err": "error", "ntf": "notification", "bad": "invalid",
	"enter": "handler_enter", "exit": "handler_exit", "open": "open", "eof": "eof", "gap": "gap"}

// Text writes the log of a side. The last line ends with LF unless the script ends with a "\\".
func Text(side frame.Side, script string) string {
	var b strings.Builder
	lines := strings.Split(strings.Trim(script, "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		cut := strings.HasSuffix(line, `\`) && i == len(lines)-1
		line = strings.TrimSuffix(line, `\`)
		switch {
		case line == "":
		case line[0] == '!':
			b.WriteString(line[1:])
		default:
			b.WriteString(record(side, line))
		}
		if !cut {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func record(side frame.Side, line string) string {
	words := strings.Fields(line)
	if len(words) < 3 || kinds[words[2]] == "" {
		panic("logtest: " + line)
	}
	var b strings.Builder
	b.WriteByte('{')
	member := func(key, value string) {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		if !json.Valid([]byte(value)) {
			text, err := json.Marshal(value)
			if err != nil {
				panic(err)
			}
			value = string(text)
		}
		fmt.Fprintf(&b, "%q:%s", key, value)
	}
	if words[0] != "-" {
		at, err := time.ParseDuration(words[0] + "ms")
		if err != nil {
			panic("logtest: " + line)
		}
		t := Epoch.Add(at)
		if side == frame.Server {
			t = t.Add(Ahead)
		}
		member("ts", t.Format(time.RFC3339Nano))
	}
	member("side", side.String())
	if dir := map[string]string{">": "c2s", "<": "s2c"}[words[1]]; dir != "" {
		member("dir", dir)
	}
	member("kind", kinds[words[2]])
	rest := words[3:]
	if len(rest) > 0 && !strings.Contains(rest[0], "=") {
		if rest[0] != "-" {
			member("id", rest[0])
		}
		rest = rest[1:]
	}
	named := words[2] != "req"
	for _, w := range rest {
		key, value, _ := strings.Cut(w, "=")
		named = named || key == "method"
		member(key, value)
	}
	if !named {
		member("method", "tools/call")
	}
	b.WriteByte('}')
	return b.String()
}

// File writes text to a file of the test and returns its path.
func File(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Quiet is the silence after an answer that counts, in every test that does not say otherwise.
const Quiet = 30 * time.Second

// Read reads the scripts of one side as the files of a rotated set: client.log or server.log, then client2.log ….
func Read(t testing.TB, side frame.Side, scripts ...string) *ingest.Log {
	t.Helper()
	var texts []string
	for _, s := range scripts {
		texts = append(texts, Text(side, s))
	}
	return ReadText(t, side, texts...)
}

// ReadText is Read for logs that are written out.
func ReadText(t testing.TB, side frame.Side, texts ...string) *ingest.Log {
	t.Helper()
	var sources []ingest.Source
	for i, text := range texts {
		label := side.String() + ".log"
		if i > 0 {
			label = fmt.Sprintf("%s%d.log", side, i+1)
		}
		sources = append(sources, ingest.Source{Path: File(t, label, text), Label: label})
	}
	logs, err := ingest.Read(context.Background(), ingest.Set{Sources: sources, Side: side}, ingest.Options{Quiet: Quiet})
	if err != nil {
		t.Fatal(err)
	}
	return logs[0]
}

// Options are the program's defaults.
func Options() diagnose.Options {
	return diagnose.Options{All: true, Limits: ingest.Limits{Slow: 2 * time.Second, Patience: 30 * time.Second, Quiet: Quiet}}
}

// Diagnose diagnoses logs with the program's defaults.
func Diagnose(t testing.TB, logs ...*ingest.Log) *diagnose.Diagnosis {
	t.Helper()
	return DiagnoseWith(t, Options(), logs...)
}

// DiagnoseWith diagnoses logs.
func DiagnoseWith(t testing.TB, o diagnose.Options, logs ...*ingest.Log) *diagnose.Diagnosis {
	t.Helper()
	ctx := context.Background()
	conn, err := ingest.OpenDB(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	d, err := diagnose.Diagnose(ctx, conn, logs, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Pair diagnoses the client's and the server's script.
func Pair(t testing.TB, client, server string) *diagnose.Diagnosis {
	t.Helper()
	return Diagnose(t, Read(t, frame.Client, client), Read(t, frame.Server, server))
}

// Call finds the nth call with an id, in the order in which the requester's log has them.
func Call(t testing.TB, d *diagnose.Diagnosis, requester frame.Side, id string, nth int) *diagnose.Call {
	t.Helper()
	n := 0
	for _, c := range d.Calls {
		if c.Requester == requester && string(c.ID()) == id {
			if n++; n == nth {
				return c
			}
		}
	}
	t.Fatalf("no call %d with id %s by the %s among %s", nth, id, requester, Say(d))
	return nil
}

// Say spells the verdicts of a diagnosis, one call on a line: requester id leaf [reason] q outcome, and what it is besides.
func Say(d *diagnose.Diagnosis) string {
	var b strings.Builder
	for _, c := range d.Calls {
		b.WriteString(SayCall(c) + "\n")
	}
	return b.String()
}

// SayCall spells one verdict.
func SayCall(c *diagnose.Call) string {
	s := fmt.Sprintf("%s %s %s %s %s", c.Requester, c.ID(), Verdict(c), SayQ(c.Q), c.Outcome())
	for _, w := range []struct {
		is   bool
		word string
	}{{c.Stalled, "stalled"}, {c.Slow, "slow"}, {c.Quiet, "quiet"}} {
		if w.is {
			s += " " + w.word
		}
	}
	return s
}

// Verdict is the leaf, or why there is none.
func Verdict(c *diagnose.Call) string {
	if c.Leaf != diagnose.NoLeaf {
		return string(c.Leaf)
	}
	return string(c.Reason)
}

// SayQ spells the three answers: y, n, or ? for unknown.
func SayQ(q [3]diagnose.Truth) string {
	s := ""
	for _, t := range q {
		s += string("?ny"[t])
	}
	return s
}

// Finding returns the findings of a kind.
func Finding(d *diagnose.Diagnosis, kind string) []diagnose.Finding {
	var out []diagnose.Finding
	for _, f := range d.Findings {
		if f.Kind == kind {
			out = append(out, f)
		}
	}
	return out
}
