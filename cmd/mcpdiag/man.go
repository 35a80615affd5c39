package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"mcpdiag/ingest/dialect"
	"mcpdiag/report"
)

// newMan writes the man pages; make man runs it. It is no command for users, so help does not list it.
func newMan(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the man pages to a folder",
		Example: "  mcpdiag man man1",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return writeMan(c.Root(), args[0]) },
	}
}

func writeMan(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root.DisableAutoGenTag = true // the same source gives the same pages
	date := time.Unix(0, 0).UTC()
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "mcpdiag", Manual: "mcpdiag", Date: &date}, dir)
}

// completeValues offers the values of the flags that take one of a few words.
func completeValues(c *cobra.Command) {
	var dialects []string
	for _, d := range dialect.Table() {
		dialects = append(dialects, d.Name+"\t"+d.Writer)
	}
	for flag, values := range map[string][]string{"dialect": dialects, "side": {"client", "server"}} {
		if c.Flags().Lookup(flag) != nil {
			c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	for _, sub := range c.Commands() {
		completeValues(sub)
	}
}

// formatValues are the values of --format, with what each is for.
func formatValues() []string {
	var out []string
	for _, f := range report.Formats() {
		out = append(out, f.Name+"\t"+f.About)
	}
	return out
}
