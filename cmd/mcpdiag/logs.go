package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/join"
)

// logFlags say which logs to read, and how.
type logFlags struct {
	client, server []string
	side           string
	dialect        string
	given          readFlags
	folders        []string // of folded logs; set by sets
}

// readFlags say what a log does not tell of itself.
type readFlags struct{ of, date, zone string }

func (f *readFlags) register(flags *pflag.FlagSet, server string) {
	flags.StringVar(&f.of, server, "", "only what a log of several servers tells of the server of this `NAME`")
	flags.StringVar(&f.date, "date", "", "the `DAY` (2026-03-02) that times without a date are of")
	flags.StringVar(&f.zone, "tz", "", "the `ZONE` (Europe/Berlin, +02:00) that times without one are of: a label, for they are compared with no other log's")
}

// set gives the options what the flags say.
func (f *readFlags) set(o *ingest.Options) error {
	o.Server = f.of
	if f.date != "" {
		day, err := time.Parse(time.DateOnly, f.date)
		if err != nil {
			return &usageError{"--date " + quote(f.date) + " is no day", "write 2026-03-02"}
		}
		o.Date = day
	}
	if f.zone == "" {
		return nil
	}
	if at, err := time.Parse("-07:00", f.zone); err == nil {
		_, offset := at.Zone()
		o.Zone = time.FixedZone(f.zone, offset)
		return nil
	}
	zone, err := time.LoadLocation(f.zone)
	if err != nil || f.zone == "Local" {
		return &usageError{"--tz " + quote(f.zone) + " is no zone", "write a name such as Europe/Berlin, or an offset such as +02:00"}
	}
	o.Zone = zone
	return nil
}

func (f *logFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.client, "client", nil, "a `FILE` of the client's log; again for the next of a rotated set, oldest first")
	flags.StringArrayVar(&f.server, "server", nil, "a `FILE` of the server's log; again for the next")
	flags.StringVar(&f.side, "side", "", "whose log it is when there is one: client or server")
	flags.StringVar(&f.dialect, "dialect", "", "read the logs as `NAME` instead of detecting what they are")
	f.given.register(flags, "of-server")
}

// takeFolders takes the folders of folded logs off the arguments: any number of them, beside logs or alone. What is in them says
// itself whose it is.
func (f *logFlags) takeFolders(args []string) []string {
	f.folders = nil
	var rest []string
	for _, arg := range args {
		if ingest.IsFolded(arg) {
			f.folders = append(f.folders, arg)
		} else {
			rest = append(rest, arg)
		}
	}
	return rest
}

// sets turns the command line into one or two sets: the client's first. There may be none when there are folders.
func (f *logFlags) sets(args []string) ([]ingest.Set, error) {
	if args = f.takeFolders(args); len(f.folders) > 0 && len(args) == 0 && len(f.client) == 0 && len(f.server) == 0 {
		return nil, nil
	}
	side, ok := frame.ParseSide([]byte(f.side))
	if f.side != "" && (!ok || side == frame.Proxy) {
		return nil, &usageError{"--side " + quote(f.side) + " is no side", "it is client or server"}
	}
	client, server := f.client, f.server
	for _, arg := range args {
		if client == nil {
			client = []string{arg}
		} else if server == nil {
			server = []string{arg}
		} else {
			return nil, &usageError{"too many logs: " + quote(arg), "mcpdiag join CLIENT SERVER, or --client and --server for rotated sets"}
		}
	}
	switch {
	case client == nil && server == nil:
		return nil, &usageError{"no log given", "mcpdiag join client.log server.log; mcpdiag demo shows what comes out"}
	case server == nil && len(f.client) == 0: // a lone positional argument is whosoever log its records say
		return []ingest.Set{{Sources: sources(client), Side: side}}, nil
	case server == nil:
		return []ingest.Set{{Sources: sources(client), Side: frame.Client}}, nil
	case client == nil:
		return []ingest.Set{{Sources: sources(server), Side: frame.Server}}, nil
	case side != frame.NoSide:
		return nil, &usageError{"--side is for a single log", "of two logs the first is the client's and the second the server's"}
	}
	sets := []ingest.Set{{Sources: sources(client), Side: frame.Client}, {Sources: sources(server), Side: frame.Server}}
	return sets, refuseSame(sets)
}

func sources(args []string) []ingest.Source {
	var out []ingest.Source
	for _, a := range args {
		out = append(out, ingest.ParseSource(a))
	}
	return out
}

// refuseSame refuses one file for both sides: every call would look delivered.
func refuseSame(sets []ingest.Set) error {
	for _, a := range sets[0].Sources {
		for _, b := range sets[1].Sources {
			if a.Path == "-" && b.Path == "-" || sameFile(a.Path, b.Path) {
				return &usageError{a.Label + " is given for both sides", "a file that holds both sides is given once, alone"}
			}
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && x.Mode().IsRegular() && os.SameFile(x, y)
}

// refuseInputs refuses an output that is also an input: evidence is never rewritten.
func refuseInputs(sets []ingest.Set, outputs ...string) error {
	for _, out := range outputs {
		for _, set := range sets {
			for _, s := range set.Sources {
				if out != "" && sameFile(out, s.Path) {
					return &usageError{out + " is an input", "evidence is never rewritten: name another file"}
				}
			}
		}
	}
	return nil
}

func (f *logFlags) options(e *env, o ingest.Options) ingest.Options {
	o.Dialect, o.Stdin = f.dialect, e.stdin
	if err := f.given.set(&o); err != nil {
		return o // refused before, when the logs were read
	}
	return o
}

// read reads the sets, both at once.
func (f *logFlags) read(ctx context.Context, e *env, sets []ingest.Set, o ingest.Options) ([]*ingest.Log, error) {
	if err := f.given.set(&ingest.Options{}); err != nil {
		return nil, err
	}
	m, err := e.within()
	if err != nil {
		return nil, err
	}
	o = f.options(e, o)
	o.Memory = m
	meter := e.progress(sets)
	defer meter.done()
	o.Progress = meter.add
	o.Cores = make(chan struct{}, max(len(sets), runtime.GOMAXPROCS(0)))
	type result struct {
		logs []*ingest.Log
		err  error
	}
	results := make([]chan result, len(sets))
	for i, set := range sets {
		results[i] = make(chan result, 1)
		go func() {
			logs, err := ingest.Read(ctx, set, o)
			results[i] <- result{logs, err}
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
	unfolded, err := f.unfold(ctx, e)
	if err != nil {
		return nil, err
	}
	logs = append(logs, unfolded...)
	giveBack(logs)
	return logs, refuseClients(logs)
}

// unfold brings in the logs of the folders, whole.
func (f *logFlags) unfold(ctx context.Context, e *env) ([]*ingest.Log, error) {
	if len(f.folders) == 0 {
		return nil, nil
	}
	b, err := f.bring(ctx, e, &ingest.Limits{Slow: defaultSlow, Quiet: defaultQuiet}, join.Each)
	if err != nil {
		return nil, err
	}
	return b.Logs, nil
}

// bring joins the folded logs of the folders and brings in what is wanted.
func (f *logFlags) bring(ctx context.Context, e *env, limits *ingest.Limits, want join.Want) (*join.Brought, error) {
	m, err := e.within()
	if err != nil {
		return nil, err
	}
	conn, err := m.OpenStore(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	store, err := join.OpenFolders(ctx, conn, f.folders)
	if err != nil {
		return nil, err
	}
	return join.Bring(ctx, store, m, limits, want)
}

// refuseClients refuses a log as the server's that only a client writes: two logs of one client say nothing of delivery.
func refuseClients(logs []*ingest.Log) error {
	for _, l := range logs {
		if l.Side == frame.Server && l.Dialect.Side == frame.Client && l.Records > 0 {
			return &usageError{frame.Escape(l.Path) + " is a client's log (" + l.Dialect.Name + "), and given as the server's",
				"two logs of one client are given with --client each; the server's own log is what to compare them with"}
		}
	}
	return nil
}

// manyRecords is from how many records on the memory that reading took is worth giving back before DuckDB takes its own.
const manyRecords = 1 << 20

func giveBack(logs []*ingest.Log) {
	n := uint64(0)
	for _, l := range logs {
		n += l.Records
	}
	if n > manyRecords {
		debug.FreeOSMemory()
	}
}

// refuseUnread is the error for a log that is not empty and gave no record: whatever it is, it is not evidence.
func refuseUnread(logs []*ingest.Log) error {
	for _, l := range logs {
		if l.Records == 0 && l.Lines > 0 && l.Dialect.Knob != "" {
			return &ingest.InputError{Path: l.Path, What: "is a log of " + l.Dialect.Name + ", and shows no frames", Hint: l.Dialect.Knob}
		}
		if l.Records > 0 || len(l.BadLines) == 0 {
			continue
		}
		path, line := l.Place(l.BadLines[0])
		err := &ingest.InputError{Path: path, Line: int(line), Hint: "mcpdiag frames " + path + " shows each line's reason; --dialect NAME reads it as another dialect"}
		err.What = "no record could be read: " + string(l.Bad[0].Reason) + " (" + plural(len(l.BadLines), "line") + " like it): " + quote(l.Bad[0].Prefix)
		if strings.HasPrefix(l.Bad[0].Prefix, "[") || l.Bad[0].Prefix == "{" {
			err.Hint = "this is one JSON document, expected one object per line (jq -c '.[]' makes that of an array)"
		}
		return err
	}
	return nil
}
