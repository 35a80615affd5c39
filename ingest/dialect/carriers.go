package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// A carrier is what some other program put around a log's lines: a container runtime, a journal, a pager, a paste. carriers
// lists them; each takes itself off the front of a line and gives the rest, or nil when it is not there. One that is weak may
// as well be the log's own, and goes only where the dialect knows the line without it and does not know it with it.
var carriers = [...]struct {
	name string
	weak bool
	peel func(line []byte, c *carried) []byte
}{
	{"terminal colours", false, peelColours},
	{"Markdown fences", false, peelFence},
	{"tail banners", false, peelBanner},
	{"Markdown quotes", false, peelQuote},
	{"docker compose", false, peelCompose},
	{"kubectl and stern", false, peelPod},
	{"journald", false, peelJournal},
	{"time stamps of container runtimes", false, peelRuntimeStamp},
	{"time stamps", true, peelStamp},
}

// carried is what the carriers said: which program's line it is, and when it came.
type carried struct {
	name []byte
	at   frame.Instant
}

// mostCarriers is how many may stand around one line.
const mostCarriers = 6

// peelOnce takes one carrier off; nil when there is none.
func peelOnce(line []byte, c *carried) (rest []byte, weak bool) {
	for _, k := range carriers {
		if rest := k.peel(line, c); rest != nil {
			return rest, k.weak
		}
	}
	return nil, false
}

// stages are the line with one carrier off, with two, and so on.
func stages(line []byte) (out [][]byte) {
	var c carried
	for range mostCarriers {
		rest, _ := peelOnce(line, &c)
		if rest == nil {
			break
		}
		line = bytes.Trim(rest, " \t\r")
		out = append(out, line)
	}
	return out
}

const escape = 0x1b

// peelColours takes the control sequences of a terminal off the whole line.
func peelColours(line []byte, _ *carried) []byte {
	i := bytes.IndexByte(line, escape)
	if i < 0 {
		return nil
	}
	out := append(make([]byte, 0, len(line)), line[:i]...)
	for i < len(line) {
		if line[i] != escape {
			out = append(out, line[i])
			i++
			continue
		}
		i = endOfSequence(line, i+1)
	}
	return out
}

// endOfSequence is where the control sequence whose ESC stands before i ends: `[`, parameters, one final byte.
func endOfSequence(line []byte, i int) int {
	if i >= len(line) || line[i] != '[' {
		return min(i+1, len(line))
	}
	for i++; i < len(line); i++ {
		if line[i] >= 0x40 && line[i] <= 0x7e {
			return i + 1
		}
	}
	return i
}

var nothingLeft = []byte{}

func peelFence(line []byte, _ *carried) []byte {
	if bytes.HasPrefix(line, []byte("```")) && len(line) < 20 {
		return nothingLeft
	}
	return nil
}

func peelBanner(line []byte, _ *carried) []byte {
	if bytes.HasPrefix(line, []byte("==> ")) && bytes.HasSuffix(line, []byte(" <==")) {
		return nothingLeft
	}
	return nil
}

func peelQuote(line []byte, _ *carried) []byte {
	if len(line) > 0 && line[0] == '>' && (len(line) == 1 || line[1] == ' ') {
		return bytes.TrimPrefix(line[1:], []byte{' '})
	}
	return nil
}

// peelCompose takes `name-1  | ` off.
func peelCompose(line []byte, c *carried) []byte {
	n := wordLen(line)
	if n == 0 || n > 64 {
		return nil
	}
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(line[n:], " "), []byte{'|'})
	if !ok || len(rest) > 0 && rest[0] != ' ' || line[n] != ' ' {
		return nil
	}
	c.name = line[:n]
	return bytes.TrimPrefix(rest, []byte{' '})
}

// wordLen is the length of the name that line starts with: letters, digits and `._-`.
func wordLen(line []byte) int {
	for i, ch := range line {
		if l := ch | 0x20; (l < 'a' || l > 'z') && ch-'0' > 9 && ch != '.' && ch != '_' && ch != '-' {
			return i
		}
	}
	return 0
}

// peelPod takes `[pod/name/container] ` or the name of a pod off, the latter only in front of a time.
func peelPod(line []byte, c *carried) []byte {
	if rest, ok := bytes.CutPrefix(line, []byte("[pod/")); ok {
		if name, rest, ok := bytes.Cut(rest, []byte("] ")); ok && !bytes.ContainsAny(name, " [") {
			c.name = name
			return rest
		}
		return nil
	}
	if rest, ok := bytes.CutPrefix(line, []byte("[")); ok { // `[name] 2026-…`, as some print it
		if name, rest, ok := bytes.Cut(rest, []byte("] ")); ok && wordLen(append(bytes.Clone(name[:min(len(name), 80)]), ' ')) == len(name) && startsTime(rest) {
			c.name = name
			return rest
		}
		return nil
	}
	rest := line
	for range 2 { // stern writes the pod and the container
		n := wordLen(rest)
		if n == 0 || rest[n] != ' ' {
			return nil
		}
		if rest = rest[n+1:]; startsTime(rest) {
			if name := line[:len(line)-len(rest)-1]; !startsTime(name) && bytes.IndexByte(name, '-') > 0 {
				c.name = name
				return rest
			}
			return nil
		}
	}
	return nil
}

func startsTime(b []byte) bool {
	return len(b) > 19 && b[0] == '2' && b[1] == '0' && b[4] == '-' && b[7] == '-' && b[13] == ':'
}

// peelJournal takes `Mar 02 09:41:03 host unit[123]: ` off, whose time lacks its year and zone and is not used, and the same
// behind `2026-03-02T09:41:03+0100`, as journalctl -o short-iso writes it.
func peelJournal(line []byte, c *carried) []byte {
	const shortest = len("Mar 02 09:41:03 h u[1]: ")
	var at frame.Instant
	begin := len("Mar 02 09:41:03 ")
	switch {
	case len(line) < shortest:
		return nil
	case startsTime(line) && line[10] == 'T':
		begin = bytes.IndexByte(line, ' ') + 1
		if begin == 0 || !frame.ParseWall(line[:begin-1], &at) {
			return nil
		}
	case line[3] != ' ' || line[6] != ' ' || line[9] != ':' || line[12] != ':' || line[15] != ' ' || line[7]-'0' > 2:
		return nil
	}
	head, rest, ok := bytes.Cut(line[begin:], []byte("]: "))
	host, unit, two := bytes.Cut(head, []byte{' '})
	if !ok || !two || len(host) == 0 || bytes.IndexByte(unit, '[') < 1 || bytes.IndexByte(unit, ' ') >= 0 {
		return nil
	}
	if pid := unit[bytes.IndexByte(unit, '[')+1:]; digitsLen(pid) != len(pid) || len(pid) == 0 {
		return nil
	}
	c.name = unit
	if at.Known() && !at.Zoneless() {
		c.at = at
	}
	return rest
}

// peelRuntimeStamp takes a time with nanoseconds off, as container runtimes write it in front of every line.
func peelRuntimeStamp(line []byte, c *carried) []byte {
	const fewest = 7 // decimals; logs write milliseconds or microseconds
	if len(line) < 20 || line[19] != '.' || digitsLen(line[20:]) < fewest {
		return nil
	}
	return peelStamp(line, c)
}

// peelStamp takes a time in front of the line off and keeps it.
func peelStamp(line []byte, c *carried) []byte {
	if !startsTime(line) || line[10] != 'T' {
		return nil
	}
	word, rest, ok := bytes.Cut(line, []byte{' '})
	if !ok || !frame.ParseWall(word, &c.at) || c.at.Zoneless() {
		return nil
	}
	for _, stream := range [...]string{"stdout F ", "stderr F "} { // the CRI's own log files
		rest = bytes.TrimPrefix(rest, []byte(stream))
	}
	return rest
}

// behindCarriers is the dialect with the carriers taken off its lines first.
func (d *Dialect) behindCarriers() *Dialect {
	e := *d
	e.New = func() Reader { return &peeler{match: d.Match, inner: d.New()} }
	return &e
}

// peeler takes carriers off the lines that its dialect does not claim as they are, and hands the span on. A line keeps its
// number, and what a carrier left nothing of is blank.
type peeler struct {
	match func([]byte) bool
	inner Reader
	told  map[uint32]carried
	stamp bool // the line before had a weak carrier: so has the next line of its record, which nobody knows by itself
}

func (p *peeler) Read(span []byte, b *Batch) {
	clear(p.told)
	from := len(b.Frames)
	p.inner.Read(p.peel(span), b)
	p.tell(b.Frames[from:])
}

// Finish ends the reader within.
func (p *peeler) Finish(b *Batch) {
	if f, ok := p.inner.(Finisher); ok {
		f.Finish(b)
	}
}

// peel gives the span without carriers. Spans without any, the most of them, are handed on as they are.
func (p *peeler) peel(span []byte) []byte {
	var out []byte
	n := uint32(0)
	for rest := span; len(rest) > 0; {
		n++
		begin := len(span) - len(rest)
		var line []byte
		line, rest = cutLine(rest)
		inner := p.line(n, line)
		if inner == nil {
			if out != nil {
				out = append(out, span[begin:len(span)-len(rest)]...)
			}
			continue
		}
		if out == nil {
			out = append(make([]byte, 0, len(span)), span[:begin]...)
		}
		out = append(out, inner...)
		if begin+len(line) < len(span) || len(inner) == 0 { // a line that is blank now is still a line
			out = append(out, '\n')
		}
	}
	if out == nil {
		return span
	}
	return out
}

// line is the line without its carriers; nil when it has none, or needs none taken off.
func (p *peeler) line(n uint32, line []byte) []byte {
	bare := bytes.TrimRight(line, " \t\r")
	if len(bare) == 0 {
		return nil
	}
	var c carried
	inner := bare
	for range mostCarriers {
		before := c
		next, weak := peelOnce(inner, &c)
		if weak {
			p.stamp = next != nil && !p.match(inner) && (p.stamp || p.match(bytes.TrimLeft(next, " \t")))
		}
		if next == nil || weak && !p.stamp {
			c = before
			break
		}
		if inner = next; len(inner) == 0 {
			break
		}
	}
	if len(inner) == len(bare) {
		return nil
	}
	if p.told == nil {
		p.told = map[uint32]carried{}
	}
	p.told[n] = c
	return inner
}

// tell gives frames without a time or a connection the carrier's.
func (p *peeler) tell(frames []frame.Frame) {
	if len(p.told) == 0 {
		return
	}
	for i := range frames {
		f := &frames[i]
		c, ok := p.told[f.Line]
		if !ok {
			continue
		}
		if !f.At.Known() && c.at.Known() {
			f.At = c.at
		}
		if c.name != nil && len(f.Session) == 0 && (f.More == nil || f.More.Conn == nil) {
			f.Extra().Conn = bytes.Clone(c.name)
		}
	}
}
