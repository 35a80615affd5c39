package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/report"
)

type watchFlags struct {
	logs     logFlags
	slow     time.Duration
	patience time.Duration
	every    time.Duration
	window   int
}

const watchLong = `Follows logs that grow, and writes a block when a call stalls and when it is answered after all. Otherwise there is one line
that says how things stand. Logs may be rotated or truncated in place, and may begin to exist later. What is stalled when it
starts is counted and not told: mcpdiag join tells it.

A call without an answer is stalled once it is cancelled or refused, or has waited for --patience by its own log's clock; by
this machine's, from its log's last line on, when that log has fallen silent. Connections are counted in the lines held.

Memory is bounded: of each log the lines are held of calls that are under way or stalled, and a tail that shows what the two
have in common; never more than --window MB.

Ends when it is interrupted, with exit status 1 if a call is stalled then, else 0.`

const watchExample = `  mcpdiag watch client.log server.log
  mcpdiag watch --patience 10s client.log server.log
  mcpdiag watch --side server server.log`

func newWatch(e *env) *cobra.Command {
	var f watchFlags
	c := &cobra.Command{
		Use:     "watch [CLIENT] [SERVER]",
		Short:   "Follow growing logs and tell each call as it stalls",
		Long:    watchLong,
		Example: watchExample,
		Args:    cobra.MaximumNArgs(2),
		RunE:    func(c *cobra.Command, args []string) error { return runWatch(c.Context(), e, &f, args) },
	}
	f.logs.register(c)
	flags := c.Flags()
	flags.DurationVar(&f.slow, "slow", defaultSlow, "an answered call that took this long is slow")
	flags.DurationVar(&f.patience, "patience", defaultPatience, "a call without an answer is stalled after this long")
	flags.DurationVar(&f.every, "every", time.Second, "how often to look")
	flags.IntVar(&f.window, "window", 32, "hold at most so many `MB` of each log")
	return c
}

func runWatch(ctx context.Context, e *env, f *watchFlags, args []string) error {
	watch, err := f.watch(args)
	if err != nil {
		return err
	}
	defer watch.Close()
	f.awaited(e, args)
	width, terminal := e.terminal(e.stdout)
	out := &watchPrinter{w: e.stdout, terminal: terminal, style: writer{e.stdout, width, terminal}.style(e, false)}
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	for {
		d, changes, state, err := watch.Step(ctx, e.now())
		if ctx.Err() != nil {
			break // interrupted in the middle of a step
		}
		if err != nil {
			return err
		}
		if d != nil {
			if err := out.step(d, changes, state); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
			continue
		case <-ctx.Done():
		}
		break
	}
	if out.state.Stalled > 0 {
		e.status = exitStalled
	}
	return out.end()
}

// awaited tells of logs that are not there: a name that is misspelt would be waited for in silence.
func (f *watchFlags) awaited(e *env, args []string) {
	sets, _ := f.logs.sets(args)
	for _, set := range sets {
		for _, s := range set.Sources {
			if _, err := os.Stat(s.Path); errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintf(e.stderr, "mcpdiag: %s is not there yet: waiting for it\n", frame.Escape(s.Path))
			}
		}
	}
}

func (f *watchFlags) watch(args []string) (*diagnose.Watch, error) {
	sets, err := f.logs.sets(args)
	if err != nil {
		return nil, err
	}
	if len(f.logs.folders) > 0 {
		return nil, &usageError{f.logs.folders[0] + " is a folder", "watch follows logs that are written now"}
	}
	if f.every <= 0 || f.window <= 0 {
		return nil, &usageError{"--every and --window must be more than 0", "--every 1s --window 32"}
	}
	var sources []ingest.Source
	var sides []frame.Side
	for _, set := range sets {
		s := set.Sources[0]
		if len(set.Sources) > 1 || s.Path == "-" {
			return nil, &usageError{"watch follows one file for each side", "give the file that is written now; it is followed through rotations"}
		}
		sources, sides = append(sources, s), append(sides, set.Side)
	}
	return diagnose.NewWatch(sources, sides, f.window<<20, diagnose.Options{Limits: ingest.Limits{Slow: f.slow, Patience: f.patience, Quiet: defaultQuiet}}), nil
}

// watchPrinter writes blocks, and under them one line that says how things stand: over itself on a terminal, else when a block
// was written.
type watchPrinter struct {
	w        io.Writer
	terminal bool
	style    report.Style
	state    diagnose.State
	line     string
	began    bool
}

const blocksAtOnce = 10 // more stalls at once than that have one cause, and join tells them better

func (p *watchPrinter) step(d *diagnose.Diagnosis, changes []diagnose.Change, state diagnose.State) error {
	p.state = state
	if len(changes) > 0 {
		p.clear()
	}
	for i, change := range changes {
		if i == blocksAtOnce {
			fmt.Fprintf(p.w, "… and %d more calls at once (mcpdiag join tells them by cause)\n\n", len(changes)-i)
			break
		}
		write := report.Stalled
		if change.Recovered {
			write = report.Recovered
		}
		if err := write(p.w, d, change.Call, p.style); err != nil {
			return err
		}
	}
	if p.terminal || len(changes) > 0 || !p.began {
		p.show(d)
	}
	p.began = true
	return nil
}

// show writes the line of state.
func (p *watchPrinter) show(d *diagnose.Diagnosis) {
	var names []string
	for _, l := range d.Logs {
		names = append(names, frame.Escape(l.Path))
	}
	s := p.state
	calls := diagnose.Thousands(int64(s.Calls)) + " calls"
	if s.Calls == 1 {
		calls = "1 call"
	}
	line := fmt.Sprintf("watching %s: %s, %s under way, %s stalled", strings.Join(names, ", "), calls, diagnose.Thousands(int64(s.Open)), diagnose.Thousands(int64(s.Stalled)))
	if p.terminal {
		if width := p.style.Width; width > 1 && len([]rune(line)) >= width {
			line = string([]rune(line)[:width-1])
		}
		p.clear()
		fmt.Fprint(p.w, line)
		p.line = line
	} else if line != p.line {
		fmt.Fprintln(p.w, line)
		p.line = line
	}
}

func (p *watchPrinter) clear() {
	if p.terminal && p.line != "" {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.line = ""
	}
}

func (p *watchPrinter) end() error {
	if p.terminal && p.line != "" {
		fmt.Fprintln(p.w)
	}
	return nil
}
