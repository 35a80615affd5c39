package join_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/join"
	"mcpdiag/report"
	"mcpdiag/samples/logtest"
)

// call writes an answered call from ms on; what follows the id goes to its request.
func call(ms int, id, rest string, session ...string) string {
	at := ""
	if len(session) > 0 {
		at = " session=" + session[0]
	}
	return fmt.Sprintf("%d > req %s %s%s\n%d < res %s%s\n", ms, id, rest, at, ms+9, id, at)
}

// TestPairing: which session of one log is which of the other.
func TestPairing(t *testing.T) {
	for _, tt := range []struct {
		name, client, server string
		want                 string // of each stretch of the client's log, the server's, from 1; - for none
		doubts               string
	}{
		{"by name", call(0, "1", "", "a") + call(10, "1", "", "b"), call(0, "1", "", "b") + call(10, "1", "", "a"), "2 1", ""},
		{"a name the other log does not have", call(0, "1", "", "a") + call(10, "1", "", "b"), call(0, "1", "", "b"), "- 1", ""},
		{"by agreement", "0 - open\n" + call(1, "1", "name=x bytes=5") + "9 - open\n" + call(20, "1", "name=y bytes=7"),
			"0 - open\n" + call(1, "1", "name=y bytes=7"), "- 1", ""},
		{"by agreement, in another order", "0 - open\n" + call(1, "1", "name=x") + "9 - open\n" + call(20, "2", "name=y"),
			"0 - open\n" + call(1, "2", "name=y") + "9 - open\n" + call(20, "1", "name=x"), "2 1", ""},
		{"of equals, by place from the end", "0 - open\n" + call(1, "1", "") + "9 - open\n" + call(20, "1", "") + "30 - open\n" + call(40, "1", ""),
			"0 - open\n" + call(1, "1", "") + "9 - open\n" + call(20, "1", ""), "- 1 2", "runner_up"},
		{"one log names it, the other does not", call(0, "1", "name=x", "a"), call(0, "1", "name=x"), "1", ""},
		{"a proxy changed the sizes", call(0, "1", "name=x bytes=5"), call(0, "1", "name=x bytes=6"), "1", ""},
		{"nothing in common", call(0, "1", "name=x"), call(0, "800", "name=y bytes=3"), "-", "nothing_in_common"},
		{"a session without calls", call(0, "1", "name=x"), "0 > ntf method=notifications/initialized", "1", ""},
		{"the server cut it by conn, the client did not", call(0, "1", "name=x") + call(20, "2", "name=y"),
			call(0, "1", "name=x conn=a") + call(20, "2", "name=y conn=b"), "1+2", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, server := logtest.Read(t, frame.Client, tt.client), logtest.Read(t, frame.Server, connections(tt.server))
			a, doubts := join.Align([]*ingest.Log{client, server})
			if got := sayPairs(a); got != tt.want {
				t.Errorf("pairs %q, want %q", got, tt.want)
			}
			var kinds []string
			for _, d := range doubts {
				if len(kinds) == 0 || kinds[len(kinds)-1] != d.Kind {
					kinds = append(kinds, d.Kind)
				}
			}
			if got := strings.Join(kinds, " "); got != tt.doubts {
				t.Errorf("doubts %q, want %q", got, tt.doubts)
			}
			swapped, _ := join.Align([]*ingest.Log{server, client})
			if got := sayPairs(swapped); got != tt.want {
				t.Errorf("given the other way round: pairs %q, want %q", got, tt.want)
			}
		})
	}
}

// connections gives each answer the conn of its request, which stands on the line before.
func connections(script string) string {
	lines := strings.Split(script, "\n")
	for i, l := range lines {
		if _, conn, ok := strings.Cut(l, "conn="); ok && i+1 < len(lines) && strings.Contains(lines[i+1], "< res") {
			lines[i+1] += " conn=" + conn
		}
	}
	return strings.Join(lines, "\n")
}

func sayPairs(a *ingest.Alignment) string {
	var out []string
	for c, p := range a.Pair[frame.Client] {
		s := ""
		for k, q := range a.Pair[frame.Server] {
			if p == q {
				s += fmt.Sprintf("+%d", k+1)
			}
		}
		if known := a.Known[frame.Client][c]; known != (s != "") {
			s += "?"
		}
		if s == "" {
			s = "-"
		}
		out = append(out, strings.TrimPrefix(s, "+"))
	}
	return strings.Join(out, " ")
}

// TestRenumbered: a gateway between the two logs rewrites the ids. Nothing is joined, and it is said.
func TestRenumbered(t *testing.T) {
	var client, server strings.Builder
	for i, tool := range []string{"list", "fetch", "store", "list", "drop", "fetch"} {
		client.WriteString(call(100*i, fmt.Sprint(i+1), fmt.Sprintf("name=%s bytes=%d", tool, 80+i), "s"))
		server.WriteString(call(100*i, fmt.Sprint(i+3), fmt.Sprintf("name=%s bytes=%d", tool, 80+i), "s"))
	}
	d := logtest.Pair(t, client.String(), server.String())
	if d.Summary.Calls != 12 || d.Summary.NoLeaf != 12 {
		t.Errorf("joined:\n%s", logtest.Say(d))
	}
	if len(logtest.Finding(d, "ids_renumbered")) != 1 {
		t.Errorf("findings %v", d.Findings)
	}
	for _, c := range d.Calls {
		if c.Causes[0].Name != diagnose.IDsRenumbered {
			t.Errorf("%s: cause %s", logtest.SayCall(c), c.Causes[0].Name)
		}
	}
}

// TestOccurrences: which use of an id here is which there.
func TestOccurrences(t *testing.T) {
	uses := func(list string) string {
		var b strings.Builder
		for i, name := range strings.Fields(list) {
			b.WriteString(call(100*i, "1", "era=2026-07-28 name="+name, "s"))
		}
		return b.String()
	}
	for _, tt := range []struct{ name, client, server, want string }{
		{"all there", "a b c", "a b c", "a-a b-b c-c"},
		{"the server's log started late", "a b c d", "c d", "a- b- c-c d-d"},
		{"the client's log started late", "c d", "a b c d", "-a -b c-c d-d"},
		{"one lost in the middle", "a b c d", "a c d", "a-a b- c-c d-d"},
		{"one lost at the end", "a b c", "a b", "a-a b-b c-"},
		{"lost on both sides", "a b d e", "a c d e", "a-a b- -c d-d e-e"},
		{"equals: the head is lost", "a a a", "a a", "a- a-a a-a"},
		{"equals, then another", "a a a b", "a a b", "a- a-a a-a b-b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := logtest.Pair(t, uses(tt.client), uses(tt.server))
			want := map[string]int{}
			for _, w := range strings.Fields(tt.want) {
				want[w]++
			}
			for _, c := range d.Calls {
				got := "-"
				if c.Sent.OK() {
					got = c.Sent.Log.Name(c.Sent.N) + got
				}
				if c.Served.OK() {
					got += c.Served.Log.Name(c.Served.N)
				}
				want[got]--
			}
			for w, n := range want {
				if n != 0 {
					t.Errorf("%s: %d too few, want %s", w, n, tt.want)
				}
			}
		})
	}
}

// TestConstantID: a client that gives every request the id 1, one after the other.
func TestConstantID(t *testing.T) {
	var client, server strings.Builder
	for i := range 50 {
		rest := fmt.Sprintf("era=2026-07-28 name=t%d bytes=%d", i%3, 80+i)
		client.WriteString(call(100*i, "1", rest))
		if i >= 10 && i != 30 {
			server.WriteString(call(100*i, "1", rest))
		}
	}
	d := logtest.Pair(t, client.String(), server.String())
	for i, c := range d.Calls {
		want := "yyy agent_level"
		switch {
		case i < 10:
			want = "??y log_incomplete"
		case i == 30:
			want = "nny log_incomplete"
		}
		if got := logtest.SayQ(c.Q) + " " + logtest.Verdict(c); got != want || c.Nth() != i+1 {
			t.Errorf("use %d (nth %d): %s, want %s", i+1, c.Nth(), got, want)
		}
	}
}

// TestSwappedArguments: logs that are given the wrong way round are read as given, and it is noticed.
func TestSwappedArguments(t *testing.T) {
	client, server := logtest.Text(frame.Client, call(0, "1", "", "s")), logtest.Text(frame.Server, call(0, "1", "", "s"))
	d := logtest.Diagnose(t, logtest.ReadText(t, frame.Client, server), logtest.ReadText(t, frame.Server, client))
	if f := logtest.Finding(d, "swapped"); len(f) != 1 || f[0].Severity != "error" {
		t.Errorf("findings %v", d.Findings)
	}
	d = logtest.Diagnose(t, logtest.ReadText(t, frame.Client, client), logtest.ReadText(t, frame.Server, server))
	if len(d.Findings) != 0 {
		t.Errorf("findings %v", d.Findings)
	}
}

// sessionScripts makes n sessions with calls of every fate; the lines are grouped by session.
func sessionScripts(n int) (client, server [][]string) {
	for s := range n {
		var a, b []string
		name := fmt.Sprintf(" session=s%d", s)
		a, b = append(a, "0 > req 0 method=initialize"+name, "9 < res 0"+name), append(b, "3 > req 0 method=initialize"+name, "5 < res 0"+name)
		for i := 1; i < 8; i++ {
			at := 1000 * i
			a = append(a, fmt.Sprintf("%d > req %d name=t%d bytes=%d%s", at, i, i%3, 80+i, name))
			if i%4 != 1 {
				b = append(b, fmt.Sprintf("%d > req %d name=t%d bytes=%d%s", at+2, i, i%3, 80+i, name))
			}
			if i%4 == 3 || i%4 == 0 {
				b = append(b, fmt.Sprintf("%d < res %d bytes=%d%s", at+20, i, 900+100*((i+s)%5), name))
			}
			if i%4 == 0 {
				a = append(a, fmt.Sprintf("%d < res %d bytes=%d%s", at+30, i, 900+100*((i+s)%5), name))
			}
		}
		a, b = append(a, "9000 > eof"+name), append(b, "9001 > eof"+name)
		client, server = append(client, a), append(server, b)
	}
	return client, server
}

// interleave merges lists at random, each in its own order.
func interleave(r *rand.Rand, lists [][]string) string {
	var out []string
	at := make([]int, len(lists))
	for {
		var left []int
		for i := range lists {
			if at[i] < len(lists[i]) {
				left = append(left, i)
			}
		}
		if len(left) == 0 {
			return strings.Join(out, "\n")
		}
		i := left[r.IntN(len(left))]
		out = append(out, lists[i][at[i]])
		at[i]++
	}
}

// sayVerdicts spells the verdicts of a session, with what does not depend on line numbers.
func sayVerdicts(d *diagnose.Diagnosis, session string) string {
	var b strings.Builder
	for _, c := range d.Calls {
		if c.Session() == session {
			cause := ""
			if len(c.Causes) > 0 {
				cause = c.Causes[0].Name
			}
			fmt.Fprintf(&b, "%s nth %d %v %v %v %s\n", logtest.SayCall(c), c.Nth(), c.Stages(), c.Wait(), c.CancelAfter(), cause)
		}
	}
	return b.String()
}

// TestOtherSessionsDoNotMatter: a call's verdict depends on its own session, however the others' lines stand around it and
// whether they are there at all.
func TestOtherSessionsDoNotMatter(t *testing.T) {
	const n = 5
	client, server := sessionScripts(n)
	r := rand.New(rand.NewPCG(47, 418))
	straight := logtest.Pair(t, interleave(r, client), interleave(r, server))
	for s := range n {
		session := fmt.Sprintf("s%d", s)
		want := sayVerdicts(straight, session)
		if strings.Count(want, "\n") != 8 || !strings.Contains(want, "never_arrived") || !strings.Contains(want, "written_not_read") {
			t.Fatalf("session %s:\n%s", session, want)
		}
		alone := logtest.Pair(t, strings.Join(client[s], "\n"), strings.Join(server[s], "\n"))
		if got := sayVerdicts(alone, session); got != want {
			t.Errorf("session %s alone:\n%s\nwith others:\n%s", session, got, want)
		}
		for round := range 4 {
			order := r.Perm(n)
			var a, b [][]string
			for _, k := range order {
				if k == s || round < 2 || r.IntN(2) == 0 {
					a, b = append(a, client[k]), append(b, server[k])
				}
			}
			if got := sayVerdicts(logtest.Pair(t, interleave(r, a), interleave(r, b)), session); got != want {
				t.Errorf("session %s, round %d:\n%s\nwant\n%s", session, round, got, want)
			}
		}
	}
}

// TestSameInputSameOutput: three runs, the same bytes.
func TestSameInputSameOutput(t *testing.T) {
	client, server := sessionScripts(6)
	r := rand.New(rand.NewPCG(1, 2))
	a, b := interleave(r, client)+"\n!oops\n", "!oops\n"+interleave(r, server)
	var first string
	for run := range 3 {
		d := logtest.Pair(t, a, b)
		var out bytes.Buffer
		if err := report.JSON(&out, d, report.Style{All: true}); err != nil {
			t.Fatal(err)
		}
		if err := report.Text(&out, d, report.Style{All: true}); err != nil {
			t.Fatal(err)
		}
		if run == 0 {
			first = out.String()
		} else if out.String() != first {
			t.Errorf("run %d differs", run+1)
		}
	}
}
