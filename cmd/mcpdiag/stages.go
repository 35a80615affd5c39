package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/report"
)

type stagesFlags struct {
	logs logFlags
	out  outFlags
	slow time.Duration
}

const stagesLong = `Says how long each tool took on the side that served it, by stage: dispatch (request read to handler entered), handler
(entered to left), flush (left to answer written) and their total. Slow answers stand apart from calls that never
finished, of which only a least time is known.

It reads the responder's log: the server's, or the client's for what the server asked of it. A file with the records of
both sides is told side by side, each on its own clock.

Exit status: 0, or 2 for bad usage or an input from which no record was read.`

const stagesExample = `  mcpdiag stages server.log
  mcpdiag stages --slow 500ms server.log
  mcpdiag stages --format json server.log`

func newStages(e *env) *cobra.Command {
	var f stagesFlags
	c := &cobra.Command{
		Use:     "stages [SERVER]",
		Short:   "Say how long each tool took, by stage, on the side that served it",
		Long:    stagesLong,
		Example: stagesExample,
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return runStages(c.Context(), e, &f, args) },
	}
	f.logs.register(c)
	registerTwo(c, &f.out)
	c.Flags().DurationVar(&f.slow, "slow", defaultSlow, "an answered call that took this long is slow")
	return c
}

func runStages(ctx context.Context, e *env, f *stagesFlags, args []string) error {
	logs, err := readTwo(ctx, e, &f.logs, &f.out, args)
	if err != nil {
		return err
	}
	if f.unplaced(logs, args) { // what nothing places is taken for what this command reads
		f.logs.side = "server"
		if logs, err = readTwo(ctx, e, &f.logs, &f.out, args); err != nil {
			return err
		}
	}
	var services []*diagnose.Service
	for _, l := range logs {
		services = append(services, diagnose.NewService(l, f.slow))
	}
	if err := writeTwo(e, &f.out, services, report.Stages, report.StagesJSON); err != nil {
		return err
	}
	return refuseUnread(logs)
}

// unplaced reports whether nothing tells whose log it is, and it can be read again.
func (f *stagesFlags) unplaced(logs []*ingest.Log, args []string) bool {
	return len(logs) == 1 && logs[0].SideGuessed && len(args) == 1 && ingest.ParseSource(args[0]).Path != "-"
}
