package main

import (
	"github.com/spf13/cobra"

	"mcpdiag/report"
)

func newFormats(e *env) *cobra.Command {
	var out outFlags
	return &cobra.Command{
		Use:     "formats",
		Short:   "List the log dialects that can be read, and what each cannot show",
		Example: "  mcpdiag formats",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return out.write(e, func(w writer) error { return report.Dialects(w, w.style(e, false)) })
		},
	}
}
