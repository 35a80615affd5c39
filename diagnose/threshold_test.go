package diagnose_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

func threshold(t *testing.T, d *diagnose.Diagnosis, o diagnose.ThresholdOptions) *diagnose.Threshold {
	t.Helper()
	th, err := diagnose.NewThreshold(context.Background(), d, o)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func thresholdOf(t *testing.T, client, server string, o diagnose.ThresholdOptions) *diagnose.Threshold {
	t.Helper()
	return threshold(t, logtest.Pair(t, client, server), o)
}

// sayBracket spells a bracket: frames reader state [low, high) read/lost known…
func sayBracket(b diagnose.Bracket) string {
	s := fmt.Sprintf("%s %s [%d, %d) %d/%d", b.Reader(), b.State, b.Low, b.High, b.Read, b.Lost)
	for _, c := range b.Known {
		s += fmt.Sprintf(" %d", c.Bytes)
	}
	return s
}

// sayTool spells the sizes of a tool: bytes/rows, calls with rows, then for each ceiling the records and the calls above and
// below, lost and delivered.
func sayTool(s *diagnose.ToolSizes) string {
	out := fmt.Sprintf("%s %d/%d %d", s.What(), s.Bytes, s.Rows, s.WithRows)
	for _, l := range s.Lines {
		out += fmt.Sprintf(" | %d→%d above %d+%d below %d+%d", l.Bytes, l.Records, l.Above[diagnose.Lost].N, l.Above[diagnose.Delivered].N,
			l.Below[diagnose.Lost].N, l.Below[diagnose.Delivered].N)
	}
	return out
}

func sayTools(th *diagnose.Threshold) string {
	var all []string
	for _, s := range th.Tools {
		all = append(all, sayTool(s))
	}
	return strings.Join(all, "; ")
}

func TestThresholdOnSamples(t *testing.T) {
	for _, c := range []struct {
		dir     string
		ceiling int64
		answers string
		tools   string
	}{
		{"../samples", 16384, "client bracket [0, 41827) 0/1 4096 8192 16384", "search_invoices 41827/418 1 | 16384→163 above 1+0 below 0+0"},
		{"../samples/incident", 0, "client bracket [64911, 71023) 60/2 65536", "search_invoices 399033/3949 8 | 65536→648 above 2+0 below 0+6"},
		{"testdata/cases/15-rows-over-16k", 0, "client bracket [16318, 17021) 4/2 16384", "search_invoices 101487/1013 5 | 16384→163 above 2+0 below 0+3"},
		{"testdata/cases/13-asyncio-64k-threshold", 0, "client bracket [65212, 66104) 5/2 65536", "get_rows 325711/3194 6 | 65536→642 above 2+0 below 0+4"},
		{"testdata/cases/20-proxy-buffered-sse", 0, "client nothing_lost [6110, 0) 2/0", "sync_range 6110/61 1"},
	} {
		th := threshold(t, diagnoseFolder(t, filepath.FromSlash(c.dir)), diagnose.ThresholdOptions{Ceiling: c.ceiling})
		if got := sayBracket(th.Brackets[0]); got != c.answers {
			t.Errorf("%s: answers %s, want %s", c.dir, got, c.answers)
		}
		if got := sayTools(th); got != c.tools {
			t.Errorf("%s: tools %s, want %s", c.dir, got, c.tools)
		}
	}
}

// TestThresholdExamples: the examples are the ones nearest to the line, so that the test that they make is the sharpest.
func TestThresholdExamples(t *testing.T) {
	th := threshold(t, diagnoseFolder(t, "testdata/cases/15-rows-over-16k"), diagnose.ThresholdOptions{})
	l := th.Tools[0].Lines[0]
	if above, below := l.Above[diagnose.Lost].Nearest, l.Below[diagnose.Delivered].Nearest; string(above.ID()) != "43" || string(below.ID()) != "42" || l.Contradicted() {
		t.Errorf("above %s, below %s", above.ID(), below.ID())
	}
}

const answered = `
	0 > req 1 name=t bytes=100
	10 < res 1 bytes=2000
	20 > req 2 name=t bytes=100
	30 < res 2 bytes=3000`

func TestThresholdNearMisses(t *testing.T) {
	server := func(lines string) string { return strings.TrimSpace(answered) + "\n" + lines }
	for _, c := range []struct {
		name, client, server string
		options              diagnose.ThresholdOptions
		answers, requests    string
		tools                string
	}{
		{"nothing lost", answered, answered, diagnose.ThresholdOptions{}, "client nothing_lost [3000, 0) 2/0", "server nothing_lost [100, 0) 2/0", ""},
		{"sizes cross", answered + "\n40 > req 3 name=t bytes=100\n9000 > ntf - method=notifications/cancelled request_id=3",
			server("40 > req 3 name=t bytes=100\n50 < res 3 bytes=3000 rows=10"), diagnose.ThresholdOptions{},
			"client sizes_cross [3000, 3000) 2/1", "server nothing_lost [100, 0) 3/0", "t 3000/10 1"},
		{"sizes cross, the user's ceiling", answered + "\n40 > req 3 name=t bytes=100\n9000 > ntf - method=notifications/cancelled request_id=3",
			server("40 > req 3 name=t bytes=100\n50 < res 3 bytes=1500 rows=10"), diagnose.ThresholdOptions{Ceiling: 2500},
			"client sizes_cross [3000, 1500) 2/1", "server nothing_lost [100, 0) 3/0", "t 1500/10 1 | 2500→16 above 0+1 below 1+1"},
		{"one loss, no known ceiling: the ends", answered + "\n40 > req 3 name=t bytes=100\n9000 > ntf - method=notifications/cancelled request_id=3",
			server("40 > req 3 name=t bytes=100\n50 < res 3 bytes=3500 rows=35"), diagnose.ThresholdOptions{},
			"client bracket [3000, 3500) 2/1", "server nothing_lost [100, 0) 3/0", "t 3500/35 1 | 3000→30 above 1+0 below 0+2 | 3499→34 above 1+0 below 0+2"},
		{"no size", answered + "\n40 > req 3 name=t bytes=100\n9000 > ntf - method=notifications/cancelled request_id=3",
			server("40 > req 3 name=t bytes=100\n50 < res 3"), diagnose.ThresholdOptions{},
			"client unsized [3000, 0) 2/0", "server nothing_lost [100, 0) 3/0", "t 0/0 0"},
		{"rows 0, and more rows than bytes", strings.ReplaceAll(answered, "bytes=2000", "bytes=2000 rows=0"), strings.ReplaceAll(answered, "bytes=3000", "bytes=3000 rows=9007199254740993"),
			diagnose.ThresholdOptions{Tool: "t"}, "client nothing_lost [3000, 0) 2/0", "server nothing_lost [100, 0) 2/0", "t 0/0 0"},
		{"a lost request", answered + "\n40 > req 3 name=t bytes=5000\n50 > req 4 name=t bytes=100\n60 < res 4 bytes=100\n9000 > ntf - method=notifications/cancelled request_id=3",
			server("50 > req 4 name=t bytes=100\n60 < res 4 bytes=100"), diagnose.ThresholdOptions{},
			"client nothing_lost [3000, 0) 3/0", "server bracket [100, 5000) 3/1 4096", ""},
		{"still open", answered + "\n40 > req 3 name=t bytes=100", server("40 > req 3 name=t bytes=100\n50 < res 3 bytes=10"), diagnose.ThresholdOptions{},
			"client nothing_lost [3000, 0) 2/0", "server nothing_lost [100, 0) 3/0", ""},
		{"a ceiling beyond all numbers", answered, server("40 > req 3 name=t bytes=10\n50 < res 3 bytes=10 rows=10"),
			diagnose.ThresholdOptions{Ceiling: 1<<63 - 1}, "client nothing_lost [3000, 0) 2/0", "server nothing_lost [100, 0) 3/0", "t 10/10 1 | 9223372036854775807→9223372036854775807 above 0+0 below 0+2"},
	} {
		th := thresholdOf(t, c.client, c.server, c.options)
		if got := sayBracket(th.Brackets[0]); got != c.answers {
			t.Errorf("%s: answers %s, want %s", c.name, got, c.answers)
		}
		if got := sayBracket(th.Brackets[1]); got != c.requests {
			t.Errorf("%s: requests %s, want %s", c.name, got, c.requests)
		}
		if got := sayTools(th); got != c.tools {
			t.Errorf("%s: tools %s, want %s", c.name, got, c.tools)
		}
	}
}

// TestThresholdOneLog: one log shows sizes, never a loss.
func TestThresholdOneLog(t *testing.T) {
	server := logtest.Read(t, frame.Server, "0 > req 1 name=t bytes=100\n10 < res 1 bytes=2000 rows=20")
	th := threshold(t, logtest.Diagnose(t, server), diagnose.ThresholdOptions{})
	if th.Brackets[0].State != diagnose.OneLog || sayTools(th) != "t 2000/20 1" {
		t.Errorf("%s, %s", sayBracket(th.Brackets[0]), sayTools(th))
	}
}

// TestThresholdOtherCause: a loss with a cause of its own is counted, and said to be no witness.
func TestThresholdOtherCause(t *testing.T) {
	th := threshold(t, diagnoseFolder(t, "testdata/cases/18-alb-60s-idle"), diagnose.ThresholdOptions{})
	if got := th.Brackets[0].Otherwise; len(got) != 1 || got[0] != diagnose.SSEDropped {
		t.Error(got)
	}
	if th.Brackets[0].Frames != ingest.Answer {
		t.Error("the answers come first")
	}
}
