package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mcpdiag/samples"
)

func newDemo(e *env) *cobra.Command {
	var out outFlags
	c := &cobra.Command{
		Use:     "demo",
		Short:   "Run join on the founding scenario, from copies inside the program",
		Example: "  mcpdiag demo\n  mcpdiag demo --format html -o demo.html",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runDemo(c.Context(), e, out) },
	}
	out.register(c)
	return c
}

// runDemo writes the embedded logs to a folder of its own and joins them there: they go the way that every log goes.
func runDemo(ctx context.Context, e *env, out outFlags) error {
	dir, err := os.MkdirTemp("", "mcpdiag-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var args []string
	for _, s := range []struct {
		name string
		text []byte
	}{{"client.log", samples.Client}, {"server.log", samples.Server}} {
		path := filepath.Join(dir, s.name)
		if err := os.WriteFile(path, s.text, 0o600); err != nil {
			return err
		}
		args = append(args, s.name+"="+path)
	}
	return runJoin(ctx, e, &joinFlags{out: out, slow: defaultSlow, patience: defaultPatience, quiet: defaultQuiet}, args)
}
