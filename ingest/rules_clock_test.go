package ingest_test

import (
	"strings"
	"testing"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// TestClocks: times subtract only within one clock; the monotonic one when both ends have it.
func TestClocks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script string // a server's log with call 1
		want   string // its time from read to written, or "?"
		notes  string
	}{
		{"wall", "0 > req 1\n83 < res 1", "83ms", ""},
		{"monotonic before wall", "0 > req 1 mono_ns=1000000\n500 < res 1 mono_ns=84000000", "83ms", ""},
		{"monotonic alone", "- > req 1 mono_ns=1000000\n- < res 1 mono_ns=84000000", "83ms", ""},
		{"one end has no monotonic time", "0 > req 1 mono_ns=1000000\n90 < res 1", "90ms", ""},
		{"the other end has none", "0 > req 1\n90 < res 1 mono_ns=84000000", "90ms", ""},
		{"no reading in common", "- > req 1 mono_ns=1000000\n90 < res 1", "?", ""},
		{"no time", "- > req 1\n- < res 1", "?", ""},
		{"a fall is a new clock", "0 > req 1 mono_ns=9000000000\n90 < res 1 mono_ns=5000000", "90ms", "clock_step:0"},
		{"a fall without wall times", "- > req 1 mono_ns=9000000000\n- < res 1 mono_ns=5000000", "?", ""},
		{"another pid is another clock", "0 > req 1 session=s pid=7 mono_ns=1000000\n90 < res 1 session=s pid=8 mono_ns=84000000", "90ms", ""},
		{"one named clock", "0 > req 1 clock=a mono_ns=1000000\n500 < res 1 clock=a mono_ns=84000000", "83ms", ""},
		{"two named clocks", "0 > req 1 clock=a mono_ns=1000000\n500 < res 1 clock=b mono_ns=84000000", "500ms", ""},
		{"two named clocks, no wall", "- > req 1 clock=a mono_ns=1000000\n- < res 1 clock=b mono_ns=84000000", "?", ""},
		{"the wall clock is stepped, the monotonic is right", "0 > req 1 mono_ns=1000000\n3600000 < res 1 mono_ns=84000000", "83ms", "clock_step:1"},
		{"the wall clock goes back", "5000 > req 1\n90 < res 1", "?", "clock_back:1"},
		{"a difference of zero is a time", "5 > req 1\n5 < res 1", "0s", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := logtest.Read(t, frame.Server, tt.script)
			c := &diagnose.Call{Requester: frame.Client, Served: diagnose.Half{Log: l, N: 0}}
			got := "?"
			if s := c.Stages().Total; s.OK {
				got = s.D.String()
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if want := strings.TrimSuffix(tt.notes, "clock_step:0"); sayNotes(l) != want {
				t.Errorf("notes %q, want %q", sayNotes(l), want)
			}
		})
	}
}

// TestClockStepNote: a negative difference is said to be a stepped clock, never shown as a time.
func TestClockStepNote(t *testing.T) {
	d := logtest.Pair(t, "0 > req 1\n10 < res 1", "5000 > req 1\n90 < res 1")
	c := logtest.Call(t, d, frame.Client, "1", 1)
	if notes := strings.Join(d.NotesOf(c), "\n"); !strings.Contains(notes, "clock stepped in server.log") {
		t.Errorf("notes %q", notes)
	}
}

// TestNoTimeAcrossLogs: readings of two logs have nothing in common, named clocks or not.
func TestNoTimeAcrossLogs(t *testing.T) {
	script := "0 > req 1 clock=a mono_ns=5\n9 < res 1 clock=a mono_ns=9"
	client, server := logtest.Read(t, frame.Client, script), logtest.Read(t, frame.Server, script)
	if d, ok := server.At(0, ingest.Answer).Sub(client.At(0, ingest.Request)); ok {
		t.Errorf("%v between two logs", d)
	}
}

// TestStagesAddUp: a missing mark makes its neighbours unknown, what is known has residual 0.
func TestStagesAddUp(t *testing.T) {
	for _, tt := range []struct{ script, want string }{
		{"0 > req 1\n3 > enter 1\n75 > exit 1\n83 < res 1", "3ms 72ms 8ms 83ms 0s"},
		{"0.0004 > req 1\n3.0005 > enter 1\n75.3337 > exit 1\n83.1 < res 1", "3.0001ms 72.3332ms 7.7663ms 83.0996ms 0s"},
		{"0 > req 1\n75 > exit 1\n83 < res 1", "? ? 8ms 83ms ?"},
		{"0 > req 1\n3 > enter 1\n83 < res 1", "3ms ? ? 83ms ?"},
		{"0 > req 1\n3 > enter 1\n75 > exit 1", "3ms 72ms ? ? ?"},
		{"0 > req 1\n- > enter 1\n75 > exit 1\n83 < res 1", "? ? 8ms 83ms ?"},
		{"3 > enter 1\n75 > exit 1\n83 < res 1", "? 72ms 8ms ? ?"},
	} {
		l := logtest.Read(t, frame.Server, tt.script)
		s := (&diagnose.Call{Served: diagnose.Half{Log: l, N: 0}}).Stages()
		var got []string
		for _, x := range []diagnose.Span{s.Dispatch, s.Handler, s.Flush, s.Total, s.Residual} {
			if word := "?"; x.OK {
				got = append(got, x.D.String())
			} else {
				got = append(got, word)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: %s, want %s", tt.script, got, tt.want)
		}
	}
}

// TestQuiet: the requester's silence after an answer.
func TestQuiet(t *testing.T) {
	for _, tt := range []struct {
		name, client string
		quiet        bool
	}{
		{"to the next request", "0 > req 1\n5 < res 1\n45005 > req 2\n45010 < res 2", true},
		{"to a notification", "0 > req 1\n5 < res 1\n30005 > ntf method=notifications/roots/list_changed", true},
		{"to its eof", "0 > req 1\n5 < res 1\n45005 > eof", true},
		{"shorter", "0 > req 1\n5 < res 1\n30004 > req 2\n30009 < res 2", false},
		{"to the end of the log: nobody knows", "0 > req 1\n5 < res 1\n60000 < ntf method=notifications/message", false},
		{"it was waiting for another", "0 > req 1\n1 > req 2\n5 < res 1\n45005 > req 3\n45006 < res 2\n45007 < res 3", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := logtest.Pair(t, tt.client, tt.client)
			c := logtest.Call(t, d, frame.Client, "1", 1)
			if c.Quiet != tt.quiet || c.Stalled {
				t.Errorf("%s", logtest.SayCall(c))
			}
			if d.Summary.Stalled != 0 {
				t.Errorf("%d stalled", d.Summary.Stalled)
			}
			if c.Quiet && c.Causes[0].Name != diagnose.AtAgentLevel {
				t.Errorf("cause %s", c.Causes[0].Name)
			}
		})
	}
}

// TestOpen: an unanswered call is open while it is young, and nothing has ended it.
func TestOpen(t *testing.T) {
	for _, tt := range []struct {
		name, client string
		want         string
	}{
		{"young", "0 > req 1\n5 < res 1\n10 > req 5\n10000 > req 6\n10001 < res 6", "open"},
		{"old", "0 > req 1\n5 < res 1\n10 > req 5\n40000 > req 6\n40001 < res 6", "open stalled"},
		{"exactly patience", "0 > req 1\n5 < res 1\n10 > req 5\n30009 > req 6\n30010 < res 6", "open stalled"},
		{"young, and its stream ended", "0 > req 1\n5 < res 1\n10 > req 5\n100 < eof", "open stalled"},
		{"young, and cancelled", "0 > req 1\n5 < res 1\n10 > req 5\n100 > ntf method=notifications/cancelled request_id=5", "cancelled stalled"},
		{"young, and refused", "0 > req 1\n5 < res 1\n10 > req 5\n100 < err null status=404", "refused stalled"},
		{"open by design", "0 > req 1\n5 < res 1\n10 > req 5 method=subscriptions/listen\n90000 > req 6\n90001 < res 6", "open"},
		{"open by design, cancelled", "0 > req 1\n5 < res 1\n10 > req 5 method=tasks/result\n100 > ntf method=notifications/cancelled request_id=5", "cancelled"},
		{"no times", "- > req 1\n- < res 1\n- > req 5", "open stalled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := logtest.Call(t, logtest.Pair(t, tt.client, "0 > req 1\n5 < res 1\n"), frame.Client, "5", 1)
			got := c.Outcome().String()
			if c.Stalled {
				got += " stalled"
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// TestPatience: the limits are the user's.
func TestPatience(t *testing.T) {
	script := "0 > req 1\n5 < res 1\n10 > req 5\n10000 > req 6\n13000 < res 6"
	for _, tt := range []struct {
		patience, slow time.Duration
		want           string
	}{{30 * time.Second, 2 * time.Second, "0 1"}, {time.Second, 2 * time.Second, "1 1"}, {30 * time.Second, 4 * time.Second, "0 0"}, {30 * time.Second, 3 * time.Second, "0 1"}} {
		o := logtest.Options()
		o.Patience, o.Slow = tt.patience, tt.slow
		d := logtest.DiagnoseWith(t, o, logtest.Read(t, frame.Client, script), logtest.Read(t, frame.Server, "0 > req 1\n5 < res 1\n9 > req 6\n10 < res 6"))
		if d.Summary.Stalled != int(tt.want[0]-'0') || d.Summary.Slow != int(tt.want[2]-'0') {
			t.Errorf("patience %v, slow %v: %d stalled, %d slow, want %s", tt.patience, tt.slow, d.Summary.Stalled, d.Summary.Slow, tt.want)
		}
	}
}

// TestWaitedFor: a young request of the server is stalled when a stalled call's handler waits for it.
func TestWaitedFor(t *testing.T) {
	cancel := "40000 > ntf method=notifications/cancelled request_id=5"
	client := "0 > req 5\n39900 < req 1 method=elicitation/create\n" + cancel
	server := "0 > req 5\n1 > enter 5\n39900 < req 1 method=elicitation/create\n" + cancel
	c := logtest.Call(t, logtest.Pair(t, client, server), frame.Server, "1", 1)
	if !c.Stalled || c.Leaf != diagnose.NeverWritten {
		t.Errorf("%s", logtest.SayCall(c))
	}
	server = strings.Replace(server, "1 > enter 5\n", "", 1)
	if c = logtest.Call(t, logtest.Pair(t, client, server), frame.Server, "1", 1); c.Stalled {
		t.Errorf("nobody waits for it: %s", logtest.SayCall(c))
	}
}
