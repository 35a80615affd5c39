package report

import (
	"encoding/json"
	"io"
	"net/url"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"mcpdiag/diagnose/audit"
	"mcpdiag/ingest/frame"
)

// AuditSARIF writes the audits as one SARIF 2.1.0 run: the rules, and a result for each violation at its line. What a baseline
// accepts is there too, suppressed.
func AuditSARIF(w io.Writer, a *Audit, _ Style) error {
	run := sarif.NewRun()
	run.Tool = sarif.NewTool().WithDriver(sarif.NewToolComponent().WithName("mcpdiag").WithVersion(a.Version))
	for _, r := range audit.Rules() {
		run.AddRule(r.ID).WithShortDescription(sarif.NewMultiformatMessageString().WithText(r.Text)).
			WithHelp(sarif.NewMultiformatMessageString().WithText(r.Spec)).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(sarifLevel(r.Weight)))
	}
	for _, r := range a.Reports {
		for i := range r.Tallies {
			for j := range r.Tallies[i].Violations {
				addResult(run, r.Path, &r.Tallies[i].Violations[j])
			}
		}
	}
	for _, e := range a.Stale {
		run.AddResult(sarif.NewResult().WithLevel("error").WithMessage(sarif.NewTextMessage(frame.Escape("the baseline accepts what is there no more: " + e.String()))))
	}
	doc := sarif.NewReport().AddRun(run)
	e := json.NewEncoder(ascii{w})
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

func addResult(run *sarif.Run, path string, v *audit.Violation) {
	text := v.Rule.Text + ": " + strings.TrimSpace(v.Method+" "+v.Detail)
	region := sarif.NewRegion().WithStartLine(int(v.Line))
	place := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation((&url.URL{Path: path}).String())).WithRegion(region)
	result := run.CreateResultForRule(v.Rule.ID).WithLevel(sarifLevel(v.Rule.Weight)).WithMessage(sarif.NewTextMessage(frame.Escape(text))).
		AddLocation(sarif.NewLocationWithPhysicalLocation(place))
	if v.Accepted {
		result.AddSuppression(sarif.NewSuppression().WithKind("external"))
	}
}

func sarifLevel(w audit.Weight) string {
	if w == audit.Info {
		return "note"
	}
	return w.String()
}
