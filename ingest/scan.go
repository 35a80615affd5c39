package ingest

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"

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

// job is a span of whole lines, and what it says.
type job struct {
	buf     []byte // the span's room
	span    []byte
	tooLong bool
	partial bool // the span's last line has no LF
	batch   dialect.Batch
	done    chan struct{} // has a value when it was read and decoded ahead of its turn
}

// sink is where a scan puts what it reads, in file order.
type sink struct {
	begin func(*dialect.Dialect) // before anything else
	frame func(*frame.Frame)     // a frame that was decoded in its turn; nil when all shall come in batches
	batch func(*job) error       // what else a span says: bad lines, and frames that were decoded ahead
}

// scan reads one source, and detects its dialect unless one is given.
func scan(ctx context.Context, s Source, o Options, to sink) (cut error, err error) {
	in, err := s.open(ctx, o.Stdin)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	first := &job{buf: make([]byte, spanSize)}
	spans := &spanner{in: in, source: s}
	more, err := spans.fill(first)
	if err != nil {
		return nil, err
	}
	d, err := pick(o, first.span, in)
	if err != nil {
		return nil, err
	}
	to.begin(d)
	p := &pipeline{spans: spans, dialect: d, cores: o.cores(), to: to, ended: !more}
	err = p.run(ctx, first)
	return in.cut, err
}

func pick(o Options, head []byte, in *opened) (*dialect.Dialect, error) {
	d, err := named(o.Dialect, head, in)
	if err == nil && o.bodies {
		d = d.WithBodies()
	}
	return d, err
}

func named(name string, head []byte, in *opened) (*dialect.Dialect, error) {
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

// pipeline decodes the spans of a source and folds them in order. Whoever decodes a span has read it: what was read on one core
// is far from the other. The goroutine that folds does both, and folds each frame while it is near; beside it, as long as a
// core is free, another runs ahead.
type pipeline struct {
	spans   *spanner
	dialect *dialect.Dialect
	cores   chan struct{}
	to      sink

	reading sync.Mutex // a span is read and queued in one step, so the queue is in the order of the source
	ended   bool       // nothing is left to read
	failed  error      // to read
	ahead   chan *job  // read ahead of its turn
	free    chan *job
}

// spansAhead is how far to run ahead: enough for neither goroutine to wait for the other, few enough to stay in cache.
const spansAhead = 4

// run takes the spans from the first, which is read already.
func (p *pipeline) run(ctx context.Context, j *job) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p.ahead, p.free = make(chan *job, spansAhead), make(chan *job, spansAhead)
	p.cores <- struct{}{}
	defer func() { <-p.cores }()
	if !p.dialect.Ordered && !p.ended {
		for range spansAhead {
			p.free <- &job{done: make(chan struct{}, 1)}
		}
		go p.runAhead(ctx)
	}
	r, own := p.dialect.New(), j
	for ; j != nil; j = p.next(own) {
		if j == own {
			j.decode(r, p.to.frame)
		} else {
			<-j.done
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := p.to.batch(j); err != nil {
			return err
		}
		if j != own {
			p.free <- j
		}
	}
	if p.failed != nil {
		return p.failed
	}
	return p.finish(r)
}

// finish folds what a reader held back: the last record of several lines, or a whole document.
func (p *pipeline) finish(r dialect.Reader) error {
	f, ok := r.(dialect.Finisher)
	if !ok {
		return nil
	}
	j := &job{}
	if f.Finish(&j.batch); len(j.batch.Frames) == 0 && len(j.batch.Bad) == 0 {
		return nil
	}
	return p.to.batch(j)
}

// next is the next span in order: one that was read ahead, else one that is read into own here; nil when there is none.
func (p *pipeline) next(own *job) *job {
	p.reading.Lock()
	defer p.reading.Unlock()
	select {
	case j := <-p.ahead:
		return j
	default:
	}
	if !p.fill(own) {
		return nil
	}
	return own
}

// fill reads a span; false when none is left.
func (p *pipeline) fill(j *job) bool {
	if p.ended {
		return false
	}
	more, err := p.spans.fill(j)
	p.ended, p.failed = !more || err != nil, err
	return err == nil && (more || len(j.span) > 0 || j.tooLong)
}

// runAhead reads and decodes what is not yet anybody's turn, as long as a core is free for it.
func (p *pipeline) runAhead(ctx context.Context) {
	r := p.dialect.New()
	for {
		var j *job
		select {
		case j = <-p.free:
		case <-ctx.Done():
			return
		}
		select {
		case p.cores <- struct{}{}:
		case <-ctx.Done():
			return
		}
		ok := p.readAhead(j)
		if ok {
			j.decode(r, nil)
			j.done <- struct{}{}
		}
		<-p.cores
		if !ok {
			return
		}
	}
}

func (p *pipeline) readAhead(j *job) bool {
	p.reading.Lock()
	defer p.reading.Unlock()
	if !p.fill(j) {
		return false
	}
	p.ahead <- j // there is room: no more jobs than that exist
	return true
}

// decode reads the span into the batch; what take is given, when it is not nil, may be missing there.
func (j *job) decode(r dialect.Reader, take func(*frame.Frame)) {
	j.batch.Reset()
	j.batch.Take = take
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
