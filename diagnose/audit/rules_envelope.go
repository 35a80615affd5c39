package audit

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"mcpdiag/ingest/frame"
)

// envelopeRules are about the JSON-RPC envelope and the lines of a pipe, in every version.
func envelopeRules() []Rule {
	return []Rule{
		{ID: "jsonrpc-2.0", Text: `send "jsonrpc": "2.0" in every message`, Weight: Error, Spec: "S26/basic/index", Needs: Payload, On: isAny | isInvalid, Voids: true,
			For:   func(m *message) bool { return m.kind != isInvalid || m.envelope != "" },
			Check: func(m *message) Verdict { return want(m.envelope == "", "the envelope is %s", m.envelope) },
			Fix:   func(o object) { o["jsonrpc"] = "2.0" }},
		{ID: "one-of-method-result-error", Text: "give a message exactly one of method, result and error", Weight: Error, Spec: "S26/basic/index", Needs: Payload, On: isAny | isInvalid, Voids: true,
			For: isEnvelope, Check: checkOneOf},
		{ID: "id-null", Text: "use a string or an integer as the id of a request and its result, never null", Weight: Error, Spec: "S26/basic/index", Needs: Payload, On: isCall | isSuccess | isInvalid, Voids: true,
			For: isEnvelope, Check: checkNullID},
		{ID: "id-type", Text: "use a string or an integer as an id", Weight: Error, Spec: "S26/basic/index", On: isRequest | isAnswer | isInvalid, Voids: true,
			For: func(m *message) bool { return isEnvelope(m) && (m.doc.has("id") || m.ID.Known()) }, Check: checkIDType},
		{ID: "request-has-id", Text: "send a request with an id: without one no answer can be expected", Weight: Error, Spec: "S26/basic/index", On: isNotice, Voids: true,
			Check: func(m *message) Verdict {
				return want(m.call == nil || isNotification(m.method), "%s has no id", m.method)
			}},
		{ID: "notification-has-no-id", Text: "send a notification without an id", Weight: Error, Spec: "S26/basic/index", On: isRequest, Voids: true,
			Check: func(m *message) Verdict { return want(!isNotification(m.method), "%s has an id", m.method) },
			Fix:   func(o object) { delete(o, "id") }},
		{ID: "success-has-id", Text: "give a result the id of its request", Weight: Error, Spec: "S26/basic/index", Needs: Payload, On: isInvalid, Voids: true,
			For: func(m *message) bool { return m.doc.has("result") && isEnvelope(m) }, Check: func(m *message) Verdict { return want(m.doc.has("id"), "the result has no id") }},
		{ID: "method-string", Text: "make method a string", Weight: Error, Spec: "S26/basic/index", Needs: Payload, On: isCall | isInvalid, Voids: true,
			For:   func(m *message) bool { return isEnvelope(m) && (m.kind != isInvalid || m.doc.has("method")) },
			Check: func(m *message) Verdict { return want(m.doc.isText("method"), "method is no string") }},
		{ID: "params-object", Text: "make params an object", Weight: Error, Spec: "S26/basic/index", Needs: Payload, On: isCall, Voids: true,
			Check: func(m *message) Verdict {
				return want(!m.doc.has("params") || m.doc.isObject("params"), "params is no object")
			}},
		{ID: "result-object", Text: "make result an object", Weight: Error, Spec: "S26/basic/index", Needs: Payload, On: isSuccess, Voids: true,
			Check: func(m *message) Verdict { return want(m.doc.isObject("result"), "result is no object") }},
		{ID: "error-object", Text: "give an error an integer code and a string message", Weight: Error, Spec: "S26/basic/index", Needs: Payload, On: isError, Voids: true,
			Check: checkErrorObject},
		{ID: "member-once", Text: "write each member of an object once", Weight: Warning, Spec: "RFC 8259, 4", Needs: Payload, On: isAny | isInvalid,
			For: isEnvelope, Check: func(m *message) Verdict { return want(m.twice == "", "%s stands there twice", m.twice) }},
		{ID: "error-id-null", Text: "leave id out of an error whose request could not be read: null is in no MCP schema", Weight: Warning, Spec: "S26/basic/index; schema JSONRPCErrorResponse", On: isError,
			Check: func(m *message) Verdict { return want(!m.ID.IsNull(), "id is null") },
			Fix:   func(o object) { delete(o, "id") }},
		{ID: "error-id-fabricated", Text: "leave id out of an error whose request could not be read, and make none up", Weight: Warning, Spec: "S26/basic/index", On: isError,
			For:   func(m *message) bool { return m.ID.Known() && m.request == nil },
			Check: func(m *message) Verdict { return want(!madeUp(m.ID), "id %s is nobody's", m.ID) },
			Fix:   func(o object) { delete(o, "id") }},
		{ID: "answer-same-id", Text: "answer with the id of the request, its JSON type kept", Weight: Error, Spec: "S26/basic/index", On: isAnswer,
			For: func(m *message) bool { return m.ID.Known() && (m.request != nil || m.tentative != nil) },
			Check: func(m *message) Verdict {
				if m.request != nil {
					return keep
				}
				return breaks("the id has another JSON type than that of the open request").citing(m.tentative.line)
			}},
		{ID: "answer-of-a-request", Text: "answer only what was asked", Weight: Warning, Spec: "S26/basic/index", On: isAnswer,
			For: func(m *message) bool { return m.ID.Known() && m.tentative == nil && !madeUp(m.ID) }, Check: checkAsked},
		{ID: "answer-once", Text: "answer a request once", Weight: Error, Spec: "JSON-RPC 2.0, 5", On: isAnswer,
			For: func(m *message) bool { return m.ID.Known() }, Check: checkOnce},
		{ID: "id-in-flight", Text: "use no id that is still outstanding", Weight: Error, Spec: "S26/basic/index", On: isRequest, Check: checkInFlight},
		{ID: "id-reused", Text: "use an id once in a session", Weight: Error, Spec: "S25b/basic/index", Until: v2511, On: isRequest, Check: checkReused},
		{ID: "utf-8", Text: "encode messages in UTF-8", Weight: Error, Spec: "S26/basic/transports/index", Since: v2503, Needs: Payload, On: isAny | isInvalid,
			For: isEnvelope, Check: func(m *message) Verdict {
				return want(utf8.Valid(m.body.Text), "the message holds bytes that are no UTF-8")
			}},
		{ID: "stdio-messages-only", Text: "write nothing but MCP messages to the pipe; logs go to stderr", Weight: Error, Spec: "S26/basic/transports/stdio", On: isAny | isInvalid,
			For: func(m *message) bool { return m.body.Stdio || m.kind == isInvalid && !m.overHTTP() && !isEnvelope(m) }, Check: checkPipe},
		{ID: "stdio-one-a-line", Text: "end each message with a newline", Weight: Error, Spec: "S26/basic/transports/stdio", On: isAny,
			For:   func(m *message) bool { return m.body.Stdio && !m.body.Batch },
			Check: func(m *message) Verdict { return want(m.body.Parts < 2, "several messages stand on one line") }},
		{ID: "method-direction", Text: "send a method in its own direction only", Weight: Error, Spec: "S26/basic/index; schema ClientRequest, ServerRequest", On: isCall,
			For: func(m *message) bool { return m.call != nil && m.Dir != frame.NoDir }, Check: checkDirection},
		{ID: "method-of-version", Text: "use only methods that the version has", Weight: Error, Spec: "S26/changelog", On: isCall,
			For: func(m *message) bool { return m.call != nil }, Check: checkMethodVersion},
		{ID: "progress-token-type", Text: "make a progress token a string or an integer", Weight: Error, Spec: "S26/basic/patterns/progress", Needs: Payload, On: isRequest,
			For: func(m *message) bool { return m.doc == nil || m.meta.has("progressToken") },
			Check: func(m *message) Verdict {
				return want(isToken(m.meta["progressToken"]), "progressToken is neither string nor integer")
			}},
		{ID: "progress-token-unique", Text: "use a progress token for one request at a time", Weight: Error, Spec: "S26/basic/patterns/progress", On: isRequest,
			For: func(m *message) bool { return len(m.More.Token) > 0 }, Check: checkTokenUnique},
		{ID: "meta-key", Text: "name members of _meta by the grammar: labels, a slash, a name", Weight: Error, Spec: "S26/basic/index (_meta)", Since: v2506, Needs: Payload, On: isAny,
			For: func(m *message) bool { return m.doc == nil || m.anyMeta() != nil }, Check: checkMetaKeys},
		{ID: "cursor-string", Text: "make cursor and nextCursor strings", Weight: Error, Spec: "S26/server/utilities/pagination", Needs: Payload, On: isRequest | isSuccess,
			For: func(m *message) bool { return m.doc == nil || m.params.has("cursor") || m.result.has("nextCursor") },
			Check: func(m *message) Verdict {
				if m.kind == isRequest {
					return want(m.params.isText("cursor"), "cursor is no string")
				}
				return want(m.result.isText("nextCursor"), "nextCursor is no string")
			}},
	}
}

// isEnvelope reports whether the message looks like a JSON-RPC one, legal or not.
func isEnvelope(m *message) bool {
	return m.kind != isInvalid || m.doc.has("jsonrpc") || m.envelope != ""
}

func checkOneOf(m *message) Verdict {
	var has []string
	for _, name := range [...]string{"method", "result", "error"} {
		if m.doc.has(name) {
			has = append(has, name)
		}
	}
	switch len(has) {
	case 0:
		return breaks("it has none of method, result and error")
	case 1:
		return keep
	}
	return breaks("it has %s", strings.Join(has, " and "))
}

func checkNullID(m *message) Verdict {
	if m.doc.has("error") && !m.doc.has("method") {
		return Verdict{}
	}
	id, has := m.doc["id"]
	return want(!has || id != nil, "id is null")
}

func checkIDType(m *message) Verdict {
	if m.doc != nil {
		id := m.doc["id"]
		return want(id == nil || isToken(id), "id is neither string nor integer")
	}
	return want(m.ID.IsString() || m.ID.IsInteger(), "id is neither string nor integer")
}

func checkErrorObject(m *message) Verdict {
	e := m.errorObject
	switch {
	case e == nil:
		return breaks("error is no object")
	case !isInteger(e["code"]):
		return breaks("code is no integer")
	}
	return want(e.isText("message"), "message is no string")
}

// madeUp reports whether an id is one that servers invent for requests they could not read.
func madeUp(id frame.ID) bool { return string(id) == `"server-error"` || string(id) == `""` }

func checkAsked(m *message) Verdict {
	switch {
	case m.request != nil:
		return keep
	case m.answeredBefore != nil:
		return Verdict{}
	case m.scope.asked(opposite(m.Dir)) == 0:
		return unclear("the log shows no requests of that direction")
	}
	return breaks("no request with this id is outstanding")
}

// asked counts the ids that a side has used.
func (s *scope) asked(d frame.Dir) (n int) {
	for key := range s.used {
		if strings.HasPrefix(key, d.String()) {
			return 1
		}
	}
	return 0
}

// checkOnce: a replay of the same bytes on another stream is the legacy transport's right.
func checkOnce(m *message) Verdict {
	switch b := m.answeredBefore; {
	case m.request != nil:
		return keep
	case b == nil:
		return Verdict{}
	case m.body.Text == nil && m.era != Modern:
		return unclear("without a payload a replay looks the same")
	case m.era != Modern && m.overHTTP() && b.text == string(m.body.Text) && b.exchange != m.exchange():
		return keep
	default:
		return breaks("the request was answered before").citing(b.line)
	}
}

// guessed is why the ids of a request are not judged: the two sides may use the same ones.
const guessed = "the log does not show which side sent the request"

func checkInFlight(m *message) Verdict {
	switch {
	case !m.ID.Known():
		return unclear("the id does not show")
	case m.sameID == nil:
		return keep
	case m.body.Guess || m.sameID.body.Guess:
		return unclear(guessed)
	case m.overHTTP() && m.scope.name == "http" && m.side != frame.Client:
		return unclear("several clients may stand behind one HTTP log")
	}
	return breaks("a request with this id is outstanding").citing(m.sameID.line)
}

func checkTokenUnique(m *message) Verdict {
	r := m.ofToken
	switch {
	case r == nil || r.done != 0 || r.cancelledAt != 0:
		return keep
	case m.overHTTP() && m.scope.name == "http" && m.side != frame.Client:
		return unclear("several clients may stand behind one HTTP log")
	}
	return breaks("a request with this progress token is outstanding").citing(r.line)
}

func checkReused(m *message) Verdict {
	switch {
	case !m.ID.Known():
		return unclear("the id does not show")
	case m.usedBefore == 0 || m.method == "initialize":
		return keep
	case m.body.Guess:
		return unclear(guessed)
	case m.overHTTP() && m.scope.name == "http":
		return unclear("no session shows whose ids they are")
	}
	return breaks("the id was used before").citing(m.usedBefore)
}

func checkPipe(m *message) Verdict {
	switch {
	case m.kind != isInvalid || isEnvelope(m):
		return keep
	case !m.body.Stdio && m.Bytes == frame.Unknown:
		return unclear("the log does not show the transport")
	case bytes.HasPrefix(bytes.ToLower(m.bytes()), []byte("content-length:")):
		return breaks("a header of the framing of LSP: MCP has one message a line and no Content-Length")
	case m.doc != nil:
		return breaks("a JSON object that is no message")
	}
	return breaks("a line that is no message")
}

// bytes are what the log has of bytes that are no message.
func (m *message) bytes() []byte {
	if m.body.Text != nil {
		return m.body.Text
	}
	return m.More.Raw
}

func checkDirection(m *message) Verdict {
	modern := m.era == Modern
	if modern && m.call.Until != "" {
		return Verdict{} // the version does not have it at all
	}
	return want(m.call.may(m.Dir, modern), "%s went %s", m.method, m.Dir)
}

func checkMethodVersion(m *message) Verdict {
	switch {
	case m.era == Modern && m.Dir == frame.S2C && m.kind == isRequest:
		return Verdict{} // no request of a server is legal there; see server-request
	case m.version == "" && m.call.Since == "" && m.call.Until == "":
		return keep
	case m.version == "" && m.call.Until != "" && m.era == Legacy && m.call.Since == "":
		return keep
	case m.version == "":
		return unclear("the version in force does not show")
	}
	return want(m.call.in(m.version), "%s does not exist in %s", m.method, m.version)
}

// anyMeta is the _meta of whatever the message is.
func (m *message) anyMeta() object {
	if m.meta != nil {
		return m.meta
	}
	return m.result.object("_meta")
}

func checkMetaKeys(m *message) Verdict {
	for key := range m.anyMeta().inOrder() {
		if !metaKey(key) {
			return breaks("the member %q of _meta is misnamed", key)
		}
	}
	return keep
}

// metaKey is the grammar of the names in _meta.
func metaKey(key string) bool {
	labels, name, has := strings.Cut(key, "/")
	if !has {
		labels, name = "", key
	}
	for _, label := range strings.Split(labels, ".") {
		if has && (!startsEnds(label, letter, alphanumeric) || !all(label, func(c byte) bool { return alphanumeric(c) || c == '-' })) {
			return false
		}
	}
	return name == "" || startsEnds(name, alphanumeric, alphanumeric) && all(name, func(c byte) bool {
		return alphanumeric(c) || c == '-' || c == '_' || c == '.'
	})
}

func startsEnds(s string, first, last func(byte) bool) bool {
	return s != "" && first(s[0]) && last(s[len(s)-1])
}

func all(s string, f func(byte) bool) bool {
	for i := range len(s) {
		if !f(s[i]) {
			return false
		}
	}
	return true
}

func letter(c byte) bool       { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func alphanumeric(c byte) bool { return letter(c) || c-'0' <= 9 }
