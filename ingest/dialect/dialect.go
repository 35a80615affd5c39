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
	Large      // frames of any size
	Flying     // calls that have not ended
	Everything = 1<<iota - 1
)

var seesNames = []string{"requests", "responses", "handler events", "unparsed lines", "stream ends", "sizes", "times", "ids",
	"large frames", "calls that have not ended"}

// EveryRequest reports whether a request that crossed is there: only then does its absence say something.
func (s Sees) EveryRequest() bool { return s&(Requests|Large|Flying) == Requests|Large|Flying }

// EveryAnswer reports whether an answer that crossed is there.
func (s Sees) EveryAnswer() bool { return s&(Responses|Large) == Responses|Large }

// Missing names what a log with these flags cannot show, in a fixed order.
func (s Sees) Missing() []string { return (Everything &^ s).Shown() }

// Shown names what it can show.
func (s Sees) Shown() []string {
	var names []string
	for i, n := range seesNames {
		if s>>i&1 != 0 {
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
	Moment  string // which moment of a frame's life its line marks; "" when it varies or is not known
	Source  string // what the reading rests on: "" a sample, else "from description"
	Knob    string // what to turn so that such a log shows frames, when it shows none
	Sees    Sees
	Side    frame.Side // whose log it is when neither the command line nor a record says; NoSide when the dialect does not tell
	Clock   bool       // times are of one monotonic or zone-less clock: good within the file only
	Ordered bool       // a line's reading depends on the lines before it, so one reader takes the whole log
	Carried bool       // its lines may be wrapped in carriers (carriers.go), which are peeled off first

	// Match reports whether the line, trimmed, is of this dialect beyond doubt.
	Match func(line []byte) bool
	// Weight is what a line that Match claims counts in detection; nil is 1 for each. A host's log holds the lines of its
	// server's too, so a host's frames weigh most.
	Weight func(line []byte) int
	// Faint reports whether a line that Match claims only names the dialect's library and shows nothing: such lines decide when
	// nobody else claims any. nil when there are none.
	Faint func(line []byte) bool
	// Whole reports whether a log that starts like this is one document of this dialect; nil when it is lines.
	Whole func(head []byte) bool
	// New makes a reader.
	New func() Reader
}

// Reader turns lines into frames.
type Reader interface {
	// Read reads whole lines (LF ends a line; the last of a log may lack it), appends to b what they say, and adds their
	// number to b.Lines. Frames and bad lines are numbered from 1 within the span. Texts may point into span.
	Read(span []byte, b *Batch)
}

// Finisher is a Reader that holds something back until it has seen more: a record of several lines, a whole document.
type Finisher interface {
	Reader
	// Finish appends what is held back, at the end of the log. Lines are numbered as if they followed the last span.
	Finish(b *Batch)
}

// Batch is what a span of lines says.
type Batch struct {
	Frames   []frame.Frame
	Bodies   []Body // of the frames, in their order; only of a dialect WithBodies
	Bad      []Bad
	Lines    uint32
	Warnings frame.Warnings

	// Take, when it is set, is given each frame at once; a reader may pass them on instead of collecting them in Frames: a
	// frame that is used while it is in the nearest cache costs half as much. The frame is the reader's again afterwards.
	Take func(*frame.Frame)
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
	table := []*Dialect{native(), teeMCP(), textTrace()}
	for _, rows := range [...][]*Dialect{hosts(), libraries(), middleBoxes(), recorders(), neighbours(), frameless(), {jsonl(), wire()}} {
		for _, d := range rows {
			if d.Carried {
				d = d.behindCarriers()
			}
			table = append(table, d)
		}
	}
	return table
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
	lines := append(firstLines(head, detectLines), lastLines(tail, detectLines)...)
	if d := native(); d.all(lines) { // the usual case, which need not pay for the others
		return d
	}
	table := Table()
	for _, d := range table {
		if d.Whole != nil && d.Whole(head) {
			return d
		}
	}
	best := bestOf(table, lines)
	if best == nil || best.Sees&Requests == 0 { // a server that talks much may hide its host's lines from a first look
		if wider := bestOf(table, append(firstLines(head, widerLines), lastLines(tail, widerLines)...)); wider != nil {
			best = wider
		}
	}
	switch named := []byte(`"jsonrpc"`); {
	case best != nil:
		return best
	case bytes.Contains(head, named) || bytes.Contains(tail, named): // messages over several lines, each of which is nobody's
		return wire()
	}
	return table[0]
}

// widerLines is how many lines at each end the second look takes.
const widerLines = 4000

// bestOf is the dialect that claims most of the lines; nil when none claims any.
func bestOf(table []*Dialect, lines [][]byte) *Dialect {
	sample := make([]sampleLine, len(lines))
	for i, line := range lines {
		sample[i] = sampleLine{line, stages(line)}
	}
	var best *Dialect
	most, behind := 0, false
	for _, d := range table {
		claimed, peeled := d.claims(sample)
		if claimed > most {
			best, most, behind = d, claimed, peeled
		}
	}
	if behind && !best.Carried {
		best = best.behindCarriers()
	}
	return best
}

// all reports whether the dialect claims every line.
func (d *Dialect) all(lines [][]byte) bool {
	for _, line := range lines {
		if !d.Match(line) {
			return false
		}
	}
	return len(lines) > 0
}

// clearLine is how many faint lines a line counts for.
const clearLine = 2 * detectLines

// claims weighs the lines of a sample that the dialect claims. peeled is true when it takes the carriers off some first.
func (d *Dialect) claims(sample []sampleLine) (weight int, peeled bool) {
	weigh := func(line []byte) int {
		switch {
		case len(line) == 0 || !d.Match(line):
			return 0
		case d.Faint != nil && d.Faint(line):
			return 1
		case d.Weight != nil:
			return clearLine * d.Weight(line)
		}
		return clearLine
	}
	for _, s := range sample {
		if n := weigh(s.line); n > 0 {
			weight += n
			continue
		}
		for _, inner := range s.inner {
			if n := weigh(inner); n > 0 {
				weight, peeled = weight+n, true
				break
			}
		}
	}
	return weight, peeled
}

// sampleLine is a line as it stands, and what is left of it with each carrier off that is around it.
type sampleLine struct {
	line  []byte
	inner [][]byte
}

func firstLines(part []byte, most int) [][]byte {
	var sample [][]byte
	for n := 0; len(part) > 0 && n < most; {
		var line []byte
		line, part = cutLine(part)
		if line, _ = trimLine(line); len(line) > 0 {
			n++
			sample = append(sample, line)
		}
	}
	return sample
}

func lastLines(part []byte, most int) [][]byte {
	var sample [][]byte
	for n := 0; len(part) > 0 && n < most; {
		part = bytes.TrimSuffix(part, []byte{'\n'})
		begin := bytes.LastIndexByte(part, '\n') + 1
		line, _ := trimLine(part[begin:])
		part = part[:begin]
		if len(line) > 0 {
			n++
			sample = append(sample, line)
		}
	}
	return sample
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
