package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcpdiag/diagnose/audit"
	"mcpdiag/ingest/frame"
)

// The elements of JUnit XML that every reader knows.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// AuditJUnit writes a suite for each log and a test for each rule. A rule that could not be judged, or that nothing in the log
// concerns, is skipped, never passed. A broken rule fails whatever its weight is, which is the failure's type.
func AuditJUnit(w io.Writer, a *Audit, _ Style) error {
	var doc junitSuites
	for _, r := range a.Reports {
		doc.Suites = append(doc.Suites, newJUnitSuite(r))
	}
	if len(a.Stale) > 0 {
		s := junitSuite{Name: "baseline"}
		for _, e := range a.Stale {
			s.add(junitCase{Name: frame.Escape(e.String()), Class: "baseline", Failure: &junitMessage{Message: "the baseline accepts what is there no more", Type: "stale"}})
		}
		doc.Suites = append(doc.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	} else if c.Skipped != nil {
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func newJUnitSuite(r *audit.Report) junitSuite {
	s := junitSuite{Name: frame.Escape(r.Path)}
	if r.Stopped != nil {
		s.add(junitCase{Name: "JSON-RPC 2.0", Class: s.Name, Failure: &junitMessage{Type: "stopped", Message: fmt.Sprintf("line %d: the envelope is %s", r.Stopped.Line, frame.Escape(r.Stopped.Envelope))}})
	}
	for i := range r.Tallies {
		t := &r.Tallies[i]
		c := junitCase{Name: t.Rule.ID, Class: s.Name}
		switch t.Status() {
		case "broken":
			c.Failure = &junitMessage{Message: t.Rule.Text, Type: t.Rule.Weight.String(), Text: violationLines(r.Path, t)}
		case "accepted":
			c.Out = violationLines(r.Path, t)
		case "not judged":
			c.Skipped = &junitMessage{Message: "not judged: " + reasons(t)}
		case "not observed":
			c.Skipped = &junitMessage{Message: "not observed"}
		}
		s.add(c)
	}
	return s
}

func violationLines(path string, t *audit.Tally) string {
	var b strings.Builder
	for i := range t.Violations {
		v := &t.Violations[i]
		fmt.Fprintf(&b, "%s:%d:%s %s\n", frame.Escape(path), v.Line, frame.Escape(methodOf(v)), frame.Escape(v.Detail))
	}
	if more := t.Broken - len(t.Violations); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String()
}

func reasons(t *audit.Tally) string {
	var list []string
	for why, n := range t.Unjudged {
		list = append(list, fmt.Sprintf("%s (%s)", why, count(n, "message")))
	}
	slices.Sort(list)
	return strings.Join(list, "; ")
}
