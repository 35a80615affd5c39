package report

import (
	"io"

	"mcpdiag/diagnose"
)

// Text writes the diagnosis for a terminal.
func Text(w io.Writer, d *diagnose.Diagnosis, s Style) error { return nil }
