package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// teeMCP reads the lines of tee-mcp, a proxy on stdio: the seconds of a monotonic clock, the direction, the size of the whole
// frame, and its first 400 bytes as Python prints bytes. The server's stderr stands between the lines.
//
//	81240.118000 c->s 119B b'{"jsonrpc":"2.0","id":47,"method":"tools/call","params":{"name":"list_sailings"}}\n'
func teeMCP() *Dialect {
	return &Dialect{
		Name: "tee-mcp", Writer: "tee-mcp", Vantage: "a proxy on stdio, in front of the server",
		Sees:  Everything &^ (Handlers | Ends),
		Side:  frame.Server,
		Clock: true,
		Match: func(line []byte) bool {
			var f frame.Frame
			_, ok := teeHead(line, &f)
			return ok
		},
		Weight: func([]byte) int { return hostFrame }, // the server's stderr may be most of it
		New:    func() Reader { return teeReader{} },
	}
}

// The reasons for which a line of this dialect is none.
const (
	notTee   frame.Reason = "not a tee-mcp line"
	badBytes frame.Reason = "not a bytes literal"
)

// teeRaw is how much of a line that is no message is kept: as much as the writer itself keeps.
const teeRaw = 400

type teeReader struct{}

func (teeReader) Read(span []byte, b *Batch) {
	b.Lines += eachLine(span, func(n uint32, line []byte, hole int) {
		var reason frame.Reason
		if len(line) > 0 {
			f := frame.Frame{Line: n, Rows: frame.Unknown}
			if reason = teeLine(line, &f); reason == frame.NoReason {
				b.Frames = append(b.Frames, f)
			}
		}
		b.refuse(n, line, hole, reason)
	})
}

// refuse notes a line that is no record, or the hole in front of one.
func (b *Batch) refuse(n uint32, line []byte, hole int, reason frame.Reason) {
	if reason != frame.NoReason || hole > 0 {
		b.Bad = append(b.Bad, Bad{Line: n, Reason: reason, Prefix: prefix(line), Hole: hole})
	}
}

func teeLine(line []byte, f *frame.Frame) frame.Reason {
	literal, ok := teeHead(line, f)
	if !ok {
		return notTee
	}
	payload, size, ok := pythonBytes(literal)
	if !ok {
		return badBytes
	}
	if frame.DecodeMessage(payload, f) == frame.NoReason {
		return frame.NoReason
	}
	if cut := f.Bytes > int64(size); cut && frame.DecodeCut(payload, f) {
		return frame.NoReason
	}
	f.Kind = frame.Invalid
	f.Extra().Raw = payload[:min(len(payload), teeRaw)]
	return frame.NoReason
}

// teeHead reads what stands in front of the payload, and returns the payload's literal.
func teeHead(line []byte, f *frame.Frame) (literal []byte, ok bool) {
	if len(line) == 0 || line[0]-'0' > 9 {
		return nil, false
	}
	w := words{line}
	ns, ok := seconds(w.next())
	if !ok {
		return nil, false
	}
	f.At.Mono(ns)
	if f.Dir = arrow(w.next()); f.Dir == frame.NoDir {
		return nil, false
	}
	if f.Bytes, ok = byteCount(w.next()); !ok {
		return nil, false
	}
	literal = w.rest()
	return literal, len(literal) > 1 && literal[0] == 'b' && (literal[1] == '\'' || literal[1] == '"')
}

// words walks the words of a line.
type words struct{ b []byte }

// rest is what follows, without the space in front of it.
func (w *words) rest() []byte {
	w.b = bytes.TrimLeft(w.b, " \t")
	return w.b
}

// next takes the next word; nil at the end.
func (w *words) next() []byte {
	b := w.rest()
	n := 0
	for n < len(b) && b[n] != ' ' && b[n] != '\t' {
		n++
	}
	w.b = b[n:]
	return b[:n]
}

// arrow reads a direction as tee-mcp and the text trace write it.
func arrow(word []byte) frame.Dir {
	switch string(word) {
	case "c->s":
		return frame.C2S
	case "s->c":
		return frame.S2C
	}
	return frame.NoDir
}

// byteCount reads a size such as "312B".
func byteCount(word []byte) (int64, bool) {
	if len(word) < 2 || word[len(word)-1] != 'B' {
		return frame.Unknown, false
	}
	n, ok := decimal(word[:len(word)-1])
	if !ok {
		return frame.Unknown, false
	}
	return n, true
}

// decimal reads a number of at most 18 digits, which an int64 holds.
func decimal(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// seconds reads seconds with decimals as ns. The limit keeps the product within an int64.
func seconds(b []byte) (ns int64, ok bool) {
	const limit = 9_000_000_000
	whole, decimals, _ := bytes.Cut(b, []byte{'.'})
	sec, ok := decimal(whole)
	if !ok || sec > limit {
		return 0, false
	}
	scale := int64(1_000_000_000)
	for _, c := range decimals {
		if c-'0' > 9 {
			return 0, false
		}
		scale /= 10
		ns += int64(c-'0') * scale
	}
	return sec*1_000_000_000 + ns, true
}

// pythonBytes decodes a bytes literal as Python's repr writes it. size is how many bytes it stands for; payload lacks the line
// end when nothing else is escaped, so that most payloads need no copy.
func pythonBytes(literal []byte) (payload []byte, size int, ok bool) {
	quote, body := literal[1], literal[2:]
	if len(body) == 0 || body[len(body)-1] != quote {
		return nil, 0, false
	}
	body = body[:len(body)-1]
	bare := bytes.TrimSuffix(body, []byte(`\n`))
	if bytes.IndexByte(bare, '\\') >= 0 {
		payload, ok = unrepr(body, quote)
		return payload, len(payload), ok
	}
	size = len(bare)
	if len(bare) < len(body) {
		size++
	}
	return bare, size, bytes.IndexByte(bare, quote) < 0
}

func unrepr(body []byte, quote byte) ([]byte, bool) {
	out := make([]byte, 0, len(body))
	for len(body) > 0 {
		c, n := pythonByte(body)
		if n == 0 || body[0] == quote {
			return nil, false
		}
		out = append(out, c)
		body = body[n:]
	}
	return out, true
}

// pythonByte reads one byte and tells how many it was written with; 0 when it is an escape that repr does not write.
func pythonByte(b []byte) (c byte, n int) {
	switch {
	case b[0] != '\\':
		return b[0], 1
	case len(b) < 2:
		return 0, 0
	}
	switch b[1] {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case '\\', '\'', '"':
		return b[1], 2
	case 'x':
		if len(b) >= 4 {
			high, ok1 := hexDigit(b[2])
			low, ok2 := hexDigit(b[3])
			if ok1 && ok2 {
				return high<<4 | low, 4
			}
		}
	}
	return 0, 0
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
