package report

import (
	"encoding/json"
	"io"

	"mcpdiag/diagnose/audit"
)

// AuditSchema names the JSON document of an audit.
const AuditSchema = "mcpdiag.audit/v1"

// AuditDocument is an audit as JSON. Members are never absent; what is unknown is null.
type AuditDocument struct {
	Schema string           `json:"schema"`
	Logs   []AuditLogJSON   `json:"logs"`
	Stale  []audit.Accepted `json:"stale_baseline"`
}

// AuditLogJSON is the audit of one log.
type AuditLogJSON struct {
	Path       string             `json:"path"`
	Side       *string            `json:"side"`
	Stopped    *AuditStopJSON     `json:"stopped"`
	Counts     AuditCountsJSON    `json:"counts"`
	Unreadable int                `json:"unreadable"`
	Messages   []AuditMessageJSON `json:"messages"`
	Rules      []AuditRuleJSON    `json:"rules"`
	First      *AuditActionJSON   `json:"first_corrective_action"`
}

// AuditStopJSON is the message at which an audit stopped.
type AuditStopJSON struct {
	Line     uint32 `json:"line"`
	Envelope string `json:"envelope"`
}

// AuditCountsJSON are the messages by era.
type AuditCountsJSON struct {
	Messages      int `json:"messages"`
	Modern        int `json:"modern"`
	Legacy        int `json:"legacy"`
	Invalid       int `json:"invalid"`
	Ambiguous     int `json:"ambiguous"`
	InvalidModern int `json:"invalid_modern"`
	InvalidLegacy int `json:"invalid_legacy"`
	NoPayload     int `json:"without_payload"`
}

// AuditMessageJSON is one message.
type AuditMessageJSON struct {
	Line      uint32             `json:"line"`
	Dir       *string            `json:"dir"`
	Kind      string             `json:"kind"`
	Era       string             `json:"era"`
	Primitive string             `json:"primitive"`
	ID        json.RawMessage    `json:"id"`
	Method    *string            `json:"method"`
	Verdicts  []AuditVerdictJSON `json:"verdicts"`
}

// AuditVerdictJSON is what a message's line says.
type AuditVerdictJSON struct {
	Name   string  `json:"name"`
	Value  string  `json:"value"`
	Weight *string `json:"weight"` // of a broken rule
}

// AuditRuleJSON is what became of one rule.
type AuditRuleJSON struct {
	ID         string               `json:"id"`
	Weight     string               `json:"weight"`
	Status     string               `json:"status"`
	Kept       int                  `json:"kept"`
	Broken     int                  `json:"broken"`
	Accepted   int                  `json:"accepted"`
	Unjudged   map[string]int       `json:"not_judged"`
	Violations []AuditViolationJSON `json:"violations"`
}

// AuditViolationJSON is one message that breaks the rule.
type AuditViolationJSON struct {
	Line     uint32  `json:"line"`
	Cites    *uint32 `json:"see_line"`
	Method   *string `json:"method"`
	Detail   string  `json:"detail"`
	Accepted bool    `json:"accepted"`
}

// AuditActionJSON is what to do first.
type AuditActionJSON struct {
	Rule   string `json:"rule"`
	Line   uint32 `json:"line"`
	Action string `json:"action"`
	Detail string `json:"detail"`
}

// AuditJSON writes the audits as one indented document.
func AuditJSON(w io.Writer, a *Audit, _ Style) error {
	doc := AuditDocument{Schema: AuditSchema, Logs: []AuditLogJSON{}, Stale: append([]audit.Accepted{}, a.Stale...)}
	for _, r := range a.Reports {
		doc.Logs = append(doc.Logs, newAuditLog(r))
	}
	return WriteDocument(w, doc)
}

func newAuditLog(r *audit.Report) AuditLogJSON {
	c := r.Counts
	j := AuditLogJSON{Path: r.Path, Side: text(r.Side.String()), Unreadable: r.Unreadable, Messages: []AuditMessageJSON{}, Rules: []AuditRuleJSON{},
		Counts: AuditCountsJSON{c.Messages, c.Modern, c.Legacy, c.Invalid, c.Ambiguous, c.InvalidModern, c.InvalidLegacy, c.NoPayload}}
	if r.Stopped != nil {
		j.Stopped = &AuditStopJSON{r.Stopped.Line, r.Stopped.Envelope}
	}
	if v := r.First; v != nil {
		j.First = &AuditActionJSON{v.Rule.ID, v.Line, v.Rule.Text, v.Detail}
	}
	for i := range r.Entries {
		j.Messages = append(j.Messages, newAuditMessage(&r.Entries[i]))
	}
	for i := range r.Tallies {
		j.Rules = append(j.Rules, newAuditRule(&r.Tallies[i]))
	}
	return j
}

func newAuditMessage(e *audit.Entry) AuditMessageJSON {
	j := AuditMessageJSON{Line: e.Line, Dir: text(e.Dir.String()), Kind: e.Kind, Era: e.Era.String(), Primitive: e.Primitive, ID: e.ID.JSON(), Method: text(e.Method), Verdicts: []AuditVerdictJSON{}}
	for _, s := range e.Verdicts {
		v := AuditVerdictJSON{Name: s.Name, Value: s.Value}
		if s.Broken {
			v.Weight = text(s.Weight.String())
		}
		j.Verdicts = append(j.Verdicts, v)
	}
	return j
}

func newAuditRule(t *audit.Tally) AuditRuleJSON {
	j := AuditRuleJSON{ID: t.Rule.ID, Weight: t.Rule.Weight.String(), Status: t.Status(), Kept: t.Kept, Broken: t.Broken, Accepted: t.Accepted, Unjudged: t.Unjudged, Violations: []AuditViolationJSON{}}
	for i := range t.Violations {
		v := &t.Violations[i]
		x := AuditViolationJSON{Line: v.Line, Method: text(v.Method), Detail: v.Detail, Accepted: v.Accepted}
		if v.Cites != 0 {
			x.Cites = &v.Cites
		}
		j.Violations = append(j.Violations, x)
	}
	return j
}

// WriteDocument writes any document as indented JSON in printable ASCII.
func WriteDocument(w io.Writer, doc any) error { return writeDocument(ascii{w}, doc) }
