package diagnose_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// wanted is the want.json of a case.
type wanted struct {
	Expect    []expectation
	Intervals []interval
	ByteSums  []byteSum `json:"byte_sums"`
	Findings  []string
}

// expectation is the verdict that a case wants of one call.
type expectation struct {
	Requester, Leaf, Cause, Method string
	Session                        string
	ID                             json.RawMessage
	Nth                            int
	Q                              []*bool
	AcceptLeaf                     []string `json:"accept_leaf"`
	AcceptCause                    []string `json:"accept_cause"`
}

// interval is a time between two records of one log.
type interval struct {
	Side, Label string
	From, To    selector
	MS          float64
}

// byteSum says that some sizes, of records or given, add up to that of another record.
type byteSum struct {
	Label  string
	Parts  []json.RawMessage
	Equals selector
}

// selector picks the nth record (1 when not told) that has all these members.
type selector struct {
	Side, Dir, Method, Name, Session string
	ID                               json.RawMessage
	RequestID                        json.RawMessage `json:"request_id"`
	Kind                             any
	Nth                              int
}

// line is a record as this test reads it: by encoding/json, not by the program.
type line struct {
	TS, Dir, Kind, Method, Name, Session string
	Mono                                 *int64 `json:"mono_ns"`
	ID                                   json.RawMessage
	RequestID                            json.RawMessage `json:"request_id"`
	Bytes                                int64
	number                               uint32
}

func readLines(t *testing.T, path string) []line {
	t.Helper()
	var out []line
	n := uint32(0)
	for raw := range bytes.Lines(readFile(t, path)) {
		n++
		var l line
		if json.Unmarshal(raw, &l) == nil {
			l.number = n
			out = append(out, l)
		}
	}
	return out
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (s selector) matches(l line) bool {
	same := func(want, got string) bool { return want == "" || want == got }
	kinds, ok := s.Kind.([]any)
	if !ok {
		kinds = []any{s.Kind}
	}
	return slices.Contains(kinds, any(l.Kind)) && same(s.Dir, l.Dir) && same(s.Method, l.Method) && same(s.Name, l.Name) &&
		same(s.Session, l.Session) && same(string(s.ID), string(l.ID)) && same(string(s.RequestID), string(l.RequestID))
}

func (s selector) find(t *testing.T, lines []line) line {
	t.Helper()
	n := 0
	for _, l := range lines {
		if s.matches(l) {
			if n++; n == max(s.Nth, 1) {
				return l
			}
		}
	}
	t.Fatalf("no record is %+v", s)
	return line{}
}

// since is the time between two records: by the monotonic clock when both have it.
func (l line) since(t *testing.T, m line) time.Duration {
	t.Helper()
	if l.Mono != nil && m.Mono != nil {
		return time.Duration(*l.Mono - *m.Mono)
	}
	return l.wall(t).Sub(m.wall(t))
}

func (l line) wall(t *testing.T) time.Time {
	t.Helper()
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(layout, l.TS); err == nil {
			return at
		}
	}
	t.Fatalf("no time: %q", l.TS)
	return time.Time{}
}

// TestCases runs every case of testdata/cases through the pipeline.
func TestCases(t *testing.T) {
	folders, err := filepath.Glob("testdata/cases/*/want.json")
	if err != nil || len(folders) < 29 {
		t.Fatalf("%d cases, %v", len(folders), err)
	}
	for _, path := range folders {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) { testCase(t, dir) })
	}
}

func testCase(t *testing.T, dir string) {
	var want wanted
	if err := json.Unmarshal(readFile(t, filepath.Join(dir, "want.json")), &want); err != nil {
		t.Fatal(err)
	}
	d := diagnoseFolder(t, dir)
	listed := map[*diagnose.Call]bool{}
	for _, e := range want.Expect {
		listed[e.check(t, d)] = true
	}
	for _, c := range d.Calls { // what a case does not list is healthy
		if !listed[c] && (c.Leaf != diagnose.AgentLevel || c.Problem() || len(c.Causes) > 0) {
			t.Errorf("not healthy: %s", logtest.SayCall(c))
		}
	}
	lines := map[string][]line{}
	for _, side := range []string{"client", "server"} {
		lines[side] = readLines(t, filepath.Join(dir, side+".log"))
	}
	for _, i := range want.Intervals {
		i.check(t, d, lines[i.Side])
	}
	for _, sum := range want.ByteSums {
		sum.check(t, lines)
	}
	for _, c := range d.Calls {
		if r := c.Stages().Residual; r.D != 0 {
			t.Errorf("id %s: residual %v", c.ID(), r.D)
		}
	}
	kind, ok := findingKinds[filepath.Base(dir)]
	if ok != (len(want.Findings) > 0) || ok && len(logtest.Finding(d, kind)) == 0 {
		t.Errorf("no finding of kind %q, want one like %q", kind, want.Findings)
	}
}

// findingKinds is our word for the findings that some cases want in theirs.
var findingKinds = map[string]string{
	"02-noisy-but-delivered": "stray_lines", "21-sse-replay-duplicates": "duplicate_answer", "34-string-vs-number-id": "orphan_response",
	"38-list-changed-not-negotiated": "not_negotiated", "40-docker-chain-duplicates": "copies",
}

func diagnoseFolder(t *testing.T, dir string) *diagnose.Diagnosis {
	t.Helper()
	var logs []*ingest.Log
	for _, side := range []frame.Side{frame.Client, frame.Server} {
		name := side.String() + ".log"
		set := ingest.Set{Sources: []ingest.Source{{Path: filepath.Join(dir, name), Label: name}}, Side: side}
		l, err := ingest.Read(context.Background(), set, ingest.Options{Quiet: logtest.Quiet})
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l...)
	}
	return logtest.Diagnose(t, logs...)
}

// check compares the verdict on the call that the expectation is about, and returns the call.
func (e expectation) check(t *testing.T, d *diagnose.Diagnosis) *diagnose.Call {
	t.Helper()
	c := e.find(d)
	if c == nil {
		t.Errorf("id %s (%d) by the %s is missing in\n%s", e.ID, e.Nth, e.Requester, logtest.Say(d))
		return nil
	}
	if got := logtest.Verdict(c); got != e.Leaf && !slices.Contains(e.AcceptLeaf, got) {
		t.Errorf("id %s (%d): leaf %s, want %s", e.ID, e.Nth, got, e.Leaf)
	}
	for k, q := range c.Q {
		var want *bool
		if e.Q != nil {
			want = e.Q[k]
		}
		if ok := q == diagnose.Unknown && (want == nil || !*want) || want != nil && (q == diagnose.Yes) == *want; !ok {
			t.Errorf("id %s (%d): q is %s at %d, not as the logs show", e.ID, e.Nth, logtest.SayQ(c.Q), k)
		}
	}
	cause := "none"
	if len(c.Causes) > 0 {
		cause = c.Causes[0].Name
	}
	if cause != e.Cause && !slices.Contains(e.AcceptCause, cause) {
		t.Errorf("id %s (%d): cause %s, want %s", e.ID, e.Nth, cause, e.Cause)
	}
	return c
}

func (e expectation) find(d *diagnose.Diagnosis) *diagnose.Call {
	for _, c := range d.Calls {
		if c.Requester.String() == e.Requester && bytes.Equal(c.ID(), e.ID) && c.Nth() == e.Nth && c.Method() == e.Method && c.Session() == e.Session {
			return c
		}
	}
	return nil
}

// check compares the interval with the log's own times, and with what the calls say whose both ends it is.
func (i interval) check(t *testing.T, d *diagnose.Diagnosis, lines []line) {
	t.Helper()
	from, to := i.From.find(t, lines), i.To.find(t, lines)
	want := time.Duration(i.MS * float64(time.Millisecond))
	if got := to.since(t, from); got != want {
		t.Errorf("%s %s: the log says %v, want %v", i.Side, i.Label, got, want)
	}
	for _, c := range d.Calls {
		for name, got := range spans(c, i.Side, from.number, to.number) {
			if !got.OK || got.D != want {
				t.Errorf("%s %s: %s of id %s is %v, want %v", i.Side, i.Label, name, c.ID(), got, want)
			}
		}
	}
}

// spans are the times that a call tells between two lines of a log.
func spans(c *diagnose.Call, side string, from, to uint32) map[string]diagnose.Span {
	out := map[string]diagnose.Span{}
	s := c.Stages()
	for _, x := range []struct {
		name     string
		half     diagnose.Half
		from, to ingest.Point
		span     diagnose.Span
	}{
		{"dispatch", c.Served, ingest.Request, ingest.Enter, s.Dispatch}, {"handler", c.Served, ingest.Enter, ingest.Exit, s.Handler},
		{"flush", c.Served, ingest.Exit, ingest.Answer, s.Flush}, {"total", c.Served, ingest.Request, ingest.Answer, s.Total},
		{"wait", c.Sent, ingest.Request, ingest.Answer, c.Wait()}, {"cancel", c.Sent, ingest.Request, ingest.Cancel, c.CancelAfter()},
	} {
		if x.half.OK() && x.half.Log.Side.String() == side && x.half.Line(x.from) == from && x.half.Line(x.to) == to {
			out[x.name] = x.span
		}
	}
	return out
}

func (b byteSum) check(t *testing.T, lines map[string][]line) {
	t.Helper()
	sum := int64(0)
	for _, part := range b.Parts {
		var n int64
		if json.Unmarshal(part, &n) != nil {
			var s selector
			if err := json.Unmarshal(part, &s); err != nil {
				t.Fatal(err)
			}
			n = s.find(t, lines[s.Side]).Bytes
		}
		sum += n
	}
	if got := b.Equals.find(t, lines[b.Equals.Side]).Bytes; got != sum {
		t.Errorf("%s: %d and %d", b.Label, sum, got)
	}
}

// TestCasesCoverIntervals makes sure that the intervals of the cases are not all skipped as none of a call's.
func TestCasesCoverIntervals(t *testing.T) {
	d := diagnoseFolder(t, "testdata/cases/15-rows-over-16k")
	var want wanted
	if err := json.Unmarshal(readFile(t, "testdata/cases/15-rows-over-16k/want.json"), &want); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, i := range want.Intervals {
		lines := readLines(t, "testdata/cases/15-rows-over-16k/"+i.Side+".log")
		for _, c := range d.Calls {
			for name := range spans(c, i.Side, i.From.find(t, lines).number, i.To.find(t, lines).number) {
				seen[name] = true
			}
		}
	}
	var names []string
	for n := range seen {
		names = append(names, n)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "cancel dispatch flush handler total wait" {
		t.Errorf("case 15 checks %q of a call", got)
	}
}
