package diagnose

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"math/bits"
	"slices"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// ThresholdOptions are what the user asked of a threshold.
type ThresholdOptions struct {
	Ceiling int64  // bytes; 0 takes what the logs suggest
	Tool    string // only this tool; "" is all
}

// Threshold says from which size on frames were lost, and how many records of each tool that is.
type Threshold struct {
	Logs     []*ingest.Log
	Brackets []Bracket
	Tools    []*ToolSizes // those that log rows, and those that lost an answer; the ones with losses first
	Options  ThresholdOptions
}

// BracketState says what a bracket is worth.
type BracketState string

// The states of a bracket.
const (
	OneLog      BracketState = "one_log"      // a loss shows only between two logs
	NothingLost BracketState = "nothing_lost" // so nothing is known of a ceiling
	SizesCross  BracketState = "sizes_cross"  // a frame was read that is no smaller than one that was lost: no ceiling
	Unsized     BracketState = "unsized"      // something was lost, and no log tells its size
	Bracketed   BracketState = "bracket"      // every frame up to Low was read, every one from High was lost
)

// Bracket is where the ceiling of one reader lies, for one kind of frame. Sizes are whole frames: the ceiling is.
type Bracket struct {
	Requester frame.Side
	Frames    ingest.Point // Request or Answer
	State     BracketState
	Low       int64 // bytes of the largest frame that was read; 0 when none was
	High      int64 // bytes of the smallest that was lost; 0 when none was
	Read      int   // frames that were read, their size known
	Lost      int   // frames that were lost, their size known
	NoSize    int   // frames that were lost, their size not known
	Open      int   // frames that are not read yet, and may be: no losses
	Largest   *Call // the one of Low
	Smallest  *Call // the one of High
	Known     []Ceiling
	Otherwise []string // causes found for lost frames that have nothing to do with size: those losses are no witnesses
}

// Reader is the side whose ceiling it is.
func (b *Bracket) Reader() frame.Side {
	if b.Frames == ingest.Request {
		return b.Requester.Peer()
	}
	return b.Requester
}

// NewThreshold computes the threshold of a diagnosis, whose database must still be open.
func NewThreshold(ctx context.Context, d *Diagnosis, o ThresholdOptions) (*Threshold, error) {
	t := &Threshold{Logs: d.Logs, Options: o}
	for _, by := range []frame.Side{frame.Client, frame.Server} {
		for _, p := range []ingest.Point{ingest.Answer, ingest.Request} {
			t.Brackets = append(t.Brackets, Bracket{Requester: by, Frames: p})
		}
	}
	tools := map[toolKey]*ToolSizes{}
	causes := d.otherCauses()
	if err := d.eachVerdict(ctx, func(c *Call) {
		for k := range t.Brackets {
			t.Brackets[k].add(c, causes)
		}
		addSize(tools, c, o.Tool)
	}); err != nil {
		return nil, err
	}
	t.settle(!d.BothSides(), tools)
	return t, nil
}

// eachVerdict goes through all calls, the healthy ones too, without keeping them.
func (d *Diagnosis) eachVerdict(ctx context.Context, visit func(*Call)) error {
	if err := d.eachTold(ctx); err != nil {
		return err
	}
	rows, err := d.join.Conn.Query(ctx, `SELECT requester, coalesce(r_half, -1), coalesce(p_half, -1), leaf, stalled FROM verdicts
		ORDER BY requester, r_half NULLS LAST, p_half`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var by uint8
		var r, p int64
		var leaf sql.NullString
		c := &Call{}
		if err := rows.Scan(&by, &r, &p, &leaf, &c.Stalled); err != nil {
			return err
		}
		c.Requester, c.Leaf = frame.Side(by), Leaf(leaf.String)
		c.Sent, c.Served = d.half(c.Requester, r), d.half(c.Requester.Peer(), p)
		visit(c)
	}
	return rows.Err()
}

// Fate is what became of a frame.
type Fate uint8

// The fates.
const (
	Untold    Fate = iota // the logs do not tell, or it may still be read
	Delivered             // its reader logged it
	Lost
)

// fate is what became of the call's request or answer. A call that is only open is no loss yet: its reader's log may have
// ended first.
func (c *Call) fate(p ingest.Point) Fate {
	reader, leaf := c.Sent, WrittenNotRead
	if p == ingest.Request {
		reader, leaf = c.Served, NeverArrived
	}
	switch {
	case reader.Line(p) != 0:
		return Delivered
	case c.Leaf == leaf && c.Stalled:
		return Lost
	}
	return Untold
}

// sizeAt is the size of the frame as the reader has it, if it was read, else as the writer has it.
func (c *Call) sizeAt(p ingest.Point) int64 {
	order := [2]Half{c.Sent, c.Served}
	if p == ingest.Request {
		order[0], order[1] = order[1], order[0]
	}
	for _, h := range order {
		if h.OK() {
			if n := h.Log.Bytes(h.N, p); n != frame.Unknown {
				return n
			}
		}
	}
	return frame.Unknown
}

// otherCauses are the causes found for stalled calls that are not a matter of size, by the half of the requester.
func (d *Diagnosis) otherCauses() map[Half]string {
	found := map[Half]string{}
	for _, c := range d.Calls {
		if !c.Stalled || len(c.Causes) == 0 || !c.Causes[0].Found {
			continue
		}
		switch name := c.Causes[0].Name; name {
		case MaxLineLength, RequestTooLarge, None, ReaderStopped: // a reader may stop at a frame that is too long
		default:
			found[c.Sent] = name
		}
	}
	return found
}

// add counts the call's frame, if it is of this direction.
func (b *Bracket) add(c *Call, causes map[Half]string) {
	if c.Requester != b.Requester {
		return
	}
	n, fate := c.sizeAt(b.Frames), c.fate(b.Frames)
	if cause := causes[c.Sent]; fate == Lost && cause != "" && !slices.Contains(b.Otherwise, cause) {
		b.Otherwise = append(b.Otherwise, cause)
	}
	switch {
	case fate == Untold:
		if c.Leaf == WrittenNotRead && b.Frames == ingest.Answer || c.Leaf == NeverArrived && b.Frames == ingest.Request {
			b.Open++
		}
	case fate == Lost && n == frame.Unknown:
		b.NoSize++
	case fate == Lost:
		if b.Lost++; b.Smallest == nil || n < b.High {
			b.High, b.Smallest = n, c
		}
	case n != frame.Unknown:
		if b.Read++; b.Largest == nil || n > b.Low {
			b.Low, b.Largest = n, c
		}
	}
}

func (b *Bracket) settle(oneLog bool) {
	switch {
	case oneLog:
		b.State = OneLog
	case b.Lost+b.NoSize == 0:
		b.State = NothingLost
	case b.Lost == 0:
		b.State = Unsized
	case b.Read > 0 && b.Low >= b.High:
		b.State = SizesCross
	default:
		b.State = Bracketed
		b.Known = within(b.Low, b.High)
	}
}

// settle judges the brackets and draws the lines through the tools. Directions in which no frame went are left out, but for
// the client's.
func (t *Threshold) settle(oneLog bool, tools map[toolKey]*ToolSizes) {
	answers := map[frame.Side]*Bracket{}
	t.Brackets = slices.DeleteFunc(t.Brackets, func(b Bracket) bool {
		return b.Requester == frame.Server && b.Read+b.Lost+b.NoSize+b.Open == 0
	})
	for k := range t.Brackets {
		b := &t.Brackets[k]
		b.settle(oneLog)
		if b.Frames == ingest.Answer {
			answers[b.Requester] = b
		}
	}
	for _, s := range tools {
		if s.WithRows == 0 && s.LostAnswers == 0 && t.Options.Tool == "" {
			continue
		}
		s.lines(t.lines(answers[s.Requester]))
		t.Tools = append(t.Tools, s)
	}
	slices.SortFunc(t.Tools, func(a, b *ToolSizes) int {
		return cmp.Or(cmp.Compare(b.LostAnswers, a.LostAnswers), cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Requester, b.Requester), a.compare(b.toolKey))
	})
}

// Line is a ceiling in the sizes of one tool: how many records it is worth, and what happened on both sides of it.
type Line struct {
	Ceiling
	Records      int64 // frame.Unknown when the tool logs no rows
	Above, Below Split // of more bytes than the ceiling; of as many or fewer
}

// Contradicted reports whether something larger was read, or something smaller lost.
func (l *Line) Contradicted() bool { return l.Above[Delivered].N > 0 || l.Below[Lost].N > 0 }

// Split counts answers by their fate.
type Split [3]Pile

// Pile is a number of answers of one fate, and the one of them that is nearest to the line.
type Pile struct {
	N       int
	Nearest *Call
}

// lines are the ceilings to draw: the user's, else the known ones in the bracket, else its ends.
func (t *Threshold) lines(b *Bracket) []Ceiling {
	switch {
	case t.Options.Ceiling > 0:
		return []Ceiling{{t.Options.Ceiling, "--ceiling"}}
	case b == nil || b.State != Bracketed:
		return nil
	case len(b.Known) > 0:
		return b.Known
	}
	most := Ceiling{b.High - 1, "the most it can be: one byte more was lost"}
	if b.Read == 0 || b.Low == b.High-1 {
		return []Ceiling{most}
	}
	return []Ceiling{{b.Low, "the least it can be: as much was read"}, most}
}

// toolKey is a tool as one side calls it.
type toolKey struct {
	Requester    frame.Side
	Method, Name string
}

func (k toolKey) compare(l toolKey) int {
	return cmp.Or(cmp.Compare(k.Method, l.Method), cmp.Compare(k.Name, l.Name))
}

// What names the tool, or the method where there is none.
func (k toolKey) What() string {
	if k.Name != "" {
		return k.Name
	}
	return cmp.Or(k.Method, "calls whose method is not logged")
}

// ToolSizes are the answers of one tool by size.
type ToolSizes struct {
	toolKey
	Answers     int   // answers whose size is known
	LostAnswers int   // answers that were lost
	WithRows    int   // answers with a size and at least one row
	NoRows      int   // answers with a size and rows 0: nothing to divide by
	Unusable    int   // answers with more rows than bytes, which no record fits in
	Bytes, Rows int64 // sums over WithRows
	Least, Most float64
	Lines       []Line
	answers     []answer
}

// answer is one answer with a size. It is small: a log may have millions.
type answer struct {
	bytes        int64
	fate         Fate
	sent, served Half
}

func (k toolKey) call(a answer) *Call {
	return &Call{Requester: k.Requester, Sent: a.sent, Served: a.served}
}

// toolOf is what calls are counted by: the tool, or the prompt; of other methods, whose names are as many as there are
// resources, the method alone.
func toolOf(by frame.Side, method, name string) toolKey {
	if method != "tools/call" && method != "prompts/get" && method != "" {
		name = ""
	}
	return toolKey{by, method, name}
}

func addSize(tools map[toolKey]*ToolSizes, c *Call, only string) {
	key := toolOf(c.Requester, c.Method(), c.Name())
	if only != "" && key.What() != only {
		return
	}
	s := tools[key]
	if s == nil {
		s = &ToolSizes{toolKey: key}
		tools[key] = s
	}
	fate := c.fate(ingest.Answer)
	if fate == Lost {
		s.LostAnswers++
	}
	if n := c.Bytes(ingest.Answer); n > 0 {
		s.Answers++
		s.answers = append(s.answers, answer{n, fate, c.Sent, c.Served})
		s.rows(n, c.Rows())
	}
}

func (s *ToolSizes) rows(bytes, rows int64) {
	switch {
	case rows < 0:
	case rows == 0:
		s.NoRows++
	case rows > bytes:
		s.Unusable++
	default:
		each := float64(bytes) / float64(rows)
		if s.WithRows++; s.WithRows == 1 {
			s.Least, s.Most = each, each
		}
		s.Least, s.Most = min(s.Least, each), max(s.Most, each)
		s.Bytes += bytes
		s.Rows += rows
	}
}

// PerRecord is the average size of a record, in bytes of the whole frame; ok is false when no answer logs rows.
func (s *ToolSizes) PerRecord() (bytes float64, ok bool) {
	return float64(s.Bytes) / float64(s.Rows), s.Rows > 0
}

// records is floor(ceiling / (Bytes / Rows)), from the quotient as it is and not as it is printed.
func (s *ToolSizes) records(ceiling int64) int64 {
	if s.Rows == 0 {
		return frame.Unknown
	}
	hi, lo := bits.Mul64(uint64(ceiling), uint64(s.Rows))
	if hi >= uint64(s.Bytes) {
		return math.MaxInt64
	}
	n, _ := bits.Div64(hi, lo, uint64(s.Bytes))
	return int64(min(n, math.MaxInt64))
}

func (s *ToolSizes) lines(ceilings []Ceiling) {
	for _, c := range ceilings {
		l := Line{Ceiling: c, Records: s.records(c.Bytes)}
		nearest := map[*Pile]answer{}
		for _, a := range s.answers {
			side := &l.Below
			if a.bytes > c.Bytes {
				side = &l.Above
			}
			pile := &side[a.fate]
			pile.N++
			if pile.N == 1 || distance(a, c) < distance(nearest[pile], c) {
				nearest[pile] = a
			}
		}
		for pile, a := range nearest {
			pile.Nearest = s.call(a)
		}
		s.Lines = append(s.Lines, l)
	}
}

func distance(a answer, c Ceiling) int64 { return max(a.bytes-c.Bytes, c.Bytes-a.bytes) }
