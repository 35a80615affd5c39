package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/report"
)

type exportFlags struct {
	logs logFlags
	out  outFlags
	to   string
}

const exportLong = `Writes every call of the logs, with its verdict, for another program:

  otlp      OpenTelemetry spans as OTLP JSON, with the attributes of the semantic conventions for MCP. One span is one side
            of a call; the two are linked, each in a trace of its own, since each side has a clock of its own. The status is
            that of the answer, and unset where there is none: a cancel is no error.
  perfetto  a Chrome trace for ui.perfetto.dev. One process is one log from its first record on; viewers draw processes on
            one axis, but between two clocks a place on it says nothing.
  parquet   the table calls of join --db. Needs -o FILE.`

const exportExample = `  mcpdiag export --to otlp -o spans.json client.log server.log
  mcpdiag export --to perfetto -o trace.json client.log server.log
  mcpdiag export --to parquet -o calls.parquet client.log server.log`

const parquet = "parquet"

func newExport(e *env) *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:     "export [CLIENT] [SERVER]",
		Short:   "Write every call for another program: OpenTelemetry, Perfetto, Parquet",
		Long:    exportLong,
		Example: exportExample,
		Args:    cobra.ArbitraryArgs,
		RunE:    func(c *cobra.Command, args []string) error { return runExport(c.Context(), e, &f, args) },
	}
	f.logs.register(c)
	flags := c.Flags()
	flags.StringVar(&f.to, "to", "", "`FORM`: "+strings.Join(exportNames(), ", "))
	flags.StringVarP(&f.out.file, "out", "o", "", "write to `FILE` instead of standard output")
	c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(exportNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func exportNames() []string {
	var names []string
	for _, x := range report.Exports() {
		names = append(names, x.Name)
	}
	return append(names, parquet)
}

func runExport(ctx context.Context, e *env, f *exportFlags, args []string) error {
	export, err := f.export()
	if err != nil {
		return err
	}
	sets, err := f.logs.sets(args)
	if err != nil {
		return err
	}
	if err := refuseInputs(sets, f.out.file); err != nil {
		return err
	}
	o := ingest.Options{Quiet: defaultQuiet}
	logs, err := f.logs.read(ctx, e, sets, o)
	if err != nil {
		return err
	}
	if err := refuseUnread(logs); err != nil {
		return err
	}
	d, conn, err := diagnoseLogs(ctx, e, logs, diagnose.Options{All: true, Limits: ingest.Limits{Slow: defaultSlow, Patience: defaultPatience, Quiet: defaultQuiet}})
	if err != nil {
		return err
	}
	defer conn.Close()
	if export == nil {
		return d.Parquet(ctx, f.out.file, version(), sets, f.logs.options(e, o))
	}
	return f.out.write(e, func(w writer) error { return export.Write(w, d, version()) })
}

// export is the form asked for; nil is Parquet.
func (f *exportFlags) export() (*report.Export, error) {
	for _, x := range report.Exports() {
		if x.Name == f.to {
			return &x, nil
		}
	}
	switch {
	case f.to == "":
		return nil, &usageError{"no --to given", "it says what to write: " + strings.Join(exportNames(), ", ")}
	case f.to != parquet:
		return nil, &usageError{"--to " + quote(f.to) + " is no form", "the forms are " + strings.Join(exportNames(), ", ")}
	case f.out.file == "":
		return nil, &usageError{"Parquet is written to a file only", "name one with -o FILE"}
	}
	return nil, nil
}
