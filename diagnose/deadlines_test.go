package diagnose_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// sayPatience spells the clusters, and what is besides.
func sayPatience(p *diagnose.Patience) string {
	var all []string
	for _, c := range p.Clusters {
		s := fmt.Sprintf("%d×%v (%v–%v)", len(c.Waits), c.Median, c.Min, c.Max)
		for _, n := range []struct {
			n    int
			word string
		}{{c.Progress, "progress"}, {c.Late, "late"}, {c.KeptAlive.N, "kept alive"}, {c.Exempt.N, "exempt"}} {
			if n.n > 0 {
				s += fmt.Sprintf(" %d %s", n.n, n.word)
			}
		}
		if c.Known != "" {
			s += " known"
		}
		all = append(all, s)
	}
	for _, g := range p.Idle {
		all = append(all, fmt.Sprintf("idle %v", g.Silence))
	}
	if p.Answered > 0 {
		all = append(all, fmt.Sprintf("longest %v", p.Longest.For))
	}
	if u := p.Unanswered; u.N > 0 {
		all = append(all, fmt.Sprintf("%d waiting (%d) %v–%v", u.N, u.Timed, u.Least, u.Most))
	}
	for _, n := range []struct {
		n    int
		word string
	}{{p.Untimed, "untimed"}, {p.Stepped, "stepped"}, {p.Refused, "refused"}, {p.Untold, "untold"}, {p.ByDesign, "design"}} {
		if n.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n.n, n.word))
		}
	}
	return strings.Join(all, "; ")
}

// gaveUp writes calls that were cancelled after so many milliseconds.
func gaveUp(waits ...int) string {
	var b strings.Builder
	for i, w := range waits {
		fmt.Fprintf(&b, "%d > req %d name=t\n%d > ntf - method=notifications/cancelled request_id=%d\n", i*1000000, i, i*1000000+w, i)
	}
	return b.String()
}

func TestDeadlines(t *testing.T) {
	progress := func(from, to, step int) string {
		var b strings.Builder
		for at := from; at <= to; at += step {
			fmt.Fprintf(&b, "%d < ntf - method=notifications/progress request_id=9\n", at)
		}
		return b.String()
	}
	const day = 90000000
	kept := fmt.Sprintf("%d > req 9 name=t\n%s%d < res 9\n", day, progress(day+5000, day+90000, 5000), day+95000)
	for _, c := range []struct{ name, client, want string }{
		{"one deadline", gaveUp(60000, 60003, 60001), "3×1m0.001s (1m0s–1m0.003s) known"},
		{"two per cent are one cluster", gaveUp(10000, 10200), "2×10s (10s–10.2s) known"},
		{"more are two", gaveUp(10000, 10201), "1×10s (10s–10s) known; 1×10.201s (10.201s–10.201s)"},
		{"50 ms are one cluster, however short", gaveUp(100, 150), "2×100ms (100ms–150ms)"},
		{"51 ms are two", gaveUp(100, 151), "1×100ms (100ms–100ms); 1×151ms (151ms–151ms)"},
		{"from the first, not the neighbour", gaveUp(10000, 10150, 10300), "2×10s (10s–10.15s) known; 1×10.3s (10.3s–10.3s)"},
		{"no default", gaveUp(4432), "1×4.432s (4.432s–4.432s)"},
		{"none", "0 > req 1 name=t\n10 < res 1", "longest 10ms"},
		{"nothing asked", "0 < req 1 method=ping\n1 > res 1", ""},
		{"no times", "- > req 1 name=t\n- > ntf - method=notifications/cancelled request_id=1", "1 untimed"},
		{"the clock stepped", "60000 > req 1 name=t\n1000 > ntf - method=notifications/cancelled request_id=1", "1 stepped"},
		{"waiting", "0 > req 1 name=t\n100 > req 2 name=t\n4400 > ntf - method=notifications/x", "2 waiting (2) 4.3s–4.4s"},
		{"it closed its own side", "0 > req 1 name=t session=a\n100 > eof session=a\n5000 > ntf - method=notifications/x session=b", "1 waiting (1) 100ms–100ms"},
		{"open by design", "0 > req 1 method=subscriptions/listen\n4400 > ntf - method=notifications/x", "1 design"},
		{"refused", "0 > req 1 name=t\n100 < err null code=-32600 status=404", "1 refused"},
		{"two with one id", "0 > req 1 name=t\n1 > req 1 name=t\n2 < res 1", "2 untold"},
		{"late", gaveUp(60000) + "66000 < res 0", "1×1m0s (1m0s–1m0s) 1 late known"},
		{"kept alive by progress", gaveUp(60000) + kept, "1×1m0s (1m0s–1m0s) 1 kept alive known; longest 1m35s"},
		{"longer in silence", gaveUp(60000) + fmt.Sprintf("%d > req 9 name=t\n%d < res 9\n", day, day+95000), "1×1m0s (1m0s–1m0s) 1 exempt known; longest 1m35s"},
		{"progress without times", gaveUp(60000) + fmt.Sprintf("%d > req 9 name=t\n- < ntf - method=notifications/progress request_id=9\n%d < res 9\n", day, day+95000),
			"1×1m0s (1m0s–1m0s) known; longest 1m35s"},
		{"progress did not help", gaveUp(60000)[:0] + fmt.Sprintf("%d > req 9 name=t\n%s%d > ntf - method=notifications/cancelled request_id=9\n", day, progress(day+5000, day+55000, 5000), day+60001),
			"1×1m0.001s (1m0.001s–1m0.001s) 1 progress known"},
		{"idle", fmt.Sprintf("%d > req 9 name=t\n%s%d > ntf - method=notifications/cancelled request_id=9\n", day, progress(day+5000, day+15000, 5000), day+45002),
			"1×45.002s (45.002s–45.002s) 1 progress; idle 30.002s"},
		{"idle as long as the others wait", gaveUp(7000) + fmt.Sprintf("%d > req 9 name=t\n%s%d > ntf - method=notifications/cancelled request_id=9\n", day, progress(day+5000, day+5000, 5000), day+12003),
			"1×7s (7s–7s); 1×12.003s (12.003s–12.003s) 1 progress; idle 7.003s"},
	} {
		if got := sayPatience(diagnose.NewPatience(logtest.Read(t, frame.Client, c.client))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestDeadlinesOnSamples(t *testing.T) {
	for dir, want := range map[string]string{
		"../samples": "1×4.432s (4.432s–4.432s)",
		"testdata/cases/30-deadline-60s-late-answer": "1×1m0.004s (1m0.004s–1m0.004s) 1 late known; longest 15ms",
		"testdata/cases/32-progress-without-reset":   "1×1m0.001s (1m0.001s–1m0.001s) 1 progress 1 late known; longest 15ms",
		"testdata/cases/33-cancel-honoured-5s":       "1×5s (5s–5s) known; longest 15ms",
		"testdata/cases/06-block-buffer-burst":       "4×10s (10s–10s) 4 late known; longest 8.046s",
	} {
		if got := sayPatience(diagnose.NewPatience(logOf(t, dir, frame.Client))); got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
	p := diagnose.NewPatience(logOf(t, "../samples/incident", frame.Client))
	if len(p.Clusters) != 1 || len(p.Clusters[0].Waits) != 5 || p.Clusters[0].Known == "" || p.Longest.For.Round(time.Millisecond) != 8403*time.Millisecond {
		t.Error(sayPatience(p))
	}
}
