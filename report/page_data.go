package report

import (
	"context"
	"encoding/json"
	"strconv"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// pageData is what the script of the HTML page draws: the figures of the JSON format, each text once and each call as a row, so
// that a hundred thousand calls are a few megabytes. Times are nanoseconds since the session's first moment in the same log.
type pageData struct {
	Schema   string        `json:"schema"`
	Texts    []string      `json:"texts"`
	Columns  []string      `json:"columns"`
	Logs     []pageLog     `json:"logs"`
	Sessions []pageSession `json:"sessions"`
	Marks    []pageMark    `json:"marks"`
	Service  []pageService `json:"service"`
	Sizes    []pageSizes   `json:"sizes"`
	Brackets []BracketJSON `json:"brackets"`
	Complete bool          `json:"complete"` // every call is there
	LeftOut  int           `json:"left_out"` // calls that the report lists and the page does not
}

// pageLog says how to cite a log: its files, and how many lines stand before each.
type pageLog struct {
	Side   string   `json:"side"`
	Files  []string `json:"files"`
	Before []uint32 `json:"before"`
}

// pageSession is one session: for each side the ends of its streams.
type pageSession struct {
	Name       string `json:"name"`
	Connection int    `json:"connection"`
	// Ends are, for the client's log and the server's, when the log ended for this session.
	Ends [2]*int64 `json:"ends"`
}

// pageMark is a line that belongs to no call: a bad line, or the end of a stream.
type pageMark struct {
	Session int    `json:"session"`
	Side    string `json:"side"`
	Kind    string `json:"kind"`
	Dir     string `json:"dir"`
	At      *int64 `json:"at"`
	Line    uint32 `json:"line"`
	Text    string `json:"text"`
}

// pageService is how long one tool's handler took, in milliseconds on the clock of the side that served it.
type pageService struct {
	Side string   `json:"side"`
	Tool string   `json:"tool"`
	N    int      `json:"n"`
	P50  *float64 `json:"p50"`
	P95  *float64 `json:"p95"`
	Max  *float64 `json:"max"`
	// Open handlers were entered and never left; of them only a least time is known.
	Open  int      `json:"open"`
	Least *float64 `json:"least"`
}

// pageSizes are the answers of one tool: bucket's lower and upper edge in bytes, delivered, lost.
type pageSizes struct {
	Requester string       `json:"requester"`
	Tool      string       `json:"tool"`
	Buckets   [][4]float64 `json:"buckets"`
}

const (
	pageSchema   = "mcpdiag.page/v1"
	pageCalls    = 200_000 // more rows than that are more than a browser opens at ease
	pageTold     = 2_000   // calls whose evidence is told in full
	pageMarks    = 2_000
	pageTools    = 40
	markTextRune = 200
)

// pager makes the data.
type pager struct {
	d       *diagnose.Diagnosis
	page    *pageData
	calls   []*diagnose.Call
	rows    map[*diagnose.Call]int
	texts   map[string]int
	session func(*diagnose.Call) int
	stretch func(*ingest.Log, uint32) int
	origins [3][]moment // by side and session
	short   func(string) string
}

// moment is an instant and the line that tells it.
type moment struct {
	line uint32
	at   frame.Instant
}

func newPager(d *diagnose.Diagnosis) *pager {
	p := &pager{d: d, calls: listed(d), rows: map[*diagnose.Call]int{}, texts: map[string]int{"": 0}, short: shortNames(d).Replace}
	p.page = &pageData{Schema: pageSchema, Texts: []string{""}, Columns: pageColumns(), Complete: len(d.Calls) == d.Summary.Calls && len(p.calls) == len(d.Calls), LeftOut: len(d.Calls) - len(p.calls)}
	p.session, p.stretch = d.SessionIndex()
	for i, c := range p.calls {
		p.rows[c] = i
	}
	p.sessions()
	p.logs()
	p.marks()
	return p
}

// listed are the calls that the page holds; of too many those with a problem go first.
func listed(d *diagnose.Diagnosis) []*diagnose.Call {
	if len(d.Calls) <= pageCalls {
		return d.Calls
	}
	var out []*diagnose.Call
	for _, want := range []bool{true, false} {
		for _, c := range d.Calls {
			if len(out) < pageCalls && (c.Problem() || c.Leaf == diagnose.NoLeaf) == want {
				out = append(out, c)
			}
		}
	}
	return out
}

// text is the number of a text.
func (p *pager) text(s string) int {
	n, ok := p.texts[s]
	if !ok {
		n = len(p.page.Texts)
		p.texts[s] = n
		p.page.Texts = append(p.page.Texts, frame.Escape(s))
	}
	return n
}

// sessions finds where each session's time starts in each log. A clock may start again within a log, so a log has no one start.
func (p *pager) sessions() {
	all := p.d.Sessions()
	for side := range p.origins {
		p.origins[side] = make([]moment, len(all))
	}
	for _, c := range p.calls {
		for _, h := range []diagnose.Half{c.Sent, c.Served} {
			if h.OK() {
				p.begins(h.Log, p.session(c), h.Log.FirstHalfLine(h.N), origin(h))
			}
		}
	}
	for _, s := range all {
		p.page.Sessions = append(p.page.Sessions, pageSession{Name: frame.Escape(s.Name), Connection: s.Connection})
	}
	for k, s := range all {
		for _, l := range p.d.Logs {
			if stretch := s.Stretches[l.Side]; stretch != nil {
				p.page.Sessions[k].Ends[l.Side-frame.Client] = p.since(l, k, stretch.LastAt)
			}
		}
	}
}

func (p *pager) begins(l *ingest.Log, session int, line uint32, at frame.Instant) {
	m := &p.origins[l.Side][session]
	if at.Known() && (m.line == 0 || line < m.line) {
		*m = moment{line, at}
	}
}

// since is the time since the session's start in the same log, in nanoseconds; nil when it is not known.
func (p *pager) since(l *ingest.Log, session int, at frame.Instant) *int64 {
	d, ok := at.Sub(p.origins[l.Side][session].at)
	if !ok || !at.Known() {
		return nil
	}
	ns := int64(d)
	return &ns
}

func (p *pager) logs() {
	for _, l := range p.d.Logs {
		paths, before := l.Files()
		j := pageLog{Side: l.Side.String(), Before: before}
		for _, path := range paths {
			j.Files = append(j.Files, frame.Escape(cutColon(p.short(path+":"))))
		}
		p.page.Logs = append(p.page.Logs, j)
	}
}

func cutColon(s string) string { return s[:len(s)-1] }

// marks are what a lane shows beside its calls.
func (p *pager) marks() {
	p.page.Marks = []pageMark{}
	for _, l := range p.d.Logs {
		for k := range l.Marks {
			if m := &l.Marks[k]; m.Kind == frame.Invalid && m.Half < 0 {
				p.mark(l, m.Stretch, "bad line", m.Dir.String(), m.Line, m.At, m.Raw)
			}
		}
		for i, s := range l.Stretches {
			for k, line := range s.EOF {
				if line != 0 {
					p.mark(l, uint32(i), "stream ends", [2]string{"c2s", "s2c"}[k], line, s.EOFAt[k], "")
				}
			}
		}
	}
}

func (p *pager) mark(l *ingest.Log, stretch uint32, kind, dir string, line uint32, at frame.Instant, raw string) {
	if len(p.page.Marks) >= pageMarks {
		return
	}
	k := p.stretch(l, stretch)
	raw = frame.Escape(raw)
	if r := []rune(raw); len(r) > markTextRune {
		raw = string(r[:markTextRune]) + "…"
	}
	p.page.Marks = append(p.page.Marks, pageMark{k, l.Side.String(), kind, dir, p.since(l, k, at), line, raw})
}

// figures adds what is told by tool: handler times, sizes and brackets. The diagnosis's database must still be open.
func (p *pager) figures(ctx context.Context) error {
	p.page.Service, p.page.Sizes, p.page.Brackets = []pageService{}, []pageSizes{}, []BracketJSON{}
	for _, l := range p.d.Logs {
		for _, g := range diagnose.NewService(l, p.d.Options.Slow).Groups {
			p.service(l, g)
		}
	}
	sizes, err := p.d.Sizes(ctx)
	if err != nil {
		return err
	}
	for _, s := range sizes[:min(len(sizes), pageTools)] {
		p.sizes(s)
	}
	t, err := diagnose.NewThreshold(ctx, p.d, diagnose.ThresholdOptions{})
	if err != nil {
		return err
	}
	for k := range t.Brackets {
		p.page.Brackets = append(p.page.Brackets, newBracket(&t.Brackets[k]))
	}
	return nil
}

func (p *pager) service(l *ingest.Log, g *diagnose.ServiceGroup) {
	if len(p.page.Service) >= pageTools || g.Handler.N == 0 && g.Open.InHandler+g.Cancelled.InHandler == 0 {
		return
	}
	s := pageService{Side: l.Side.String(), Tool: frame.Escape(callName(g.Method, g.Name)), N: g.Handler.N, Open: g.Open.InHandler + g.Cancelled.InHandler}
	if g.Handler.N > 0 {
		s.P50, s.P95, s.Max = millis(g.Handler.P50, true), millis(g.Handler.P95, true), millis(g.Handler.Max, true)
	}
	if s.Open > 0 {
		s.Least = millis(max(g.Open.Most, g.Cancelled.Most), g.Open.Timed+g.Cancelled.Timed > 0)
	}
	p.page.Service = append(p.page.Service, s)
}

func (p *pager) sizes(s *diagnose.AnswerSizes) {
	j := pageSizes{Requester: s.Requester.String(), Tool: frame.Escape(callName(s.Method, s.Name)), Buckets: [][4]float64{}}
	for k, n := range s.Counts {
		j.Buckets = append(j.Buckets, [4]float64{diagnose.SizeEdge(k), diagnose.SizeEdge(k + 1), float64(n[diagnose.Delivered]), float64(n[diagnose.Lost])})
	}
	sortBuckets(j.Buckets)
	p.page.Sizes = append(p.page.Sizes, j)
}

// pageColumns names the members of a call's row. Points that a log does not have are null, lines 0.
func pageColumns() []string {
	return []string{"requester", "session", "id", "method", "name", "leaf", "reason", "outcome", "flags", "q1", "q2", "q3", "request_bytes", "response_bytes", "rows",
		"sent_at", "answered_at", "cancelled_at", "sent_line", "answered_line", "cancelled_line",
		"read_at", "entered_at", "left_at", "written_at", "cancel_read_at", "read_line", "entered_line", "left_line", "written_line", "cancel_read_line",
		"verdict", "next", "follows", "causes", "notes"}
}

var (
	sentPoints   = [...]ingest.Point{ingest.Request, ingest.Answer, ingest.Cancel}
	servedPoints = [...]ingest.Point{ingest.Request, ingest.Enter, ingest.Exit, ingest.Answer, ingest.Cancel}
)

// appendRow writes a call as the JSON row that pageColumns names.
func (p *pager) appendRow(b []byte, i int, c *diagnose.Call) []byte {
	where, why := verdict(c)
	k := p.session(c)
	flags := bit(c.Stalled, 1) | bit(c.Slow, 2) | bit(c.Quiet, 4)
	b = append(b, '[')
	b = numbers(b, int64(c.Requester), int64(k))
	b = append(append(b, jsonText(string(c.ID()))...), ',')
	b = numbers(b, int64(p.text(c.Method())), int64(p.text(c.Name())), int64(p.text(string(c.Leaf))), int64(p.text(string(c.Reason))), int64(p.text(c.Outcome().String())), flags,
		int64(c.Q[0]), int64(c.Q[1]), int64(c.Q[2]))
	b = nullable(b, known(c.Bytes(ingest.Request)), known(c.Bytes(ingest.Answer)), known(c.Rows()))
	b = p.half(b, k, c.Sent, sentPoints[:])
	b = p.half(b, k, c.Served, servedPoints[:])
	follows := int64(-1)
	if row, ok := p.rows[c.Follows]; ok && c.Follows != nil {
		follows = int64(row)
	}
	b = numbers(b, int64(p.text(where+why)), int64(p.text(c.Next())), follows)
	return p.why(b, i < pageTold, c)
}

func (p *pager) half(b []byte, session int, h diagnose.Half, points []ingest.Point) []byte {
	for _, pt := range points {
		if h.OK() {
			b = nullable(b, p.since(h.Log, session, h.At(pt)))
		} else {
			b = nullable(b, nil)
		}
	}
	for _, pt := range points {
		b = numbers(b, int64(h.Line(pt)))
	}
	return b
}

// why ends a row: causes as name, found or not, evidence; and notes. Of many calls only the first have their evidence.
func (p *pager) why(b []byte, told bool, c *diagnose.Call) []byte {
	b = append(b, '[')
	for i, cause := range c.Causes {
		evidence := ""
		if told {
			evidence = p.short(cause.Evidence())
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = numbers(b, int64(p.text(cause.Name)), bit(cause.Found, 1))
		b = append(append(b, jsonText(evidence)...), ']')
	}
	b = append(b, "],["...)
	if told && (c.Problem() || c.Leaf == diagnose.NoLeaf) {
		for i, note := range p.d.NotesOf(c) {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(p.text(note)), 10)
		}
	}
	return append(b, "]]"...)
}

func bit(set bool, n int64) int64 {
	if set {
		return n
	}
	return 0
}

// numbers appends integers, each with a comma after it.
func numbers(b []byte, list ...int64) []byte {
	for _, n := range list {
		b = append(strconv.AppendInt(b, n, 10), ',')
	}
	return b
}

func nullable(b []byte, list ...*int64) []byte {
	for _, n := range list {
		if n == nil {
			b = append(b, "null,"...)
		} else {
			b = numbers(b, *n)
		}
	}
	return b
}

// jsonText is a text from a log as JSON. The encoder spells <, > and & as escapes, so that none of it can end the script element.
func jsonText(s string) []byte {
	b, err := json.Marshal(frame.Escape(s))
	if err != nil {
		panic(err) // strings are always JSON
	}
	return b
}
