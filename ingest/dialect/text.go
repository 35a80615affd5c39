package dialect

import (
	"bytes"
	"strings"
	"time"

	"mcpdiag/ingest/frame"
)

// grammar is what is particular to a dialect whose records are lines of text: its prefix and its body.
type grammar interface {
	// line reads one line without its line end, which is not blank, and adds what it says with r.add. What is none of the
	// dialect's lines is no bad line: these logs are full of other programs' words.
	line(r *textReader, line []byte)
}

// text makes the constructor of a row of the table from that of a grammar.
func text(g func() grammar) func() Reader {
	return func() Reader { return &textReader{grammar: g(), asked: wireReader{open: map[string]held{}}} }
}

// textReader reads a log of text: it cuts lines, numbers what they say, and keeps what the dialects share.
type textReader struct {
	grammar
	b       *Batch
	n       uint32 // the line being read, within its span
	begun   uint32 // lines before the span
	partial bool   // the line has no end: it is the log's last, and may be cut anywhere
	doubted bool   // the log's words may name either end, so who holds an id open tells better where its answer went
	asked   wireReader
	calls   idless
}

func (r *textReader) Read(span []byte, b *Batch) {
	r.b, r.n = b, 0
	unended := len(span) > 0 && span[len(span)-1] != '\n'
	for len(span) > 0 {
		r.n++
		var line []byte
		line, span = cutLine(span)
		if bare := bytes.TrimLeft(line, "\x00"); len(bare) < len(line) {
			b.refuse(r.n, nil, len(line)-len(bare), frame.NoReason)
			line = bare
		}
		r.partial = len(span) == 0 && unended
		had := len(b.Frames)
		r.grammar.line(r, bytes.TrimRight(line, " \t\r"))
		if r.partial {
			r.mistrust(line, had)
		}
	}
	b.Lines += r.n
	r.begun += r.n
	r.b = nil
}

// lineEnds are what a line that is all there ends with, where it can be told at all.
var lineEnds = []string{"}", ")", "]", " params", " result"}

// mistrust takes back the frames of a line without its end, unless it looks whole: a cut 47 may have been 471, and a cut
// "response" a "response error".
func (r *textReader) mistrust(line []byte, had int) {
	whole := false
	for _, e := range lineEnds {
		whole = whole || bytes.HasSuffix(line, []byte(e))
	}
	kept := r.b.Frames[:had]
	for _, f := range r.b.Frames[had:] {
		if lost := f.Trunc && f.ID == nil && (f.More == nil || f.More.Call == 0); f.Line != r.n || whole && !lost {
			kept = append(kept, f)
		}
	}
	if len(kept) < len(r.b.Frames) {
		r.b.Frames = kept
		r.bad(line, cutOff)
	}
}

// Finish tells the grammar that the log ends, when it wants to know.
func (r *textReader) Finish(b *Batch) {
	if f, ok := r.grammar.(interface{ atEnd(r *textReader) }); ok {
		r.b, r.n = b, 0
		f.atEnd(r)
	}
}

// here is the line being read, counted over the whole log; add takes it back as a frame's line.
func (r *textReader) here() uint32 { return r.begun + r.n }

// at makes f a frame of the line counted over the whole log. A record that began in an earlier span has a number below
// that span's first; the difference comes out right when the span's own beginning is added.
func (r *textReader) at(line uint32, f *frame.Frame) { f.Line = line - r.begun }

// blank is a frame of this line of which nothing is known yet.
func (r *textReader) blank() frame.Frame {
	return frame.Frame{Line: r.n, Bytes: frame.Unknown, Rows: frame.Unknown}
}

func (r *textReader) add(f frame.Frame) { r.b.Frames = append(r.b.Frames, f) }

// bad notes that the line should have been a record and is none.
func (r *textReader) bad(line []byte, reason frame.Reason) { r.b.refuse(r.n, line, 0, reason) }

// message adds the JSON-RPC message that body starts with, whatever follows it. A message that is cut still has its kind. dir
// is where the log says that it went; content decides over words where only one side may send it.
func (r *textReader) message(body []byte, f frame.Frame, dir frame.Dir) bool {
	text := bytes.TrimLeft(body, " ")
	if n, array := arrayLen(text); array && n > 0 { // a batch
		return r.batch(text, f, dir)
	}
	if len(text) > 0 && text[len(text)-1] == '}' && frame.DecodeMessage(text, &f) == frame.NoReason {
		f.Bytes = int64(len(text)) + 1
		r.directed(&f, dir)
		return true
	}
	end, shape := frame.ScanObject(text)
	switch {
	case shape == frame.MessageObject || shape == frame.PlainObject:
		text = text[:end]
		if frame.DecodeMessage(text, &f) != frame.NoReason {
			return false
		}
		f.Bytes = int64(len(text)) + 1
	case !r.cut(text, &f):
		return false
	}
	r.directed(&f, dir)
	return true
}

// batch adds the messages of an array; false when one of its elements is none.
func (r *textReader) batch(text []byte, f frame.Frame, dir frame.Dir) bool {
	whole := true
	frame.Elements(text, func(e []byte) {
		g := f
		g.More = moreOf(&f)
		g.Bytes = frame.Unknown // the line has one size for all of them
		if frame.DecodeMessage(e, &g) != frame.NoReason {
			whole = false
			return
		}
		r.directed(&g, dir)
	})
	return whole
}

// cutMarks are what writers put where they cut a payload.
var cutMarks = []string{"... [truncated]", "…[truncated]", "[truncated]", "...", "…"}

// cut reads what is left of a message that its writer cut.
func (r *textReader) cut(text []byte, f *frame.Frame) bool {
	if r.partial && !bytes.HasSuffix(text, []byte("[truncated]")) { // it is the log that ends here, not the message
		return false
	}
	for _, mark := range cutMarks {
		if rest, ok := bytes.CutSuffix(text, []byte(mark)); ok {
			text = rest
			break
		}
	}
	return frame.DecodeCut(text, f)
}

// directed adds a message whose direction the log tells, or its content does. Ids do not overrule the words: two servers, or
// the part of a log before a rotation, may use the same.
func (r *textReader) directed(f *frame.Frame, dir frame.Dir) {
	sure := methodDirections[string(f.Method)]
	switch {
	case f.Kind.Answer() && (r.doubted || dir == frame.NoDir) && r.asked.onlyHolder(f.ID) != frame.NoDir:
		dir = opposite(r.asked.onlyHolder(f.ID))
	case !f.Kind.Answer() && sure != frame.NoDir:
		dir = sure
	case dir == frame.NoDir:
		dir = r.asked.direction(f, nil)
	}
	f.Dir = dir
	if f.Kind == frame.Request && f.ID.Known() && len(r.asked.open) < maxSent {
		r.asked.open[string(f.ID)] |= heldIn(dir)
	} else if f.Kind.Answer() {
		r.asked.answered(f.ID, opposite(dir))
	}
	r.add(*f)
}

// noise adds bytes on the wire that were no message.
func (r *textReader) noise(raw []byte, f frame.Frame, dir frame.Dir) {
	f.Kind, f.Dir = frame.Invalid, dir
	f.Extra().Raw = raw[:min(len(raw), teeRaw)]
	f.More.Word = "unparsed " + dir.String() + " stdout-noise"
	r.add(f)
}

// ended adds the end of one direction.
func (r *textReader) ended(f frame.Frame, dir frame.Dir) {
	f.Kind, f.Dir = frame.EOF, dir
	r.add(f)
}

// gaveUp adds that the requester stopped waiting, by its own words; no frame says so.
func (r *textReader) gaveUp(f frame.Frame, word string) {
	f.Kind, f.Dir = frame.GaveUp, frame.C2S
	f.Extra().Word = word
	r.add(f)
}

// prose makes a Match that looks for words leave alone what is a JSON object: it may quote anything.
func prose(match func(line []byte) bool) func([]byte) bool {
	return func(line []byte) bool {
		return len(line) > 0 && line[0] != '{' && !bytes.HasPrefix(line, []byte("[{")) && match(line)
	}
}

// stamp cuts the time off the front of a line, with the brackets around it and the space behind it.
func stamp(line []byte) (at frame.Instant, rest []byte, ok bool) {
	const date, longest = len("2006-01-02"), 40
	begin := 0
	for begin < len(line) && (line[begin] == '[' || line[begin] == ' ') {
		begin++
	}
	n := begin
	for n < len(line) && n-begin < longest && (n-begin == date || strings.IndexByte("0123456789-:.,+TZ", line[n]) >= 0) {
		n++
	}
	if n-begin < 19 || !frame.ParseWall(bytes.TrimRight(line[begin:n], "-:.,+ "), &at) {
		return at, line, false
	}
	return at, bytes.TrimLeft(line[n:], "] "), true
}

// bracket cuts `[inside] ` off the front of b.
func bracket(b []byte) (inside, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '[' {
		return nil, b, false
	}
	inside, rest, ok = bytes.Cut(b[1:], []byte{']'})
	if !ok {
		return nil, b, false
	}
	return inside, bytes.TrimLeft(rest, " "), true
}

// between is the text between two words of b, and what follows the second.
func between(b []byte, before, after string) (inside, rest []byte, ok bool) {
	_, b, ok = bytes.Cut(b, []byte(before))
	if !ok {
		return nil, nil, false
	}
	return bytes.Cut(b, []byte(after))
}

// levels are the words for a record's weight, in small letters.
func isLevel(word []byte) bool {
	switch strings.ToLower(string(word)) {
	case "trace", "debug", "info", "notice", "warn", "warning", "error", "fatal", "critical":
		return true
	}
	return false
}

// bareID makes an id of a word without quotes. A log that writes ids so does not tell numbers from strings of digits; JSON-RPC
// ids are numbers nearly always, so that is what digits are read as.
func bareID(word []byte) frame.ID {
	if len(word) == 0 {
		return nil
	}
	if id, rest, ok := frame.ParseID(word); ok && len(rest) == 0 {
		return id
	}
	if string(word) == "null" {
		return frame.ID("null")
	}
	return frame.StringID(string(word))
}

// errorCode finds the code in a text such as "MCP error -32001: Request timed out".
func errorCode(text []byte) (code int64, ok bool) {
	for rest := text; ; {
		i := bytes.Index(rest, []byte("-32"))
		if i < 0 {
			return 0, false
		}
		rest = rest[i+1:]
		if n, ok := decimal(rest[:digitsLen(rest)]); ok && n >= 32000 && n <= 32999 {
			return -n, true
		}
	}
}

func digitsLen(b []byte) int {
	n := 0
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	return n
}

// localWords are how clients say that they ended a wait themselves: no answer came.
var localWords = []string{"-32001", "-32000", "timed out", "timeout", "Timeout", "Connection closed", "connection closed", "AbortError", "aborted", "cancelled",
	"canceled", "deadline exceeded", "Not connected", "transport closed", "disconnected"}

func isLocal(text []byte) bool {
	for _, w := range localWords {
		if bytes.Contains(text, []byte(w)) {
			return true
		}
	}
	return false
}

// duration reads 505ms, 1m 13s, 1.204113s, 1m0.001s.
func duration(text []byte) (time.Duration, bool) {
	d, err := time.ParseDuration(strings.ReplaceAll(string(bytes.TrimSpace(text)), " ", ""))
	return d, err == nil && d >= 0
}
