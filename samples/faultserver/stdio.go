package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"sync"
)

// outlet is what a fault makes of stdout. The SDK writes one frame with each Write.
type outlet func(b *bench, next io.WriteCloser) io.WriteCloser

// inlet is what a fault makes of stdin.
type inlet func(b *bench, next io.ReadCloser) io.ReadCloser

// frames is an outlet that changes each frame once the fault is armed.
type frames struct {
	io.WriteCloser
	bench *bench
	mu    sync.Mutex
	write func(f *frames, frame []byte) error
	held  []byte
}

func below(write func(*frames, []byte) error) func(*bench, string) error {
	return func(b *bench, _ string) error {
		b.outlet = func(b *bench, next io.WriteCloser) io.WriteCloser {
			return &frames{WriteCloser: next, bench: b, write: write}
		}
		return nil
	}
}

// Write writes a frame, whole or not.
func (f *frames) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.bench.armed.Load() {
		return f.WriteCloser.Write(p)
	}
	return len(p), f.write(f, p)
}

func (f *frames) all(parts ...[]byte) error {
	_, err := f.WriteCloser.Write(bytes.Join(parts, nil))
	return err
}

func prettyPrint(f *frames, frame []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, frame, "", "  "); err != nil {
		return err
	}
	return f.all(b.Bytes())
}

func noise(f *frames, frame []byte) error {
	f.bench.armed.Store(false)
	return f.all([]byte("DEBUG work called\n"), frame)
}

func glued(f *frames, frame []byte) error { return f.all([]byte("progress 50%... "), frame) }

// interleaved holds the first half of an answer until the next answer has been written into it.
func interleaved(f *frames, frame []byte) error {
	if f.held == nil {
		f.held = bytes.Clone(frame)
		half := len(frame) / 2
		return f.all(frame[:half])
	}
	rest := f.held[len(f.held)/2:]
	f.held = nil
	f.bench.armed.Store(false)
	return f.all(frame, rest)
}

func blockBuffer(b *bench, _ string) error {
	b.outlet = func(b *bench, next io.WriteCloser) io.WriteCloser { return &buffered{WriteCloser: next, bench: b} }
	return nil
}

// buffered keeps what is written until the end.
type buffered struct {
	io.WriteCloser
	bench *bench
	mu    sync.Mutex
	kept  []byte
}

// Write keeps p.
func (f *buffered) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.bench.armed.Load() {
		return f.WriteCloser.Write(p)
	}
	f.kept = append(f.kept, p...)
	return len(p), nil
}

// Close writes what was kept.
func (f *buffered) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.WriteCloser.Write(f.kept)
	f.kept = nil
	return f.WriteCloser.Close()
}

// dropResponse is an outlet, and a layer, that lets one answer go nowhere.
func dropResponse(b *bench, _ string) error {
	b.layer = swallow
	return below(func(f *frames, frame []byte) error {
		f.bench.armed.Store(false)
		return nil
	})(b, "")
}

// readNothing reads no more once the fault is armed. What was read before that is in the log.
func readNothing(b *bench, next io.ReadCloser) io.ReadCloser { return &stopped{next, b} }

type stopped struct {
	io.ReadCloser
	bench *bench
}

// Read never returns what comes after the fault.
func (s *stopped) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if s.bench.armed.Load() {
		select {}
	}
	return n, err
}

// readLines hands on the lines that are JSON, as readers do that are not the SDK's. The others it notes in the log.
func readLines(b *bench, next io.ReadCloser) io.ReadCloser {
	return &lines{ReadCloser: next, r: bufio.NewReader(next), bad: b.invalid}
}

type lines struct {
	io.ReadCloser
	r    *bufio.Reader
	rest []byte
	bad  func(line []byte)
}

// Read reads from the next good line.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.r.ReadBytes('\n')
		if json.Valid(line) {
			l.rest = line
			break
		}
		if len(line) > 0 {
			l.bad(line)
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}
