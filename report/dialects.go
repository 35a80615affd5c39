package report

import (
	"io"
	"strings"

	"mcpdiag/ingest/dialect"
)

// Dialects writes the table of log dialects: who writes each, where it stands, what it shows and what it cannot, and which
// moment of a frame's life its lines mark.
func Dialects(w io.Writer, s Style) error {
	p := newPrinter(w, s)
	for _, d := range dialect.Table() {
		writer := "written by " + d.Writer
		if d.Source != "" {
			writer += " (" + d.Source + ")"
		}
		p.hang(p.paint(bold, d.Name)+" ", writer)
		p.field("vantage", d.Vantage)
		if shown := d.Sees.Shown(); len(shown) > 0 {
			p.field("sees", strings.Join(shown, ", "))
		}
		if missing := d.Sees.Missing(); len(missing) > 0 {
			p.field("blind to", strings.Join(missing, ", "))
		}
		if d.Moment != "" {
			p.field("phase", d.Moment)
		}
		if d.Knob != "" {
			p.field("knob", d.Knob)
		}
	}
	return p.err
}
