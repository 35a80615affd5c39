package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"mcpdiag/diagnose/inventory"
	"mcpdiag/ingest"
	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
	"mcpdiag/report"
)

type toolsFlags struct {
	logs          payloadFlags
	out           outFlags
	baseline      string
	writeBaseline string
	failOn        string
}

const toolsLong = `Lists the tools that each server offered: a SHA-256 fingerprint of the whole definition, its size and estimated tokens (both
over RFC 8785 canonical JSON), calls, errors, and how long handlers took and answers were waited for. Then it says what drifted
between the listings of a server, between two servers, and against a baseline: tools added, removed, redefined (with the
fields that changed) or renamed, and one name from two servers. The pages of a listing are one listing.

Each log is one server. Definitions need payloads; a native log without them may still hold fingerprints.

Exit status: 0, 1 with --fail-on drift when something drifted, 2 for bad usage or an input from which no record was read.`

const toolsExample = `  mcpdiag tools session.jsonl
  mcpdiag tools --write-baseline tools.json session.jsonl
  mcpdiag tools --baseline tools.json --fail-on drift session.jsonl
  mcpdiag tools --format json search.jsonl billing.jsonl`

func newTools(e *env) *cobra.Command {
	var f toolsFlags
	c := &cobra.Command{
		Use:     "tools LOG…",
		Short:   "List the tools that servers offered, with fingerprints, costs and drift",
		Long:    toolsLong,
		Example: toolsExample,
		RunE:    func(c *cobra.Command, args []string) error { return runTools(c.Context(), e, &f, args) },
	}
	f.logs.register(c)
	flags := c.Flags()
	flags.StringVar(&f.out.format, "format", "text", "`FORMAT`: text, json")
	flags.StringVarP(&f.out.file, "out", "o", "", "write to `FILE` instead of standard output")
	flags.StringVar(&f.baseline, "baseline", "", "compare with the tools that `FILE` lists")
	flags.StringVar(&f.writeBaseline, "write-baseline", "", "write the tools to `FILE`")
	flags.StringVar(&f.failOn, "fail-on", "never", "`WHAT` makes the exit status 1: drift or never")
	return c
}

func runTools(ctx context.Context, e *env, f *toolsFlags, args []string) error {
	write := map[string]func(io.Writer, *report.Tools, report.Style) error{"text": report.ToolsText, "json": report.ToolsJSON}[f.out.format]
	if write == nil {
		return &usageError{"unknown format " + quote(f.out.format), "the formats are text, json"}
	}
	if f.failOn != "drift" && f.failOn != "never" {
		return &usageError{"--fail-on " + quote(f.failOn) + " is nothing to fail on", "it is drift or never"}
	}
	if err := f.logs.refuse(args, f.out.file, f.writeBaseline); err != nil {
		return err
	}
	baseline, err := f.read()
	if err != nil {
		return err
	}
	doc := &report.Tools{}
	for _, arg := range args {
		s, err := toolsOf(ctx, e, &f.logs, arg)
		if err != nil {
			return err
		}
		doc.Servers = append(doc.Servers, s)
	}
	doc.Drifts = inventory.Drifts(doc.Servers)
	if baseline != nil {
		doc.Drifts = append(doc.Drifts, baseline.Drifts(doc.Servers)...)
	}
	if err := f.out.write(e, func(w writer) error { return write(w, doc, w.style(e, true)) }); err != nil {
		return err
	}
	if len(doc.Drifts) > 0 && f.failOn == "drift" {
		e.status = exitStalled
	}
	if f.writeBaseline != "" {
		return writeJSONFile(e, f.writeBaseline, inventory.NewBaseline(doc.Servers))
	}
	return nil
}

func (f *toolsFlags) read() (*inventory.Baseline, error) {
	if f.baseline == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.baseline)
	if err != nil {
		return nil, &usageError{err.Error(), "--write-baseline writes one"}
	}
	b, err := inventory.ParseBaseline(text)
	if err != nil {
		return nil, &usageError{quote(f.baseline) + " is no baseline of tools: " + frame.Escape(err.Error()), "--write-baseline writes one"}
	}
	return b, nil
}

// toolsOf takes stock of one log. In a file with the records of both sides a frame stands twice: the server's records count.
func toolsOf(ctx context.Context, e *env, f *payloadFlags, arg string) (*inventory.Server, error) {
	readers := map[frame.Side]*inventory.Reader{}
	_, err := f.messages(ctx, e, arg, func(p *ingest.Place, fr *frame.Frame, body *dialect.Body) error {
		r := readers[p.Log]
		if r == nil {
			r = inventory.NewReader(p.Path)
			readers[p.Log] = r
		}
		r.Add(fr, body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, side := range [...]frame.Side{frame.Server, frame.Client} {
		if r := readers[side]; r != nil && len(r.Server().Names()) > 0 {
			return r.Server(), nil
		}
	}
	return inventory.NewReader(ingest.ParseSource(arg).Label).Server(), nil
}
