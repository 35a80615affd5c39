// Package dialect reads the logs of many writers as frames: one file and one row of the table for each dialect.
//
// A dialect says who writes it, what it can show, and how its lines become frames. What it cannot show is never absent: the
// flags in Sees travel with the log to the verdict. Detection looks at content only, never at a file's name.
package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// Sees says what a log of a dialect can show at all.
type Sees uint16

// The things that a log may show.
const (
	Requests Sees = 1 << iota
	Responses
	Handlers // handler enter and exit
	BadLines // lines on the wire that are no JSON-RPC
	Ends     // ends of streams
	Sizes
	Times
	IDs
	Everything = 1<<iota - 1
)

var seesNames = []string{"requests", "responses", "handler events", "unparsed lines", "stream ends", "sizes", "times", "ids"}

// Missing names what a log with these flags cannot show, in a fixed order.
func (s Sees) Missing() []string {
	var names []string
	for i, n := range seesNames {
		if s>>i&1 == 0 {
			names = append(names, n)
		}
	}
	return names
}

// Dialect is one row of the table.
type Dialect struct {
	Name    string
	Writer  string // who writes such logs
	Vantage string // where the writer stands
	Sees    Sees
	Side    frame.Side // whose log it is when neither the command line nor a record says; NoSide when the dialect does not tell
	Clock   bool       // times are of one monotonic or zone-less clock: good within the file only
	Ordered bool       // a line's reading depends on the lines before it, so one reader takes the whole log

	// Match reports whether the line, trimmed, is of this dialect beyond doubt.
	Match func(line []byte) bool
	// New makes a reader.
	New func() Reader
}

// Reader turns lines into frames.
type Reader interface {
	// Read reads whole lines (LF ends a line; the last of a log may lack it), appends to b what they say, and adds their
	// number to b.Lines. Frames and bad lines are numbered from 1 within the span. Texts may point into span.
	Read(span []byte, b *Batch)
}

// Batch is what a span of lines says.
type Batch struct {
	Frames   []frame.Frame
	Bodies   []Body // of the frames, in their order; only of a dialect WithBodies
	Bad      []Bad
	Lines    uint32
	Warnings frame.Warnings
}

// Reset empties b and keeps its room.
func (b *Batch) Reset() {
	*b = Batch{Frames: b.Frames[:0], Bodies: b.Bodies[:0], Bad: b.Bad[:0]}
}

// Bad is a line that is no record, or (HoleBefore) a run of NUL bytes where lines once were.
type Bad struct {
	Line   uint32
	Reason frame.Reason
	Prefix []byte // the line's first bytes, as they are
	Hole   int    // NUL bytes in front of the line; with Reason empty the line itself is fine
}

// PrefixLen is how many bytes of a bad line are kept, for the report.
const PrefixLen = 80

// Table lists the dialects; among equals the first wins.
func Table() []*Dialect {
	return []*Dialect{native(), teeMCP(), textTrace(), jsonl(), wire()}
}

// ByName finds a dialect by its name.
func ByName(name string) (*Dialect, bool) {
	for _, d := range Table() {
		if d.Name == name {
			return d, true
		}
	}
	return nil, false
}

// detectLines is how many lines at each end of a log are looked at.
const detectLines = 200

// Detect picks the dialect that claims most of the lines at a log's head and tail. When none claims any it is the native
// one, whose reasons for refusing the lines then say what was expected.
func Detect(head, tail []byte) *Dialect {
	var sample [][]byte
	for _, part := range [][]byte{head, tail} {
		n := 0
		eachLine(part, func(_ uint32, line []byte, _ int) {
			if n++; n <= detectLines {
				sample = append(sample, line)
			}
		})
	}
	table := Table()
	best, most := table[0], 0
	for _, d := range table {
		claimed := 0
		for _, line := range sample {
			if d.Match(line) {
				claimed++
			}
		}
		if claimed > most {
			best, most = d, claimed
		}
	}
	return best
}

// eachLine calls f with each line of span that is not blank, its number and the number of NUL bytes that stood in front of
// it; CR and spaces around the line are off. It returns the number of lines.
func eachLine(span []byte, f func(n uint32, line []byte, hole int)) uint32 {
	n := uint32(0)
	for len(span) > 0 {
		n++
		var line []byte
		line, span = cutLine(span)
		line, hole := trimLine(line)
		if len(line) > 0 || hole > 0 {
			f(n, line, hole)
		}
	}
	return n
}

// cutLine cuts the first line, without its LF, off span.
func cutLine(span []byte) (line, rest []byte) {
	if end := bytes.IndexByte(span, '\n'); end >= 0 {
		return span[:end], span[end+1:]
	}
	return span, nil
}

// trimLine takes CR and spaces around a line off, and the NUL bytes in front of it, which it counts.
func trimLine(line []byte) (bare []byte, hole int) {
	if len(line) > 0 && line[0] > ' ' && line[len(line)-1] > ' ' {
		return line, 0
	}
	bare = bytes.TrimLeft(line, "\x00")
	return bytes.Trim(bare, " \t\r"), len(line) - len(bare)
}

func prefix(line []byte) []byte {
	return line[:min(len(line), PrefixLen)]
}
