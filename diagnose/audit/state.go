package audit

import (
	"slices"
	"strings"

	"mcpdiag/ingest/frame"
)

// scope is what the ids of one session, process or connection are remembered in.
type scope struct {
	name      string
	http      bool
	open      map[string][]*message // outstanding requests by direction and id
	tokens    map[string]*message   // requests by direction and progress token
	used      map[string]uint32     // lines at which ids were used, since the last initialize
	closed    map[string]*closed    // answers by the request's direction and id
	modern    int                   // requests with modern marks
	blind     bool                  // a request came without its payload
	modernErr uint32                // the first error that only a modern server sends
	init      *message              // initialize, not yet answered
	handshake *handshake            // legacy
	before    *message              // the first request of no modern mark before any initialize
}

// handshake is what a legacy initialize and its answer settled.
type handshake struct {
	line        uint32
	version     string
	client      []string // capabilities declared; nil when not known
	server      []string
	initialized bool
	told        bool // that it was not
}

// closed is an answer that was given.
type closed struct {
	line     uint32
	text     string
	exchange string
}

// server is what the log shows of the server as a whole: evidence of its era, never state of the protocol.
type server struct {
	modern     uint32 // the first success with a resultType
	noDiscover uint32 // server/discover answered with "method not found"
	headers    map[string]map[string]string
	sessions   int // sessions that initialize answers named
	inits      int
}

// leg is an answer that asks for input.
type leg struct {
	line     uint32
	method   string
	name     string
	base     string // the params without what a retry adds
	state    string
	hasState bool
	keys     []string
	id       frame.ID
}

// listen is an open subscription.
type listen struct {
	line   uint32
	id     any
	filter object
	acked  bool
}

// listing is an answer to a list request.
type listing struct {
	line  uint32
	names []string
	scope string // cacheScope
}

const maxRemembered = 1 << 20 // ids and the like for each scope; what is older is forgotten

func newScope(name string, http bool) *scope {
	return &scope{name: name, http: http, open: map[string][]*message{}, tokens: map[string]*message{}, used: map[string]uint32{}, closed: map[string]*closed{}}
}

// scopeOf finds the scope of a message.
func (a *Auditor) scopeOf(m *message) *scope {
	name := "process " + string(m.More.PID) + "/" + string(m.More.Conn)
	if m.overHTTP() {
		name = "http"
	}
	if s := string(m.Session); s != "" {
		name = "session " + s
	}
	for _, h := range [...]string{m.http().Get("mcp-session-id"), m.requestHead().Get("mcp-session-id")} {
		if h != "" {
			name = "session " + h
			break
		}
	}
	if a.scopes[name] == nil {
		a.scopes[name] = newScope(name, m.overHTTP())
	}
	return a.scopes[name]
}

func idKey(d frame.Dir, id frame.ID) string { return d.String() + string(id) }

func opposite(d frame.Dir) frame.Dir {
	if d == frame.C2S {
		return frame.S2C
	}
	return frame.C2S
}

// relate finds what the message refers to. Nothing is remembered yet.
func (a *Auditor) relate(m *message) {
	m.scope, m.server = a.scopeOf(m), &a.server
	switch m.kind {
	case isRequest:
		if key := idKey(m.Dir, m.ID); m.ID.Known() {
			m.sameID, m.usedBefore = last(m.scope.open[key]), m.scope.used[key]
		}
		if len(m.More.Token) > 0 {
			m.ofToken = m.scope.tokens[idKey(m.Dir, m.More.Token)]
		}
		m.leg = a.legOf(m)
	case isNotice:
		a.relateNotice(m)
	case isSuccess, isError:
		a.relateAnswer(m)
	}
}

func (a *Auditor) relateNotice(m *message) {
	if m.RequestID.Known() {
		m.cancelled = last(m.scope.open[idKey(m.Dir, m.RequestID)])
	}
	if m.method == "notifications/progress" && len(m.More.Token) > 0 {
		m.ofToken = m.scope.tokens[idKey(opposite(m.Dir), m.More.Token)]
		if posted := a.posted[m.exchange()]; posted != nil && string(posted.More.Token) == string(m.More.Token) {
			m.ofToken = posted
		}
	}
	if m.listen = a.listens["exchange "+m.exchange()]; m.listen != nil && m.exchange() != "" {
		return
	}
	if id, ok := m.meta[prefix+"subscriptionId"]; ok {
		m.listen = a.listens[m.scope.name+token(id)]
	}
}

func last(list []*message) *message {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// relateAnswer finds the request: of the same exchange where there is one, else the one of the scope that holds the id open.
func (a *Auditor) relateAnswer(m *message) {
	asked := opposite(m.Dir)
	if !m.ID.Known() {
		if posted := a.posted[m.exchange()]; m.exchange() != "" && posted != nil && posted.done == 0 {
			m.refused = posted
		}
		return
	}
	key := idKey(asked, m.ID)
	if posted := a.posted[m.exchange()]; posted != nil && m.exchange() != "" && string(posted.ID) == string(m.ID) && posted.Dir == asked && posted.done == 0 {
		m.request = posted
	}
	if m.request == nil {
		m.request = last(m.scope.open[key])
	}
	if first := a.unnamed(); m.request == nil && first != nil && string(first.ID) == string(m.ID) && asked == frame.C2S {
		m.request = first
	}
	if m.request == nil {
		m.answeredBefore = m.scope.closed[key]
		m.tentative = m.scope.otherType(asked, m.ID)
	} else if scope := m.request.scope; scope != m.scope && m.request.method == "initialize" {
		a.bind(m, scope)
	}
	if m.kind == isSuccess && m.request != nil {
		a.relateListing(m)
	}
}

// unnamed is an initialize that is open in a scope without a name: its answer may bring the session's.
func (a *Auditor) unnamed() *message {
	for _, name := range [...]string{"http", "process /"} {
		if s := a.scopes[name]; s != nil && s.init != nil {
			return s.init
		}
	}
	return nil
}

// bind gives the scope of an initialize the name that its answer brings.
func (a *Auditor) bind(m *message, s *scope) {
	delete(a.scopes, s.name)
	s.name = m.scope.name
	a.scopes[s.name] = s
	m.scope = s
}

// otherType finds an open request whose id has the same text and the other JSON type.
func (s *scope) otherType(d frame.Dir, id frame.ID) *message {
	other := frame.StringID(string(id))
	if id.IsString() {
		other = frame.ID(id.Bare())
	}
	return last(s.open[idKey(d, other)])
}

// base is what a request asks for, without what a retry adds and what metadata may change.
func base(params object) string {
	rest := object{}
	for k, v := range params {
		if k != "inputResponses" && k != "requestState" && k != "_meta" {
			rest[k] = v
		}
	}
	return token(map[string]any(rest))
}

// legOf finds the answer that a retry follows: by its state, else by what it asks for.
func (a *Auditor) legOf(m *message) *leg {
	if !m.params.has("inputResponses") && !m.params.has("requestState") {
		return nil
	}
	best, points := (*leg)(nil), 0
	for _, l := range a.legs {
		p := 0
		if l.hasState && m.params["requestState"] == l.state {
			p += 4
		}
		if l.method == m.method && l.base == base(m.params) {
			p += 2
		} else if l.method == m.method && l.name == string(m.Name) {
			p++
		}
		if p > 0 && p >= points {
			best, points = l, p
		}
	}
	return best
}

// relateListing finds the listing before this one: of the same set, and of the same pagination.
func (a *Auditor) relateListing(m *message) {
	r := m.request
	if r.method == "tools/list" && m.result.isList("tools") {
		for _, t := range m.result.list("tools") {
			m.names = append(m.names, asObject(t).text("name"))
		}
		m.listing = a.listings[setOf(r, m.names)]
	}
	if cursor := r.params.text("cursor"); cursor != "" {
		m.page = a.pages[r.method+" "+cursor]
	}
}

// setOf names a set of tools: the same request, the same names.
func setOf(r *message, names []string) string {
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	return base(r.params) + strings.Join(sorted, "\x00")
}
