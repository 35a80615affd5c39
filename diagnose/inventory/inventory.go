package inventory

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

// Tool is one definition as a server gave it.
type Tool struct {
	Name        string
	Fingerprint string // SHA-256 in lower-case hex; "" when the definition has no canonical form
	Definition  []byte // canonical; as it stood when it has no canonical form; nil when the log has fingerprints only
	frame.Measure
}

// Listing is what one pagination of tools/list gave.
type Listing struct {
	Log      string
	Line     uint32 // of its last page
	Tools    []Tool // in their order
	Complete bool   // the pagination came to its end
}

// Use is what became of the calls of one tool.
type Use struct {
	Calls   int
	Errors  int             // JSON-RPC errors and results with isError
	Handler []time.Duration // handler times, sorted: of the log that has handler events, else none
	Wait    []time.Duration // request to answer on the log's own clock, sorted
	Result  frame.Measure   // of all answers
	sized   int
}

// Server is the inventory of one server.
type Server struct {
	Name     string // of serverInfo; "" when it does not show
	Version  string
	Log      string // the log it was seen in
	Listings []*Listing
	Uses     map[string]*Use
	Strange  int // frames that made no sense
	Frames   int
}

// Quantile is the q-th part of sorted durations: the smallest that so many of them do not exceed; ok is false without any.
func Quantile(sorted []time.Duration, q float64) (d time.Duration, ok bool) {
	if len(sorted) == 0 {
		return 0, false
	}
	k := int(q*float64(len(sorted)) + 0.999999)
	return sorted[min(max(k, 1), len(sorted))-1], true
}

// Names are the names of all tools that were listed or called, sorted.
func (s *Server) Names() []string {
	seen := map[string]bool{}
	for name := range s.Uses {
		seen[name] = true
	}
	for _, l := range s.Listings {
		for _, t := range l.Tools {
			seen[t.Name] = true
		}
	}
	var names []string
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Latest is the last definition of a tool; nil when it was never listed.
func (s *Server) Latest(name string) *Tool {
	for i := len(s.Listings) - 1; i >= 0; i-- {
		for k := range s.Listings[i].Tools {
			if t := &s.Listings[i].Tools[k]; t.Name == name {
				return t
			}
		}
	}
	return nil
}

// Last is the latest listing; nil when there is none.
func (s *Server) Last() *Listing {
	if len(s.Listings) == 0 {
		return nil
	}
	return s.Listings[len(s.Listings)-1]
}

// key names a call: whoever asked, on whatever connection.
type key struct{ scope, id string }

// call is an open request.
type call struct {
	method string
	name   string
	cursor bool // it asks for a further page
	at     frame.Instant
	enter  frame.Instant
	pages  string
}

// Reader takes stock of one log.
type Reader struct {
	server *Server
	open   map[key]*call
	pages  map[string]*Listing // listings that go on, by cursor
}

const maxOpen = 1 << 20

// NewReader makes a reader of a log.
func NewReader(log string) *Reader {
	return &Reader{server: &Server{Log: log, Uses: map[string]*Use{}}, open: map[key]*call{}, pages: map[string]*Listing{}}
}

// Server is what was read. Its durations are sorted now.
func (r *Reader) Server() *Server {
	for _, u := range r.server.Uses {
		slices.Sort(u.Handler)
		slices.Sort(u.Wait)
	}
	return r.server
}

// Add takes the next record of the log.
func (r *Reader) Add(f *frame.Frame, body *dialect.Body) {
	r.server.Frames++
	switch {
	case f.Kind == frame.Invalid:
		r.server.Strange++
	case f.Kind == frame.Request && f.Dir != frame.S2C:
		r.request(f, body)
	case f.Kind.Handler() && f.Dir != frame.S2C:
		r.handler(f)
	case f.Kind.Answer() && f.Dir != frame.C2S:
		r.answer(f, body)
	}
}

func scopeOf(f *frame.Frame) string {
	var exchange, pid, conn []byte
	if f.More != nil {
		exchange, pid, conn = f.More.Exchange, f.More.PID, f.More.Conn
	}
	if len(exchange) > 0 {
		return "x" + string(exchange)
	}
	return string(bytes.Join([][]byte{f.Session, pid, conn}, []byte{0}))
}

func keyOf(f *frame.Frame) key { return key{scopeOf(f), string(f.ID)} }

// request opens a call. One with the id of an open call takes its place: which of the two an answer belongs to does not show.
func (r *Reader) request(f *frame.Frame, body *dialect.Body) {
	k := keyOf(f)
	if old := r.open[k]; old != nil && old.method == string(f.Method) && old.name == string(f.Name) && f.Phase > frame.Read {
		return // the same frame, written on
	}
	if len(r.open) >= maxOpen {
		clear(r.open)
	}
	c := &call{method: string(f.Method), name: string(f.Name), at: f.At}
	if c.method == "tools/list" {
		cursor := frame.Member(frame.Member(body.Text, "params"), "cursor")
		c.cursor, c.pages = cursor != nil, string(cursor)
	}
	if c.method == "tools/call" {
		r.use(c.name).Calls++
	}
	r.open[k] = c
}

func (r *Reader) use(name string) *Use {
	u := r.server.Uses[name]
	if u == nil {
		u = new(Use)
		r.server.Uses[name] = u
	}
	return u
}

// handler notes when a handler was entered and how long it took. Without an id it belongs to the only open call of its tool.
func (r *Reader) handler(f *frame.Frame) {
	c := r.open[keyOf(f)]
	if !f.ID.Known() {
		c = r.only(string(f.Name))
	}
	switch {
	case c == nil || c.method != "tools/call":
	case f.Kind == frame.HandlerEnter:
		c.enter = f.At
	default:
		if d, ok := f.At.Sub(c.enter); ok && d >= 0 && c.enter.Known() {
			u := r.use(c.name)
			u.Handler = append(u.Handler, d)
		}
	}
}

func (r *Reader) only(name string) (found *call) {
	for _, c := range r.open {
		if c.method == "tools/call" && c.name == name {
			if found != nil {
				return nil
			}
			found = c
		}
	}
	return found
}

func (r *Reader) answer(f *frame.Frame, body *dialect.Body) {
	k := keyOf(f)
	c := r.open[k]
	if c == nil {
		return
	}
	delete(r.open, k)
	switch c.method {
	case "initialize", "server/discover":
		r.identify(body.Text)
	case "tools/list":
		r.page(c, f, body)
	case "tools/call":
		r.called(c, f, body)
	}
}

func (r *Reader) called(c *call, f *frame.Frame, body *dialect.Body) {
	u := r.use(c.name)
	if f.Kind == frame.Error || f.More != nil && f.More.ToolError {
		u.Errors++
	}
	if d, ok := f.At.Sub(c.at); ok && d >= 0 {
		u.Wait = append(u.Wait, d)
	}
	if body.Cut {
		return
	}
	m, ok := frame.MeasureAnswer(body.Text)
	if n, told := count(body.ResultBytes); !ok && told {
		m.Bytes, ok = n, true
		if m.Tokens, told = count(body.ResultTokens); !told {
			m.Tokens = frame.Tokens(n)
		}
	}
	if ok {
		u.Result.Bytes += m.Bytes
		u.Result.Tokens += m.Tokens
		u.sized++
	}
}

func count(number []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(number), 10, 64)
	return n, err == nil && n >= 0
}

// Sized is how many answers Result is of.
func (u *Use) Sized() int { return u.sized }

// identify reads the server's name: at the top of an initialize result, in _meta of a modern one.
func (r *Reader) identify(text []byte) {
	result := frame.Member(text, "result")
	info := frame.Member(result, "serverInfo")
	if info == nil {
		info = frame.Member(frame.Member(result, "_meta"), "io.modelcontextprotocol/serverInfo")
	}
	if name, ok := frame.Text(frame.Member(info, "name")); ok {
		r.server.Name = name
		r.server.Version, _ = frame.Text(frame.Member(info, "version"))
	}
}

// page adds an answer to its listing: the one whose cursor the request gave back, else a new one.
func (r *Reader) page(c *call, f *frame.Frame, body *dialect.Body) {
	if body.Text == nil {
		r.fingerprints(f, body)
	}
	if body.Cut || body.Text == nil {
		return
	}
	tools, ok := frame.Tools(body.Text)
	if !ok {
		return
	}
	if r.server.Name == "" {
		r.identify(body.Text)
	}
	l := r.pages[c.pages]
	if l == nil || !c.cursor {
		l = &Listing{Log: r.server.Log}
		r.server.Listings = append(r.server.Listings, l)
	}
	delete(r.pages, c.pages)
	l.Line = f.Line
	for _, t := range tools {
		l.Tools = append(l.Tools, newTool(t))
	}
	next := frame.Member(frame.Member(body.Text, "result"), "nextCursor")
	if _, more := frame.Text(next); more {
		r.pages[string(next)] = l
	} else {
		l.Complete = true
	}
}

// fingerprints takes the listing of a record that tells no more of it. Cursors do not show there, so a listing that shares no
// name with the one before is taken for its next page.
func (r *Reader) fingerprints(f *frame.Frame, body *dialect.Body) {
	var tools []Tool
	frame.Members(body.Tools, func(name string, value []byte) {
		if print, ok := frame.Text(value); ok {
			tools = append(tools, Tool{Name: name, Fingerprint: print})
		}
	})
	if len(tools) == 0 {
		return
	}
	l := r.server.Last()
	if l == nil || slices.ContainsFunc(l.Tools, func(t Tool) bool {
		return t.Definition != nil || slices.ContainsFunc(tools, func(u Tool) bool { return u.Name == t.Name })
	}) {
		l = &Listing{Log: r.server.Log, Complete: true}
		r.server.Listings = append(r.server.Listings, l)
	}
	l.Line, l.Tools = f.Line, append(l.Tools, tools...)
}

func newTool(t frame.Tool) Tool {
	tool := Tool{Name: strings.Clone(t.Name), Fingerprint: t.Fingerprint}
	if c, err := frame.Canonical(t.Definition); err == nil {
		tool.Definition = c
	} else {
		tool.Definition = bytes.Clone(t.Definition)
	}
	n := int64(len(tool.Definition))
	tool.Measure = frame.Measure{Bytes: n, Tokens: frame.Tokens(n)}
	return tool
}
