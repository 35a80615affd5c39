package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
	"mcpdiag/report"
	"mcpdiag/samples"
	"mcpdiag/samples/logtest"
)

// told writes a report into a text.
func told[T any](t *testing.T, what T, write func(io.Writer, T, report.Style) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, what, report.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// golden compares a report, from the line that begins with from on, with what was wanted.
func golden(t *testing.T, got, from, want string) {
	t.Helper()
	if i := strings.Index("\n"+got, "\n"+from); i >= 0 {
		got = got[i:]
	}
	if want = strings.TrimLeft(want, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// members decodes JSON into plain maps.
func members(t *testing.T, text string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func foundingThreshold(t *testing.T) *diagnose.Threshold {
	t.Helper()
	d := logtest.Diagnose(t, logtest.ReadText(t, frame.Client, string(samples.Client)), logtest.ReadText(t, frame.Server, string(samples.Server)))
	th, err := diagnose.NewThreshold(context.Background(), d, diagnose.ThresholdOptions{Ceiling: 16384})
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func TestThreshold(t *testing.T) {
	golden(t, told(t, foundingThreshold(t), report.Threshold), "answers", `
answers to the client  every one from 41,827 B was lost (1), and none was read to compare with
                       the ceiling is below 41,827; known ones there: 4,096 B (a pty line, a
                       hand-written buffer), 8,192 B (a stdio buffer), 16,384 B (a hand-written line
                       buffer)
                       smallest lost: 41,827 B, id 47 (written server.log:4)
                       one loss shows no pattern: the ceiling is a candidate
requests to the server nothing was lost: no ceiling shows
                       largest read: 312 B, id 47 (read server.log:1)

search_invoices  1 answer, 1 lost
  record   41,827 B / 418 rows = 100.06 B a record, envelope included, about: an average over 1 call
           with rows, from 100.06 to 100.06
  ceiling  16,384 B → 163 records (--ceiling)
           above  1 lost, nearest id 47: 41,827 B, 418 rows, written server.log:4
           up to  none seen
           test: ask for a result of at most about 163 records, and repeat id 47: only the second
           may fail

`)
}

func TestThresholdJSON(t *testing.T) {
	doc := members(t, told(t, foundingThreshold(t), report.ThresholdJSON))
	b := doc["brackets"].([]any)[0].(map[string]any)
	if doc["schema"] != report.ThresholdSchema || b["state"] != "bracket" || b["low"] != nil || b["high"] != 41827.0 || b["smallest_lost"] == nil {
		t.Error(b)
	}
	tool := doc["tools"].([]any)[0].(map[string]any)
	if tool["bytes"] != 41827.0 || tool["rows"] != 418.0 || tool["ceilings"].([]any)[0].(map[string]any)["records"] != 163.0 {
		t.Error(tool)
	}
}

// TestThresholdEscapes: what a log says never reaches the terminal raw.
func TestThresholdEscapes(t *testing.T) {
	script := "0 > req \"\\u001b[31m\" name=\"\\u001b]0;x\\u0007\" bytes=100\n10 < res \"\\u001b[31m\" bytes=2000 rows=20"
	d := logtest.Pair(t, script, script)
	th, err := diagnose.NewThreshold(context.Background(), d, diagnose.ThresholdOptions{Ceiling: 1000})
	if err != nil {
		t.Fatal(err)
	}
	out := told(t, th, report.Threshold) + told(t, []*diagnose.Service{diagnose.NewService(d.Logs[1], 0)}, report.Stages) +
		told(t, []*diagnose.Patience{diagnose.NewPatience(d.Logs[0])}, report.Deadlines)
	if strings.ContainsAny(out, "\x1b\x07") || !strings.Contains(out, `\x1b]0;x\x07`) {
		t.Errorf("%q", out)
	}
}
