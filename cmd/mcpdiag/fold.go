package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

type foldFlags struct {
	logs  logFlags
	dir   string
	quiet time.Duration
}

const foldLong = `Folds logs where they were written, so that only their halves have to travel: one small row for each call that a log
knows of, and the rare rows that a cause needs. A folder takes the logs of any number of hosts, and mcpdiag join reads it
in place of the logs: same verdicts, same citations.

One log, or the client's and the server's, or rotated files with --client and --server: what is given at once is what join
would read at once. The same log gives the same bytes, and one that is in the folder already is left as it is. Files are
written beside and renamed, 0600. Payloads do not travel; session names, ids, tools and the first bytes of lines that are
no JSON-RPC do.

Exit status: 0, or 2 for bad usage or an input from which no record was read.`

const foldExample = `  mcpdiag fold server.log --out folded
  mcpdiag fold client.log server.log --out folded
  mcpdiag join folded`

func newFold(e *env) *cobra.Command {
	var f foldFlags
	c := &cobra.Command{
		Use:     "fold [CLIENT] [SERVER] --out DIR",
		Short:   "Fold logs into halves that can be joined elsewhere",
		Long:    foldLong,
		Example: foldExample,
		Args:    cobra.ArbitraryArgs,
		RunE:    func(c *cobra.Command, args []string) error { return runFold(c.Context(), e, &f, args) },
	}
	f.logs.register(c)
	c.Flags().StringVarP(&f.dir, "out", "o", "", "the `DIR` of the folded logs; made when it is not there")
	c.Flags().DurationVar(&f.quiet, "quiet", defaultQuiet, "silence after an answer that is taken note of: join can ask for no less")
	return c
}

func runFold(ctx context.Context, e *env, f *foldFlags, args []string) error {
	if f.dir == "" {
		return &usageError{"--out names no folder", "mcpdiag fold server.log --out folded"}
	}
	sets, err := f.logs.sets(args)
	if err != nil {
		return err
	}
	if len(f.logs.folders) > 0 {
		return &usageError{f.logs.folders[0] + " is a folder", "fold takes logs; join takes folders of folded ones"}
	}
	conn, err := e.openDB(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	logs, names, err := f.fold(ctx, e, conn, sets, f.dir)
	if err != nil {
		return err
	}
	for k, l := range logs {
		fmt.Fprintf(e.stdout, "%-6s  %s: %s, %s, as %s\n", l.Side, frame.Escape(l.Path), plural(int(l.Records), "record"), plural(l.Halves(), "call"), names[k])
	}
	return nil
}

// fold reads the logs and folds them into the folder, where they have the names.
func (f *foldFlags) fold(ctx context.Context, e *env, conn *ingest.Conn, sets []ingest.Set, dir string) ([]*ingest.Log, []string, error) {
	logs, err := f.logs.read(ctx, e, sets, ingest.Options{Quiet: f.quiet})
	if err != nil {
		return nil, nil, err
	}
	if err := refuseUnread(logs); err != nil {
		return nil, nil, err
	}
	names, err := ingest.Fold(ctx, conn, logs, dir)
	return logs, names, err
}
