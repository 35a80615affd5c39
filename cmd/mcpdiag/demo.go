package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/report"
	"mcpdiag/samples"
)

func newDemo(e *env) *cobra.Command {
	var out outFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run join on the founding scenario, from copies inside the program",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return runDemo(c.Context(), e, &out) },
	}
	out.register(c)
	return c
}

// runDemo writes the embedded logs to a folder of its own, so that it goes the way that every log goes.
func runDemo(ctx context.Context, e *env, out *outFlags) error {
	format, ok := report.ByName(out.format)
	if !ok {
		return &usageError{"unknown format " + quote(out.format), "the formats are " + formatNames()}
	}
	dir, err := os.MkdirTemp("", "mcpdiag-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var logs []*ingest.Log
	for _, s := range []struct {
		name string
		side frame.Side
		text []byte
	}{{"client.log", frame.Client, samples.Client}, {"server.log", frame.Server, samples.Server}} {
		path := filepath.Join(dir, s.name)
		if err := os.WriteFile(path, s.text, 0o600); err != nil {
			return err
		}
		l, err := ingest.Read(ctx, ingest.Set{Sources: []ingest.Source{{Path: path, Label: s.name}}, Side: s.side}, ingest.Options{Quiet: 30 * time.Second})
		if err != nil {
			return err
		}
		logs = append(logs, l...)
	}
	d, conn, err := diagnoseLogs(ctx, logs, diagnose.Options{Limits: ingest.Limits{Slow: 2 * time.Second, Patience: 30 * time.Second, Quiet: 30 * time.Second}})
	if err != nil {
		return err
	}
	defer conn.Close()
	e.status = status(d)
	return out.write(e, func(w writer) error { return format.Write(w, d, w.style(e, false)) })
}
