package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/join"
	"mcpdiag/report"
)

// joinFlags are the flags of join.
type joinFlags struct {
	logs         logFlags
	out          outFlags
	slow         time.Duration
	patience     time.Duration
	quiet        time.Duration
	all          bool
	id, session  string
	since, until string
	db           string
	at           string
}

// The thresholds that hold when the user names none.
const (
	defaultSlow     = 2 * time.Second
	defaultPatience = 30 * time.Second
	defaultQuiet    = 30 * time.Second
)

const joinLong = `Joins the client's and the server's frame log on the JSON-RPC id and says for each stalled call where it stopped:
never arrived, never written, written but not read, or delivered. Times are subtracted on one clock only; every
verdict cites its lines.

A log is a file, plain or as gzip, zstd or UTF-16, "-" for standard input, or label=path. One log alone answers what
one side can. Rotated files of one side are given with --client and --server, several times, oldest first. Folders that
mcpdiag fold made, any number of them, stand in place of the logs; --at joins what mcpdiag ship sent to a ClickHouse.

Exit status: 0 nothing is stalled; 1 something is; 2 bad usage, or an input from which no record was read; 3 nothing
is stalled, but a call has no leaf or a log is empty.`

const joinExample = `  mcpdiag join client.log server.log
  mcpdiag join --all --format json client.log server.log
  mcpdiag join --format html -o incident.html client.log server.log
  mcpdiag join --format markdown client.log server.log >> postmortem.md
  mcpdiag join --client client.log.1 --client client.log --server server.log
  mcpdiag join --id 47 --session s1 client.log server.log
  mcpdiag join --db incident.duckdb client.log server.log
  mcpdiag join client.log`

func newJoin(e *env) *cobra.Command {
	var f joinFlags
	c := &cobra.Command{
		Use:     "join [CLIENT] [SERVER]",
		Short:   "Say for each stalled call where it stopped",
		Long:    joinLong,
		Example: joinExample,
		Args:    cobra.ArbitraryArgs,
		RunE:    func(c *cobra.Command, args []string) error { return runJoin(c.Context(), e, &f, args) },
	}
	f.logs.register(c)
	f.out.register(c)
	flags := c.Flags()
	flags.BoolVar(&f.all, "all", false, "list every call, not only those with a problem")
	flags.StringVar(&f.id, "id", "", "only calls with this `ID`: bare, or as a JSON token")
	flags.StringVar(&f.session, "session", "", "only calls of the session of this `NAME`")
	flags.DurationVar(&f.slow, "slow", defaultSlow, "an answered call that took this long is slow")
	flags.DurationVar(&f.patience, "patience", defaultPatience, "an unanswered call younger than this when its log ends is still open")
	flags.DurationVar(&f.quiet, "quiet", defaultQuiet, "silence after an answer that is worth a word")
	flags.StringVar(&f.since, "since", "", "only calls from this `TIME` on: RFC 3339, or +duration from each log's first record")
	flags.StringVar(&f.until, "until", "", "only calls up to this `TIME`")
	flags.StringVar(&f.at, "at", "", "join the logs that were shipped to the ClickHouse at this `ADDRESS`")
	flags.StringVar(&f.db, "db", "", "keep frames, halves, calls and findings in the DuckDB `FILE`")
	return c
}

func runJoin(ctx context.Context, e *env, f *joinFlags, args []string) error {
	limits := ingest.Limits{Slow: f.slow, Patience: f.patience, Quiet: f.quiet, ID: f.id, Session: f.session}
	if err := window(&limits, f.since, f.until); err != nil {
		return err
	}
	format, ok := report.ByName(f.out.format)
	if !ok {
		return &usageError{"unknown format " + quote(f.out.format), "the formats are " + formatNames()}
	}
	sets, err := f.sets(args)
	if err != nil {
		return err
	}
	if err := refuseInputs(sets, f.out.file, f.db); err != nil {
		return err
	}
	opening := opening(ctx, e)
	brought, err := f.bring(ctx, e, sets, &limits, format.Every)
	conn, openErr := opening()
	if conn != nil {
		defer conn.Close()
	}
	if err = cmp.Or(err, openErr); err != nil {
		return err
	}
	d, err := diagnose.DiagnoseBrought(ctx, conn, brought, diagnose.Options{All: f.all, Limits: limits})
	if err != nil {
		return err
	}
	if f.db != "" {
		if err := d.Keep(ctx, f.db, version(), sets, f.logs.options(e, ingest.Options{Quiet: f.quiet})); err != nil {
			return err
		}
	}
	e.status = status(d)
	unread := refuseUnread(brought.Logs)
	if unread != nil && f.out.file != "" {
		return unread // a failure leaves no file
	}
	if err := f.out.write(e, func(w writer) error { return format.Write(w, d, w.style(e, f.all)) }); err != nil {
		return err
	}
	return unread
}

// bring reads the logs. Of folded ones it brings in what has to be looked at: every call only where the report shows each.
func (f *joinFlags) bring(ctx context.Context, e *env, sets []ingest.Set, limits *ingest.Limits, every bool) (*join.Brought, error) {
	if f.db != "" && (f.at != "" || len(f.logs.folders) > 0) {
		return nil, &usageError{"--db keeps every record, and folded logs have only the halves of calls", "give the logs themselves; the tables in a folder are Parquet, which DuckDB reads as they are"}
	}
	want := join.Few
	if f.all || every {
		want = join.Each
	}
	b, err := f.from(ctx, e, sets, limits, want)
	if err != nil {
		return nil, err
	}
	for _, l := range b.Logs {
		if least := l.LeastQuiet(); least > limits.Quiet {
			return nil, &usageError{fmt.Sprintf("--quiet %s: %s was folded with --quiet %s, and tells no shorter silence", limits.Quiet, frame.Escape(l.Path), least), "fold the log again with that"}
		}
	}
	return b, nil
}

// from is where the logs are: in a ClickHouse, in folders, or in files.
func (f *joinFlags) from(ctx context.Context, e *env, sets []ingest.Set, limits *ingest.Limits, want join.Want) (*join.Brought, error) {
	switch {
	case f.at != "":
		db, err := openStore("--at", f.at, e)
		if err != nil {
			return nil, err
		}
		m, err := e.within()
		if err != nil {
			return nil, err
		}
		return join.Bring(ctx, db, m, limits, want)
	case len(sets) == 0:
		return f.logs.bring(ctx, e, limits, want)
	}
	logs, err := f.logs.read(ctx, e, sets, ingest.Options{Quiet: f.quiet})
	return &join.Brought{Logs: logs}, err
}

// sets are the logs of the command line; none with --at.
func (f *joinFlags) sets(args []string) ([]ingest.Set, error) {
	if f.at == "" {
		return f.logs.sets(args)
	}
	if len(args)+len(f.logs.client)+len(f.logs.server) > 0 {
		return nil, &usageError{"--at joins what was shipped, and logs are given too", "mcpdiag ship --to ADDRESS LOG... first, or leave --at out"}
	}
	return nil, nil
}

// opening opens a database beside whatever else is done; the function that it returns waits for it.
func opening(ctx context.Context, e *env) func() (*ingest.Conn, error) {
	var conn *ingest.Conn
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err = e.openDB(ctx)
	}()
	return func() (*ingest.Conn, error) {
		<-done
		return conn, err
	}
}

func diagnoseLogs(ctx context.Context, e *env, logs []*ingest.Log, o diagnose.Options) (*diagnose.Diagnosis, *ingest.Conn, error) {
	conn, err := e.openDB(ctx)
	if err != nil {
		return nil, nil, err
	}
	d, err := diagnose.Diagnose(ctx, conn, logs, o)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return d, conn, nil
}

// status is what a diagnosis exits with.
func status(d *diagnose.Diagnosis) int {
	switch {
	case d.Summary.Stalled > 0:
		return exitStalled
	case d.Summary.NoLeaf > 0:
		return exitUnsure
	}
	for _, l := range d.Logs {
		if l.Records == 0 {
			return exitUnsure
		}
	}
	return exitFine
}

// window sets the bounds of --since and --until.
func window(limits *ingest.Limits, since, until string) (err error) {
	if limits.Since, err = parseBound("--since", since); err != nil {
		return err
	}
	limits.Until, err = parseBound("--until", until)
	return err
}

func parseBound(flag, s string) (b ingest.Bound, err error) {
	if s == "" {
		return b, nil
	}
	b.Set = true
	if s[0] == '+' {
		b.After, err = time.ParseDuration(s[1:])
	} else {
		b.Wall, err = time.Parse(time.RFC3339Nano, s)
	}
	if err != nil {
		return b, &usageError{flag + " " + quote(s) + " is no time", "write RFC 3339 (2026-03-02T09:41:03Z) or +duration from each log's first record (+90s)"}
	}
	return b, nil
}
