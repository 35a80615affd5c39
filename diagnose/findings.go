package diagnose

import (
	"context"

	"mcpdiag/ingest"
)

// find collects the findings.
func (d *Diagnosis) find(ctx context.Context) error { return nil }

// LogWarnings are what is to be said of a log as a whole.
func (d *Diagnosis) LogWarnings(l *ingest.Log) []string { return nil }
