package dialect

import (
	"bytes"
	"encoding/json"
	"strings"

	"mcpdiag/ingest/frame"
)

// The names under which recorders write the same member; the first that is there counts.
var (
	eventNames     = []string{"ev", "event", "evt"}
	dirNames       = []string{"dir", "direction", "channel", "origin", "from"}
	sideNames      = []string{"side", "role", "vantage"}
	kindNames      = []string{"kind", "msg_type", "message_type", "type"}
	idNames        = []string{"id", "rpc_id", "jsonrpc_id"}
	requestIDNames = []string{"request_id", "requestId"}
	methodNames    = []string{"method", "rpc_method", "mcp.method.name"}
	toolNames      = []string{"tool", "tool_name", "toolName", "name", "prompt", "uri"}
	payloadNames   = []string{"msg", "message", "frame", "payload", "body", "raw", "line", "data", "b64"}
	sizeNames      = []string{"n", "bytes", "size", "len", "length"}
	rowNames       = []string{"rows", "row_count"}
	sessionNames   = []string{"session", "session_id", "sessionId", "sess", "mcp.session.id"}
	connNames      = []string{"conn", "conn_id", "connection"}
	pidNames       = []string{"pid"}
	errorNames     = []string{"err", "error"}
)

// record is one line: its members, as they are written.
type record map[string]json.RawMessage

func parseRecord(line []byte) record {
	var rec record
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &rec) != nil {
		return nil
	}
	return rec
}

// first is the first of the members that is there and not null.
func (r record) first(names []string) json.RawMessage {
	for _, n := range names {
		if v, ok := r[n]; ok && string(v) != "null" {
			return v
		}
	}
	return nil
}

func (r record) has(names []string) bool { return r.first(names) != nil }

// text is the first of the members that is a string and not empty.
func (r record) text(names []string) string {
	for _, n := range names {
		var s string
		if v := r[n]; len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// label is a member of which only equality matters, written as a string or a number.
func (r record) label(names []string) []byte {
	if s := r.text(names); s != "" {
		return []byte(s)
	}
	if v := r.first(names); len(v) > 0 && v[0]-'0' <= 9 {
		return v
	}
	return nil
}

// number is a size or a count.
func (r record) number(names []string) (int64, bool) {
	for _, n := range names {
		if v, ok := decimal(r[n]); ok {
			return v, true
		}
	}
	return 0, false
}

// id is an id as its raw token; null is an id too, and nil is none.
func (r record) id(names []string) frame.ID {
	for _, n := range names {
		v := r[n]
		if string(v) == "null" {
			return frame.ID(v)
		}
		if id, rest, ok := frame.ParseID(v); ok && len(rest) == 0 {
			return id
		}
	}
	return nil
}

// payload is the text of the frame that the record carries: an object, or a string that holds one. length is the string's,
// and -1 for an object, whose text is the recorder's own.
func (r record) payload() (text []byte, length int) {
	for _, n := range payloadNames {
		switch v := r[n]; {
		case len(v) == 0 || n == "b64":
		case v[0] == '{', batchOf(v) != nil:
			return v, -1
		case v[0] == '"':
			if s := r.text([]string{n}); s != "" {
				return eventData([]byte(s)), len(s)
			}
		}
	}
	return nil, -1
}

// eventData takes the message out of a server-sent event.
func eventData(text []byte) []byte {
	if !bytes.HasPrefix(text, []byte("event:")) && !bytes.HasPrefix(text, []byte("data:")) && !bytes.HasPrefix(text, []byte("id:")) {
		return text
	}
	for line := range bytes.Lines(text) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && len(bytes.TrimSpace(data)) > 0 {
			return bytes.TrimSpace(data)
		}
	}
	return text
}

// kind is the kind that the record tells: in a word, or by what it has. A method is asked or told; an id alone is answered.
func (r record) kind(id frame.ID) frame.Kind {
	if k := kindWords[strings.ToLower(r.text(kindNames))]; k != frame.NoKind {
		return k
	}
	method := r.text(methodNames)
	switch {
	case method != "" && id.Known():
		return frame.Request
	case method != "":
		return frame.Notification
	case id.Known():
		return frame.Response
	}
	return frame.NoKind
}

var kindWords = map[string]frame.Kind{
	"req": frame.Request, "request": frame.Request, "call": frame.Request,
	"res": frame.Response, "resp": frame.Response, "response": frame.Response, "result": frame.Response,
	"err": frame.Error, "error": frame.Error,
	"ntf": frame.Notification, "notif": frame.Notification, "notification": frame.Notification,
	"invalid": frame.Invalid, "bad": frame.Invalid,
}

var sideWords = map[string]frame.Side{
	"client": frame.Client, "host": frame.Client, "server": frame.Server,
	"proxy": frame.Proxy, "tee": frame.Proxy, "gateway": frame.Proxy,
}

// way is a direction as the log's own side sees it.
type way uint8

const (
	noWay way = iota
	inward
	outward
)

// dir is the direction on the wire, given whose log it is.
func (w way) dir(side frame.Side) frame.Dir {
	if w == inward {
		side = side.Peer()
	}
	switch {
	case w == noWay:
	case side == frame.Client:
		return frame.C2S
	case side == frame.Server:
		return frame.S2C
	}
	return frame.NoDir
}

// side is whose log it is, given the direction on the wire.
func (w way) side(d frame.Dir) frame.Side {
	switch w {
	case outward:
		return d.From()
	case inward:
		return d.From().Peer()
	}
	return frame.NoSide
}

// dirWords are the spellings of a direction, in small letters, without spaces and strokes, an arrow and "2" as "to".
var dirWords = map[string]struct {
	dir frame.Dir
	way way
}{
	"ctos": {dir: frame.C2S}, "clienttoserver": {dir: frame.C2S}, "editortoserver": {dir: frame.C2S}, "hosttoserver": {dir: frame.C2S},
	"toserver": {dir: frame.C2S}, "fromclient": {dir: frame.C2S}, "client": {dir: frame.C2S}, "stdin": {dir: frame.C2S},
	"stoc": {dir: frame.S2C}, "servertoclient": {dir: frame.S2C}, "servertoeditor": {dir: frame.S2C}, "servertohost": {dir: frame.S2C},
	"toclient": {dir: frame.S2C}, "fromserver": {dir: frame.S2C}, "server": {dir: frame.S2C}, "stdout": {dir: frame.S2C},
	"in": {way: inward}, "inbound": {way: inward}, "incoming": {way: inward}, "recv": {way: inward}, "receive": {way: inward},
	"received": {way: inward}, "read": {way: inward}, "rx": {way: inward},
	"out": {way: outward}, "outbound": {way: outward}, "outgoing": {way: outward}, "send": {way: outward}, "sent": {way: outward},
	"write": {way: outward}, "tx": {way: outward},
}

var dirSpelling = strings.NewReplacer("->", "to", "→", "to", "=>", "to", "2", "to", "_", "", "-", "", " ", "")

// silentDirs are words that stand for a direction and tell of none: what such a record holds is no frame.
var silentDirs = map[string]bool{"stderr": true, "meta": true}

// rawText is the text of `{"raw": "…"}`, as recorders write what was no JSON.
func rawText(object []byte) ([]byte, bool) {
	rec := parseRecord(object)
	if len(rec) != 1 || len(rec["raw"]) == 0 || rec["raw"][0] != '"' {
		return nil, false
	}
	return []byte(rec.text([]string{"raw"})), true
}

func dirOf(rec record) (frame.Dir, way) {
	w := dirWords[dirSpelling.Replace(strings.ToLower(rec.text(dirNames)))]
	return w.dir, w.way
}

// what is what an event tells of.
type what uint8

const (
	unheard    what = iota // not in the table
	silent                 // no frame, whatever it says
	aCrossing              // a frame passed
	aChunk                 // bytes passed
	aHandler               // a handler was entered or left
	aDone                  // a write ended
	aFailure               // a send failed
	aComplaint             // a transport's error
	anEnd                  // a stream ended
	aClose                 // the log's own side closed
)

// deed is one row of the table of events.
type deed struct {
	what  what
	way   way
	kind  frame.Kind
	phase frame.Phase
	dir   frame.Dir
}

var events = map[string]deed{
	"frame":         {what: aCrossing},
	"frame_in":      {what: aCrossing, way: inward},
	"frame_read":    {what: aCrossing, way: inward},
	"http_in":       {what: aCrossing, way: inward},
	"frame_out":     {what: aCrossing, way: outward},
	"frame_write":   {what: aCrossing, way: outward},
	"http_write":    {what: aCrossing, way: outward},
	"read":          {what: aChunk},
	"handler_enter": {what: aHandler, kind: frame.HandlerEnter},
	"handler_start": {what: aHandler, kind: frame.HandlerEnter},
	"handler_exit":  {what: aHandler, kind: frame.HandlerExit},
	"handler_end":   {what: aHandler, kind: frame.HandlerExit},
	"handler_throw": {what: aHandler, kind: frame.HandlerExit},

	"write_done":       {what: aDone, way: outward, phase: frame.Written},
	"response_written": {what: aDone, way: outward, phase: frame.Written},
	"send_done":        {what: aDone, way: outward, phase: frame.Queued}, // resolved may mean: in the library's buffer
	"send_error":       {what: aFailure},
	"write_error":      {what: aFailure},
	"onerror":          {what: aComplaint},
	"read_error":       {what: aComplaint},
	"parse_error":      {what: aComplaint},

	"eof":                  {what: anEnd},
	"stdin_eof":            {what: anEnd, dir: frame.C2S},
	"stdout_eof":           {what: anEnd, dir: frame.S2C},
	"server_stdout_closed": {what: anEnd, dir: frame.S2C}, "server_stdin_closed": {what: anEnd, dir: frame.C2S},
	"onclose": {what: anEnd, way: inward},
	"close":   {what: aClose},

	// A second report of the same thing, or of none that a call depends on.
	"wrote": {what: silent}, "app": {what: silent}, "start": {what: silent}, "open": {what: silent}, "client_onerror": {what: silent},
	"client_onclose": {what: silent}, "handler_abort_signal": {what: silent}, "child_exit": {what: silent}, "signal": {what: silent},
	"session_end": {what: silent}, "exit": {what: silent}, "server_end": {what: silent}, "http_done": {what: silent}, "http_close": {what: silent},
	"http_status": {what: silent}, "buffered": {what: silent}, "flushed_at_exit": {what: silent}, "self_stop": {what: silent}, "resumed": {what: silent},
}

var eventSpelling = strings.NewReplacer("-", "_", " ", "_", ".", "_")

// eventOf finds the record's event; told is true when there is one, though the table may not know it.
func eventOf(rec record) (e deed, told bool) {
	word := rec.text(eventNames)
	e = events[eventSpelling.Replace(strings.ToLower(word))]
	if e.what == aCrossing && !rec.has(payloadNames) && !rec.has(idNames) && !rec.has(methodNames) && !rec.has(kindNames) && !rec.has(errorNames) {
		e = deed{what: silent} // as "http_in" of a recorder that knows nothing of frames
	}
	return e, word != ""
}

// unparsed are the words with which readers say that a line was no JSON-RPC message.
var unparsed = []string{"SyntaxError", "is not valid JSON", "invalid character", "JSON at position", "invalid_union", "ZodError",
	"invalid message version", "JSONDecodeError", "Failed to parse", "cannot unmarshal"}

func isUnparsed(err string) bool {
	for _, words := range unparsed {
		if strings.Contains(err, words) {
			return true
		}
	}
	return false
}

// quotedIn is the part of the bad line that the error quotes, else the error.
func quotedIn(err string) []byte {
	const before, after = `, "`, `"... is not valid JSON`
	if i, j := strings.Index(err, before), strings.Index(err, after); i >= 0 && j > i+len(before) {
		err = err[i+len(before) : j]
	} else if j := strings.Index(err, `" is not valid JSON`); i >= 0 && j > i+len(before) {
		err = err[i+len(before) : j]
	}
	return []byte(err[:min(len(err), teeRaw)])
}

// statusWords are the HTTP statuses as error texts spell them. A transport hands on the words and not the number.
var statusWords = []struct {
	words  string
	status int64
}{
	{"504 Gateway", 504}, {"Gateway Time", 504}, {"502 Bad Gateway", 502}, {"Bad Gateway", 502}, {"Service Unavailable", 503},
	{"Session not found", 404}, // the SDKs' own body of a 404
	{"Not Found", 404}, {"Too Large", 413}, {"Too Many Requests", 429}, {"Unauthorized", 401}, {"Forbidden", 403}, {"Conflict", 409},
	{"Bad Request", 400}, {"Internal Server Error", 500},
}

func statusIn(err string) int64 {
	for _, s := range statusWords {
		if strings.Contains(err, s.words) {
			return s.status
		}
	}
	return 0
}
