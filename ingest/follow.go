package ingest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// Follower follows a file that grows, and holds its latest lines. It survives rotation (the path names another file: the old one
// is read to its end first) and truncation in place. What it holds is bounded by its window.
type Follower struct {
	source  Source
	window  int // bytes
	file    *os.File
	offset  int64
	number  uint32   // of the last whole line of the file that was read
	serial  uint64   // of the last whole line that was ever read
	text    []byte   // the lines that are held
	numbers []uint32 // of each, in its file
	serials []uint64 // and among all lines
	partial []byte   // a last line without its LF
	hurried bool     // lines were let go unread, to stay within the window
	began   bool
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
	f.file, f.offset, f.number, f.partial = file, 0, 0, nil
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
	f.offset, f.number, f.serial = last, lines, uint64(lines)
	return nil
}

// read takes in the file from where it was left, up to a window at a time. A file that is shorter than that was truncated.
func (f *Follower) read() (grew bool, err error) {
	info, err := f.file.Stat()
	if err != nil {
		return false, err
	}
	if info.Size() < f.offset {
		f.offset, f.number, f.partial = 0, 0, nil
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

// take adds whole lines and keeps the rest for later.
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
	f.text = append(f.text, lines...)
	for range bytes.Count(lines, []byte{'\n'}) {
		f.number++
		f.serial++
		f.numbers, f.serials = append(f.numbers, f.number), append(f.serials, f.serial)
	}
}

func (f *Follower) rotated() bool {
	now, err := os.Stat(f.source.Path)
	if err != nil {
		return false // moved away, and nothing in its place yet: what has it open may still write
	}
	open, err := f.file.Stat()
	return err == nil && !os.SameFile(now, open)
}

// bound lets go of the oldest lines when there is more than the window holds, down to half of it.
func (f *Follower) bound() {
	if len(f.text) <= f.window {
		return
	}
	excess, at, line := len(f.text)-f.window/2, 0, 0
	for ; at < excess; line++ {
		at += bytes.IndexByte(f.text[at:], '\n') + 1
	}
	f.hurried = true
	f.Keep(func(i uint32) bool { return int(i) > line })
}

// Source is the lines that are held, as something to read.
func (f *Follower) Source() Source {
	text := f.text
	if text == nil {
		text = []byte{}
	}
	return Source{Path: f.source.Path, Label: f.source.Label, Text: text, Numbers: f.numbers}
}

// Serial numbers line i of those that are held among all lines that were ever read; i is from 1.
func (f *Follower) Serial(i uint32) uint64 {
	if i == 0 || int(i) > len(f.serials) {
		return 0
	}
	return f.serials[i-1]
}

// Holds reports whether the line of a serial number is held still.
func (f *Follower) Holds(serial uint64) bool {
	_, ok := slices.BinarySearch(f.serials, serial)
	return ok
}

// Held is how many bytes of lines are held.
func (f *Follower) Held() int { return len(f.text) }

// Lines is how many lines are held.
func (f *Follower) Lines() int { return len(f.numbers) }

// Complete reports whether every line that ever stood in the file is held, so that what is not there was never written.
func (f *Follower) Complete() bool { return len(f.serials) == int(f.serial) }

// Hurried reports, once, whether lines were let go before anybody could read them, because too many came at once.
func (f *Follower) Hurried() bool {
	was := f.hurried
	f.hurried = false
	return was
}

// Keep lets go of all lines but some; line numbers are from 1.
func (f *Follower) Keep(keep func(line uint32) bool) {
	var text []byte // new ones, so that the memory of what is gone is free
	var numbers []uint32
	var serials []uint64
	at := 0
	for i := range f.numbers {
		end := at + bytes.IndexByte(f.text[at:], '\n') + 1
		if keep(uint32(i) + 1) {
			text = append(text, f.text[at:end]...)
			numbers, serials = append(numbers, f.numbers[i]), append(serials, f.serials[i])
		}
		at = end
	}
	f.text, f.numbers, f.serials = text, numbers, serials
}
