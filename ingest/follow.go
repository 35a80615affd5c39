package ingest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Follower follows a file that grows, and keeps its latest lines. It survives rotation (the path names another file: the old one
// is read to its end first) and truncation in place. What it holds is bounded by its window.
type Follower struct {
	source  Source
	window  int // bytes
	file    *os.File
	offset  int64
	parts   []part
	partial []byte // a last line without its LF
	held    int    // bytes of all parts
	dropped uint64 // lines that were held once, of all files
	began   bool
}

// part are lines of one file.
type part struct {
	text    []byte
	skipped uint32 // lines before them in their file
}

// longestLine is how much of a line without an end is waited for.
const longestLine = 16 << 20

// Follow starts with the last window bytes of what the file holds now; a file that is not there is waited for.
func Follow(s Source, window int) *Follower { return &Follower{source: s, window: window} }

// Close lets go of the file.
func (f *Follower) Close() {
	if f.file != nil {
		f.file.Close()
	}
}

// Poll takes in what was written since the last time.
func (f *Follower) Poll() (grew bool, err error) {
	for {
		if f.file == nil {
			if ok, err := f.open(); !ok {
				return grew, err
			}
		}
		more, err := f.read()
		grew = grew || more
		if err != nil || !f.rotated() {
			f.bound()
			return grew, err
		}
		f.endLine() // what the old file ends with will not be continued in the new one
		f.file.Close()
		f.file = nil
	}
}

// open opens the path as a new file: from its start, but the first time from where the window begins.
func (f *Follower) open() (ok bool, err error) {
	if _, err := os.Stat(f.source.Path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	file, err := openFile(f.source.Path)
	if err != nil {
		return false, err
	}
	f.file, f.offset, f.partial = file, 0, nil
	f.parts = append(f.parts, part{})
	if !f.began {
		f.began = true
		return true, f.skipTo()
	}
	return true, nil
}

// skipTo passes over what lies before the window, counting its lines so that lines are cited by their numbers.
func (f *Follower) skipTo() error {
	info, err := f.file.Stat()
	if err != nil || info.Size() <= int64(f.window) {
		return err
	}
	b := make([]byte, 1<<20)
	lines, last := uint32(0), int64(0)
	for at, end := int64(0), info.Size()-int64(f.window)/2; at < end; {
		n, err := f.file.ReadAt(b[:min(int64(len(b)), end-at)], at)
		if n == 0 {
			return err
		}
		lines += uint32(bytes.Count(b[:n], []byte{'\n'}))
		if k := bytes.LastIndexByte(b[:n], '\n'); k >= 0 {
			last = at + int64(k) + 1
		}
		at += int64(n)
	}
	f.offset = last
	f.parts[len(f.parts)-1].skipped = lines
	return nil
}

// read takes in the file from where it was left, up to a window at a time. A file that is shorter than that was truncated.
func (f *Follower) read() (grew bool, err error) {
	info, err := f.file.Stat()
	if err != nil {
		return false, err
	}
	if info.Size() < f.offset {
		f.offset, f.partial = 0, nil
		f.parts = append(f.parts, part{})
	}
	b := make([]byte, 256<<10)
	for taken := 0; taken < f.window; {
		n, err := f.file.ReadAt(b, f.offset)
		f.offset += int64(n)
		taken += n
		grew = f.take(b[:n]) || grew
		if err == io.EOF || n == 0 {
			return grew, nil
		}
		if err != nil {
			return grew, err
		}
		f.bound()
	}
	return grew, nil
}

// take adds whole lines to the last part and keeps the rest for later.
func (f *Follower) take(b []byte) (whole bool) {
	k := bytes.LastIndexByte(b, '\n')
	if k >= 0 {
		f.add(append(f.partial, b[:k+1]...))
		f.partial, b = nil, b[k+1:]
	}
	f.partial = append(f.partial, b...)
	if len(f.partial) > longestLine {
		f.partial = f.partial[:4096] // it will be a line that cannot be read, which is what it is
		f.endLine()
		return true
	}
	return k >= 0
}

func (f *Follower) endLine() {
	if len(f.partial) > 0 {
		f.add(append(f.partial, '\n'))
		f.partial = nil
	}
}

func (f *Follower) add(lines []byte) {
	p := &f.parts[len(f.parts)-1]
	p.text = append(p.text, lines...)
	f.held += len(lines)
}

func (f *Follower) rotated() bool {
	now, err := os.Stat(f.source.Path)
	if err != nil {
		return false // moved away, and nothing in its place yet: what has it open may still write
	}
	open, err := f.file.Stat()
	return err == nil && !os.SameFile(now, open)
}

// bound drops the oldest lines when there is more than the window holds, down to half of it.
func (f *Follower) bound() {
	if f.held <= f.window {
		return
	}
	lines := uint32(0)
	excess := f.held - f.window/2
	for _, p := range f.parts {
		part := p.text[:min(len(p.text), excess)]
		lines += uint32(bytes.Count(part, []byte{'\n'}))
		if excess -= len(part); excess <= 0 {
			break
		}
	}
	f.Drop(lines)
}

// Sources are the lines that are held, as a set to read.
func (f *Follower) Sources() []Source {
	var out []Source
	for _, p := range f.parts {
		text := p.text
		if text == nil {
			text = []byte{}
		}
		out = append(out, Source{Path: f.source.Path, Label: f.source.Label, Text: text, Skipped: p.skipped})
	}
	if out == nil {
		out = append(out, Source{Path: f.source.Path, Label: f.source.Label, Text: []byte{}})
	}
	return out
}

// Dropped is how many lines went before those that are held.
func (f *Follower) Dropped() uint64 { return f.dropped }

// Held is how many bytes of lines are held.
func (f *Follower) Held() int { return f.held }

// Drop lets go of the first lines.
func (f *Follower) Drop(lines uint32) {
	for lines > 0 && len(f.parts) > 0 {
		p := &f.parts[0]
		cut := 0
		for ; lines > 0 && cut < len(p.text); lines-- {
			cut += bytes.IndexByte(p.text[cut:], '\n') + 1
			p.skipped++
			f.dropped++
		}
		f.held -= cut
		p.text = bytes.Clone(p.text[cut:]) // so that the memory of what is gone is free
		if len(p.text) > 0 || len(f.parts) == 1 {
			return
		}
		f.parts = f.parts[1:]
	}
}
