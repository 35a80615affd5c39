package diagnose_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/samples/logtest"
)

// fault is the want.json of a fault that was provoked between real peers, both sides recorded by other recorders than ours.
type fault struct {
	Inputs   map[string]string // which recording stands for which side
	Truth    string            // what was provoked
	Limits   string            // what these logs cannot show of it
	Expect   []faultCall
	Findings []string
}

// faultCall is what the logs justify to say of one call. A call that is not listed is healthy.
type faultCall struct {
	ID            json.RawMessage
	Leaf          []string // any of these
	Cause         []string // any of these stands first; any at all when empty
	Maybe         string   // this stands among them, found or candidate
	Stalled, Slow *bool
	Todo          string // where the program falls short of the truth today: differences are logged, and are no failure
}

// TestFaults runs the recordings of real faults through the pipeline.
func TestFaults(t *testing.T) {
	folders, err := filepath.Glob("testdata/faults/*/want.json")
	if err != nil || len(folders) < 30 {
		t.Fatalf("%d faults, %v", len(folders), err)
	}
	for _, path := range folders {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) { testFault(t, dir) })
	}
}

func testFault(t *testing.T, dir string) {
	var want fault
	if err := json.Unmarshal(readFile(t, filepath.Join(dir, "want.json")), &want); err != nil {
		t.Fatal(err)
	}
	d := diagnoseFolder(t, dir)
	listed := map[*diagnose.Call]bool{}
	for _, e := range want.Expect {
		c := e.find(d)
		if c == nil {
			t.Errorf("id %s is missing in\n%s", e.ID, logtest.Say(d))
			continue
		}
		listed[c] = true
		e.report(t, c)
	}
	for _, c := range d.Calls {
		if !listed[c] && (c.Leaf != diagnose.AgentLevel || c.Problem() || len(c.Causes) > 0) {
			t.Errorf("not healthy: %s", logtest.SayCall(c))
		}
		if r := c.Stages().Residual; r.D != 0 {
			t.Errorf("id %s: residual %v", c.ID(), r.D)
		}
	}
	for _, kind := range want.Findings {
		if len(logtest.Finding(d, kind)) == 0 {
			t.Errorf("no finding %s", kind)
		}
	}
}

func (e faultCall) find(d *diagnose.Diagnosis) *diagnose.Call {
	for _, c := range d.Calls {
		if c.Requester.String() == "client" && string(c.ID()) == string(e.ID) {
			return c
		}
	}
	return nil
}

// report fails the test where the verdict is another, or logs it where that is known.
func (e faultCall) report(t *testing.T, c *diagnose.Call) {
	t.Helper()
	wrong := e.differences(c)
	switch {
	case len(wrong) > 0 && e.Todo != "":
		t.Logf("known: id %s: %s (%s)", e.ID, strings.Join(wrong, "; "), e.Todo)
	case len(wrong) > 0:
		t.Errorf("id %s: %s", e.ID, strings.Join(wrong, "; "))
	case e.Todo != "":
		t.Logf("id %s is as it should be now: take its todo out of want.json", e.ID)
	}
}

func (e faultCall) differences(c *diagnose.Call) (wrong []string) {
	if got := logtest.Verdict(c); !slices.Contains(e.Leaf, got) {
		wrong = append(wrong, "leaf "+got+", want "+strings.Join(e.Leaf, " or "))
	}
	names := []string{"none"}
	if len(c.Causes) > 0 {
		names = nil
	}
	for _, cause := range c.Causes {
		names = append(names, cause.Name)
	}
	if len(e.Cause) > 0 && !slices.Contains(e.Cause, names[0]) {
		wrong = append(wrong, "cause "+names[0]+", want "+strings.Join(e.Cause, " or "))
	}
	if e.Maybe != "" && !slices.Contains(names, e.Maybe) {
		wrong = append(wrong, e.Maybe+" is not among "+strings.Join(names, ", "))
	}
	if e.Stalled != nil && c.Stalled != *e.Stalled {
		wrong = append(wrong, "stalled or not is wrong")
	}
	if e.Slow != nil && c.Slow != *e.Slow {
		wrong = append(wrong, "slow or not is wrong")
	}
	return wrong
}
