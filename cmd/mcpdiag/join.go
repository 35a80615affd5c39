package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/report"
)

type joinFlags struct {
	format, out           string
	slow, patience, quiet time.Duration
	all                   bool
}

func newJoin(e *env) *cobra.Command {
	var f joinFlags
	c := &cobra.Command{
		Use:  "join [CLIENT] [SERVER]",
		RunE: func(c *cobra.Command, args []string) error { return runJoin(c.Context(), e, &f, args) },
	}
	c.Flags().StringVar(&f.format, "format", "text", "text, json or ndjson")
	c.Flags().StringVarP(&f.out, "out", "o", "", "write to `FILE`")
	c.Flags().BoolVar(&f.all, "all", false, "list the healthy calls too")
	c.Flags().DurationVar(&f.slow, "slow", 2*time.Second, "slow")
	c.Flags().DurationVar(&f.patience, "patience", 30*time.Second, "slow")
	c.Flags().DurationVar(&f.quiet, "quiet", 30*time.Second, "slow")
	return c
}

func runJoin(ctx context.Context, e *env, f *joinFlags, args []string) error {
	logs, err := readLogs(ctx, e, args, ingest.Options{Quiet: f.quiet})
	if err != nil {
		return err
	}
	conn, err := ingest.OpenDB(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	d, err := diagnose.Diagnose(ctx, conn, logs, diagnose.Options{All: f.all, Limits: ingest.Limits{Slow: f.slow, Patience: f.patience, Quiet: f.quiet}})
	if err != nil {
		return err
	}
	format, _ := report.ByName(f.format)
	var w io.Writer = e.stdout
	if err := format.Write(w, d, report.Style{}); err != nil {
		return err
	}
	if d.Summary.Stalled > 0 {
		e.status = 1
	}
	return nil
}

func readLogs(ctx context.Context, e *env, args []string, o ingest.Options) ([]*ingest.Log, error) {
	type result struct {
		logs []*ingest.Log
		err  error
	}
	sides := []frame.Side{frame.Client, frame.Server}
	var results []chan result
	for i, a := range args {
		ch := make(chan result, 1)
		results = append(results, ch)
		go func() {
			set := ingest.Set{Sources: []ingest.Source{ingest.ParseSource(a)}}
			if len(args) == 2 {
				set.Side = sides[i]
			}
			l, err := ingest.Read(ctx, set, o)
			ch <- result{l, err}
		}()
	}
	var logs []*ingest.Log
	for _, ch := range results {
		r := <-ch
		if r.err != nil {
			return nil, r.err
		}
		logs = append(logs, r.logs...)
	}
	return logs, nil
}
