package inventory

import (
	"encoding/json"
	"fmt"

	"mcpdiag/ingest/frame"
)

// BaselineSchema names the format of a baseline of tools.
const BaselineSchema = "mcpdiag.tools-baseline/v1"

// Baseline is what tools are compared against.
type Baseline struct {
	Schema  string           `json:"schema"`
	Servers []BaselineServer `json:"servers"`
}

// BaselineServer are the tools of one server.
type BaselineServer struct {
	Server string         `json:"server"`
	Tools  []BaselineTool `json:"tools"`
}

// BaselineTool is one tool with its canonical definition, or its text where it has no canonical form.
type BaselineTool struct {
	Name        string          `json:"name"`
	Fingerprint *string         `json:"fingerprint"`
	Definition  json.RawMessage `json:"definition"`
}

// NewBaseline takes the last listing of each server.
func NewBaseline(servers []*Server) *Baseline {
	b := &Baseline{Schema: BaselineSchema, Servers: []BaselineServer{}}
	for _, s := range servers {
		l := s.Last()
		if l == nil {
			continue
		}
		bs := BaselineServer{Server: s.Title(), Tools: []BaselineTool{}}
		for _, t := range l.Tools {
			bt := BaselineTool{Name: t.Name, Definition: t.Definition}
			if t.Fingerprint != "" {
				bt.Fingerprint = &t.Fingerprint
			}
			bs.Tools = append(bs.Tools, bt)
		}
		b.Servers = append(b.Servers, bs)
	}
	return b
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

// Drifts lists what changed since the baseline was written. A server that one of the two does not know is compared with
// the only other, if there is one each; else all its tools were added or removed.
func (b *Baseline) Drifts(servers []*Server) (drifts []Drift) {
	known := map[string]bool{}
	for _, s := range servers {
		l := s.Last()
		if l == nil {
			continue
		}
		known[s.Title()] = true
		drifts = append(drifts, Compare(s.Title(), fmt.Sprintf("the baseline and %s:%d", l.Log, l.Line), b.tools(s.Title(), len(servers)), l.Tools)...)
	}
	for _, bs := range b.Servers {
		if !known[bs.Server] && (len(b.Servers) > 1 || len(known) != 1) {
			drifts = append(drifts, Compare(bs.Server, "the baseline and the logs", bs.definitions(), nil)...)
		}
	}
	return drifts
}

func (b *Baseline) tools(server string, servers int) []Tool {
	for _, s := range b.Servers {
		if s.Server == server {
			return s.definitions()
		}
	}
	if len(b.Servers) == 1 && servers == 1 {
		return b.Servers[0].definitions()
	}
	return nil
}

func (s *BaselineServer) definitions() (tools []Tool) {
	for _, t := range s.Tools {
		tool := Tool{Name: t.Name, Definition: t.Definition}
		if print, err := frame.Fingerprint(t.Definition); err == nil {
			tool.Fingerprint = print
		} else if t.Fingerprint != nil {
			tool.Fingerprint = *t.Fingerprint
		}
		if string(t.Definition) == "null" { // it was taken from a log with fingerprints only
			tool.Definition, tool.Fingerprint = nil, ""
			if t.Fingerprint != nil {
				tool.Fingerprint = *t.Fingerprint
			}
		}
		tools = append(tools, tool)
	}
	return tools
}
