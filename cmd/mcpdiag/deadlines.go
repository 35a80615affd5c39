package main

import (
	"context"

	"github.com/spf13/cobra"

	"mcpdiag/diagnose"
	"mcpdiag/report"
)

type deadlinesFlags struct {
	logs logFlags
	out  outFlags
}

const deadlinesLong = `Says after how long the requester gave up: the waits that ended in a cancel, in clusters, each compared with the defaults
of known clients. What was answered later than that, with or without progress, tells what the deadline counts.

It reads the requester's log: the client's, or the server's for what the server asked of the client.

Exit status: 0, or 2 for bad usage or an input from which no record was read.`

const deadlinesExample = `  mcpdiag deadlines client.log
  mcpdiag deadlines --format json -o deadlines.json client.log`

func newDeadlines(e *env) *cobra.Command {
	var f deadlinesFlags
	c := &cobra.Command{
		Use:     "deadlines [CLIENT]",
		Short:   "Say after how long the requester gave up, and whose default that is",
		Long:    deadlinesLong,
		Example: deadlinesExample,
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return runDeadlines(c.Context(), e, &f, args) },
	}
	f.logs.register(c)
	registerTwo(c, &f.out)
	return c
}

func runDeadlines(ctx context.Context, e *env, f *deadlinesFlags, args []string) error {
	logs, err := readTwo(ctx, e, &f.logs, &f.out, args)
	if err != nil {
		return err
	}
	var all []*diagnose.Patience
	for _, l := range logs {
		all = append(all, diagnose.NewPatience(l))
	}
	if err := writeTwo(e, &f.out, all, report.Deadlines, report.DeadlinesJSON); err != nil {
		return err
	}
	return refuseUnread(logs)
}
