package ingest

import (
	"context"
	"io"
	"runtime"
	"sort"
	"strings"
	"time"

	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

// Set is the log of one side: one file, or the files of a rotated one in order.
type Set struct {
	Sources []Source
	Side    frame.Side // NoSide: as the records say; then one set may hold both sides
}

// Options say how to read.
type Options struct {
	Dialect  string         // by name; "" detects
	Server   string         // only what is told of the server of this name, in a log of several
	Date     time.Time      // the day that times without a date are of
	Zone     *time.Location // the zone that times without one are of
	Quiet    time.Duration  // silence after an answer that is worth a mention
	Stdin    io.Reader
	Progress func(bytes int) // called with the bytes read since the last call; may be nil
	Memory   *Memory         // bounds what the halves take; nil is all there is
	Cores    chan struct{}   // shared by reads that run at once: its room is the number of cores to use; nil is all

	bodies bool // read the texts of the frames too
}

func (o Options) cores() chan struct{} {
	if o.Cores != nil {
		return o.Cores
	}
	return make(chan struct{}, runtime.GOMAXPROCS(0))
}

const badKept = 16 // bad lines that are kept with their text

// Read reads and folds a set. It gives one log; or the client's and the server's, when the set's side is not told and its
// records name both. An error is an I/O error or an InputError: lines that cannot be read are in the logs.
func Read(ctx context.Context, set Set, o Options) ([]*Log, error) {
	r := &reader{set: set, options: o, reasons: map[frame.Reason]int{}}
	for _, s := range set.Sources {
		r.files = append(r.files, file{s.Label, r.lines, s.Numbers})
		r.cutTail = false
		cut, err := scan(ctx, s, o, sink{r.begin, r.frame, r.batch})
		if err != nil {
			return nil, err
		}
		if cut != nil {
			r.cutTail, r.streamCut = true, cut.Error()
		}
	}
	return r.finish(), nil
}

// reader is a set being read.
type reader struct {
	set       Set
	options   Options
	dialect   *dialect.Dialect
	files     []file
	lines     uint32
	badLines  []uint32
	bad       []BadLine
	holes     []uint32
	reasons   map[frame.Reason]int
	warnings  frame.Warnings
	cutTail   bool
	streamCut string
	copies    [3]*copies // by side
	guessed   bool       // no record and no user told the side
	twins     twins
	twinCount int
	twinLine  uint32
}

// begin notes the dialect of the set, which is that of its first file.
func (r *reader) begin(d *dialect.Dialect) {
	if r.dialect == nil {
		r.dialect = d
	}
}

// frame folds one frame.
func (r *reader) frame(f *frame.Frame) {
	f.Line += r.lines
	if r.options.placed() {
		r.options.place(f)
	}
	if f.More != nil && r.passes(f) {
		return
	}
	r.route(f).fold(f)
}

// batch folds what else a span says.
func (r *reader) batch(j *job) error {
	for k := range j.batch.Bad {
		r.badLine(&j.batch.Bad[k])
	}
	for k := range j.batch.Frames {
		r.frame(&j.batch.Frames[k])
	}
	r.warnings.Add(&j.batch.Warnings)
	r.lines += j.batch.Lines
	if err := r.options.Memory.Err(); err != nil {
		return err
	}
	if j.batch.Lines == 0 { // what a reader held back to the end
		return nil
	}
	r.cutTail = j.partial && len(r.badLines) > 0 && r.badLines[len(r.badLines)-1] == r.lines
	if r.options.Progress != nil {
		r.options.Progress(len(j.span))
	}
	return nil
}

func (r *reader) badLine(b *dialect.Bad) {
	line := r.lines + b.Line
	if b.Hole > 0 {
		r.holes = append(r.holes, line)
	}
	if b.Reason == frame.NoReason {
		return
	}
	r.badLines = append(r.badLines, line)
	r.reasons[b.Reason]++
	if len(r.bad) < badKept {
		r.bad = append(r.bad, BadLine{line, b.Reason, string(b.Prefix)})
	}
}

// route finds the fold that a record belongs to. The command line decides; without it the record, then the dialect.
func (r *reader) route(f *frame.Frame) *copies {
	side := r.set.Side
	if side == frame.NoSide {
		if side = f.Side; side == frame.Proxy {
			side = frame.Server // a proxy stands in front of the server
		}
	}
	if side == frame.NoSide {
		side = r.only()
	}
	if r.copies[side] == nil {
		r.copies[side] = newCopies(func() *folder { return r.folder(side) })
	}
	return r.copies[side]
}

// only is the side for records that name none.
func (r *reader) only() frame.Side {
	for _, side := range []frame.Side{frame.Client, frame.Server} {
		if r.copies[side] != nil {
			return side
		}
	}
	switch r.dialect.Side {
	case frame.NoSide:
	case frame.Proxy:
		return frame.Server
	default:
		return r.dialect.Side
	}
	r.guessed = true
	return frame.Client
}

func (r *reader) folder(side frame.Side) *folder {
	return &folder{
		Log: &Log{Header: Header{Copies: 1, Notes: map[string]*Note{}}, Side: side, Dialect: r.dialect, facts: map[uint32]*Fact{}, noFact: Fact{QuietEnd: -1}, grouped: map[uint32]*Group{},
			number: uint16(side), arena: newArena(r.options.Memory), quiet: r.options.Quiet},
		sessions: map[string]*Stretch{}, unnamed: map[string]*Stretch{},
		clocks: clocks{by: map[string]*reading{}}, writers: map[string]*writer{}, exchange: map[string]uint32{}, via: map[uint32]string{},
	}
}

// finish ends the folds. A set without a single record is still a log, and an empty one is worth a word.
func (r *reader) finish() []*Log {
	var logs []*Log
	for _, side := range []frame.Side{frame.Client, frame.Server} {
		if c := r.copies[side]; c != nil {
			logs = append(logs, r.log(c.finish()))
		}
	}
	if len(logs) == 0 {
		side := r.set.Side
		if side == frame.NoSide {
			side = r.only()
		}
		logs = append(logs, r.log(r.folder(side)))
	}
	return logs
}

func (r *reader) log(l *folder) *Log {
	l.finish()
	for _, w := range l.writers {
		l.lostRecords(w)
	}
	var paths []string
	for _, f := range r.files {
		paths = append(paths, f.path)
	}
	l.Path, l.files, l.Lines = strings.Join(paths, ", "), r.files, r.lines
	l.BadLines, l.Bad, l.Reasons, l.Warnings = r.badLines, r.bad, r.reasons, r.warnings
	l.CutTail, l.StreamCut, l.SideGuessed = r.cutTail, r.streamCut, r.guessed
	l.Twins, l.TwinLine = r.twinCount, r.twinLine
	for _, line := range r.holes {
		l.note("hole", line, -1)
		l.Gaps++
	}
	l.unseen = append(append(l.unseen, r.badLines...), r.holes...)
	if r.cutTail {
		l.unseen = append(l.unseen, r.lines+1)
	}
	sort.Slice(l.unseen, func(a, b int) bool { return l.unseen[a] < l.unseen[b] })
	return l.Log
}
