package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// Threshold writes the ceilings, and what they are in records, for a terminal.
func Threshold(w io.Writer, t *diagnose.Threshold, s Style) error {
	p := newPrinter(w, s)
	d := &diagnose.Diagnosis{Logs: t.Logs}
	p.short = shortNames(d)
	p.logs(d)
	for k := range t.Brackets {
		p.bracket(&t.Brackets[k])
	}
	p.line("")
	for _, tool := range t.Tools {
		p.toolSizes(tool)
	}
	p.withoutRows(t)
	return p.err
}

// bracket tells one direction.
func (p *printer) bracket(b *diagnose.Bracket) {
	what := "answers"
	if b.Frames == ingest.Request {
		what = "requests"
	}
	p.hang(p.paint(bold, fmt.Sprintf("%-22s", what+" to the "+b.Reader().String()))+" ", p.bracketSentence(b))
	for _, more := range []string{bracketCeilings(b), bracketEnds(b), bracketDoubts(b)} {
		if more != "" {
			p.hang(strings.Repeat(" ", 23), more)
		}
	}
}

func (p *printer) bracketSentence(b *diagnose.Bracket) string {
	switch b.State {
	case diagnose.OneLog:
		return "which were lost cannot be told from one log: give the other side's too"
	case diagnose.NothingLost:
		return p.paint(green, "nothing was lost") + ": no ceiling shows"
	case diagnose.Unsized:
		return p.paint(red, count(b.NoSize, "frame")+" lost") + ", and no log tells a size"
	case diagnose.SizesCross:
		return p.paint(yellow, "sizes cross: no ceiling") + fmt.Sprintf(", since a frame of %s was lost and one of %s was read", sized(b.High), sized(b.Low))
	}
	lost := p.paint(red, fmt.Sprintf("every one from %s was lost", sized(b.High))) + fmt.Sprintf(" (%d)", b.Lost)
	if b.Read == 0 {
		return lost + ", and none was read to compare with"
	}
	return fmt.Sprintf("every frame up to %s was read (%s), ", sized(b.Low), diagnose.Thousands(int64(b.Read))) + lost
}

// bracketCeilings names the known ceilings that the bracket allows.
func bracketCeilings(b *diagnose.Bracket) string {
	if b.State != diagnose.Bracketed {
		return ""
	}
	in := fmt.Sprintf("the ceiling is in [%s, %s)", diagnose.Thousands(b.Low), diagnose.Thousands(b.High))
	if b.Read == 0 {
		in = "the ceiling is below " + diagnose.Thousands(b.High)
	}
	if len(b.Known) == 0 {
		return in + "; no known one is"
	}
	var known []string
	for _, c := range b.Known {
		known = append(known, fmt.Sprintf("%s (%s)", sized(c.Bytes), c.Of))
	}
	return in + "; known ones there: " + strings.Join(known, ", ")
}

// bracketEnds cites the two frames that make the bracket.
func bracketEnds(b *diagnose.Bracket) string {
	var parts []string
	if c := b.Largest; c != nil {
		parts = append(parts, fmt.Sprintf("largest read: %s, %s", sized(b.Low), pointAt(c, b.Frames)))
	}
	if c := b.Smallest; c != nil {
		parts = append(parts, fmt.Sprintf("smallest lost: %s, %s", sized(b.High), pointAt(c, b.Frames)))
	}
	return strings.Join(parts, "; ")
}

// pointAt names a call and cites the line that tells the frame: the reader's, else the writer's.
func pointAt(c *diagnose.Call, pt ingest.Point) string {
	for _, h := range []diagnose.Half{c.Sent, c.Served} {
		if (h == c.Sent) == (pt == ingest.Answer) && h.Line(pt) != 0 {
			return fmt.Sprintf("id %s (%s)", c.ID(), cited("read", h, pt))
		}
	}
	for _, h := range []diagnose.Half{c.Served, c.Sent} {
		if h.Line(pt) != 0 {
			return fmt.Sprintf("id %s (%s)", c.ID(), cited("written", h, pt))
		}
	}
	return "id " + string(c.ID())
}

// bracketDoubts says what makes the bracket weaker than it looks.
func bracketDoubts(b *diagnose.Bracket) string {
	var parts []string
	if b.State == diagnose.Bracketed && b.Lost == 1 {
		parts = append(parts, "one loss shows no pattern: the ceiling is a candidate")
	}
	if len(b.Otherwise) > 0 {
		parts = append(parts, "mcpdiag join finds another cause of a loss here: "+strings.Join(b.Otherwise, ", "))
	} else if b.State == diagnose.SizesCross {
		parts = append(parts, "a reader that stopped, or a stream that ended, loses small ones too: mcpdiag join names the cause of each")
	}
	if b.State != diagnose.Unsized && b.NoSize > 0 {
		parts = append(parts, fmt.Sprintf("%s more lost of which no log tells the size", diagnose.Thousands(int64(b.NoSize))))
	}
	if b.Open > 0 && b.State != diagnose.OneLog {
		parts = append(parts, fmt.Sprintf("%s not read yet when the log ends, and not counted", diagnose.Thousands(int64(b.Open))))
	}
	return strings.Join(parts, "; ")
}

// toolSizes tells what a record of one tool weighs, and what happened on both sides of each ceiling.
func (p *printer) toolSizes(s *diagnose.ToolSizes) {
	asked := ""
	if s.Requester == frame.Server {
		asked = " (asked by the server)"
	}
	p.hang(p.paint(bold, s.What())+"  ", facts(count(s.Answers, "answer")+asked, lostWord(p, s.LostAnswers)))
	p.field("record", recordSize(s))
	for k := range s.Lines {
		p.ceiling(s, &s.Lines[k])
	}
	p.line("")
}

func lostWord(p *printer, n int) string {
	if n == 0 {
		return ""
	}
	return p.paint(red, diagnose.Thousands(int64(n))+" lost")
}

// recordSize is the division, both integers printed.
func recordSize(s *diagnose.ToolSizes) string {
	each, ok := s.PerRecord()
	if !ok {
		return facts("size not known: its answers log no rows", leftOut(s))
	}
	return facts(fmt.Sprintf("%s / %s = %.2f B a record, envelope included", sized(s.Bytes), count(int(s.Rows), "row"), each),
		fmt.Sprintf("about: an average over %s with rows, from %.2f to %.2f", count(s.WithRows, "call"), s.Least, s.Most), leftOut(s))
}

func leftOut(s *diagnose.ToolSizes) string {
	var parts []string
	if s.NoRows > 0 {
		parts = append(parts, fmt.Sprintf("%s with rows 0 left out", count(s.NoRows, "answer")))
	}
	if s.Unusable > 0 {
		parts = append(parts, fmt.Sprintf("%s with more rows than bytes left out", count(s.Unusable, "answer")))
	}
	return strings.Join(parts, ", ")
}

// ceiling tells one line through the tool's sizes.
func (p *printer) ceiling(s *diagnose.ToolSizes, l *diagnose.Line) {
	text := sized(l.Bytes)
	if l.Records != frame.Unknown {
		text += " → " + count(int(l.Records), "record")
	}
	p.field("ceiling", text+" ("+l.Of+")")
	p.side("above", l.Above)
	p.side("up to", l.Below)
	p.field("", advice(l))
}

// side counts the answers on one side of a ceiling, with the nearest of each fate.
func (p *printer) side(word string, s diagnose.Split) {
	var parts []string
	for _, fate := range []struct {
		of   diagnose.Fate
		word string
	}{{diagnose.Lost, "lost"}, {diagnose.Delivered, "delivered"}, {diagnose.Untold, "not told"}} {
		if pile := s[fate.of]; pile.N > 0 {
			parts = append(parts, fmt.Sprintf("%s %s, nearest %s", diagnose.Thousands(int64(pile.N)), fate.word, example(pile.Nearest)))
		}
	}
	if len(parts) == 0 {
		parts = []string{"none seen"}
	}
	p.hang(fmt.Sprintf("  %-8s %-6s ", "", word), strings.Join(parts, "; "))
}

func example(c *diagnose.Call) string {
	rows := "rows not logged"
	if n := c.Rows(); n != frame.Unknown {
		rows = count(int(n), "row")
	}
	where := cited("written", c.Served, ingest.Answer)
	if where == "" {
		where = cited("read", c.Sent, ingest.Answer)
	}
	return fmt.Sprintf("id %s: %s, %s, %s", c.ID(), sized(c.Bytes(ingest.Answer)), rows, where)
}

// advice turns the two sides into a test, or says that they have made it already.
func advice(l *diagnose.Line) string {
	above, below := l.Above[diagnose.Lost].Nearest, l.Below[diagnose.Delivered].Nearest
	small, large := "of at most "+sized(l.Bytes), "of more than "+sized(l.Bytes)
	if l.Records != frame.Unknown {
		small, large = fmt.Sprintf("of at most about %s", count(int(l.Records), "record")), fmt.Sprintf("of more than about %s", count(int(l.Records), "record"))
	}
	switch {
	case l.Contradicted():
		return "no ceiling here: a larger answer was read, or a smaller one lost"
	case above != nil && below != nil:
		return fmt.Sprintf("test: repeat id %s below the line and id %s above it: only the second may fail, each time", below.ID(), above.ID())
	case above != nil:
		return fmt.Sprintf("test: ask for a result %s, and repeat id %s: only the second may fail", small, above.ID())
	case below != nil:
		return fmt.Sprintf("test: ask for a result %s, and repeat id %s: only the first may fail", large, below.ID())
	}
	return ""
}

// withoutRows says what to log where records cannot be counted.
func (p *printer) withoutRows(t *diagnose.Threshold) {
	with, without := 0, 0
	for _, s := range t.Tools {
		if s.WithRows > 0 {
			with++
		} else {
			without++
		}
	}
	switch {
	case t.Options.Tool != "" && len(t.Tools) == 0:
		p.hang("", "no call of "+t.Options.Tool+" is in these logs")
	case with == 0:
		p.hang("", "No answer logs rows, so sizes are not told in records: log the member rows on handler_exit or on response, as mcpdiag's native format has it.")
	case without > 0:
		p.hang("", "Where rows are not known: log the member rows on handler_exit or on response, as mcpdiag's native format has it.")
	}
}

// ThresholdSchema names the JSON of a threshold.
const ThresholdSchema = "mcpdiag.threshold/v1"

// ThresholdDocument is the JSON of a threshold. Sizes are bytes of whole frames; what is not known is null.
type ThresholdDocument struct {
	Schema   string          `json:"schema"`
	Logs     []LogJSON       `json:"logs"`
	Brackets []BracketJSON   `json:"brackets"`
	Tools    []ToolSizesJSON `json:"tools"`
}

// BracketJSON is one direction: every frame up to low was read, every one from high was lost.
type BracketJSON struct {
	Frames       string        `json:"frames"`
	Reader       string        `json:"reader"`
	State        string        `json:"state"`
	Low          *int64        `json:"low"`
	High         *int64        `json:"high"`
	Read         int           `json:"read"`
	Lost         int           `json:"lost"`
	LostNoSize   int           `json:"lost_without_size"`
	NotReadYet   int           `json:"not_read_yet"`
	Largest      *RefJSON      `json:"largest_read"`
	Smallest     *RefJSON      `json:"smallest_lost"`
	KnownCeiling []CeilingJSON `json:"known_ceilings"`
	Otherwise    []string      `json:"other_causes_found"`
}

// CeilingJSON is a ceiling and whose it is.
type CeilingJSON struct {
	Bytes int64  `json:"bytes"`
	Of    string `json:"of"`
}

// ToolSizesJSON are the sizes of one tool's answers.
type ToolSizesJSON struct {
	Requester      string     `json:"requester"`
	Method         *string    `json:"method"`
	Name           *string    `json:"name"`
	Answers        int        `json:"answers"`
	Lost           int        `json:"lost"`
	CallsWithRows  int        `json:"calls_with_rows"`
	RowsZero       int        `json:"rows_zero"`
	RowsUnusable   int        `json:"rows_unusable"`
	Bytes          int64      `json:"bytes"`
	Rows           int64      `json:"rows"`
	BytesPerRecord *float64   `json:"bytes_per_record"`
	Least          *float64   `json:"bytes_per_record_least"`
	Most           *float64   `json:"bytes_per_record_most"`
	Ceilings       []LineJSON `json:"ceilings"`
}

// LineJSON is a ceiling with the answers on both sides of it.
type LineJSON struct {
	Bytes        int64     `json:"bytes"`
	Of           string    `json:"of"`
	Records      *int64    `json:"records"`
	Contradicted bool      `json:"contradicted"`
	Above        SplitJSON `json:"above"`
	Below        SplitJSON `json:"at_or_below"`
}

// SplitJSON counts answers by their fate.
type SplitJSON struct {
	Delivered PileJSON `json:"delivered"`
	Lost      PileJSON `json:"lost"`
	Untold    PileJSON `json:"not_told"`
}

// PileJSON is a number of answers and the one nearest to the ceiling.
type PileJSON struct {
	Count   int          `json:"count"`
	Nearest *ExampleJSON `json:"nearest"`
}

// ExampleJSON is a call with the size of its answer.
type ExampleJSON struct {
	RefJSON
	Bytes   *int64  `json:"bytes"`
	Rows    *int64  `json:"rows"`
	Written *string `json:"response_written"`
	Read    *string `json:"response_read"`
}

// ThresholdJSON writes the threshold as one indented document.
func ThresholdJSON(w io.Writer, t *diagnose.Threshold, _ Style) error {
	doc := ThresholdDocument{Schema: ThresholdSchema, Logs: describeLogs(t.Logs), Brackets: []BracketJSON{}, Tools: []ToolSizesJSON{}}
	for k := range t.Brackets {
		doc.Brackets = append(doc.Brackets, newBracket(&t.Brackets[k]))
	}
	for _, s := range t.Tools {
		doc.Tools = append(doc.Tools, newToolSizes(s))
	}
	return writeDocument(w, doc)
}

func newBracket(b *diagnose.Bracket) BracketJSON {
	frames := "answers"
	if b.Frames == ingest.Request {
		frames = "requests"
	}
	j := BracketJSON{Frames: frames, Reader: b.Reader().String(), State: string(b.State), Read: b.Read, Lost: b.Lost, LostNoSize: b.NoSize,
		NotReadYet: b.Open, Largest: refOrNil(b.Largest), Smallest: refOrNil(b.Smallest), KnownCeiling: []CeilingJSON{}, Otherwise: append([]string{}, b.Otherwise...)}
	if b.Largest != nil {
		j.Low = &b.Low
	}
	if b.Smallest != nil {
		j.High = &b.High
	}
	for _, c := range b.Known {
		j.KnownCeiling = append(j.KnownCeiling, CeilingJSON{c.Bytes, c.Of})
	}
	return j
}

func newToolSizes(s *diagnose.ToolSizes) ToolSizesJSON {
	j := ToolSizesJSON{Requester: s.Requester.String(), Method: text(s.Method), Name: text(s.Name), Answers: s.Answers, Lost: s.LostAnswers,
		CallsWithRows: s.WithRows, RowsZero: s.NoRows, RowsUnusable: s.Unusable, Bytes: s.Bytes, Rows: s.Rows, Ceilings: []LineJSON{}}
	if each, ok := s.PerRecord(); ok {
		j.BytesPerRecord, j.Least, j.Most = &each, &s.Least, &s.Most
	}
	for _, l := range s.Lines {
		j.Ceilings = append(j.Ceilings, LineJSON{l.Bytes, l.Of, known(l.Records), l.Contradicted(), newSplit(l.Above), newSplit(l.Below)})
	}
	return j
}

func newSplit(s diagnose.Split) SplitJSON {
	return SplitJSON{newPile(s[diagnose.Delivered]), newPile(s[diagnose.Lost]), newPile(s[diagnose.Untold])}
}

func newPile(p diagnose.Pile) PileJSON {
	j := PileJSON{Count: p.N}
	if c := p.Nearest; c != nil {
		j.Nearest = &ExampleJSON{newRef(c), known(c.Bytes(ingest.Answer)), known(c.Rows()),
			text(diagnose.Cite(c.Served.Log, c.Served.Line(ingest.Answer))), text(diagnose.Cite(c.Sent.Log, c.Sent.Line(ingest.Answer)))}
	}
	return j
}

func refOrNil(c *diagnose.Call) *RefJSON {
	if c == nil {
		return nil
	}
	ref := newRef(c)
	return &ref
}

// describeLogs describes logs that no diagnosis joined.
func describeLogs(logs []*ingest.Log) []LogJSON {
	d := &diagnose.Diagnosis{Logs: logs}
	out := []LogJSON{}
	for _, l := range logs {
		out = append(out, newLog(d, l))
	}
	return out
}

func writeDocument(w io.Writer, doc any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(doc)
}
