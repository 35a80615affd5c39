package report

import (
	"io"
	"strings"

	"mcpdiag/ingest/dialect"
)

// Dialects writes the table of log dialects: who writes each, where it stands, and what it cannot show.
func Dialects(w io.Writer, s Style) error {
	p := newPrinter(w, s)
	for _, d := range dialect.Table() {
		p.hang(p.paint(bold, d.Name)+" ", "written by "+d.Writer)
		p.field("vantage", d.Vantage)
		if missing := d.Sees.Missing(); len(missing) > 0 {
			p.field("blind to", strings.Join(missing, ", "))
		}
	}
	return p.err
}
