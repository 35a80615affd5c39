package diagnose_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

const slowLimit = 2 * time.Second

// sayGroup spells a group: its counts, its totals and its unfinished.
func sayGroup(g *diagnose.ServiceGroup) string {
	s := fmt.Sprintf("%s %d answered", g.What(), g.Answered)
	for _, st := range []diagnose.Spread{g.Dispatch, g.Handler, g.Flush, g.Total} {
		s += fmt.Sprintf(" %d:%v", st.N, st.Max)
	}
	if g.Slow > 0 {
		s += fmt.Sprintf(" %d slow", g.Slow)
	}
	if u := g.Open; u.N > 0 {
		s += fmt.Sprintf(" %d open (%d) %v–%v", u.N, u.Timed, u.Least, u.Most)
	}
	if u := g.Cancelled; u.N > 0 {
		s += fmt.Sprintf(" %d cancelled %v–%v in %d left %d", u.N, u.Least, u.Most, u.InHandler, u.Left)
	}
	for _, n := range []struct {
		n    int
		word string
	}{{g.ByDesign, "design"}, {g.Untold, "untold"}, {g.Stepped, "stepped"}} {
		if n.n > 0 {
			s += fmt.Sprintf(" %d %s", n.n, n.word)
		}
	}
	return s
}

func sayService(s *diagnose.Service) string {
	var all []string
	for _, g := range s.Groups {
		all = append(all, sayGroup(g))
	}
	return strings.Join(all, "; ")
}

func logOf(t *testing.T, dir string, side frame.Side) *ingest.Log {
	t.Helper()
	for _, l := range diagnoseFolder(t, filepath.FromSlash(dir)).Logs {
		if l.Side == side {
			return l
		}
	}
	t.Fatal("no log")
	return nil
}

func TestStages(t *testing.T) {
	for _, c := range []struct{ name, server, want string }{
		{"whole", "0 > req 1 name=t\n1 > enter 1\n5 > exit 1\n7 < res 1", "t 1 answered 1:1ms 1:4ms 1:2ms 1:7ms"},
		{"no handler marks", "0 > req 1 name=t\n7 < res 1", "t 1 answered 0:0s 0:0s 0:0s 1:7ms"},
		{"no exit", "0 > req 1 name=t\n1 > enter 1\n7 < res 1", "t 1 answered 1:1ms 0:0s 0:0s 1:7ms"},
		{"no times", "- > req 1 name=t\n- > enter 1\n- > exit 1\n- < res 1", "t 1 answered 0:0s 0:0s 0:0s 0:0s"},
		{"the clock stepped", "5000 > req 1 name=t\n5001 > enter 1\n1000 > exit 1\n1007 < res 1", "t 1 answered 1:1ms 0:0s 1:7ms 0:0s 1 stepped"},
		{"slow", "0 > req 1 name=t\n2000 < res 1\n2001 > req 2 name=t\n2002 < res 2", "t 2 answered 0:0s 0:0s 0:0s 2:2s 1 slow"},
		{"open, to the log's end", "0 > req 1 name=t\n100 > req 2 name=t\n4400 > ntf - method=notifications/x",
			"t 0 answered 0:0s 0:0s 0:0s 0:0s 2 open (2) 4.3s–4.4s"},
		{"open, to its stream's end", "0 > req 1 name=t\n100 < eof\n9000 - gap", "t 0 answered 0:0s 0:0s 0:0s 0:0s 1 open (1) 100ms–100ms"},
		{"open, the stream ended before the log", "0 > req 1 name=t session=a\n100 < eof session=a\n9000 > req 1 name=u session=b\n9001 < res 1 session=b",
			"t 0 answered 0:0s 0:0s 0:0s 0:0s 1 open (1) 100ms–100ms; u 1 answered 0:0s 0:0s 0:0s 1:1ms"},
		{"open without times", "- > req 1 name=t", "t 0 answered 0:0s 0:0s 0:0s 0:0s 1 open (0) 0s–0s"},
		{"cancelled in the handler", "0 > req 1 name=t\n1 > enter 1\n50 > ntf - method=notifications/cancelled request_id=1\n900 > ntf - method=notifications/x",
			"t 0 answered 0:0s 0:0s 0:0s 0:0s 1 cancelled 900ms–900ms in 1 left 0"},
		{"cancel honoured", "0 > req 1 name=t\n1 > enter 1\n50 > ntf - method=notifications/cancelled request_id=1\n56 > exit 1\n900 > ntf - method=notifications/x",
			"t 0 answered 0:0s 0:0s 0:0s 0:0s 1 cancelled 56ms–56ms in 0 left 1"},
		{"open by design", "0 > req 1 method=subscriptions/listen\n900 > ntf - method=notifications/x", "subscriptions/listen 0 answered 0:0s 0:0s 0:0s 0:0s 1 design"},
		{"two with one id", "0 > req 1 name=t\n1 > req 1 name=t\n2 < res 1", "t 0 answered 0:0s 0:0s 0:0s 0:0s 2 untold"},
		{"resources by method", "0 > req 1 method=resources/read name=a\n1 < res 1\n2 > req 2 method=resources/read name=b\n4 < res 2",
			"resources/read 2 answered 0:0s 0:0s 0:0s 2:2ms"},
		{"only what it asked itself", "0 < req 1 method=ping\n1 > res 1", ""},
	} {
		if got := sayService(diagnose.NewService(logtest.Read(t, frame.Server, c.server), slowLimit)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestStagesOnSamples(t *testing.T) {
	s := diagnose.NewService(logOf(t, "../samples/incident", frame.Server), slowLimit)
	got := sayService(s)
	if want := "restart_service 0 answered 0:0s 0:0s 0:0s 0:0s 1 cancelled "; !strings.HasPrefix(got, want) {
		t.Errorf("%s", got)
	}
	if g := s.Groups[0]; g.Cancelled.InHandler != 1 || g.Cancelled.Most < 77*time.Second || g.Cancelled.Most > 79*time.Second {
		t.Errorf("%+v: its stream ended 105 s before its log", g.Cancelled)
	}
	client := diagnose.NewService(logOf(t, "../samples/incident", frame.Client), slowLimit)
	if client.Calls != 3 || client.Groups[0].What() != "elicitation/create" {
		t.Errorf("%s", sayService(client))
	}
	if s := diagnose.NewService(logOf(t, "../samples", frame.Server), slowLimit); sayService(s) != "search_invoices 1 answered 1:3ms 1:72ms 1:8ms 1:83ms" {
		t.Error(sayService(s))
	}
	if s := diagnose.NewService(logOf(t, "../samples", frame.Client), slowLimit); s.Calls != 0 {
		t.Error(sayService(s))
	}
}

// TestStagesNearestRank: of 100 calls of 1 to 100 ms the percentiles are calls, not something between two.
func TestStagesNearestRank(t *testing.T) {
	var b strings.Builder
	for i := 1; i <= 100; i++ {
		fmt.Fprintf(&b, "%d > req %d name=t\n%d < res %d\n", i*1000, i, i*1000+i, i)
	}
	g := diagnose.NewService(logtest.Read(t, frame.Server, b.String()), slowLimit).Groups[0]
	ms := time.Millisecond
	if want := (diagnose.Spread{N: 100, P50: 50 * ms, P95: 95 * ms, P99: 99 * ms, Max: 100 * ms}); g.Total != want {
		t.Errorf("%+v", g.Total)
	}
	if want := "{1ms 200ms [1 3 5 10 30 50 1]}"; fmt.Sprint(g.Histogram) != want {
		t.Errorf("%v, want %s", g.Histogram, want)
	}
}

func TestStagesHistogramEnds(t *testing.T) {
	for server, want := range map[string]string{
		"0 > req 1 name=t\n0 < res 1":                                               "{0s 1µs [1]}",
		"0 > req 1 name=t\n0 < res 1\n1 > req 2 name=t\n1.001 < res 2":              "{0s 2µs [1 1]}",
		"0 > req 1 name=t\n10 < res 1\n20 > req 2 name=t\n520 < res 2":              "{10ms 1s [1 0 0 0 0 1]}",
		"- > req 1 name=t mono_ns=0\n- < res 1 mono_ns=9000000000000000000":         "{1388888h53m20s 2562047h47m16.854775807s [1]}",
		"0 > req 1 name=t\n1 > ntf - method=notifications/x\n2 > req 2 method=ping": "{0s 0s []}",
	} {
		got := fmt.Sprint(diagnose.NewService(logtest.Read(t, frame.Server, server), slowLimit).Groups[0].Histogram)
		if got != want {
			t.Errorf("%q: %s, want %s", server, got, want)
		}
	}
}
