package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

type framesFlags struct {
	format, dialect, side, session string
	given                          readFlags
}

const framesLong = `Writes each record of the logs as mcpdiag reads it, in file order and before anything is folded: as a native record (ndjson),
which every command reads back, or as one line for the eye (brief):

  [client|server] DIR req|res|err|ntf ID METHOD [requestId=N] [code=N]

where "-" is what the record does not have and "?" an id that was cut off. The side stands in front when there are records of
both. Lines that are no record are named on standard error with the reason.`

const framesExample = `  mcpdiag frames server.log
  mcpdiag frames --format brief client.log server.log
  mcpdiag frames --dialect tee-mcp --side client old.log > client.log`

func newFrames(e *env) *cobra.Command {
	var f framesFlags
	c := &cobra.Command{
		Use:     "frames LOG…",
		Short:   "Write what each line of a log says, as native records or one line each",
		Long:    framesLong,
		Example: framesExample,
		RunE:    func(c *cobra.Command, args []string) error { return runFrames(c.Context(), e, &f, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.format, "format", "ndjson", "`FORMAT`: ndjson or brief")
	flags.StringVar(&f.dialect, "dialect", "", "read the logs as `NAME` instead of detecting what they are")
	flags.StringVar(&f.side, "side", "", "the side of records that name none: client or server")
	flags.StringVar(&f.session, "session", "", "only records of the session of this `NAME`")
	f.given.register(flags, "server")
	return c
}

func runFrames(ctx context.Context, e *env, f *framesFlags, args []string) error {
	side, ok := frame.ParseSide([]byte(f.side))
	if f.side != "" && (!ok || side == frame.Proxy) {
		return &usageError{"--side " + quote(f.side) + " is no side", "it is client or server"}
	}
	if len(args) == 0 {
		return &usageError{"no log given", "mcpdiag frames LOG…; - is standard input"}
	}
	out := bufio.NewWriterSize(e.stdout, 64<<10)
	printer, err := newFramePrinter(f.format, out)
	if err != nil {
		return err
	}
	o := ingest.Options{Dialect: f.dialect, Stdin: e.stdin}
	if err := f.given.set(&o); err != nil {
		return err
	}
	w := &framesWriter{printer: printer, session: f.session, complaints: complaints{w: e.stderr}}
	for _, arg := range args {
		set := ingest.Set{Sources: []ingest.Source{ingest.ParseSource(arg)}, Side: side}
		if err = w.log(ctx, set, o); err != nil {
			break // what the logs before it said is written all the same
		}
	}
	err = errors.Join(err, printer.finish(), out.Flush())
	w.complaints.rest()
	if err != nil {
		return err
	}
	return w.unread
}

// framesWriter prints the records of one log after another.
type framesWriter struct {
	printer    framePrinter
	session    string
	complaints complaints
	unread     error // the first log that is not empty and gave no record
}

func (w *framesWriter) log(ctx context.Context, set ingest.Set, o ingest.Options) error {
	tally, err := ingest.Frames(ctx, set, o, ingest.Visitor{
		Frame: func(p *ingest.Place, f *frame.Frame) error {
			if w.session != "" && string(f.Session) != w.session {
				return nil
			}
			if f.Side == frame.NoSide && !p.Guessed { // a guess must not be written down as what a log says
				f.Side = p.Log
			}
			return w.printer.print(p, f)
		},
		Bad: w.complaints.add,
	})
	if err != nil {
		return err
	}
	for _, cut := range tally.Cut {
		fmt.Fprintf(w.complaints.w, "mcpdiag: %s\n", frame.Escape(cut.Error()))
	}
	if tally.Records == 0 && tally.Bytes > 0 && w.unread == nil {
		w.unread = &usageError{frame.Escape(set.Sources[0].Label) + ": no record could be read", "--dialect NAME reads it as another dialect"}
		if d := tally.Dialect; d != nil && d.Knob != "" {
			w.unread = &usageError{frame.Escape(set.Sources[0].Label) + ": is a log of " + d.Name + ", and shows no frames", d.Knob}
		}
	}
	return nil
}

// complaints names unreadable lines, the first few in full.
type complaints struct {
	w io.Writer
	n int
}

const complaintsShown = 20

func (c *complaints) add(p *ingest.Place, b ingest.BadLine) {
	if c.n++; c.n <= complaintsShown {
		fmt.Fprintf(c.w, "mcpdiag: %s:%d: %s: %s\n", frame.Escape(p.Path), b.Line, b.Reason, frame.Escape(b.Prefix))
	}
}

func (c *complaints) rest() {
	if more := c.n - complaintsShown; more > 0 {
		fmt.Fprintf(c.w, "mcpdiag: and %s more\n", plural(more, "line"))
	}
}

// framePrinter writes records in one format.
type framePrinter interface {
	print(p *ingest.Place, f *frame.Frame) error
	finish() error
}

func newFramePrinter(format string, w io.Writer) (framePrinter, error) {
	switch format {
	case "ndjson":
		return &nativePrinter{w: w}, nil
	case "brief":
		return &briefPrinter{w: w, limit: briefHeld}, nil
	}
	return nil, &usageError{"unknown format " + quote(format), "the formats are ndjson, brief"}
}

type nativePrinter struct {
	w    io.Writer
	line []byte
}

func (n *nativePrinter) print(_ *ingest.Place, f *frame.Frame) error {
	n.line = frame.AppendNative(n.line[:0], f)
	_, err := n.w.Write(n.line)
	return err
}

func (n *nativePrinter) finish() error { return nil }

// briefPrinter names the side of each record only where there are two, which may show late. Until then the lines, all of
// one side, are held back, up to a limit; a log whose second side comes after that many is named from there on.
type briefPrinter struct {
	w     io.Writer
	limit int
	line  []byte
	held  []byte // lines without a side
	first frame.Side
	both  bool
}

const briefHeld = 64 << 20

func (b *briefPrinter) print(p *ingest.Place, f *frame.Frame) error {
	if f.Side == frame.NoSide {
		f.Side = p.Log
	}
	if b.first == frame.NoSide {
		b.first = f.Side
	}
	if f.Side != b.first && !b.both {
		b.both = true
		if err := b.release(b.first.String() + " "); err != nil {
			return err
		}
	}
	if b.both {
		b.line = frame.AppendBrief(b.line[:0], f, true)
		_, err := b.w.Write(b.line)
		return err
	}
	if b.held = frame.AppendBrief(b.held, f, false); len(b.held) > b.limit {
		return b.release("")
	}
	return nil
}

// release writes the lines held back, each with a prefix.
func (b *briefPrinter) release(prefix string) error {
	for line := range bytes.Lines(b.held) {
		b.line = append(append(b.line[:0], prefix...), line...)
		if _, err := b.w.Write(b.line); err != nil {
			return err
		}
	}
	b.held = b.held[:0]
	return nil
}

func (b *briefPrinter) finish() error { return b.release("") }
