package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// BaselineSchema names the format of a baseline of accepted violations.
const BaselineSchema = "mcpdiag.audit-baseline/v1"

// Accepted is a violation that is accepted wherever it occurs. Lines and ids are no part of it, since they change from one
// recording to the next.
type Accepted struct {
	Rule   string `json:"rule"`
	Method string `json:"method"`
	Detail string `json:"detail"`
}

func (a Accepted) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s", a.Rule, a.Method, a.Detail))
}

// Baseline is a list of accepted violations.
type Baseline struct {
	Schema   string     `json:"schema"`
	Accepted []Accepted `json:"accepted"`
}

// ParseBaseline reads a baseline.
func ParseBaseline(text []byte) (*Baseline, error) {
	var b Baseline
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, err
	}
	if b.Schema != BaselineSchema {
		return nil, fmt.Errorf("its schema is %q, not %s", b.Schema, BaselineSchema)
	}
	return &b, nil
}

// NewBaseline accepts everything that the reports complain of.
func NewBaseline(reports []*Report) *Baseline {
	b := &Baseline{Schema: BaselineSchema, Accepted: []Accepted{}}
	seen := map[Accepted]bool{}
	for _, r := range reports {
		for _, t := range r.Tallies {
			for k := range t.kinds {
				seen[k] = true
			}
		}
	}
	for k := range seen {
		b.Accepted = append(b.Accepted, k)
	}
	slices.SortFunc(b.Accepted, func(x, y Accepted) int { return strings.Compare(x.String(), y.String()) })
	return b
}

// Apply marks what the baseline accepts, and returns the entries that nothing matches: a fault that is gone must leave the
// baseline, or it could come back unseen.
func (b *Baseline) Apply(reports []*Report) (stale []Accepted) {
	used := map[Accepted]bool{}
	for _, r := range reports {
		r.First = nil
		for i := range r.Tallies {
			t := &r.Tallies[i]
			for k, n := range t.kinds {
				if slices.Contains(b.Accepted, k) {
					used[k] = true
					t.Accepted += n
				}
			}
			for j := range t.Violations {
				v := &t.Violations[j]
				v.Accepted = used[v.kind()]
				if !v.Accepted && v.before(r.First) {
					r.First = v
				}
			}
		}
	}
	for _, k := range b.Accepted {
		if !used[k] {
			stale = append(stale, k)
		}
	}
	return stale
}

func (v *Violation) kind() Accepted { return Accepted{v.Rule.ID, v.Method, v.Detail} }
