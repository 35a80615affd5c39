package audit

import (
	"bytes"
	"strings"

	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

// Era is the era of one message.
type Era uint8

// The eras. Ambiguous is a message that could be of either.
const (
	Ambiguous Era = iota
	Modern
	Legacy
	NoEra // it is no legal message of any
)

var eraNames = [...]string{"ambiguous", "modern", "legacy", "invalid"}

func (e Era) String() string { return eraNames[e] }

// message is one message while it is judged, or a head of HTTP that carries none.
type message struct {
	line uint32
	frame.Frame
	body *dialect.Body
	call *Method // nil for a method that the spec does not know

	doc            object // nil when the text is not there, cut, or no object
	twice          string // a member of the envelope that stands there twice
	params, meta   object // of a request or notification
	result         object // of a success
	errorObject    object
	method         string
	kind           kind
	envelope       string // what is wrong with an envelope that is no JSON-RPC 2.0 at all
	era            Era
	version        string // in force for this message; "" when it is not known
	scope          *scope
	request        *message // that an answer belongs to
	tentative      *message // an open request whose id differs from the answer's by its JSON type only
	sameID         *message // an outstanding request of the same sender with this id
	usedBefore     uint32   // legacy: the line that used the id before
	answeredBefore *closed  // of an answer: the answer before
	ofToken        *message // the request that gave the token: of a progress, and of a request that gives it again
	listen         *listen  // of a notification with a subscription id
	leg            *leg     // of a retry: the answer that asked for it
	listing        *listing // of an answer to tools/list: the one before it of the same set
	page           *listing // of a page: the page before
	cancelled      *message // of a cancel: the request, when it is open
	names          []string // of an answer to tools/list
	server         *server
	incomplete     bool     // of a modern request: it lacks required metadata
	badHeaders     bool     // of a modern request: headers that it must have are absent or differ
	refused        *message // of an answer without an id: the request of its exchange
	side           frame.Side
	posted         *message // of HTTP: the request of the exchange
	postedNotice   bool     // the exchange carried a notification or an answer of the client
	firstEvent     bool     // the first event of its stream
	eventBefore    *event   // the event that had its id before
	resumed        *event   // of a replay: the event after which the stream is resumed
	replay         bool     // it was sent before, and comes again after Last-Event-ID

	// What became of a request.
	done        uint32 // the line of its answer
	cancelledAt uint32 // the line of its cancel
	progress    any    // the last
	task        bool   // it asked for a task
}

// kind is what a message is.
type kind uint8

const (
	isRequest kind = 1 << iota
	isNotice       // a notification
	isSuccess
	isError
	isInvalid // no message
	isHead    // a head of HTTP, or an event without a message

	isCall   = isRequest | isNotice
	isAnswer = isSuccess | isError
	isAny    = isCall | isAnswer
)

func (k kind) String() string {
	switch k {
	case isRequest:
		return "request"
	case isNotice:
		return "notification"
	case isSuccess:
		return "response"
	case isError:
		return "error"
	case isHead:
		return "http"
	}
	return "invalid"
}

// newMessage reads what a frame and its text say. It keeps nothing of the reader's buffers.
func newMessage(f *frame.Frame, body *dialect.Body, c catalogue) *message {
	m := &message{line: f.Line, Frame: own(f), kind: kindOf(f.Kind)}
	b := *body
	b.Text = bytes.Clone(body.Text)
	m.body = &b
	m.method = string(m.Frame.Method)
	if b.Text != nil && !b.Cut {
		m.read(b.Text)
	}
	m.task = m.params.has("task")
	m.call = c[m.method]
	return m
}

func kindOf(k frame.Kind) kind {
	switch k {
	case frame.Request:
		return isRequest
	case frame.Notification:
		return isNotice
	case frame.Response:
		return isSuccess
	case frame.Error:
		return isError
	case frame.Open:
		return isHead
	}
	return isInvalid
}

// own copies the texts of a frame out of the reader's buffer.
func own(f *frame.Frame) frame.Frame {
	g := *f
	g.ID, g.RequestID = bytes.Clone(f.ID), bytes.Clone(f.RequestID)
	g.Method, g.Name, g.Session = bytes.Clone(f.Method), bytes.Clone(f.Name), bytes.Clone(f.Session)
	if f.More == nil {
		g.More = new(frame.More)
		return g
	}
	more := *f.More
	for _, t := range []*[]byte{&more.Conn, &more.Exchange, &more.PID, &more.Clock, &more.Token, &more.ResultType, &more.Era, &more.Raw} {
		*t = bytes.Clone(*t)
	}
	g.More = &more
	return g
}

// read reads the text. What it says goes before what the record says of it.
func (m *message) read(text []byte) {
	v, ok := parse(text)
	if m.doc = asObject(v); !ok || m.doc == nil {
		m.doc, m.kind = nil, isInvalid
		return
	}
	seen := map[string]bool{}
	frame.Members(text, func(name string, _ []byte) {
		if seen[name] && m.twice == "" {
			m.twice = name
		}
		seen[name] = true
	})
	if m.envelope = strangeEnvelope(m.doc); m.envelope == "" && !m.doc.has("jsonrpc") {
		m.kind = isInvalid
	}
	if method := m.doc.text("method"); method != "" {
		m.method = method
	}
	m.params = m.doc.object("params")
	m.meta = m.params.object("_meta")
	m.result = m.doc.object("result")
	m.errorObject = m.doc.object("error")
}

// strangeEnvelope names an envelope that is not JSON-RPC 2.0; "" when it is. An object that looks like no envelope at all, as
// a program's log line, is none.
func strangeEnvelope(o object) string {
	version, has := o["jsonrpc"]
	switch {
	case has && version == "2.0":
		return ""
	case has:
		return "JSON-RPC with the version " + token(version)
	case o.has("seq") && o.has("type"):
		return "Debug Adapter Protocol (members seq and type)"
	case o.has("id") && (o.has("method") || o.has("result") || o.has("error")):
		return "JSON-RPC 1.0, or a message without \"jsonrpc\""
	case o.has("method") && o.has("params"):
		return "a notification without \"jsonrpc\""
	}
	return ""
}

// stray reports whether the message is a JSON object and no envelope.
func (m *message) stray() bool {
	return m.doc != nil && m.kind == isInvalid && !m.doc.has("jsonrpc")
}

func (m *message) http() *dialect.HTTP { return m.body.HTTP }

// overHTTP reports whether the message came over HTTP, by whatever shows it.
func (m *message) overHTTP() bool {
	return m.body.HTTP != nil || len(m.More.Exchange) > 0 || m.More.HasStatus
}

func (m *message) exchange() string { return string(m.More.Exchange) }

// head is the head of the HTTP request that the message belongs to.
func (m *message) requestHead() *dialect.HTTP {
	if h := m.http(); h == nil || h.Of == nil {
		return h
	} else {
		return h.Of
	}
}

// has reports whether a capability is among those that a record declares.
func declares(caps []string, name string) bool {
	for _, c := range caps {
		if c == name {
			return true
		}
	}
	return false
}

// declared reports whether a modern request's own metadata declares a capability.
func (m *message) declared(path ...string) bool {
	caps := m.meta.object(prefix + "clientCapabilities")
	for _, name := range path[:len(path)-1] {
		caps = caps.object(name)
	}
	last := caps[path[len(path)-1]]
	return asObject(last) != nil || last == true
}

// argument is the name that Mcp-Name must repeat.
func (m *message) argument() (string, bool) {
	switch {
	case m.method == "tools/call" || m.method == "prompts/get":
		return m.params.text("name"), true
	case m.method == "resources/read":
		return m.params.text("uri"), true
	case m.call != nil && m.call.Extension == tasksExtension && m.kind == isRequest:
		return m.params.text("taskId"), true
	}
	return "", false
}

// code is the code of an error.
func (m *message) code() (int64, bool) {
	if m.errorObject != nil {
		return integer(m.errorObject["code"])
	}
	return m.More.Code, m.More.HasCode
}

// modernCode reports whether a code is one that only modern servers send.
func modernCode(code int64) bool { return code == -32020 || code == -32021 || code == -32022 }

// primitive is what the message is about.
func (m *message) primitive() string {
	call, method := m.call, m.method
	if m.request != nil {
		call, method = m.request.call, m.request.method
	}
	switch {
	case call != nil:
		return call.Primitive
	case strings.Contains(method, "/"):
		return "extension"
	}
	return "unknown"
}
