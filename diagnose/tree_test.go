package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// triple is what the two logs show of call 5: its request read, its answer written, its answer read by the requester.
type triple struct{ read, written, got bool }

func triples() []triple {
	var out []triple
	for n := range 8 {
		out = append(out, triple{n&4 > 0, n&2 > 0, n&1 > 0})
	}
	return out
}

func (x triple) String() string { return fmt.Sprintf("%t-%t-%t", x.read, x.written, x.got) }

func (x triple) served() bool { return x.read || x.written }

// circumstance is what stands around call 5, and what that takes from the evidence.
type circumstance struct {
	name         string
	order        string // the calls in the order of both logs; "5" is the one that is looked at, the others are healthy
	serverSkips  string // calls that the server's log does not have
	session      string // of call 5, in both logs; the others are of s1
	clientAt     string // a line in the client's log while call 5 is outstanding there
	serverAt     string // and in the server's, while it is outstanding there or would be
	serverBefore string // and before its request there
	clientEnd    string // the last line of the client's log
	serverEnd    string
	blind        dialect.Sees // what the server's dialect cannot show
	noServer     bool         // there is no server's log
	elsewhere    bool         // absence of the whole call from the server's log proves nothing
	answerHidden bool         // absence of an answer from the server's log proves nothing
	unseen       bool         // absence of an answer from the client's log proves nothing
}

const cutLine = `!{"ts":"2026-03-02T09:00:07.9Z","si\`

func circumstances() []circumstance {
	return []circumstance{
		{name: "covered", order: "159"},
		{name: "first of all", order: "519", elsewhere: true},
		{name: "last of all", order: "195"},
		{name: "the server has no record of the session", order: "5", elsewhere: true},
		{name: "the server has records of the session but no call", order: "5", serverBefore: "0 > ntf method=notifications/initialized session=s1"},
		{name: "before the first shared call", order: "159", serverSkips: "1", elsewhere: true},
		{name: "before the first shared call, long", order: "1529", serverSkips: "12", elsewhere: true},
		{name: "session unknown", order: "159", session: "t", elsewhere: true},
		{name: "bad line at the server while outstanding", order: "159", serverAt: "!half a li", answerHidden: true},
		{name: "gap at the server while outstanding", order: "159", serverAt: "150 - gap dropped=3", answerHidden: true},
		{name: "NUL hole at the server while outstanding", order: "159", serverAt: "!\x00\x00\x00", answerHidden: true},
		{name: "bad line at the client while outstanding", order: "159", clientAt: "!half a li", unseen: true},
		{name: "gap at the client while outstanding", order: "159", clientAt: "150 - gap dropped=1", unseen: true},
		{name: "bad line at the server before it", order: "159", serverBefore: "!half a li"},
		{name: "bad line at the server's end", order: "159", serverEnd: "!half a li", answerHidden: true},
		{name: "bad line at the client's end", order: "159", clientEnd: "!half a li", unseen: true},
		{name: "cut tail at the server, last", order: "195", serverEnd: cutLine, elsewhere: true, answerHidden: true},
		{name: "cut tail at the server, not last", order: "159", serverEnd: cutLine, answerHidden: true},
		{name: "cut tail at the client", order: "195", clientEnd: cutLine, unseen: true},
		{name: "dialect without answers", order: "159", blind: dialect.Responses, answerHidden: true},
		{name: "dialect without requests", order: "159", blind: dialect.Requests, elsewhere: true},
		{name: "client alone", order: "159", noServer: true, elsewhere: true},
	}
}

// expected writes the rules of design.md §1 and §2 down once more.
func expected(x triple, c circumstance) (q [3]diagnose.Truth, verdict string) {
	yesNo := map[bool]diagnose.Truth{true: diagnose.Yes, false: diagnose.No}
	served, written := x.served(), x.written
	if c.noServer { // what was read had been written, and what was written had been asked: the one inference of a lone log
		served, written = x.got, x.got
	}
	switch { // §1: a trace of the call at the responder proves that it read the request
	case served:
		q[0] = diagnose.Yes
	case !c.elsewhere:
		q[0] = diagnose.No
	}
	switch {
	case written, served && x.got && c.blind&dialect.Responses != 0: // what was read had been written, where the log cannot show it
		q[1] = diagnose.Yes
	case served && !c.answerHidden, !served && !c.elsewhere:
		q[1] = diagnose.No
	}
	if x.got || !c.unseen {
		q[2] = yesNo[x.got]
	}
	switch fmt.Sprint(q) {
	case fmt.Sprint([3]diagnose.Truth{diagnose.Yes, diagnose.Yes, diagnose.Yes}):
		return q, "agent_level"
	case fmt.Sprint([3]diagnose.Truth{diagnose.Yes, diagnose.Yes, diagnose.No}):
		return q, "written_not_read"
	}
	switch {
	case q[2] == diagnose.Yes: // read and, by the other log, never written
		return q, "log_incomplete"
	case q[0] == diagnose.No:
		return q, "never_arrived"
	case q[0] == diagnose.Yes && q[1] == diagnose.No:
		return q, "never_written"
	}
	return q, "cannot_tell"
}

// scripts writes the two logs of a triple in its circumstance.
func (c circumstance) scripts(x triple) (client, server string) {
	var a, b []string
	for i, r := range c.order {
		at := 1000 * i
		id, session := string(r), "s1"
		if id == "5" && c.session != "" {
			session = c.session
		}
		line := func(ms int, rest string) string { return fmt.Sprintf("%d %s session=%s", at+ms, rest, session) }
		a = append(a, line(0, "> req "+id+" bytes=80"))
		target := id == "5"
		if target {
			a = append(a, c.clientAt)
		}
		if !target || x.got {
			a = append(a, line(90, "< res "+id+" bytes=700"))
		}
		if strings.ContainsRune(c.serverSkips, r) {
			continue
		}
		if target {
			b = append(b, c.serverBefore)
		}
		if !target || x.read {
			b = append(b, line(20, "> req "+id+" bytes=80"))
		}
		if target {
			b = append(b, c.serverAt)
		}
		if !target || x.written {
			b = append(b, line(70, "< res "+id+" bytes=700"))
		}
	}
	join := func(lines []string, end string) string {
		return strings.Join(append(lines, end), "\n")
	}
	return join(a, c.clientEnd), join(b, c.serverEnd)
}

func (c circumstance) diagnose(t *testing.T, x triple) *diagnose.Diagnosis {
	t.Helper()
	client, server := c.scripts(x)
	logs := []*ingest.Log{logtest.Read(t, frame.Client, client)}
	if !c.noServer {
		l := logtest.Read(t, frame.Server, server)
		d := *l.Dialect
		d.Sees &^= c.blind
		l.Dialect = &d
		logs = append(logs, l)
	}
	return logtest.Diagnose(t, logs...)
}

// TestTree runs the eight triples through every circumstance.
func TestTree(t *testing.T) {
	for _, c := range circumstances() {
		for _, x := range triples() {
			t.Run(c.name+"/"+x.String(), func(t *testing.T) {
				t.Parallel()
				d := c.diagnose(t, x)
				call := logtest.Call(t, d, frame.Client, "5", 1)
				q, verdict := expected(x, c)
				if call.Q != q || logtest.Verdict(call) != verdict {
					client, server := c.scripts(x)
					t.Errorf("%s %s, want %s %s\nclient:\n%s\nserver:\n%s", logtest.SayQ(call.Q), logtest.Verdict(call), logtest.SayQ(q), verdict, client, server)
				}
				if noted := strings.Contains(strings.Join(d.NotesOf(call), "\n"), "request line missing"); noted != (x.written && !x.read && !c.noServer) {
					t.Errorf("request line missing: %t", noted)
				}
				for _, other := range d.Calls {
					if other != call && other.Leaf != diagnose.AgentLevel && c.serverSkips == "" && !c.noServer {
						t.Errorf("the neighbour is %s", logtest.SayCall(other))
					}
				}
			})
		}
	}
}

// TestTreeClosed makes sure that the rules as written down here reach every leaf, and that what has none is one of two reasons.
func TestTreeClosed(t *testing.T) {
	leaves := map[string]int{}
	for _, c := range circumstances() {
		for _, x := range triples() {
			_, v := expected(x, c)
			leaves[v]++
		}
	}
	for _, l := range diagnose.Leaves() {
		if leaves[string(l)] == 0 {
			t.Errorf("no triple is %s", l)
		}
		delete(leaves, string(l))
	}
	if delete(leaves, "log_incomplete"); len(leaves) != 1 || leaves["cannot_tell"] == 0 {
		t.Errorf("others: %v", leaves)
	}
}

// TestServedOnly looks at calls that the requester's log does not have: it started late, or there is none.
func TestServedOnly(t *testing.T) {
	shared := "1000 > req 9 session=s1\n1050 < res 9 session=s1\n"
	for _, tt := range []struct {
		name   string
		client string // "" is no client's log
		server string
		want   string
	}{
		{"client late, answered", shared, "0 > req 5 session=s1\n50 < res 5 session=s1\n" + shared, "yy? log_incomplete"},
		{"client late, not answered", shared, "0 > req 5 session=s1\n" + shared, "yn? never_written"},
		{"client late, bad line", shared, "0 > req 5 session=s1\n!oops\n" + shared, "y?? cannot_tell"},
		{"server alone, answered", "", "0 > req 5 session=s1\n50 < res 5 session=s1\n", "yy? cannot_tell"},
		{"server alone, not answered", "", "0 > req 5 session=s1\n" + shared, "yn? never_written"},
		{"client has the answer alone", "0 < res 5 session=s1\n" + shared, "0 > req 5 session=s1\n50 < res 5 session=s1\n" + shared, "yyy agent_level"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			logs := []*ingest.Log{logtest.Read(t, frame.Server, tt.server)}
			if tt.client != "" {
				logs = append([]*ingest.Log{logtest.Read(t, frame.Client, tt.client)}, logs...)
			}
			c := logtest.Call(t, logtest.Diagnose(t, logs...), frame.Client, "5", 1)
			if got := logtest.SayQ(c.Q) + " " + logtest.Verdict(c); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestTreeOfServerRequests swaps the roles: the server asks, the client answers.
func TestTreeOfServerRequests(t *testing.T) {
	healthy := "0 < req 1 method=ping session=s1\n9 > res 1 session=s1\n"
	tail := "900 < req 9 method=ping session=s1\n909 > res 9 session=s1\n"
	for _, x := range triples() {
		t.Run(x.String(), func(t *testing.T) {
			t.Parallel()
			server, client := healthy+"100 < req 5 method=roots/list session=s1\n", healthy
			if x.read {
				client += "110 < req 5 method=roots/list session=s1\n"
			}
			if x.written {
				client += "120 > res 5 session=s1\n"
			}
			if x.got {
				server += "130 > res 5 session=s1\n"
			}
			c := logtest.Call(t, logtest.Pair(t, client+tail, server+tail), frame.Server, "5", 1)
			q, verdict := expected(x, circumstance{})
			if c.Q != q || logtest.Verdict(c) != verdict {
				t.Errorf("%s %s, want %s %s", logtest.SayQ(c.Q), logtest.Verdict(c), logtest.SayQ(q), verdict)
			}
		})
	}
}

// TestEmptyServerLog blames nobody when the server's log has nothing.
func TestEmptyServerLog(t *testing.T) {
	d := logtest.Pair(t, "0 > req 5\n100 > req 6\n110 < res 6", "")
	for _, id := range []string{"5", "6"} {
		if c := logtest.Call(t, d, frame.Client, id, 1); c.Leaf != diagnose.NoLeaf || c.Q[0] != diagnose.Unknown || c.Q[1] != diagnose.Unknown {
			t.Errorf("%s", logtest.SayCall(c))
		}
	}
	if w := strings.Join(d.LogWarnings(d.Log(frame.Server)), "\n"); !strings.Contains(w, "server log is empty") {
		t.Errorf("the server's log is said to be %q", w)
	}
}
