package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/diagnose/inventory"
	"mcpdiag/ingest/frame"
)

// ToolsSchema names the JSON document of an inventory.
const ToolsSchema = "mcpdiag.tools/v1"

// Tools is an inventory and what drifted.
type Tools struct {
	Servers []*inventory.Server
	Drifts  []inventory.Drift
}

// ToolsText writes a table of tools for each server, and what drifted.
func ToolsText(w io.Writer, t *Tools, s Style) error {
	p := newPrinter(w, s)
	for k, server := range t.Servers {
		if k > 0 {
			p.line("")
		}
		p.toolTable(server)
	}
	p.line("")
	if len(t.Drifts) == 0 {
		p.hang("", "No drift.")
	}
	for i := range t.Drifts {
		d := &t.Drifts[i]
		p.hang(p.paint(yellow, "DRIFT")+"  ", driftText(d))
	}
	return p.err
}

func (p *printer) toolTable(s *inventory.Server) {
	title := s.Title()
	if s.Version != "" {
		title += " " + s.Version
	}
	p.hang(p.paint(bold, title)+"  ", fmt.Sprintf("%s: %s", s.Log, count(len(s.Listings), "listing")))
	var rows [][]string
	for _, name := range s.Names() {
		rows = append(rows, toolRow(s, name))
	}
	if len(rows) == 0 {
		p.hang("", "No tools were listed, and none were called.")
		return
	}
	p.toolRows(rows)
	p.hang("", "Fingerprints are SHA-256 over RFC 8785, shortened; tokens are estimated as "+frame.TokenEstimator+" over the same form: of the definition first, of the average answer last.")
	if s.Strange > 0 {
		p.hang("", count(s.Strange, "frame")+" made no sense and gave nothing.")
	}
}

// toolHeads are the columns of the table: the first four are about definitions, the others about calls.
func toolHeads() []string {
	return []string{"tool", "fingerprint", "bytes", "tokens", "calls", "errors", "handler p50", "p99", "answer p50", "p99", "tokens"}
}

const (
	ofCalls   = 4   // the first column about calls
	toolsWide = 110 // columns that the whole table takes with names that are not long
)

// toolRows writes one table, or on a narrow terminal two below each other: a wrapped row cannot be read.
func (p *printer) toolRows(rows [][]string) {
	heads := toolHeads()
	if !p.fit || p.style.Width >= toolsWide {
		p.table(heads, rows, 2, 3, 4, 5, 6, 7, 8, 9, 10)
		return
	}
	definitions, calls := make([][]string, len(rows)), make([][]string, len(rows))
	for i, row := range rows {
		definitions[i] = row[:ofCalls]
		calls[i] = append([]string{row[0]}, row[ofCalls:]...)
	}
	p.table(heads[:ofCalls], definitions, 2, 3)
	p.table(append(heads[:1:1], heads[ofCalls:]...), calls, 1, 2, 3, 4, 5, 6, 7)
}

func toolRow(s *inventory.Server, name string) []string {
	row := []string{name, "", "", "", "0", "0", "", "", "", "", ""}
	if t := s.Latest(name); t == nil {
		row[1] = "not listed"
	} else {
		row[1] = "no canonical form"
		if len(t.Fingerprint) >= shortPrint {
			row[1] = t.Fingerprint[:shortPrint]
		}
		if t.Definition != nil {
			row[2], row[3] = diagnose.Thousands(t.Bytes), diagnose.Thousands(t.Tokens)
		}
	}
	u := s.Uses[name]
	if u == nil {
		return row
	}
	row[4], row[5] = diagnose.Thousands(int64(u.Calls)), diagnose.Thousands(int64(u.Errors))
	row[6], row[7] = quantile(u.Handler, 0.5), quantile(u.Handler, 0.99)
	row[8], row[9] = quantile(u.Wait, 0.5), quantile(u.Wait, 0.99)
	if n := int64(u.Sized()); n > 0 {
		row[10] = diagnose.Thousands((u.Result.Tokens + n/2) / n)
	}
	return row
}

const shortPrint = 12

func quantile(sorted []time.Duration, q float64) string {
	d, ok := inventory.Quantile(sorted, q)
	if !ok {
		return ""
	}
	return diagnose.Wait(d)
}

// driftText escapes what it quotes: wrapping takes a line end for a space, and two names would read as one.
func driftText(d *inventory.Drift) string {
	server, tool, was := frame.Escape(d.Server), frame.Escape(d.Tool), frame.Escape(d.Was)
	s := fmt.Sprintf("%s: %s %s", server, tool, d.Change)
	switch {
	case d.Change == inventory.Renamed:
		s = fmt.Sprintf("%s: %s was renamed %s", server, was, tool)
	case d.Change == inventory.Shared:
		s = fmt.Sprintf("%s is offered by two servers, %s and %s", tool, was, server)
	case len(d.Fields) > 0:
		s += ": " + frame.Escape(strings.Join(d.Fields, ", "))
	}
	return s + " (between " + d.Between + ")"
}

// ToolsDocument is an inventory as JSON. Members are never absent; what is unknown is null.
type ToolsDocument struct {
	Schema    string       `json:"schema"`
	Estimator string       `json:"token_estimator"`
	Servers   []ServerJSON `json:"servers"`
	Drifts    []DriftJSON  `json:"drift"`
}

// ServerJSON is the inventory of one server.
type ServerJSON struct {
	Server   *string    `json:"server"`
	Version  *string    `json:"version"`
	Log      string     `json:"log"`
	Listings int        `json:"listings"`
	Strange  int        `json:"frames_without_sense"`
	Tools    []ToolJSON `json:"tools"`
}

// ToolJSON is one tool. Sizes and tokens are over the canonical form.
type ToolJSON struct {
	Name         string   `json:"name"`
	Fingerprint  *string  `json:"fingerprint"`
	Bytes        *int64   `json:"bytes"`
	Tokens       *int64   `json:"tokens"`
	Calls        int      `json:"calls"`
	Errors       int      `json:"errors"`
	HandlerP50   *float64 `json:"handler_p50_ms"`
	HandlerP99   *float64 `json:"handler_p99_ms"`
	WaitP50      *float64 `json:"answer_p50_ms"`
	WaitP99      *float64 `json:"answer_p99_ms"`
	Answers      int      `json:"answers_measured"`
	ResultBytes  int64    `json:"result_bytes"`
	ResultTokens int64    `json:"result_tokens"`
}

// DriftJSON is one change.
type DriftJSON struct {
	Change  string   `json:"change"`
	Server  string   `json:"server"`
	Tool    string   `json:"tool"`
	Was     *string  `json:"was"`
	Fields  []string `json:"fields"`
	Between string   `json:"between"`
}

// ToolsJSON writes the inventory as one indented document.
func ToolsJSON(w io.Writer, t *Tools, _ Style) error {
	doc := ToolsDocument{Schema: ToolsSchema, Estimator: frame.TokenEstimator, Servers: []ServerJSON{}, Drifts: []DriftJSON{}}
	for _, s := range t.Servers {
		j := ServerJSON{Server: text(s.Name), Version: text(s.Version), Log: s.Log, Listings: len(s.Listings), Strange: s.Strange, Tools: []ToolJSON{}}
		for _, name := range s.Names() {
			j.Tools = append(j.Tools, newToolJSON(s, name))
		}
		doc.Servers = append(doc.Servers, j)
	}
	for _, d := range t.Drifts {
		doc.Drifts = append(doc.Drifts, DriftJSON{string(d.Change), d.Server, d.Tool, text(d.Was), append([]string{}, d.Fields...), d.Between})
	}
	return WriteDocument(w, doc)
}

func newToolJSON(s *inventory.Server, name string) ToolJSON {
	j := ToolJSON{Name: name}
	if t := s.Latest(name); t != nil {
		j.Fingerprint = text(t.Fingerprint)
		if t.Definition != nil {
			j.Bytes, j.Tokens = &t.Bytes, &t.Tokens
		}
	}
	u := s.Uses[name]
	if u == nil {
		return j
	}
	j.Calls, j.Errors, j.Answers, j.ResultBytes, j.ResultTokens = u.Calls, u.Errors, u.Sized(), u.Result.Bytes, u.Result.Tokens
	j.HandlerP50, j.HandlerP99 = quantileMS(u.Handler, 0.5), quantileMS(u.Handler, 0.99)
	j.WaitP50, j.WaitP99 = quantileMS(u.Wait, 0.5), quantileMS(u.Wait, 0.99)
	return j
}

func quantileMS(sorted []time.Duration, q float64) *float64 {
	d, ok := inventory.Quantile(sorted, q)
	return millis(d, ok)
}
