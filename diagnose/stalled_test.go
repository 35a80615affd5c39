package diagnose_test

import (
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// TestStalledNextToBadLines: a line that cannot be read may hide an answer, and only that takes the stall away. It hides none of
// a request that never arrived or was never answered, and none that would have come before the cancel when it stands after it.
func TestStalledNextToBadLines(t *testing.T) {
	const (
		shared = "0 > req 1\n5 < res 1\n"
		asked  = "10 > req 5\n"
		cancel = "20000 > ntf method=notifications/cancelled request_id=5\n"
		later  = "60000 > req 9\n60005 < res 9\n"
		bad    = "!half a li\n"
		read   = "11 > req 5\n"
		wrote  = "12 < res 5\n"
	)
	for _, tt := range []struct {
		name, client, server string
		leaf                 string
		stalled              bool
	}{
		{"never arrived", shared + asked + bad + later, shared + later, "never_arrived", true},
		{"never arrived, cancelled", shared + asked + cancel + bad + later, shared + later, "never_arrived", true},
		{"never arrived, cancelled, the tail is cut", shared + asked + later + cancel + `!{"si\`, shared + later, "never_arrived", true},
		{"never written", shared + asked + bad + later, shared + read + later, "never_written", true},
		{"never written, cancelled", shared + asked + cancel + bad + later, shared + read + later, "never_written", true},
		{"written, perhaps read", shared + asked + bad + later, shared + read + wrote + later, "cannot_tell", false},
		{"written, perhaps read before the cancel", shared + asked + bad + cancel + later, shared + read + wrote + later, "cannot_tell", false},
		{"written, perhaps read after the cancel", shared + asked + cancel + bad + later, shared + read + wrote + later, "cannot_tell", true},
		{"written, not read", bad + shared + asked + later, shared + read + wrote + later, "written_not_read", true},
		{"perhaps written, not read", shared + asked + later, shared + read + bad + later, "cannot_tell", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := logtest.Call(t, logtest.Pair(t, tt.client, tt.server), frame.Client, "5", 1)
			if logtest.Verdict(c) != tt.leaf || c.Stalled != tt.stalled {
				t.Errorf("%s, want %s, stalled %t", logtest.SayCall(c), tt.leaf, tt.stalled)
			}
		})
	}
}

// TestUnknownSizesAreNotZero: a size that no log tells is not told.
func TestUnknownSizesAreNotZero(t *testing.T) {
	d := logtest.Pair(t, "0 > req 1\n5 < res 1\n9 < res 77", "0 > req 1\n5 < res 1\n")
	for _, f := range logtest.Finding(d, "orphan_response") {
		if strings.Contains(f.Text, "0 B") {
			t.Errorf("finding %q", f.Text)
		}
	}
	d = logtest.Pair(t, "0 > req 1\n5 < res 1\n10 > req 2\n60000 > ntf method=notifications/cancelled request_id=2", "0 > req 1\n5 < res 1\n10 > req 2\n11 < res 2")
	for _, c := range d.Calls {
		for _, cause := range c.Causes {
			if text := cause.Evidence(); strings.Contains(text, " 0 B") || strings.Contains(text, "-1 B") {
				t.Errorf("%s: %s", cause.Name, text)
			}
		}
	}
}

// TestCausesOnlyForProblems: a cause is named only for a call with a problem or without a leaf, the first one is found, and
// none_can_be_told stands alone among those found.
func TestCausesOnlyForProblems(t *testing.T) {
	d := logtest.Pair(t, `
0 > req 1
5 < res 1
6 < bad - raw=banner bytes=7
7 > req 2
8 < err 2 code=-32603
9 > req 3
3000 < res 3
3001 > req 4
50000 > ntf method=notifications/cancelled request_id=4`, `
0 > req 1
5 < res 1
7 > req 2
8 < err 2 code=-32603
9 > req 3
2999 < res 3
3001 > req 4
3002 < res 4`)
	for _, c := range d.Calls {
		if problem := c.Problem() || c.Leaf == diagnose.NoLeaf; problem != (len(c.Causes) > 0) {
			t.Errorf("%s: causes %v", logtest.SayCall(c), c.Causes)
		}
		for i, cause := range c.Causes {
			if i == 0 && !cause.Found || cause.Name == diagnose.None && i > 0 {
				t.Errorf("%s: cause %d is %s, %s", logtest.SayCall(c), i, cause.Name, cause.Status())
			}
			if cause.Evidence() == "" {
				t.Errorf("%s: %s without evidence", logtest.SayCall(c), cause.Name)
			}
		}
	}
}
