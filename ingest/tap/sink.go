package tap

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"mcpdiag/ingest/frame"
)

// sink is where the records of a recorder go. It belongs to the writer goroutine, which may block in it for as long as it
// likes: the log may be a pipe that nobody reads.
type sink struct {
	program string
	dir     string    // to be made
	path    string    // "" when records go to out
	out     io.Writer // without a path
	stderr  io.Writer
	file    *os.File
	gap     func(lost int64, at time.Time) []byte

	torn       bool  // the last write stopped within a record
	unsaid     int64 // records lost since the last gap record
	total      int64 // records lost in all
	held       int64 // records that the file as it was opened has
	retry      time.Time
	checked    time.Time
	complained bool
}

// The pauses between two looks at a log that cannot be written, or that may have been removed.
const (
	retryPause = time.Second
	checkPause = time.Second
)

func newSink(o *Options, start time.Time, gap func(int64, time.Time) []byte) sink {
	s := sink{program: o.Program, path: o.Log, stderr: o.Stderr, gap: gap}
	if o.LogDir != "" {
		// A client may start one command twice, to probe it and to use it: each start has its own file.
		s.dir = o.LogDir
		s.path = filepath.Join(o.LogDir, fmt.Sprintf("%s-%s-%d.log", o.Side, start.UTC().Format("20060102T150405.000Z"), o.PID))
	}
	if s.path == "" {
		s.out = o.Stderr
	}
	return s
}

// put writes a batch, or counts it as lost.
func (s *sink) put(b batch) {
	now := time.Now()
	all := b.records + b.said + b.lost
	if all == 0 {
		return
	}
	if !s.ready(now) {
		s.lose(all)
		return
	}
	text := b.bytes
	if front := s.preface(now); front != nil {
		text = append(front, text...)
	}
	if b.lost > 0 {
		text = append(text, s.gap(b.lost, now)...)
	}
	n, err := s.out.Write(text)
	if err == nil {
		s.unsaid, s.torn = 0, false
		s.held += b.records
		s.total += b.said + b.lost
		return
	}
	s.torn = s.torn || n > 0
	s.lose(all)
	s.retry = now.Add(retryPause)
	s.complain(err)
}

// preface is what has to stand in front of a batch: the end of a torn record, and how many are missing; nil mostly.
func (s *sink) preface(now time.Time) []byte {
	var text []byte
	if s.torn {
		text = append(text, '\n')
	}
	if s.unsaid > 0 {
		text = append(text, s.gap(s.unsaid, now)...)
	}
	return text
}

func (s *sink) lose(n int64) {
	s.unsaid += n
	s.total += n
}

// ready opens the log when it is not open, and opens it again when it is no longer what stands at its path.
func (s *sink) ready(now time.Time) bool {
	if now.Before(s.retry) {
		return false
	}
	if s.path == "" {
		return true
	}
	if s.file != nil && now.Sub(s.checked) >= checkPause {
		s.checked = now
		s.check()
	}
	if s.file != nil {
		return true
	}
	var err error
	if s.dir != "" {
		err = os.MkdirAll(s.dir, 0o700)
	}
	var file *os.File
	if err == nil {
		file, err = os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	}
	if err != nil {
		s.retry = now.Add(retryPause)
		s.complain(err)
		return false
	}
	s.file, s.out, s.checked, s.held = file, file, now, 0
	return true
}

// check lets go of a log that was moved or removed under the recorder. A moved one was rotated and keeps its records; those
// of a removed one are gone.
func (s *sink) check() {
	open, err := s.file.Stat()
	if err != nil || !open.Mode().IsRegular() {
		return
	}
	there, err := os.Stat(s.path)
	if err == nil && os.SameFile(open, there) {
		return
	}
	if removed(open) {
		s.lose(s.held)
		s.complain(fmt.Errorf("%s: was removed; it is begun again", s.path))
	}
	s.file.Close()
	s.file, s.torn = nil, false
}

// complain says one thing, once: what comes after it has the same cause or does not matter.
func (s *sink) complain(err error) {
	if s.complained || s.path == "" {
		return
	}
	s.complained = true
	fmt.Fprintf(s.stderr, "%s: %s; traffic goes on, records are lost\n", s.program, frame.Escape(err.Error()))
}

// close says what was lost and not yet said.
func (s *sink) close() {
	if s.unsaid > 0 && (s.file != nil || s.path == "") {
		s.out.Write(s.preface(time.Now()))
	}
	if s.file != nil {
		s.file.Close()
	}
}
