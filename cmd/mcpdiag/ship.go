package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/join/clickhouse"
)

type shipFlags struct {
	fold   foldFlags
	to     string
	init   bool
	beside bool
}

const shipLong = `Sends folded logs to a ClickHouse, where mcpdiag join --at joins them: the logs of any number of hosts, on any number of
shards. It takes folders that mcpdiag fold made, or logs, which it folds first. A log counts once all of it has arrived.
Sending it twice, or again after it was cut off in the middle, changes nothing.

The address is clickhouse://[user[:password]@]host[:port]/database[?cluster=NAME][&secure=true]; its port is that of HTTP.
Without a user in it CLICKHOUSE_USER and CLICKHOUSE_PASSWORD count. --init creates the database and its tables on that
server, and with a cluster those over its shards; run it once for the address of each shard.

A log that has grown since it was sent is another log, and is refused: send rotated logs, which grow no more. A database for
each day, or for each incident, keeps joins small, and is dropped as a whole.

Exit status: 0, or 2 for bad usage, an input without records, or a ClickHouse that did not take it.`

const shipExample = `  mcpdiag ship --init --to clickhouse://127.0.0.1/mcp
  mcpdiag ship --to clickhouse://127.0.0.1/mcp server.log
  mcpdiag ship --to 'clickhouse://127.0.0.1/mcp?cluster=fleet' folded`

func newShip(e *env) *cobra.Command {
	var f shipFlags
	c := &cobra.Command{
		Use:     "ship [CLIENT] [SERVER] | DIR... --to ADDRESS",
		Short:   "Send folded logs to a ClickHouse",
		Long:    shipLong,
		Example: shipExample,
		Args:    cobra.ArbitraryArgs,
		RunE:    func(c *cobra.Command, args []string) error { return runShip(c.Context(), e, &f, args) },
	}
	f.fold.logs.register(c)
	flags := c.Flags()
	flags.StringVar(&f.to, "to", "", "the `ADDRESS` of the database: clickhouse://host:port/database")
	flags.BoolVar(&f.init, "init", false, "create the database and its tables first, where they are not there")
	flags.BoolVar(&f.beside, "beside", false, "send a log that begins as one that is there too")
	flags.DurationVar(&f.fold.quiet, "quiet", defaultQuiet, "silence after an answer that is taken note of: join can ask for no less")
	return c
}

func runShip(ctx context.Context, e *env, f *shipFlags, args []string) error {
	db, err := openStore("--to", f.to, e)
	if err != nil {
		return err
	}
	if f.init {
		if err := db.Init(ctx); err != nil {
			return err
		}
		if len(args)+len(f.fold.logs.client)+len(f.fold.logs.server) == 0 {
			fmt.Fprintf(e.stdout, "%s has its tables\n", db)
			return nil
		}
	}
	sets, err := f.fold.logs.sets(args)
	if err != nil {
		return err
	}
	conn, err := e.openDB(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	dirs := f.fold.logs.folders
	if len(sets) > 0 {
		m, err := e.within()
		if err != nil {
			return err
		}
		dir := filepath.Join(m.Folder(), "folded")
		if _, _, err := f.fold.fold(ctx, e, conn, sets, dir); err != nil {
			return err
		}
		dirs = append(dirs, dir)
	}
	return f.send(ctx, e, db, conn, dirs)
}

func (f *shipFlags) send(ctx context.Context, e *env, db *clickhouse.DB, conn *ingest.Conn, dirs []string) error {
	logs, err := ingest.FoldedLogs(dirs)
	if err != nil {
		return err
	}
	m, err := e.within()
	if err != nil {
		return err
	}
	shipped, err := clickhouse.Ship(ctx, db, conn, logs, m.Folder(), f.beside)
	for _, s := range shipped {
		what := "sent"
		if !s.Sent {
			what = "was there"
		}
		fmt.Fprintf(e.stdout, "%s: %s, %s, as %s\n", frame.Escape(s.Name), plural(int(s.Calls), "call"), what, s.Log)
	}
	var grown *clickhouse.Grown
	if errors.As(err, &grown) {
		return &usageError{grown.Error(), "send rotated logs, which grow no more; --beside sends it if it is another log"}
	}
	return err
}

// openStore understands the address of a database.
func openStore(flag, address string, e *env) (*clickhouse.DB, error) {
	if address == "" {
		return nil, &usageError{flag + " names no database", flag + " clickhouse://127.0.0.1:8123/mcp"}
	}
	db, err := clickhouse.Open(address, e.getenv)
	if err != nil {
		return nil, &usageError{flag + ": " + err.Error(), "clickhouse://[user[:password]@]host[:port]/database[?cluster=NAME][&secure=true]"}
	}
	return db, nil
}
