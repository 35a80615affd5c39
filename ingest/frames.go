package ingest

import (
	"context"
	"fmt"

	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

// Place is where a record stands.
type Place struct {
	Log     frame.Side // whose log it stands in, by the rule that Read follows
	Guessed bool       // nothing told whose log it is
	Source  int        // which file of the set
	Path    string     // the file, as the user named it
	Line    uint32     // counted from 1 in its file
	SetLine uint32     // counted from 1 over all files of the set, as the lines of a Log are
}

// Visitor is called with what a set holds, in file order. What it is given is good until it returns.
type Visitor struct {
	Frame func(p *Place, f *frame.Frame) error // an error ends the scan; f.Line is p.Line
	Bad   func(p *Place, b BadLine)            // a line that is no record, or a hole in the log; may be nil

	// Message is called instead of Frame, with the frame's text beside it. Reading the texts costs more than reading the frames.
	Message func(p *Place, f *frame.Frame, body *dialect.Body) error
}

// Tally says what a scan went through.
type Tally struct {
	Records    uint64
	Unreadable uint64
	Bytes      int64            // as text, after decompression
	Dialect    *dialect.Dialect // of the first file
	Cut        []*InputError    // compressed files that ended too early: what came before counts
}

// Frames scans a set without folding it: every record as it stands there, copies too. Lines are split, decoded and refused
// exactly as Read does it. An error is an I/O error, an InputError, or the visitor's.
func Frames(ctx context.Context, set Set, o Options, v Visitor) (*Tally, error) {
	o.bodies = v.Message != nil
	w := &walk{reader: reader{set: set, options: o}, visitor: v}
	for i, s := range set.Sources {
		w.files = append(w.files, file{path: s.Label, before: w.lines})
		w.place = Place{Source: i, Path: s.Label}
		cut, err := scan(ctx, s, o, sink{begin: w.begin, batch: w.batch})
		if err != nil {
			return nil, err
		}
		if cut != nil {
			w.tally.Cut = append(w.tally.Cut, &InputError{Path: s.Label, What: "ends too early: " + cut.Error()})
		}
	}
	w.tally.Dialect = w.dialect
	return &w.tally, nil
}

// walk is a set being scanned. It uses of a reader what tells whose record is whose, so that there is one rule for it.
type walk struct {
	reader
	visitor Visitor
	place   Place
	tally   Tally
	body    *dialect.Body // of the frame that is visited
}

// batch visits what a span says: its frames and its bad lines, merged by line.
func (w *walk) batch(j *job) error {
	bad := j.batch.Bad
	for k := range j.batch.Frames {
		f := &j.batch.Frames[k]
		for ; len(bad) > 0 && bad[0].Line <= f.Line; bad = bad[1:] {
			w.unreadable(&bad[0])
		}
		if w.visitor.Message != nil {
			w.body = &j.batch.Bodies[k]
		}
		if err := w.frame(f); err != nil {
			return err
		}
	}
	for k := range bad {
		w.unreadable(&bad[k])
	}
	w.lines += j.batch.Lines
	w.tally.Bytes += int64(len(j.span))
	if w.options.Progress != nil {
		w.options.Progress(len(j.span))
	}
	return nil
}

func (w *walk) at(line uint32) {
	w.place.SetLine = w.lines + line
	w.place.Line = w.place.SetLine - w.files[len(w.files)-1].before
}

func (w *walk) frame(f *frame.Frame) error {
	if w.options.placed() {
		w.options.place(f)
	}
	if server := w.options.Server; server != "" && f.More != nil && len(f.More.Conn) > 0 && string(f.More.Conn) != server {
		return nil
	}
	w.at(f.Line)
	w.place.Log = w.route(f).plain.Side
	w.place.Guessed = w.guessed && f.Side == frame.NoSide
	f.Line = w.place.Line
	w.tally.Records++
	if w.visitor.Message != nil {
		return w.visitor.Message(&w.place, f, w.body)
	}
	return w.visitor.Frame(&w.place, f)
}

func (w *walk) unreadable(b *dialect.Bad) {
	w.at(b.Line)
	reason := b.Reason
	if reason == frame.NoReason {
		reason = frame.Reason(fmt.Sprintf("hole of %d NUL bytes", b.Hole))
	} else {
		w.tally.Unreadable++
	}
	if w.visitor.Bad != nil {
		w.visitor.Bad(&w.place, BadLine{w.place.Line, reason, string(b.Prefix)})
	}
}
