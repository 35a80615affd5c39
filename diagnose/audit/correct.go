package audit

import (
	"encoding/json"
	"maps"
	"slices"
)

// CorrectedSchema names the document of corrected examples.
const CorrectedSchema = "mcpdiag.audit-corrected/v1"

// Corrected is a document of examples. It is no part of the transcript, and says so.
type Corrected struct {
	Schema   string    `json:"schema"`
	Note     string    `json:"note"`
	Examples []Example `json:"examples"`
}

// Example is a message that breaks rules, and what would keep them.
type Example struct {
	Log       string          `json:"log"`
	Line      uint32          `json:"line"`
	Rules     []string        `json:"rules"`     // that the example keeps
	ByHand    []string        `json:"by_hand"`   // what only its author can put right: the rule and what to do
	Original  json.RawMessage `json:"original"`  // as it stands in the transcript; null when that is no JSON
	Corrected json.RawMessage `json:"corrected"` // a corrected example; null when nothing can be put right by rule
}

const correctedNote = "Corrected examples written by mcpdiag, not part of any transcript: values that a rule wants and the message lacks are placeholders."

// Correct makes examples of the first message that breaks each rule.
func Correct(reports []*Report) *Corrected {
	doc := &Corrected{Schema: CorrectedSchema, Note: correctedNote, Examples: []Example{}}
	for _, r := range reports {
		byLine := map[uint32][]*Violation{}
		for i := range r.Tallies {
			if vs := r.Tallies[i].Violations; len(vs) > 0 && vs[0].text != nil {
				byLine[vs[0].Line] = append(byLine[vs[0].Line], &vs[0])
			}
		}
		for _, line := range slices.Sorted(maps.Keys(byLine)) {
			doc.Examples = append(doc.Examples, correct(r.Path, byLine[line]))
		}
	}
	return doc
}

// correct applies the fixes of the rules that one message is the first to break.
func correct(path string, vs []*Violation) Example {
	e := Example{Log: path, Line: vs[0].Line, Rules: []string{}, ByHand: []string{}, Original: json.RawMessage("null"), Corrected: json.RawMessage("null")}
	v, ok := parse(vs[0].text)
	if ok {
		e.Original = json.RawMessage(vs[0].text)
	}
	o := asObject(v)
	for _, x := range vs {
		if x.Rule.Fix == nil || o == nil {
			e.ByHand = append(e.ByHand, x.Rule.ID+": "+x.Rule.Text)
			continue
		}
		x.Rule.Fix(o)
		e.Rules = append(e.Rules, x.Rule.ID)
	}
	if b, err := json.Marshal(map[string]any(o)); err == nil && len(e.Rules) > 0 {
		e.Corrected = b
	}
	return e
}
