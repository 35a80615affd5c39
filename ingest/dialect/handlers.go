package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// spliced finds, in the words of a server's own log, that a handler was entered or left. Hosts write their server's standard
// error between their own lines; such words prove that the request had arrived. They carry no id, so the fold gives them to
// the only call that they can be about.
type spliced struct {
	wrapped bool   // the line before ended where Rich wraps: the type stands on this one
	last    string // the event before, and how it was written: two handlers of one logger print everything twice
	form    form
}

// form is how a Python logger wrote a line.
type form uint8

const (
	plain form = iota
	rich
)

// requestTypes are the classes of requests, as the Python and Rust SDKs call them.
var requestTypes = map[string]string{
	"InitializeRequest": "initialize", "PingRequest": "ping", "ListToolsRequest": "tools/list", "CallToolRequest": "tools/call",
	"ListResourcesRequest": "resources/list", "ListResourceTemplatesRequest": "resources/templates/list", "ReadResourceRequest": "resources/read",
	"SubscribeRequest": "resources/subscribe", "UnsubscribeRequest": "resources/unsubscribe", "ListPromptsRequest": "prompts/list",
	"GetPromptRequest": "prompts/get", "CompleteRequest": "completion/complete", "SetLevelRequest": "logging/setLevel",
	"CreateMessageRequest": "sampling/createMessage", "ListRootsRequest": "roots/list", "ElicitRequest": "elicitation/create",
	"DiscoverRequest": "server/discover", "CreateElicitationRequest": "elicitation/create",
	"InitializedNotification": "notifications/initialized", "CancelledNotification": "notifications/cancelled",
	"ProgressNotification": "notifications/progress", "RootsListChangedNotification": "notifications/roots/list_changed",
	"LoggingMessageNotification": "notifications/message", "ToolListChangedNotification": "notifications/tools/list_changed",
	"ResourceListChangedNotification": "notifications/resources/list_changed", "ResourceUpdatedNotification": "notifications/resources/updated",
	"PromptListChangedNotification": "notifications/prompts/list_changed",
}

const (
	processing   = "Processing request of type"
	responseSent = "Response sent"
)

// event reads a line. kind is NoKind when it tells of no handler.
func (s *spliced) event(line []byte) (kind frame.Kind, method string) {
	if s.wrapped {
		s.wrapped = false
		if word := typeWord(line); word != "" {
			return s.once(frame.HandlerEnter, word, rich)
		}
	}
	if _, rest, ok := bytes.Cut(line, []byte(processing)); ok {
		word := typeWord(rest)
		if word == "" {
			s.wrapped = true
			return frame.NoKind, ""
		}
		return s.once(frame.HandlerEnter, word, formOf(line))
	}
	if i := bytes.Index(line, []byte(responseSent)); i >= 0 && (i+len(responseSent) == len(line) || line[i+len(responseSent)] == ' ') {
		return s.once(frame.HandlerExit, "", formOf(line))
	}
	if method, rest, ok := between(line, "method '", "' request handler "); ok {
		switch {
		case bytes.HasPrefix(rest, []byte("called")):
			return frame.HandlerEnter, string(method)
		case bytes.HasPrefix(rest, []byte("completed")), bytes.HasPrefix(rest, []byte("failed")):
			return frame.HandlerExit, string(method)
		}
	}
	return frame.NoKind, ""
}

// once passes over an event that was told just before in the other form.
func (s *spliced) once(kind frame.Kind, word string, form form) (frame.Kind, string) {
	key := kind.String() + word
	if s.last == key && s.form != form {
		s.last = ""
		return frame.NoKind, ""
	}
	s.last, s.form = key, form
	return kind, requestTypes[word]
}

// typeWord is the request type that b starts with; "" when there is none, as where Rich has wrapped the line.
func typeWord(b []byte) string {
	b = bytes.TrimLeft(b, " ")
	n := wordLen(append(bytes.Clone(b[:min(len(b), 60)]), ' '))
	if word := string(b[:min(n, len(b))]); requestTypes[word] != "" {
		return word
	}
	return ""
}

// formOf tells the two ways in which Python logs are written: Rich puts the place in the source at the line's end.
func formOf(line []byte) form {
	if i := bytes.LastIndex(line, []byte(".py:")); i > 0 && digitsLen(line[i+4:]) == len(line)-i-4 {
		return rich
	}
	return plain
}

// stderr reads a line of the server's standard error that stands in its host's log.
func (r *textReader) stderr(s *spliced, line []byte, f frame.Frame) {
	kind, method := s.event(line)
	if kind == frame.NoKind {
		return
	}
	f.Kind, f.Dir = kind, frame.C2S
	if method != "" {
		f.Method = []byte(method)
	}
	r.add(f)
}

// numbered numbers the handler events of a server's log. Where the log shows messages, an event belongs to the call of one;
// where it shows none, the events are all that is known of a call, and it is a call without an id.
type numbered struct {
	talks bool // the log shows messages
	n     uint32
	open  []handlerCall
}

type handlerCall struct {
	n      uint32
	method string
}

// add adds the event. An exit that could be either of two calls' is neither's.
func (h *numbered) add(r *textReader, f frame.Frame) {
	switch {
	case h.talks:
	case f.Kind == frame.HandlerEnter:
		if len(h.open) >= maxAlike {
			h.open = nil
		}
		h.n++
		h.open = append(h.open, handlerCall{h.n, string(f.Method)})
		f.Extra().Call = h.n
	default:
		n, ok := h.leave(string(f.Method))
		if !ok {
			return
		}
		f.Extra().Call = n
	}
	r.add(f)
}

// leave takes the calls that an exit may be of off the open ones, and gives the one when there is but one.
func (h *numbered) leave(method string) (n uint32, ok bool) {
	rest, found := h.open[:0:0], 0
	for _, c := range h.open {
		if method == "" || c.method == method {
			n = c.n
			found++
		} else {
			rest = append(rest, c)
		}
	}
	h.open = rest
	return n, found == 1
}
