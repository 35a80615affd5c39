package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// Schema names the JSON that this package writes. Members are never absent; what is not known is null.
const Schema = "mcpdiag.join/v1"

// Document is the JSON of a diagnosis.
type Document struct {
	Schema   string        `json:"schema"`
	Logs     []LogJSON     `json:"logs"`
	Summary  SummaryJSON   `json:"summary"`
	Calls    []CallJSON    `json:"calls"`
	Findings []FindingJSON `json:"findings"`
}

// LogJSON describes one log.
type LogJSON struct {
	Path       string       `json:"path"`
	Side       string       `json:"side"`
	Dialect    string       `json:"dialect"`
	Records    uint64       `json:"records"`
	Unreadable int          `json:"unreadable"`
	Warnings   []string     `json:"warnings"`
	Coverage   CoverageJSON `json:"coverage"`
}

// CoverageJSON says what part of the story a log can tell. Lines are counted over all files of a set.
type CoverageJSON struct {
	FirstLine *uint32 `json:"first_line"`
	LastLine  *uint32 `json:"last_line"`
	CutTail   bool    `json:"cut_tail"`
	Gaps      int     `json:"gaps"`
}

// SummaryJSON counts calls.
type SummaryJSON struct {
	Calls          int `json:"calls"`
	NeverArrived   int `json:"never_arrived"`
	NeverWritten   int `json:"never_written"`
	WrittenNotRead int `json:"written_not_read"`
	AgentLevel     int `json:"agent_level"`
	NoLeaf         int `json:"no_leaf"`
	Stalled        int `json:"stalled"`
	Slow           int `json:"slow"`
}

// CallJSON is one call. Times are milliseconds, each on one log's clock; sizes are bytes.
type CallJSON struct {
	Requester     string             `json:"requester"`
	Session       *string            `json:"session"`
	Connection    int                `json:"connection"`
	ID            json.RawMessage    `json:"id"`
	Nth           int                `json:"nth"`
	Method        *string            `json:"method"`
	Name          *string            `json:"name"`
	Leaf          *string            `json:"leaf"`
	NoLeafReason  *string            `json:"no_leaf_reason"`
	Outcome       string             `json:"outcome"`
	Stalled       bool               `json:"stalled"`
	Slow          bool               `json:"slow"`
	Quiet         bool               `json:"quiet"`
	Follows       *RefJSON           `json:"follows"`
	Candidates    []RefJSON          `json:"candidates"`
	Hints         []HintJSON         `json:"hints"`
	Q             [3]*bool           `json:"q"`
	RequestBytes  *int64             `json:"request_bytes"`
	ResponseBytes *int64             `json:"response_bytes"`
	Rows          *int64             `json:"rows"`
	ResponderMS   ResponderJSON      `json:"responder_ms"`
	RequesterMS   RequesterJSON      `json:"requester_ms"`
	Causes        []CauseJSON        `json:"causes"`
	Lines         map[string]*string `json:"lines"`
	Next          *string            `json:"next"`
}

// RefJSON points at a call.
type RefJSON struct {
	Requester  string          `json:"requester"`
	Session    *string         `json:"session"`
	Connection int             `json:"connection"`
	ID         json.RawMessage `json:"id"`
	Nth        int             `json:"nth"`
	Method     *string         `json:"method"`
	Name       *string         `json:"name"`
	Line       *string         `json:"line"`
}

// HintJSON is a near match.
type HintJSON struct {
	Kind  string   `json:"kind"`
	Text  string   `json:"text"`
	Lines []string `json:"lines"`
}

// ResponderJSON holds the stages on the responder's clock.
type ResponderJSON struct {
	Dispatch *float64 `json:"dispatch"`
	Handler  *float64 `json:"handler"`
	Flush    *float64 `json:"flush"`
	Total    *float64 `json:"total"`
	Residual *float64 `json:"residual"`
}

// RequesterJSON holds the waits on the requester's clock.
type RequesterJSON struct {
	Wait   *float64 `json:"wait"`
	Cancel *float64 `json:"cancel"`
}

// CauseJSON is one cause.
type CauseJSON struct {
	Cause    string `json:"cause"`
	Status   string `json:"status"`
	Evidence string `json:"evidence"`
}

// FindingJSON is something odd that has not itself stalled a call.
type FindingJSON struct {
	Kind     string    `json:"kind"`
	Severity string    `json:"severity"`
	Log      *string   `json:"log"`
	Line     *uint32   `json:"line"`
	Text     string    `json:"text"`
	Calls    []RefJSON `json:"calls"`
}

// manyCalls is from how many calls on a document is written piece by piece, one call on a line.
const manyCalls = 1000

// JSON writes the diagnosis as one document, indented as long as a person may want to read it.
func JSON(w io.Writer, d *diagnose.Diagnosis, _ Style) error {
	if len(d.Calls) > manyCalls {
		return bigJSON(ascii{w}, d)
	}
	e := json.NewEncoder(ascii{w})
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(NewDocument(d))
}

// bigJSON writes the same document without holding it: around the calls, then the calls as they are made.
func bigJSON(w io.Writer, d *diagnose.Diagnosis) error {
	var shell bytes.Buffer
	e := json.NewEncoder(&shell)
	e.SetEscapeHTML(false)
	if err := e.Encode(newShell(d)); err != nil {
		return err
	}
	head, tail, _ := bytes.Cut(shell.Bytes(), []byte(`"calls":[]`))
	if _, err := fmt.Fprintf(w, "%s\"calls\":[\n", head); err != nil {
		return err
	}
	if err := writeCalls(w, d.Calls, ","); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "]%s", tail)
	return err
}

// NDJSON writes the calls one on a line, for tools that read a stream.
func NDJSON(w io.Writer, d *diagnose.Diagnosis, _ Style) error {
	return writeCalls(ascii{w}, d.Calls, "")
}

// callsAtOnce is how many calls one goroutine writes before the next in line.
const callsAtOnce = 512

// writeCalls writes the calls one on a line, with a separator between them. Making their JSON is most of the work of a large
// report, so it is done on all cores; the order stays.
func writeCalls(w io.Writer, calls []*diagnose.Call, separator string) error {
	type piece struct {
		text bytes.Buffer
		err  error
		done chan struct{}
	}
	pieces := make(chan *piece, runtime.GOMAXPROCS(0))
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(pieces)
		for from := 0; from < len(calls); from += callsAtOnce {
			part := calls[from:min(from+callsAtOnce, len(calls))]
			last := from+len(part) == len(calls)
			p := &piece{done: make(chan struct{})}
			select {
			case pieces <- p:
			case <-stop:
				return
			}
			go func() {
				defer close(p.done)
				p.err = encodeCalls(&p.text, part, separator, last)
			}()
		}
	}()
	for p := range pieces {
		if <-p.done; p.err != nil {
			return p.err
		}
		if _, err := w.Write(p.text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func encodeCalls(b *bytes.Buffer, calls []*diagnose.Call, separator string, last bool) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for i, c := range calls {
		if err := e.Encode(newCall(c)); err != nil {
			return err
		}
		if separator != "" && !(last && i == len(calls)-1) {
			b.Truncate(b.Len() - 1)
			b.WriteString(separator + "\n")
		}
	}
	return nil
}

// NewDocument makes the JSON of a diagnosis.
func NewDocument(d *diagnose.Diagnosis) *Document {
	doc := newShell(d)
	for _, c := range d.Calls {
		doc.Calls = append(doc.Calls, newCall(c))
	}
	return doc
}

// newShell is a document without its calls.
func newShell(d *diagnose.Diagnosis) *Document {
	s := d.Summary
	doc := &Document{Schema: Schema, Logs: []LogJSON{}, Calls: []CallJSON{}, Findings: []FindingJSON{},
		Summary: SummaryJSON{s.Calls, s.Leaf[diagnose.NeverArrived], s.Leaf[diagnose.NeverWritten], s.Leaf[diagnose.WrittenNotRead],
			s.Leaf[diagnose.AgentLevel], s.NoLeaf, s.Stalled, s.Slow}}
	for _, l := range d.Logs {
		doc.Logs = append(doc.Logs, newLog(d, l))
	}
	for _, f := range d.Findings {
		doc.Findings = append(doc.Findings, newFinding(f))
	}
	return doc
}

func newLog(d *diagnose.Diagnosis, l *ingest.Log) LogJSON {
	j := LogJSON{Path: l.Path, Side: l.Side.String(), Dialect: l.Dialect.Name, Records: l.Records, Unreadable: len(l.BadLines), Warnings: []string{},
		Coverage: CoverageJSON{CutTail: l.CutTail, Gaps: l.Gaps}}
	if l.FirstLine != 0 {
		j.Coverage.FirstLine, j.Coverage.LastLine = &l.FirstLine, &l.LastLine
	}
	j.Warnings = append(j.Warnings, d.LogWarnings(l)...)
	return j
}

func newCall(c *diagnose.Call) CallJSON {
	s := c.Stages()
	j := CallJSON{
		Requester: c.Requester.String(), Session: text(c.Session()), Connection: c.Connection(), ID: c.IDJSON(), Nth: c.Nth(),
		Method: text(c.Method()), Name: text(c.Name()), Leaf: text(string(c.Leaf)), NoLeafReason: text(string(c.Reason)),
		Outcome: c.Outcome().String(), Stalled: c.Stalled, Slow: c.Slow, Quiet: c.Quiet,
		Candidates: []RefJSON{}, Hints: []HintJSON{}, Causes: []CauseJSON{},
		RequestBytes: known(c.Bytes(ingest.Request)), ResponseBytes: known(c.Bytes(ingest.Answer)), Rows: known(c.Rows()),
		ResponderMS: ResponderJSON{s.Dispatch.MS(), s.Handler.MS(), s.Flush.MS(), s.Total.MS(), s.Residual.MS()},
		RequesterMS: RequesterJSON{c.Wait().MS(), c.CancelAfter().MS()},
		Lines:       lines(c), Next: text(c.Next()),
	}
	for k, q := range c.Q {
		if q != diagnose.Unknown {
			yes := q == diagnose.Yes
			j.Q[k] = &yes
		}
	}
	if c.Follows != nil {
		ref := newRef(c.Follows)
		j.Follows = &ref
	}
	for _, other := range c.Candidates() {
		j.Candidates = append(j.Candidates, newRef(other))
	}
	for _, h := range c.Hints {
		j.Hints = append(j.Hints, HintJSON{h.Kind, h.Text, append([]string{}, h.Lines...)})
	}
	for _, cause := range c.Causes {
		j.Causes = append(j.Causes, CauseJSON{cause.Name, cause.Status(), cause.Evidence()})
	}
	return j
}

func newRef(c *diagnose.Call) RefJSON {
	return RefJSON{c.Requester.String(), text(c.Session()), c.Connection(), c.IDJSON(), c.Nth(), text(c.Method()), text(c.Name()), text(c.FirstLine())}
}

func newFinding(f diagnose.Finding) FindingJSON {
	j := FindingJSON{Kind: f.Kind, Severity: f.Severity, Text: f.Text, Calls: []RefJSON{}}
	if f.Log != nil {
		j.Log = text(f.Log.Side.String())
		if f.Line != 0 {
			j.Line = &f.Line
		}
	}
	for _, c := range f.Calls {
		j.Calls = append(j.Calls, newRef(c))
	}
	return j
}

// lineNames are the members of `lines`, each with the half and the point it cites.
var lineNames = [...]struct {
	name   string
	served bool
	point  ingest.Point
}{
	{"request_sent", false, ingest.Request}, {"request_read", true, ingest.Request}, {"handler_enter", true, ingest.Enter},
	{"handler_exit", true, ingest.Exit}, {"response_written", true, ingest.Answer}, {"response_read", false, ingest.Answer},
	{"cancel", false, ingest.Cancel},
}

func lines(c *diagnose.Call) map[string]*string {
	m := map[string]*string{}
	for _, n := range lineNames {
		h := c.Sent
		if n.served {
			h = c.Served
		}
		m[n.name] = text(diagnose.Cite(h.Log, h.Line(n.point)))
	}
	return m
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func known(n int64) *int64 {
	if n == frame.Unknown {
		return nil
	}
	return &n
}
