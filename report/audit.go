package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"mcpdiag/diagnose"
	"mcpdiag/diagnose/audit"
)

// AuditFormat is a way to write audits.
type AuditFormat struct {
	Name  string
	About string
	Write func(io.Writer, *Audit, Style) error
}

// Audit is what an audit found in the logs, and in the baseline.
type Audit struct {
	Reports []*audit.Report
	Stale   []audit.Accepted // entries of the baseline that nothing matches any more
	Version string           // of this program
}

// AuditFormats lists the formats of an audit; the first is the default.
func AuditFormats() []AuditFormat {
	return []AuditFormat{
		{"text", "for a terminal", AuditText},
		{"json", "one document, schema " + AuditSchema, AuditJSON},
		{"sarif", "SARIF 2.1.0, for code scanning", AuditSARIF},
		{"junit", "JUnit XML, one test for each rule and log", AuditJUnit},
	}
}

// AuditText writes the messages of each log line by line, then what was counted, broken and not judged.
func AuditText(w io.Writer, a *Audit, s Style) error {
	p := newPrinter(w, s)
	for k, r := range a.Reports {
		if k > 0 {
			p.line("")
		}
		p.auditLog(r)
	}
	for _, e := range a.Stale {
		p.hang(p.paint(yellow, "STALE")+"  ", "the baseline accepts what is there no more: "+e.String())
	}
	return p.err
}

func (p *printer) auditLog(r *audit.Report) {
	p.hang(p.paint(bold, r.Path)+"  ", auditSide(r))
	for i := range r.Entries {
		e := &r.Entries[i]
		ink := ink("")
		for _, said := range e.Verdicts {
			if said.Broken {
				ink = max(ink, weightInk(said.Weight))
			}
		}
		row := fmt.Sprintf("%6d %3s %s", e.Line, e.Dir, e)
		if ink != "" {
			row = p.paint(ink, row)
		}
		p.line(p.clean(row))
	}
	if r.Stopped != nil {
		p.hang(p.paint(red, "STOPPED")+"  ", fmt.Sprintf("%s:%d is not JSON-RPC 2.0: the envelope is %s. What follows is not judged.", r.Path, r.Stopped.Line, r.Stopped.Envelope))
	}
	p.field("messages", auditCounts(&r.Counts))
	if r.Unreadable > 0 {
		p.field("unread", count(r.Unreadable, "line")+" of the log")
	}
	if r.Copies > 1 {
		p.field("copies", fmt.Sprintf("every frame stands there %d times: it was recorded at as many points, and each frame is judged once", r.Copies))
	}
	p.violations(r)
	p.unjudged(r)
	p.field("rules", ruleCounts(r))
	p.hang("first corrective action: ", firstAction(r))
}

func auditSide(r *audit.Report) string {
	if side := r.Side.String(); side != "" {
		return "the " + side + "'s log"
	}
	return ""
}

func weightInk(w audit.Weight) ink {
	switch w {
	case audit.Error:
		return red
	case audit.Warning:
		return yellow
	}
	return dim
}

func auditCounts(c *audit.Counts) string {
	s := fmt.Sprintf("%s: %d modern, %d legacy, %d invalid, %d ambiguous", diagnose.Thousands(int64(c.Messages)), c.Modern, c.Legacy, c.Invalid, c.Ambiguous)
	if c.InvalidModern+c.InvalidLegacy > 0 {
		s += fmt.Sprintf(" (of the invalid ones %d modern, %d legacy)", c.InvalidModern, c.InvalidLegacy)
	}
	if c.NoPayload > 0 {
		s += fmt.Sprintf("; %d without a whole payload", c.NoPayload)
	}
	return s
}

// violations lists the broken rules, the heaviest first, each with its first line.
func (p *printer) violations(r *audit.Report) {
	for _, w := range []audit.Weight{audit.Error, audit.Warning, audit.Info} {
		for i := range r.Tallies {
			t := &r.Tallies[i]
			if t.Broken == 0 || t.Rule.Weight != w {
				continue
			}
			label := p.paint(weightInk(w), w.String()) + "  " + p.paint(bold, t.Rule.ID) + "  "
			v := &t.Violations[0]
			text := fmt.Sprintf("%s, first %s:%d%s: %s", count(t.Broken, "time"), r.Path, v.Line, methodOf(v), v.Detail)
			if v.Cites != 0 {
				text += fmt.Sprintf(" (see %s:%d)", r.Path, v.Cites)
			}
			if t.Accepted > 0 {
				text += fmt.Sprintf("; %d accepted by the baseline", t.Accepted)
			}
			p.hang(label, text)
			p.field("", "  "+t.Rule.Text+" ("+t.Rule.Spec+")")
		}
	}
}

func methodOf(v *audit.Violation) string {
	if v.Method == "" {
		return ""
	}
	return " " + v.Method
}

// unjudged lists what could not be judged, by the reason.
func (p *printer) unjudged(r *audit.Report) {
	rules := map[string][]string{}
	for i := range r.Tallies {
		t := &r.Tallies[i]
		for why, n := range t.Unjudged {
			rules[why] = append(rules[why], fmt.Sprintf("%s (%d)", t.Rule.ID, n))
		}
	}
	for _, why := range slices.Sorted(maps.Keys(rules)) {
		p.hang("not judged  ", why+": "+strings.Join(rules[why], ", "))
	}
}

func ruleCounts(r *audit.Report) string {
	n := map[string]int{}
	for i := range r.Tallies {
		n[r.Tallies[i].Status()]++
	}
	return fmt.Sprintf("%d kept, %d broken, %d accepted, %d not judged, %d not observed", n["kept"], n["broken"], n["accepted"], n["not judged"], n["not observed"])
}

// firstAction names what to do first: about the first of the heaviest violations.
func firstAction(r *audit.Report) string {
	v := r.First
	if v == nil {
		return "none"
	}
	who := v.Dir.From().String()
	if who == "" {
		who = "sender"
	}
	return fmt.Sprintf("at %s:%d, in the %s: %s (%s: %s)", r.Path, v.Line, who, v.Rule.Text, v.Rule.ID, v.Detail)
}

// AuditRules writes the table of rules.
func AuditRules(w io.Writer, s Style) error {
	p := newPrinter(w, s)
	var rows [][]string
	for _, r := range audit.Rules() {
		if p.fit && s.Width < rulesWide {
			p.rule(&r)
		}
		rows = append(rows, []string{r.ID, r.Weight.String(), versions(&r), r.Needs.String(), r.Spec, r.Text})
	}
	if !p.fit || s.Width >= rulesWide {
		p.table([]string{"rule", "weight", "versions", "needs", "spec", "what to do"}, rows)
		p.line("")
	}
	p.hang("", diagnose.Thousands(int64(len(rows)))+" rules. A rule without needs is judged by the metadata of a record. Error is the spec's MUST, warning its SHOULD, info all else.")
	return p.err
}

const rulesWide = 260 // columns; the table of rules says nothing when it is cut to fewer

// rule writes a rule where a row of the table would not fit.
func (p *printer) rule(r *audit.Rule) {
	about := r.Weight.String() + ", " + versions(r)
	if versions(r) == "all" {
		about += " versions"
	}
	if needs := r.Needs.String(); needs != "" {
		about += ", needs " + needs
	}
	p.hang(p.paint(bold, r.ID)+"  ", about)
	p.hang("    ", r.Text+" ("+r.Spec+")")
	p.line("")
}

func versions(r *audit.Rule) string {
	switch {
	case r.Since == "" && r.Until == "":
		return "all"
	case r.Since == r.Until:
		return r.Since
	case r.Since == "":
		return "until " + r.Until
	case r.Until == "":
		return "since " + r.Since
	}
	return r.Since + " to " + r.Until
}
