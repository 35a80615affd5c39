package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// Stages writes how each log's side served the other's requests, for a terminal. The logs are told one after another:
// their clocks have nothing in common.
func Stages(w io.Writer, services []*diagnose.Service, s Style) error {
	p := newPrinter(w, s)
	var logs []*ingest.Log
	for _, service := range services {
		logs = append(logs, service.Log)
	}
	p.short = shortNames(&diagnose.Diagnosis{Logs: logs})
	served := false
	for _, service := range services {
		served = served || service.Calls > 0
	}
	for _, service := range services {
		p.source(service.Log)
		if service.Calls > 0 {
			p.service(service)
		} else if !served {
			l := service.Log
			p.hang("", fmt.Sprintf("The %s served nothing in its log: no request of the %s is there. Stages are the responder's: give the %s's log.",
				l.Side, l.Side.Peer(), l.Side.Peer()))
		}
	}
	if served {
		p.hang("", "Percentiles are by nearest rank, each on the clock of its own log: p95 is the shortest time that 95 of 100 calls did not exceed. A stage whose mark is missing is unknown, and not counted. Shapes go up in steps of 1, 2, 5, 10; a point is an empty step.")
	}
	return p.err
}

// source tells one log that is looked at alone.
func (p *printer) source(l *ingest.Log) {
	what := fmt.Sprintf("%s, %s", l.Dialect.Name, count(int(l.Records), "record"))
	if missing := l.Dialect.Sees.Missing(); len(missing) > 0 {
		what += "; cannot see " + strings.Join(missing, ", ")
	}
	p.hang(fmt.Sprintf("%-6s  %s  ", l.Side, frame.Escape(l.Path)), what)
	for _, warning := range (&diagnose.Diagnosis{Logs: []*ingest.Log{l}}).LogWarnings(l) {
		p.hang("        "+p.paint(yellow, "! "), warning)
	}
	p.line("")
}

func (p *printer) service(s *diagnose.Service) {
	for _, g := range s.Groups {
		p.serviceGroup(g)
		p.line("")
	}
}

// serviceGroup tells one tool: what was answered, and apart from it what never finished.
func (p *printer) serviceGroup(g *diagnose.ServiceGroup) {
	parts := []string{diagnose.Thousands(int64(g.Answered)) + " answered"}
	for _, part := range []struct {
		n    int
		word string
		ink  ink
	}{{g.Slow, "of them slow", yellow}, {g.Open.N, "open", red}, {g.Cancelled.N, "cancelled and not answered", yellow},
		{g.ByDesign, "open by design", dim}, {g.Untold, "not told", yellow}, {g.Stepped, "with a clock that stepped, left out", yellow}} {
		if part.n > 0 {
			parts = append(parts, p.paint(part.ink, diagnose.Thousands(int64(part.n))+" "+part.word))
		}
	}
	p.hang(p.paint(bold, callName(g.Method, g.Name))+"  ", strings.Join(parts, ", "))
	p.spreads(g)
	p.field("shape", histogram(g.Histogram))
	if g.Slow > 0 {
		p.field("slowest", slowest(g.Slowest))
	}
	p.field("open", unfinished(g.Open, "open, neither answered nor cancelled"+inHandler(g.Open)))
	p.field("gave up", unfinished(g.Cancelled, "cancelled and not answered"+inHandler(g.Cancelled)))
}

func callName(method, name string) string {
	if s := strings.TrimSpace(method + " " + name); s != "" {
		return s
	}
	return "calls whose method is not logged"
}

// inHandler says what the handlers of unfinished calls did.
func inHandler(u diagnose.Unfinished) string {
	var parts []string
	if u.InHandler > 0 {
		parts = append(parts, diagnose.Thousands(int64(u.InHandler))+" in a handler that never left")
	}
	if u.Left > 0 {
		parts = append(parts, diagnose.Thousands(int64(u.Left))+" whose handler left")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func (p *printer) spreads(g *diagnose.ServiceGroup) {
	if g.Answered == 0 {
		return
	}
	var rows [][]string
	for _, stage := range stagesOf(g) {
		row := []string{stage.name, diagnose.Thousands(int64(stage.N)), "", "", "", ""}
		if stage.N > 0 {
			for k, d := range []time.Duration{stage.P50, stage.P95, stage.P99, stage.Max} {
				row[2+k] = diagnose.Wait(d)
			}
		}
		rows = append(rows, row)
	}
	p.table([]string{"stage", "calls", "p50", "p95", "p99", "max"}, rows, 1, 2, 3, 4, 5)
}

// namedSpread is a stage with its name.
type namedSpread struct {
	name string
	diagnose.Spread
}

func stagesOf(g *diagnose.ServiceGroup) [4]namedSpread {
	return [4]namedSpread{{"dispatch", g.Dispatch}, {"handler", g.Handler}, {"flush", g.Flush}, {"total", g.Total}}
}

// histogram draws the buckets, an empty one as a point, and names their range.
func histogram(h diagnose.Histogram) string {
	most := 0
	for _, n := range h.Counts {
		most = max(most, n)
	}
	if most == 0 {
		return ""
	}
	var b strings.Builder
	for _, n := range h.Counts {
		if n == 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[(n*8-1)/most])
	}
	return fmt.Sprintf("%s total, from %s to %s; the tallest is %s", b.String(), diagnose.Wait(h.From), diagnose.Wait(h.To), count(most, "call"))
}

// slowest tells where the slowest answered call spent its time.
func slowest(c *diagnose.Call) string {
	text := fmt.Sprintf("id %s, %s", c.ID(), diagnose.Wait(c.Stages().Total.D))
	if s := stages(c); s != "" {
		text += ": " + s
	}
	return text + ", " + cited("read", c.Served, ingest.Request)
}

// unfinished tells times of which only the least is known.
func unfinished(u diagnose.Unfinished, what string) string {
	if u.N == 0 {
		return ""
	}
	text := fmt.Sprintf("%s %s", diagnose.Thousands(int64(u.N)), what)
	longest := fmt.Sprintf("id %s (%s)", u.Longest.Log.ID(u.Longest.N), diagnose.Cite(u.Longest.Log, u.Longest.Log.FirstHalfLine(u.Longest.N)))
	switch {
	case u.Timed == 0:
		return text + "; for how long is not known: " + longest
	case u.Timed == 1 || u.Least == u.Most:
		text = fmt.Sprintf("≥ %s, %s", atLeast(u.Most), text)
	default:
		text = fmt.Sprintf("≥ %s to ≥ %s, %s", atLeast(u.Least), atLeast(u.Most), text)
	}
	if u.Timed < u.N {
		text += fmt.Sprintf(" (%s without times)", diagnose.Thousands(int64(u.N-u.Timed)))
	}
	return text + "; longest: " + longest
}

// atLeast writes a lower bound, which must not be rounded up.
func atLeast(d time.Duration) string {
	if d < time.Second {
		return diagnose.MS(d.Truncate(100 * time.Microsecond))
	}
	tenths := d / (100 * time.Millisecond)
	return fmt.Sprintf("%s.%d s", diagnose.Thousands(int64(tenths/10)), tenths%10)
}

// StagesSchema names the JSON of stages.
const StagesSchema = "mcpdiag.stages/v1"

// StagesDocument is the JSON of stages. Times are milliseconds, each on one log's clock; what is not known is null.
type StagesDocument struct {
	Schema     string        `json:"schema"`
	Percentile string        `json:"percentile"`
	Logs       []LogJSON     `json:"logs"`
	Services   []ServiceJSON `json:"services"`
}

// ServiceJSON is how one log's side served.
type ServiceJSON struct {
	Responder string             `json:"responder"`
	Path      string             `json:"path"`
	Calls     int                `json:"calls"`
	Tools     []ServiceGroupJSON `json:"tools"`
}

// ServiceGroupJSON is one tool.
type ServiceGroupJSON struct {
	Method    *string               `json:"method"`
	Name      *string               `json:"name"`
	Answered  int                   `json:"answered"`
	Slow      int                   `json:"slow"`
	Stages    map[string]SpreadJSON `json:"stages_ms"`
	Histogram *HistogramJSON        `json:"total_histogram"`
	Slowest   *RefJSON              `json:"slowest"`
	Open      UnfinishedJSON        `json:"open"`
	Cancelled UnfinishedJSON        `json:"cancelled_unanswered"`
	ByDesign  int                   `json:"open_by_design"`
	Untold    int                   `json:"not_told"`
	Stepped   int                   `json:"clock_stepped"`
}

// SpreadJSON are order statistics by nearest rank.
type SpreadJSON struct {
	Count int      `json:"count"`
	P50   *float64 `json:"p50"`
	P95   *float64 `json:"p95"`
	P99   *float64 `json:"p99"`
	Max   *float64 `json:"max"`
}

// HistogramJSON counts totals in buckets with edges 1, 2, 5, 10 ….
type HistogramJSON struct {
	FromMS *float64 `json:"from_ms"`
	ToMS   *float64 `json:"to_ms"`
	Counts []int    `json:"counts"`
}

// UnfinishedJSON are calls of which only a least time is known.
type UnfinishedJSON struct {
	Count   int      `json:"count"`
	Timed   int      `json:"timed"`
	In      int      `json:"handler_never_left"`
	Left    int      `json:"handler_left"`
	LeastMS *float64 `json:"at_least_ms"`
	MostMS  *float64 `json:"longest_at_least_ms"`
	Longest *RefJSON `json:"longest"`
}

// StagesJSON writes the stages as one indented document.
func StagesJSON(w io.Writer, services []*diagnose.Service, _ Style) error {
	doc := StagesDocument{Schema: StagesSchema, Percentile: "nearest_rank", Services: []ServiceJSON{}}
	var logs []*ingest.Log
	for _, s := range services {
		logs = append(logs, s.Log)
		j := ServiceJSON{Responder: s.Log.Side.String(), Path: s.Log.Path, Calls: s.Calls, Tools: []ServiceGroupJSON{}}
		for _, g := range s.Groups {
			j.Tools = append(j.Tools, newServiceGroup(g))
		}
		doc.Services = append(doc.Services, j)
	}
	doc.Logs = describeLogs(logs)
	return writeDocument(w, doc)
}

func newServiceGroup(g *diagnose.ServiceGroup) ServiceGroupJSON {
	j := ServiceGroupJSON{Method: text(g.Method), Name: text(g.Name), Answered: g.Answered, Slow: g.Slow, Stages: map[string]SpreadJSON{},
		Slowest: refOrNil(g.Slowest), Open: newUnfinished(g.Open), Cancelled: newUnfinished(g.Cancelled),
		ByDesign: g.ByDesign, Untold: g.Untold, Stepped: g.Stepped}
	for _, stage := range stagesOf(g) {
		known := stage.N > 0
		j.Stages[stage.name] = SpreadJSON{stage.N, millis(stage.P50, known), millis(stage.P95, known), millis(stage.P99, known), millis(stage.Max, known)}
	}
	if h := g.Histogram; len(h.Counts) > 0 {
		j.Histogram = &HistogramJSON{millis(h.From, true), millis(h.To, true), h.Counts}
	}
	return j
}

func newUnfinished(u diagnose.Unfinished) UnfinishedJSON {
	j := UnfinishedJSON{Count: u.N, Timed: u.Timed, In: u.InHandler, Left: u.Left, LeastMS: millis(u.Least, u.Timed > 0), MostMS: millis(u.Most, u.Timed > 0)}
	if h := u.Longest; h.OK() {
		c := &diagnose.Call{Requester: h.Log.Half(h.N).By}
		if c.Requester == h.Log.Side {
			c.Sent = h
		} else {
			c.Served = h
		}
		j.Longest = refOrNil(c)
	}
	return j
}

func millis(d time.Duration, ok bool) *float64 { return diagnose.Span{D: d, OK: ok}.MS() }
