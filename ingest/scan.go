package ingest

import (
	"bytes"
	"context"
	"io"
	"os"
	"runtime"
	"sync/atomic"

	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

const (
	spanSize   = 128 << 10 // large enough that a hand-over costs nothing, small enough to stay in cache
	maxLine    = 256 << 20 // a longer line is refused by number; nothing that a frame log writes comes near
	sampleSize = 256 << 10 // how much of each end of a log detection may look at
)

// TooLong refuses a line that memory should not be spent on.
const TooLong frame.Reason = "line too long"

// job is a span of whole lines on its way from the reader, through a worker that decodes it, to the fold. Jobs are decoded in
// parallel and folded in order: the order channel holds them as they were read.
type job struct {
	buf     []byte // the span's room
	span    []byte
	tooLong bool
	partial bool // the span's last line has no LF
	batch   dialect.Batch
	begun   atomic.Bool   // somebody decodes it, or has
	done    chan struct{} // has a value when it was decoded ahead of its turn
}

// scan reads one source, detects its dialect unless one is given, and hands each batch, in file order, to fold.
func scan(ctx context.Context, s Source, o Options, fold func(*dialect.Dialect, *job) error) (cut error, err error) {
	in, err := s.open(o.Stdin)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	first := &job{buf: make([]byte, spanSize), done: make(chan struct{}, 1)}
	spans := &spanner{in: in, source: s}
	more, err := spans.fill(first)
	if err != nil {
		return nil, err
	}
	d, err := pick(o.Dialect, first.span, in)
	if err != nil {
		return nil, err
	}
	err = pipeline(ctx, spans, first, more, d, o.cores(), func(j *job) error { return fold(d, j) })
	return in.cut, err
}

func pick(name string, head []byte, in *opened) (*dialect.Dialect, error) {
	if name != "" {
		d, ok := dialect.ByName(name)
		if !ok {
			return nil, &InputError{Path: "--dialect " + name, What: "no such dialect", Hint: "mcpdiag formats lists them"}
		}
		return d, nil
	}
	return dialect.Detect(head[:min(len(head), sampleSize)], tail(in)), nil
}

// tail is the end of a plain file, from a line's start; a stream has none to look at yet.
func tail(in *opened) []byte {
	f, ok := in.Reader.(*os.File)
	if !ok || in.size <= spanSize {
		return nil
	}
	b := make([]byte, sampleSize)
	n, _ := f.ReadAt(b, in.size-sampleSize)
	b = b[:n]
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[i+1:]
	}
	return nil
}

// pipeline decodes the spans and folds them in order. Decoding runs ahead on whatever cores are free, but a span that nobody
// has begun when its turn comes is decoded here: handing frames from core to core costs as much as decoding them.
func pipeline(ctx context.Context, spans *spanner, first *job, more bool, d *dialect.Dialect, cores chan struct{}, fold func(*job) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	inFlight := 2*runtime.GOMAXPROCS(0) + 1
	order, free := make(chan *job, inFlight), make(chan *job, inFlight)
	for range inFlight - 1 {
		free <- &job{done: make(chan struct{}, 1)}
	}
	var ahead chan *job
	if !d.Ordered {
		ahead = make(chan *job, inFlight)
		go decodeAhead(ctx, d, ahead, cores)
	}
	failed := make(chan error, 1)
	go func() { failed <- feed(ctx, spans, first, more, order, free, ahead) }()
	cores <- struct{}{}
	defer func() { <-cores }()
	r := d.New()
	for j := range order {
		if j.begun.CompareAndSwap(false, true) {
			j.decode(r)
		} else {
			<-j.done
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := fold(j); err != nil {
			return err
		}
		free <- j
	}
	if err := <-failed; err != nil {
		return err
	}
	return finish(r, fold)
}

// finish folds what a reader held back: the last record of several lines, or a whole document.
func finish(r dialect.Reader, fold func(*job) error) error {
	f, ok := r.(dialect.Finisher)
	if !ok {
		return nil
	}
	j := &job{}
	if f.Finish(&j.batch); len(j.batch.Frames) == 0 && len(j.batch.Bad) == 0 {
		return nil
	}
	return fold(j)
}

// feed reads spans into free jobs and queues them, until the source ends or the context does.
func feed(ctx context.Context, spans *spanner, j *job, more bool, order, free, ahead chan *job) (err error) {
	defer close(order)
	if ahead != nil {
		defer close(ahead)
	}
	for {
		j.begun.Store(false)
		select {
		case order <- j:
		case <-ctx.Done():
			return nil
		}
		select {
		case ahead <- j:
		default: // no core is free to run ahead, or nobody may
		}
		if !more {
			return nil
		}
		select {
		case j = <-free:
		case <-ctx.Done():
			return nil
		}
		if more, err = spans.fill(j); err != nil || (!more && len(j.span) == 0 && !j.tooLong) {
			return err
		}
	}
}

// decodeAhead decodes jobs that nobody has begun, as long as a core is free for it.
func decodeAhead(ctx context.Context, d *dialect.Dialect, ahead chan *job, cores chan struct{}) {
	r := d.New()
	for j := range ahead {
		select {
		case cores <- struct{}{}:
		case <-ctx.Done():
			return
		}
		if j.begun.CompareAndSwap(false, true) {
			j.decode(r)
			j.done <- struct{}{}
		}
		<-cores
	}
}

func (j *job) decode(r dialect.Reader) {
	j.batch.Reset()
	if j.tooLong {
		j.batch.Bad = append(j.batch.Bad, dialect.Bad{Line: 1, Reason: TooLong, Prefix: j.span})
		j.batch.Lines = 1
	} else {
		r.Read(j.span, &j.batch)
	}
}

// spanner cuts a source into spans of whole lines.
type spanner struct {
	in     io.Reader
	source Source
	rest   []byte // the beginning of the next span
	eof    bool
}

// fill reads the next span into j; more is false when it was the last. A line longer than the room makes the room grow.
func (s *spanner) fill(j *job) (more bool, err error) {
	j.tooLong, j.partial = false, false
	if cap(j.buf) < spanSize {
		j.buf = make([]byte, spanSize)
	}
	j.buf = j.buf[:cap(j.buf)]
	n := copy(j.buf, s.rest)
	for {
		for n < len(j.buf) && !s.eof {
			k, err := s.in.Read(j.buf[n:])
			n += k
			if err == io.EOF {
				s.eof = true
			} else if err != nil {
				return false, &InputError{Path: s.source.Label, What: err.Error()}
			}
			if k > 0 && n < len(j.buf) && n >= spanSize/2 {
				break // a pipe gives little at a time: do not wait for a full span
			}
		}
		if s.eof {
			j.span = j.buf[:n]
			j.partial = n > 0 && j.buf[n-1] != '\n'
			s.rest = nil
			return false, nil
		}
		if end := bytes.LastIndexByte(j.buf[:n], '\n'); end >= 0 {
			j.span = j.buf[:end+1]
			s.rest = append(s.rest[:0], j.buf[end+1:n]...)
			return true, nil
		}
		if n >= maxLine {
			return s.skipLine(j)
		}
		if n == len(j.buf) {
			j.buf = append(j.buf, make([]byte, len(j.buf))...)
			j.buf = j.buf[:cap(j.buf)]
		}
	}
}

// skipLine passes over the rest of a line that is too long, keeping its beginning for the report.
func (s *spanner) skipLine(j *job) (more bool, err error) {
	j.tooLong = true
	j.span = append([]byte(nil), j.buf[:dialect.PrefixLen]...)
	j.buf = make([]byte, spanSize)
	s.rest = s.rest[:0]
	for {
		n, err := s.in.Read(j.buf)
		if end := bytes.IndexByte(j.buf[:n], '\n'); end >= 0 {
			s.rest = append(s.rest, j.buf[end+1:n]...)
			return true, nil
		}
		if err == io.EOF {
			s.eof = true
			return false, nil
		} else if err != nil {
			return false, &InputError{Path: s.source.Label, What: err.Error()}
		}
	}
}
