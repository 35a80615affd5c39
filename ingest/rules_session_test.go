package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// TestConnectionCuts: where one connection ends and the next starts, in logs that name no session.
func TestConnectionCuts(t *testing.T) {
	testFolds(t, []foldCase{
		{"an initialize", frame.Client, "0 > req 0 method=initialize\n1 > req 1\n10 > req 0 method=initialize\n11 > req 1\n12 < res 1",
			"1/0#1 request:1 closed; 1/1#1 request:2 closed; 2/0#1 request:3; 2/1#1 request:4 answer:5", ""},
		{"an initialize after nothing but another", frame.Client, "0 > req 0 method=initialize\n5000 > req 0 method=initialize\n5009 < res 0",
			"1/0#1 request:1 closed; 2/0#1 request:2 answer:3", ""},
		{"the first initialize cuts nothing, nor do notifications before it", frame.Client,
			"0 < ntf method=notifications/message\n1 > req 0 method=initialize\n5 < res 0", "0#1 request:2 answer:3", ""},
		{"open", frame.Server, "0 - open\n0 > req 1\n9 - open\n10 > req 1\n11 < res 1", "1/1#1 request:2 closed; 2/1#1 request:4 answer:5", ""},
		{"conn", frame.Server, "0 > req 1 conn=a\n10 > req 1 conn=b\n50 < res 1 conn=b\n60 < res 1 conn=a",
			"1/1#1 request:1 answer:4; 2/1#1 request:2 answer:3", ""},
		{"conn of HTTP exchanges", frame.Server, "0 > req 1 conn=a exchange=e1\n10 > req 2 conn=b exchange=e2\n50 < res 2 conn=b exchange=e2\n60 < res 1 conn=a exchange=e1",
			"1#1 request:1 answer:4; 2#1 request:2 answer:3", ""},
		{"pid", frame.Server, "0 > req 1 pid=71\n10 > req 1 pid=72\n11 < res 1 pid=72", "1/1#1 request:1; 2/1#1 request:2 answer:3", ""},
		{"ids that start again after an eof", frame.Client, "0 > req 1\n1 < res 1\n2 > req 2\n9 < eof\n20 > req 1\n21 > req 2\n22 < res 2",
			"1/1#1 request:1 answer:2; 1/2#1 request:3 closed; 2/1#1 request:5; 2/2#1 request:6 answer:7", ""},
		{"from 0, without an initialize", frame.Client, "0 > req 0 era=2026-07-28\n1 < res 0\n2 > req 1 era=2026-07-28\n9 < eof\n20 > req 0 era=2026-07-28\n22 < res 0",
			"1/0#1 request:1 answer:2 modern; 1/1#1 request:3 closed modern; 2/0#1 request:5 answer:6 modern", ""},
		{"ids that start again without an eof are ids used again", frame.Client, "0 > req 1\n1 < res 1\n2 > req 2\n3 < res 2\n20 > req 1",
			"1#1 request:1 answer:2; 2#1 request:3 answer:4; 1#2 request:5", "id_reused:1"},
		{"ids that fall, but not to the lowest", frame.Client, "0 > req 1\n1 < res 1\n2 > req 2\n3 < res 2\n4 > req 3\n9 < eof\n20 > req 2",
			"1#1 request:1 answer:2; 2#1 request:3 answer:4; 3#1 request:5; 2#2 request:7", "id_reused:1"},
		{"an eof alone cuts nothing: answers may follow it", frame.Server, "0 > req 1\n1 > req 2\n2 > eof\n9 < res 1\n10 < res 2",
			"1#1 request:1 answer:4; 2#1 request:2 answer:5", ""},
		{"requests may follow it too", frame.Client, "0 > req 1\n1 < res 1\n2 < eof\n3 > req 2", "1#1 request:1 answer:2; 2#1 request:4", ""},
		{"an answer in the next connection answers nothing of the last", frame.Client,
			"0 > req 0 method=initialize\n1 > req 1\n10 > req 0 method=initialize\n11 < res 1",
			"1/0#1 request:1 closed; 1/1#1 request:2 closed; 2/0#1 request:3; 2/1#1 answer:4", ""},
		{"a named session is never cut", frame.Client,
			"0 - open session=s\n1 > req 0 method=initialize session=s\n2 > req 1 session=s conn=a\n3 < eof session=s\n4 - open session=s\n5 > req 2 method=initialize session=s conn=b pid=3\n9 < res 1 session=s",
			"0#1 request:2; 1#1 request:3 answer:7; 2#1 request:6", ""},
		{"sessions that take turns", frame.Client, "0 > req 1 session=s\n1 > req 1 session=t\n2 < res 1 session=t\n3 < res 1 session=s",
			"1/1#1 request:1 answer:4; 2/1#1 request:2 answer:3", ""},
		{"events of one session wait for requests of their own", frame.Server, "0 < res 1 session=t\n0.1 > req 1 session=s",
			"2/1#1 request:2; 1/1#1 answer:1", ""},
	})
}

// TestConnectionNumbers: which stretch of the log, and which use of the id in the file.
func TestConnectionNumbers(t *testing.T) {
	l := logtest.Read(t, frame.Client, "0 > req 0 method=initialize\n1 > req 1\n10 > req 0 method=initialize\n11 > req 1\n12 < res 1\n13 > req 1\n14 > req 1 session=named")
	var got []string
	for i := range uint32(l.Halves()) {
		got = append(got, fmt.Sprintf("%s connection %d nth %d", l.ID(i), l.Stretches[l.Half(i).Stretch].Number, l.NthInFile(i)))
	}
	want := "0 connection 1 nth 1; 1 connection 1 nth 1; 0 connection 2 nth 2; 1 connection 2 nth 2; 1 connection 2 nth 3; 1 connection 1 nth 1"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("%s\nwant\n%s", s, want)
	}
}

// TestOrphans: answers and handler events whose request neither log has are findings, and no calls.
func TestOrphans(t *testing.T) {
	healthy := "0 > req 1\n9 < res 1\n"
	for _, tt := range []struct{ name, client, server, finding string }{
		{"an answer at the client", healthy + "500 < res 77", healthy, "orphan_response"},
		{"an answer at the server", healthy, healthy + "500 < res 77", "orphan_response"},
		{"an answer in both", healthy + "510 < res 77 bytes=9", healthy + "500 < res 77 bytes=9", "orphan_response"},
		{"a handler event is no answer", healthy, healthy + "500 > enter 77", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := logtest.Pair(t, tt.client, tt.server)
			if d.Summary.Calls != 1 || len(d.Calls) != 1 || d.Calls[0].Leaf != diagnose.AgentLevel {
				t.Errorf("calls\n%s", logtest.Say(d))
			}
			if n := len(logtest.Finding(d, "orphan_response")); n != len(strings.Fields(tt.finding)) {
				t.Errorf("%d findings of an orphan answer: %v", n, d.Findings)
			}
		})
	}
}

// TestInference: a trace of a call at the responder proves that it read the request, though its line is missing.
func TestInference(t *testing.T) {
	for _, tt := range []struct{ name, server, want string }{
		{"answer", "40 < res 5", "yyn written_not_read"},
		{"handler events", "40 > enter 5\n50 > exit 5", "ynn never_written"},
		{"handler and answer", "40 > enter 5\n50 > exit 5\n60 < res 5", "yyn written_not_read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			around := "1000 > req 9\n1001 < res 9"
			d := logtest.Pair(t, "0 > req 5\n"+around, tt.server+"\n"+around)
			c := logtest.Call(t, d, frame.Client, "5", 1)
			if got := logtest.SayQ(c.Q) + " " + logtest.Verdict(c); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if notes := strings.Join(d.NotesOf(c), "\n"); !strings.Contains(notes, "request line missing in server.log") {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

// TestAmbiguousVerdicts: calls that share an id in flight have no leaf; they are stalled only when answers are missing.
func TestAmbiguousVerdicts(t *testing.T) {
	requests := "0 > req 1\n100 > req 5 name=a\n150 > req 5 name=b\n"
	for _, tt := range []struct {
		name, client string
		stalled      bool
	}{
		{"one answer", "10 < res 1\n300 < res 5\n60000 > req 9\n60001 < res 9", true},
		{"two answers", "10 < res 1\n300 < res 5\n400 < res 5\n60000 > req 9\n60001 < res 9", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := logtest.Pair(t, requests+tt.client, requests+tt.client)
			for nth := 1; nth <= 2; nth++ {
				c := logtest.Call(t, d, frame.Client, "5", nth)
				if logtest.SayQ(c.Q) != "???" || c.Reason != diagnose.CannotTell || c.Stalled != tt.stalled || c.Nth() != nth {
					t.Errorf("%d: %s", nth, logtest.SayCall(c))
				}
				if got := c.Candidates(); len(got) != 1 || got[0].Nth() != 3-nth {
					t.Errorf("%d: candidates %v", nth, got)
				}
				if c.Causes[0].Name != diagnose.IDReusedInFlight || !c.Causes[0].Found {
					t.Errorf("%d: cause %s", nth, c.Causes[0].Name)
				}
			}
		})
	}
}
