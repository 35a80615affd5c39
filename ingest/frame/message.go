package frame

// The modern era carries these in params._meta of every request (spec 2026-07-28, basic). Each is one flat member name.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// A message is one raw JSON-RPC message while it is read. Members may stand in any order (the TypeScript SDK writes the id
// last), so what they say is collected first and made sense of at the end.
type message struct {
	scanner
	cut   bool   // the text may end anywhere
	seen  has    // members of the envelope
	wrong Reason // the first reason why this is no message, though it may be JSON
	id    []byte
	half  []byte // what a cut left of the method, with its opening quote

	method, name, uri, requestID, progress []byte
	version, caps                          []byte // params.protocolVersion and params.capabilities
	metaToken, metaVersion, metaCaps       []byte // params._meta
	resultVersion, resultCaps, resultType  []byte
	toolError                              bool
	code                                   int64
	hasCode                                bool
}

// has is a set of members of the envelope.
type has uint8

const (
	hasVersion has = 1 << iota
	hasID
	hasMethod
	hasParams
	hasResult
	hasError
)

// place says which object of the message is being read.
type place uint8

const (
	inEnvelope place = iota
	inParams
	inMeta
	inResult
	inError
	inOutline // an object of which only the presence of "jsonrpc" is asked
)

// DecodeMessage reads one raw JSON-RPC message, the bytes of one JSON object, into f. It sets what the message says (Kind,
// ID, RequestID, Method, Name and the members in More) and leaves the rest of f to the caller; with a reason f is as it was.
// Texts in f point into b. It is total: any input gives a message or a reason.
//
// It does not ask for "jsonrpc": a wrong version is a finding about a message, not the absence of one.
func DecodeMessage(b []byte, f *Frame) Reason {
	m := message{scanner: scanner{b: b}}
	m.space()
	if m.peek() != '{' {
		return notRecord(&m.scanner)
	}
	switch m.object(inEnvelope) {
	case tooDeep:
		return Nesting
	case badJSON:
		return NotJSON
	}
	if m.space(); m.i < len(b) {
		return NotJSON
	}
	kind, reason := m.kind()
	if reason == NoReason {
		m.fill(kind, f)
	}
	return reason
}

// Shape is what ScanObject found.
type Shape uint8

// The shapes.
const (
	NoObject      Shape = iota
	CutObject           // the text ends inside it
	PlainObject         // whole, and no message
	MessageObject       // whole, with the member "jsonrpc" that every message has
)

// ScanObject reads the JSON object that starts at b[0]: end is where it ends or, when it is not whole, how far one had to read
// to know.
func ScanObject(b []byte) (end int, shape Shape) {
	m := message{scanner: scanner{b: b}}
	if m.peek() != '{' {
		return 0, NoObject
	}
	switch f := m.object(inOutline); {
	case f == fine && m.seen&hasVersion != 0:
		return m.i, MessageObject
	case f == fine:
		return m.i, PlainObject
	case f == badJSON && m.endsInside():
		return len(b), CutObject
	case m.peek() == '"': // a string that is wrong may have been read to the end
		return len(b), NoObject
	}
	return m.i, NoObject
}

// ParseID reads the id that b starts with, a JSON string or number, and what follows it. ok is false when there is none.
func ParseID(b []byte) (id ID, rest []byte, ok bool) {
	m := message{scanner: scanner{b: b}}
	if c := m.peek(); c != '"' && c != '-' && c-'0' > 9 {
		return nil, b, false
	}
	if m.token(&m.id) != fine {
		return nil, b, false
	}
	return m.id, b[m.i:], true
}

// object reads the object at m.i.
func (m *message) object(at place) fault {
	m.i++
	if m.space(); m.peek() == '}' {
		m.i++
		return fine
	}
	for {
		key, ok := m.memberName()
		if !ok {
			return badJSON
		}
		if f := m.member(at, key); f != fine {
			return f
		}
		m.space()
		switch m.peek() {
		case ',':
			m.i++
		case '}':
			m.i++
			return fine
		default:
			return badJSON
		}
	}
}

// memberName reads a member's name and its colon, and the space around them.
func (s *scanner) memberName() ([]byte, bool) {
	if b, i := s.b, s.i; len(b)-i >= 16 && b[i] == '"' { // most names are short, and nothing stands around them
		if n := i + 1 + plain(load8(b[i+1:])); b[n] == '"' && b[n+1] == ':' && b[n+2] > ' ' {
			s.i = n + 2
			return b[i+1 : n], true
		}
	}
	if s.space(); s.peek() != '"' {
		return nil, false
	}
	name, escaped, ok := s.str()
	if !ok || !s.colon() {
		return nil, false
	}
	if escaped {
		name = unescape(name)
	}
	s.space()
	return name, true
}

// member reads the value of one member.
func (m *message) member(at place, key []byte) fault {
	switch at {
	case inEnvelope:
		return m.envelope(key)
	case inParams:
		return m.param(key)
	case inMeta:
		return m.meta(key)
	case inResult:
		return m.result(key)
	case inError:
		return m.error(key)
	}
	if string(key) == "jsonrpc" {
		m.seen |= hasVersion
	}
	return m.skip()
}

func envelopeMember(key []byte) has {
	switch string(key) {
	case "jsonrpc":
		return hasVersion
	case "id":
		return hasID
	case "method":
		return hasMethod
	case "params":
		return hasParams
	case "result":
		return hasResult
	case "error":
		return hasError
	}
	return 0
}

// envelope reads a member of the message itself. One that is there twice is refused: parsers differ in which they take, and
// the id is what calls are joined on.
func (m *message) envelope(key []byte) fault {
	h := envelopeMember(key)
	if m.seen&h != 0 {
		m.refuse(DuplicateKey)
		return m.skip()
	}
	m.seen |= h
	switch h {
	case hasID:
		return m.idMember()
	case hasMethod:
		return m.methodMember()
	case hasParams:
		return m.inside(inParams)
	case hasResult:
		return m.inside(inResult)
	case hasError:
		return m.inside(inError)
	}
	return m.skip()
}

func (m *message) refuse(r Reason) {
	if m.wrong == NoReason {
		m.wrong = r
	}
}

func (m *message) idMember() fault {
	f := m.token(&m.id)
	if f == fine && m.id == nil {
		m.refuse(BadID)
	}
	return f
}

func (m *message) methodMember() fault {
	f := m.text(&m.method)
	if f != fine {
		m.half = m.b[m.i:]
	} else if m.method == nil {
		m.refuse(NotMessage)
	}
	return f
}

func (m *message) param(key []byte) fault {
	switch string(key) {
	case "name":
		return m.text(&m.name)
	case "uri":
		return m.text(&m.uri)
	case "requestId":
		return m.token(&m.requestID)
	case "progressToken":
		return m.token(&m.progress)
	case "protocolVersion":
		return m.text(&m.version)
	case "capabilities":
		return m.raw(&m.caps)
	case "_meta":
		return m.inside(inMeta)
	}
	return m.skip()
}

func (m *message) meta(key []byte) fault {
	switch string(key) {
	case "progressToken":
		return m.token(&m.metaToken)
	case metaVersion:
		return m.text(&m.metaVersion)
	case metaCapabilities:
		return m.raw(&m.metaCaps)
	}
	return m.skip()
}

func (m *message) result(key []byte) fault {
	switch string(key) {
	case "resultType":
		return m.text(&m.resultType)
	case "isError":
		m.toolError = m.peek() == 't'
	case "protocolVersion":
		return m.text(&m.resultVersion)
	case "capabilities":
		return m.raw(&m.resultCaps)
	}
	return m.skip()
}

func (m *message) error(key []byte) fault {
	if c := m.peek(); string(key) != "code" || (c != '-' && c-'0' > 9) {
		return m.skip()
	}
	token, n, ok := m.integer()
	if token == nil || m.cutNumber() {
		return badJSON
	}
	m.code, m.hasCode = n, ok
	return fine
}

// inside reads the value at m.i, which is an object in every message that says anything there.
func (m *message) inside(at place) fault {
	if m.peek() == '{' {
		return m.object(at)
	}
	return m.skip()
}

// token reads an id or a progress token: a string, a number or null. Another value leaves *t empty.
func (m *message) token(t *[]byte) fault {
	begin := m.i
	switch c := m.peek(); {
	case c == '"':
		body, escaped, ok := m.str()
		if !ok {
			return badJSON
		}
		*t = stringToken(m.b[begin:m.i], body, escaped)
	case c == '-' || c-'0' <= 9:
		n := m.number()
		if n == nil || m.cutNumber() {
			return badJSON
		}
		*t = n
	case m.word(jsonNullToken):
		*t = m.b[begin:m.i]
	default:
		return m.skip()
	}
	return fine
}

// text reads a string. Another value leaves *t empty.
func (m *message) text(t *[]byte) fault {
	if m.peek() != '"' {
		return m.skip()
	}
	body, escaped, ok := m.str()
	if !ok {
		return badJSON
	}
	if escaped {
		body = unescape(body)
	}
	*t = body
	return fine
}

// raw keeps the text of an object for later.
func (m *message) raw(t *[]byte) fault {
	begin := m.i
	f := m.skip()
	if f == fine && m.b[begin] == '{' {
		*t = m.b[begin:m.i]
	}
	return f
}

// kind tells the kind by the members present (protocol: exactly one of method, result and error), or why there is none.
func (m *message) kind() (Kind, Reason) {
	if m.wrong != NoReason {
		return NoKind, m.wrong
	}
	null := ID(m.id).IsNull()
	switch m.seen & (hasMethod | hasResult | hasError) {
	case hasMethod:
		switch {
		case null:
			return NoKind, NullID
		case m.id == nil:
			return Notification, NoReason
		}
		return Request, NoReason
	case hasResult:
		switch {
		case null:
			return NoKind, NullID
		case m.id == nil:
			return NoKind, NoID
		}
		return Response, NoReason
	case hasError:
		return Error, NoReason
	}
	return NoKind, NotMessage
}

// fill writes what a message of this kind says into f.
func (m *message) fill(kind Kind, f *Frame) {
	f.Kind, f.ID = kind, m.id
	switch kind {
	case Request, Notification:
		m.fillCall(f)
	case Response:
		m.fillResult(f)
	case Error:
		if m.hasCode {
			f.Extra().Code, f.More.HasCode = m.code, true
		}
	}
}

func (m *message) fillCall(f *Frame) {
	f.Method = m.method
	if f.Name = m.name; f.Name == nil {
		f.Name = m.uri
	}
	token := m.metaToken
	switch string(m.method) {
	case "notifications/cancelled":
		if ID(m.requestID).Known() {
			f.RequestID = m.requestID
		}
	case "notifications/progress":
		token = m.progress
	}
	if ID(token).Known() {
		f.Extra().Token = token
	}
	version, caps := m.metaVersion, m.metaCaps
	if string(m.method) == "initialize" && version == nil {
		version = m.version
	}
	if caps == nil {
		caps = m.caps
	}
	declare(version, caps, f)
}

func (m *message) fillResult(f *Frame) {
	if m.resultType != nil {
		f.Extra().ResultType = m.resultType
	}
	if m.toolError {
		f.Extra().ToolError = true
	}
	declare(m.resultVersion, m.resultCaps, f)
}

func declare(version, caps []byte, f *Frame) {
	if version != nil {
		f.Extra().Era = version
	}
	if caps != nil {
		s := scanner{b: caps}
		f.Extra().Caps = s.capabilities([]string{}, "")
	}
}

// capabilities lists what the valid object at s.i declares: each member that is true or an object (an empty one declares
// too), and each such member of those, as in "tools.listChanged". Deeper ones are settings, not names.
func (s *scanner) capabilities(list []string, parent string) []string {
	s.i++
	for {
		switch s.space(); s.peek() {
		case '"':
			name, _ := s.memberName()
			list = s.capability(list, parent, parent+string(name))
		case ',':
			s.i++
		default:
			s.i++
			return list
		}
	}
}

func (s *scanner) capability(list []string, parent, name string) []string {
	c := s.peek()
	if c == '{' || c == 't' {
		list = append(list, name)
	}
	if c == '{' && parent == "" {
		return s.capabilities(list, name+".")
	}
	s.skip()
	return list
}
