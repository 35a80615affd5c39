package report

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/joshdk/go-junit"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"mcpdiag/diagnose/audit"
	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

// audited audits a few messages, each with its direction in front.
func audited(t *testing.T, path string, lines ...string) *audit.Report {
	t.Helper()
	a := audit.New(path, frame.Client)
	for i, line := range lines {
		f := frame.Frame{Line: uint32(i + 1), Dir: map[byte]frame.Dir{'>': frame.C2S, '<': frame.S2C}[line[0]]}
		text := []byte(line[1:])
		if frame.DecodeMessage(text, &f) != frame.NoReason {
			f.Kind = frame.Invalid
		}
		a.Add(&f, &dialect.Body{Text: text, Stdio: true})
	}
	return a.Report()
}

func hostileAudit(t *testing.T) *Audit {
	r := audited(t, "a b\x1b[2J/log.jsonl",
		`>{"jsonrpc":"2.0","id":"\u001b[31m\u202e","method":"tools/list\u001b","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`<{"jsonrpc":"2.0","id":"\u001b[31m\u202e","result":{"resultType":"<b>\u001b","tools":[]}}`,
		`<plain text ]]> & <x>`,
		`>{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	doc := &Audit{Reports: []*audit.Report{r}, Version: "1"}
	b := &audit.Baseline{Accepted: []audit.Accepted{{Rule: "client-info", Method: "tools/list\x1b", Detail: "clientInfo is absent"}, {Rule: "gone", Detail: "x\x1b"}}}
	doc.Stale = b.Apply(doc.Reports)
	return doc
}

// TestSARIFSchema: the document is what the schema of SARIF 2.1.0 (OASIS, errata 01) wants.
func TestSARIFSchema(t *testing.T) {
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sarif.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, doc := range map[string]*Audit{"hostile": hostileAudit(t), "empty": {Reports: []*audit.Report{audited(t, "x")}}} {
		var out bytes.Buffer
		if err := AuditSARIF(&out, doc, Style{}); err != nil {
			t.Fatal(err)
		}
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(instance); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := compiled.Validate(map[string]any{"version": "2.1.0"}); err == nil {
			t.Error("the schema takes anything")
		}
	}
}

func TestSARIFResults(t *testing.T) {
	var out bytes.Buffer
	if err := AuditSARIF(&out, hostileAudit(t), Style{}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Runs []struct {
			Results []struct {
				RuleID       string
				Level        string
				Suppressions []any
				Locations    []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, r := range doc.Runs[0].Results {
		if len(r.Locations) == 0 {
			got["stale "+r.Level] = true
			continue
		}
		p := r.Locations[0].PhysicalLocation
		if p.ArtifactLocation.URI != "a%20b%1B%5B2J/log.jsonl" {
			t.Errorf("uri %q", p.ArtifactLocation.URI)
		}
		suppressed := map[bool]string{true: " suppressed"}[len(r.Suppressions) > 0]
		got[r.RuleID+" "+r.Level+" "+string(rune('0'+p.Region.StartLine))+suppressed] = true
	}
	for _, want := range []string{"client-capabilities error 1", "client-info warning 1 suppressed", "result-type-known error 2", "stdio-messages-only error 3", "stale error"} {
		if !got[want] {
			t.Errorf("no %s in %v", want, got)
		}
	}
}

// TestJUnit: an independent reader finds what was written; a rule that was not judged is skipped, not passed.
func TestJUnit(t *testing.T) {
	var out bytes.Buffer
	doc := hostileAudit(t)
	if err := AuditJUnit(&out, doc, Style{}); err != nil {
		t.Fatal(err)
	}
	suites, err := junit.Ingest(out.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if len(suites) != 2 || len(suites[0].Tests) != len(audit.Rules()) {
		t.Fatalf("%d suites", len(suites))
	}
	status := map[string]junit.Status{}
	for _, test := range suites[0].Tests {
		status[test.Name] = test.Status
	}
	for name, want := range map[string]junit.Status{"client-capabilities": junit.StatusFailed, "client-info": junit.StatusPassed, "id-type": junit.StatusPassed,
		"id-reused": junit.StatusSkipped, "accept": junit.StatusSkipped} {
		if status[name] != want {
			t.Errorf("%s is %s, want %s", name, status[name], want)
		}
	}
	if suites[1].Totals.Failed != 1 {
		t.Errorf("stale: %+v", suites[1].Totals)
	}
}

// TestAuditEscapes: nothing that a log says reaches a terminal as it is, in any format.
func TestAuditEscapes(t *testing.T) {
	for _, f := range AuditFormats() {
		var out bytes.Buffer
		if err := f.Write(&out, hostileAudit(t), Style{}); err != nil {
			t.Fatal(err)
		}
		for i, r := range out.String() {
			if r != '\n' && (r < 0x20 || r == 0x7F || r == 0x202E) {
				t.Fatalf("%s: %U at %d: %q", f.Name, r, i, out.String()[max(0, i-40):i])
			}
		}
	}
}

// TestJUnitMarkup: a log cannot end a CDATA section or an element.
func TestJUnitMarkup(t *testing.T) {
	var out bytes.Buffer
	if err := AuditJUnit(&out, &Audit{Reports: []*audit.Report{audited(t, `x"><failure/>`, `>{"jsonrpc":"2.0","id":1,"method":"]]><x>","params":7}`)}}, Style{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "<x>") || strings.Contains(out.String(), `"><failure/>`) {
		t.Error(out.String())
	}
	if _, err := junit.Ingest(out.Bytes()); err != nil {
		t.Error(err)
	}
}
