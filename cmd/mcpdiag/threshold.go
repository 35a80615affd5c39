package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/report"
)

type thresholdFlags struct {
	logs    logFlags
	out     outFlags
	ceiling int64
	tool    string
	session string
}

const thresholdLong = `Says from which size on frames are lost, and how many records that is, so that "it fails for some customers" becomes a
test with one customer above the line and one below.

A ceiling shows as a bracket: every frame up to one size was read, every one from a larger size was lost. Known
ceilings in it are named. Bytes per record are the bytes of whole answers, envelope included, by the rows that the
logs tell; the ceiling by that is the number of records at which it trips. Both are averages.

Exit status: 0, or 2 for bad usage or an input from which no record was read.`

const thresholdExample = `  mcpdiag threshold client.log server.log
  mcpdiag threshold client.log server.log --ceiling 16384
  mcpdiag threshold client.log server.log --tool search_invoices --format json`

func newThreshold(e *env) *cobra.Command {
	var f thresholdFlags
	c := &cobra.Command{
		Use:     "threshold [CLIENT] [SERVER]",
		Short:   "Say from which size on frames are lost, and how many records that is",
		Long:    thresholdLong,
		Example: thresholdExample,
		Args:    cobra.ArbitraryArgs,
		RunE:    func(c *cobra.Command, args []string) error { return runThreshold(c.Context(), e, &f, args) },
	}
	f.logs.register(c)
	registerTwo(c, &f.out)
	flags := c.Flags()
	flags.Int64Var(&f.ceiling, "ceiling", 0, "draw the line at this many `BYTES`, instead of where the logs suggest")
	flags.StringVar(&f.tool, "tool", "", "only the records of this `TOOL`")
	flags.StringVar(&f.session, "session", "", "only calls of the session of this `NAME`")
	return c
}

func runThreshold(ctx context.Context, e *env, f *thresholdFlags, args []string) error {
	if f.ceiling < 0 {
		return &usageError{"--ceiling is a size in bytes", "--ceiling 16384"}
	}
	logs, err := readTwo(ctx, e, &f.logs, &f.out, args)
	if err != nil {
		return err
	}
	d, conn, err := diagnoseLogs(ctx, e, logs, diagnose.Options{Limits: ingest.Limits{
		Slow: defaultSlow, Patience: defaultPatience, Quiet: defaultQuiet, Session: f.session}})
	if err != nil {
		return err
	}
	defer conn.Close()
	t, err := diagnose.NewThreshold(ctx, d, diagnose.ThresholdOptions{Ceiling: f.ceiling, Tool: f.tool})
	if err != nil {
		return err
	}
	if err := writeTwo(e, &f.out, t, report.Threshold, report.ThresholdJSON); err != nil {
		return err
	}
	return refuseUnread(logs)
}

// registerTwo registers the output flags of a command that writes text or JSON.
func registerTwo(c *cobra.Command, out *outFlags) {
	c.Flags().StringVar(&out.format, "format", "text", "`FORMAT`: text or json")
	c.Flags().StringVarP(&out.file, "out", "o", "", "write to `FILE` instead of standard output")
}

// readTwo checks the command line of such a command and reads its logs.
func readTwo(ctx context.Context, e *env, in *logFlags, out *outFlags, args []string) ([]*ingest.Log, error) {
	if out.format != "text" && out.format != "json" {
		return nil, &usageError{"unknown format " + quote(out.format), "the formats are text, json"}
	}
	sets, err := in.sets(args)
	if err != nil {
		return nil, err
	}
	if err := refuseInputs(sets, out.file); err != nil {
		return nil, err
	}
	return in.read(ctx, e, sets, ingest.Options{Quiet: defaultQuiet})
}

// writeTwo writes what such a command found.
func writeTwo[T any](e *env, out *outFlags, what T, text, json func(io.Writer, T, report.Style) error) error {
	write := text
	if out.format == "json" {
		write = json
	}
	return out.write(e, func(w writer) error { return write(w, what, w.style(e, false)) })
}
