package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mcpdiag/diagnose/audit"
	"mcpdiag/ingest"
	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
	"mcpdiag/report"
)

type auditFlags struct {
	logs          payloadFlags
	out           outFlags
	failOn        string
	baseline      string
	writeBaseline string
	corrected     string
	rules         bool
}

const auditLong = `Judges each message of the logs by itself against MCP 2026-07-28 (modern) or the legacy version in force, one line for each in
arrival order:

  LINE DIR [request/modern/tools] id=7 tools/list metadata=valid

then counts the messages by era, groups what is broken by rule, lists what could not be judged and why, and names the first
corrective action. Rules need payloads: mcpdiag tee --payload full, desktop logs and raw captures have them. A rule that a log
cannot show is not judged, and never passed. The logs are not changed.

Exit status: 0 when nothing is broken at the weight of --fail-on or above, 1 when something is or when an entry of the
baseline is stale, 2 for bad usage, an input from which no record was read, or a message that is not JSON-RPC 2.0; else 3 when
a log holds no message at all, which proves nothing.`

const auditExample = `  mcpdiag audit session.jsonl
  mcpdiag audit --fail-on warning --format sarif -o audit.sarif session.jsonl
  mcpdiag audit --write-baseline accepted.json session.jsonl
  mcpdiag audit --baseline accepted.json session.jsonl
  mcpdiag audit --rules`

func newAudit(e *env) *cobra.Command {
	var f auditFlags
	c := &cobra.Command{
		Use:     "audit LOG…",
		Short:   "Judge each message of a log against the rules of MCP, both eras",
		Long:    auditLong,
		Example: auditExample,
		RunE:    func(c *cobra.Command, args []string) error { return runAudit(c.Context(), e, &f, args) },
	}
	f.logs.register(c)
	flags := c.Flags()
	flags.StringVar(&f.out.format, "format", "text", "`FORMAT`: "+strings.Join(auditFormats(), ", "))
	flags.StringVarP(&f.out.file, "out", "o", "", "write to `FILE` instead of standard output")
	flags.StringVar(&f.failOn, "fail-on", "error", "the least `WEIGHT` that makes the exit status 1: error, warning or never")
	flags.StringVar(&f.baseline, "baseline", "", "accept the violations that `FILE` lists; an entry that nothing matches fails")
	flags.StringVar(&f.writeBaseline, "write-baseline", "", "write the violations found to `FILE`, to be accepted later")
	flags.StringVar(&f.corrected, "corrected", "", "write corrected examples of the first violating messages to `FILE`")
	flags.BoolVar(&f.rules, "rules", false, "print the table of rules")
	return c
}

func auditFormats() (names []string) {
	for _, f := range report.AuditFormats() {
		names = append(names, f.Name)
	}
	return names
}

func (f *auditFlags) format() (func(io.Writer, *report.Audit, report.Style) error, error) {
	for _, format := range report.AuditFormats() {
		if format.Name == f.out.format {
			return format.Write, nil
		}
	}
	return nil, &usageError{"unknown format " + quote(f.out.format), "the formats are " + strings.Join(auditFormats(), ", ")}
}

// failWeights are the words of --fail-on.
var failWeights = map[string]audit.Weight{"error": audit.Error, "warning": audit.Warning, "never": audit.Error + 1}

func runAudit(ctx context.Context, e *env, f *auditFlags, args []string) error {
	if f.rules {
		return f.out.write(e, func(w writer) error { return report.AuditRules(w, w.style(e, true)) })
	}
	write, err := f.format()
	if err != nil {
		return err
	}
	least, ok := failWeights[f.failOn]
	if !ok {
		return &usageError{"--fail-on " + quote(f.failOn) + " is no weight", "it is error, warning or never"}
	}
	if err := f.logs.refuse(args, f.out.file, f.writeBaseline, f.corrected); err != nil {
		return err
	}
	var accepted *audit.Baseline
	if f.baseline != "" {
		if accepted, err = readBaseline(f.baseline); err != nil {
			return err
		}
	}
	reports, err := auditLogs(ctx, e, &f.logs, args)
	if err != nil {
		return err
	}
	doc := &report.Audit{Reports: reports, Version: version()}
	if accepted != nil {
		doc.Stale = accepted.Apply(reports)
	}
	if err := f.out.write(e, func(w writer) error { return write(w, doc, w.style(e, true)) }); err != nil {
		return err
	}
	if err := f.keep(e, reports); err != nil {
		return err
	}
	return auditStatus(e, doc, least)
}

func readBaseline(path string) (*audit.Baseline, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &usageError{err.Error(), "--write-baseline writes one"}
	}
	b, err := audit.ParseBaseline(text)
	if err != nil {
		return nil, &usageError{quote(path) + " is no baseline of an audit: " + frame.Escape(err.Error()), "--write-baseline writes one"}
	}
	return b, nil
}

// keep writes the files that were asked for beside the report.
func (f *auditFlags) keep(e *env, reports []*audit.Report) error {
	if f.writeBaseline != "" {
		if err := writeJSONFile(e, f.writeBaseline, audit.NewBaseline(reports)); err != nil {
			return err
		}
	}
	if f.corrected != "" {
		return writeJSONFile(e, f.corrected, audit.Correct(reports))
	}
	return nil
}

func writeJSONFile(e *env, path string, doc any) error {
	out := outFlags{file: path}
	return out.write(e, func(w writer) error { return report.WriteDocument(w, doc) })
}

func auditStatus(e *env, doc *report.Audit, least audit.Weight) error {
	for _, r := range doc.Reports {
		if r.Stopped != nil {
			return &ingest.InputError{Path: frame.Escape(r.Path), Line: int(r.Stopped.Line), What: "not JSON-RPC 2.0: the envelope is " + frame.Escape(r.Stopped.Envelope),
				Hint: "the audit stopped there: what follows cannot be judged"}
		}
		if worst, broken := r.Worst(); broken && worst >= least {
			e.status = exitStalled
		}
	}
	if len(doc.Stale) > 0 {
		e.status = exitStalled
	}
	for _, r := range doc.Reports {
		if r.Counts.Messages == 0 && e.status == exitFine {
			e.status = exitUnsure
		}
	}
	return nil
}

// auditLogs audits each log by itself; a file with the records of both sides is two logs.
func auditLogs(ctx context.Context, e *env, f *payloadFlags, args []string) ([]*audit.Report, error) {
	var reports []*audit.Report
	for _, arg := range args {
		found, err := auditLog(ctx, e, f, arg, 1)
		if err != nil {
			if found = f.foreign(ctx, e, arg); found == nil {
				return nil, err
			}
		}
		if k := f.copies(ctx, e, arg, found); k > 1 {
			if found, err = auditLog(ctx, e, f, arg, k); err != nil {
				return nil, err
			}
		}
		reports = append(reports, found...)
	}
	return reports, nil
}

// foreign audits a log from which no record was read as bare messages: only so does an envelope that is not JSON-RPC 2.0 get its
// name, for no dialect's records hold one. nil when there is no such envelope either.
func (f *payloadFlags) foreign(ctx context.Context, e *env, arg string) []*audit.Report {
	if f.dialect != "" || ingest.ParseSource(arg).Path == "-" {
		return nil
	}
	found, err := auditLog(ctx, e, &payloadFlags{dialect: "wire", side: f.side}, arg, 1)
	if err != nil || !slices.ContainsFunc(found, func(r *audit.Report) bool { return r.Stopped != nil }) {
		return nil
	}
	return found
}

// copies is how often every frame of a log stands there. Only one in which ids seem to repeat is worth asking, and what comes
// by a pipe cannot be read again.
func (f *payloadFlags) copies(ctx context.Context, e *env, arg string, reports []*audit.Report) int {
	source := ingest.ParseSource(arg)
	if source.Path == "-" || !slices.ContainsFunc(reports, (*audit.Report).Repeats) {
		return 1
	}
	logs, err := ingest.Read(ctx, ingest.Set{Sources: []ingest.Source{source}}, ingest.Options{Dialect: f.dialect, Stdin: e.stdin})
	if err != nil || len(logs) != 1 {
		return 1
	}
	return logs[0].Copies
}

func auditLog(ctx context.Context, e *env, f *payloadFlags, arg string, copies int) ([]*audit.Report, error) {
	auditors := map[frame.Side]*audit.Auditor{}
	var order []*audit.Report
	unreadable, err := f.messages(ctx, e, arg, func(p *ingest.Place, fr *frame.Frame, body *dialect.Body) error {
		if !audit.Judges(fr, body) {
			return nil
		}
		side := fr.Side
		if side == frame.NoSide && !p.Guessed {
			side = p.Log
		}
		a := auditors[side]
		if a == nil {
			a = audit.New(p.Path, side)
			a.Repeated(copies)
			auditors[side] = a
			order = append(order, a.Report())
		}
		a.Add(fr, body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, r := range order {
		r.Unreadable = unreadable
	}
	if len(order) == 0 {
		order = append(order, audit.New(arg, frame.NoSide).Report())
	}
	return order, nil
}

// payloadFlags say which logs to read with their payloads, and how.
type payloadFlags struct{ dialect, side string }

func (f *payloadFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.dialect, "dialect", "", "read the logs as `NAME` instead of detecting what they are")
	c.Flags().StringVar(&f.side, "side", "", "the side of records that name none: client or server")
}

// refuse refuses a command line without a log, and outputs that are inputs.
func (f *payloadFlags) refuse(args []string, outputs ...string) error {
	if len(args) == 0 {
		return &usageError{"no log given", "give one or more; - is standard input"}
	}
	if side, ok := frame.ParseSide([]byte(f.side)); f.side != "" && (!ok || side == frame.Proxy) {
		return &usageError{"--side " + quote(f.side) + " is no side", "it is client or server"}
	}
	return refuseInputs([]ingest.Set{{Sources: sources(args)}}, outputs...)
}

// messages visits the messages of a log with their texts, and counts the lines that are no record.
func (f *payloadFlags) messages(ctx context.Context, e *env, arg string, visit func(*ingest.Place, *frame.Frame, *dialect.Body) error) (unreadable int, err error) {
	side, _ := frame.ParseSide([]byte(f.side))
	source := ingest.ParseSource(arg)
	var first *ingest.BadLine
	tally, err := ingest.Frames(ctx, ingest.Set{Sources: []ingest.Source{source}, Side: side}, ingest.Options{Dialect: f.dialect, Stdin: e.stdin}, ingest.Visitor{
		Message: visit,
		Bad: func(_ *ingest.Place, b ingest.BadLine) {
			if first == nil {
				first = &b
			}
		},
	})
	if err != nil {
		return 0, err
	}
	for _, cut := range tally.Cut {
		fmt.Fprintf(e.stderr, "mcpdiag: %s\n", frame.Escape(cut.Error()))
	}
	if tally.Records == 0 && first != nil {
		return 0, &ingest.InputError{Path: frame.Escape(source.Label), Line: int(first.Line), What: "no record could be read: " + string(first.Reason),
			Hint: "mcpdiag frames shows each line's reason; --dialect NAME reads it as another dialect"}
	}
	return int(tally.Unreadable), nil
}
