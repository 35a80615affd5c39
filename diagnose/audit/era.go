package audit

import (
	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

// classify tells the era of a message, from the message before anything around it.
func (a *Auditor) classify(m *message) {
	switch {
	case m.kind == isInvalid:
		m.era = NoEra
	case m.kind == isRequest:
		m.era = m.requestEra()
	case m.kind == isNotice:
		m.era = a.noticeEra(m)
	case m.kind&isAnswer != 0:
		m.era = m.answerEra()
	case m.kind == isHead:
		m.era = a.headEra(m)
	}
	m.version = m.versionInForce()
}

func (m *message) requestEra() Era {
	switch {
	case m.meta.has(prefix + "protocolVersion"), m.meta.has(prefix + "clientCapabilities"), m.meta.has(prefix + "clientInfo"):
		return Modern
	case m.doc == nil && string(m.More.Era) >= v2607 && m.method != "initialize":
		return Modern
	case m.call.modernOnly():
		return Modern
	case m.requestHead().Get("mcp-protocol-version") >= v2607:
		return Modern
	case m.Dir == frame.S2C:
		return m.scope.context()
	case m.call.legacyOnly():
		return Legacy
	case headersEra(m.http()) != Ambiguous:
		return headersEra(m.http())
	case m.scope.handshake != nil || m.scope.init != nil:
		return Legacy
	}
	return Ambiguous
}

// context is the era that a message without a mark of its own can only have: after a handshake it is legacy, and where all
// requests have been modern it is modern.
func (s *scope) context() Era {
	switch {
	case s.handshake != nil || s.init != nil:
		return Legacy
	case s.modern > 0:
		return Modern
	}
	return Ambiguous
}

// headersEra is what the headers of an HTTP request tell.
func headersEra(h *dialect.HTTP) Era {
	if h == nil {
		return Ambiguous
	}
	if h.Of != nil {
		h = h.Of
	}
	version := h.Get("mcp-protocol-version")
	switch {
	case version >= v2607:
		return Modern
	case version != "" || h.Get("mcp-session-id") != "" || h.Get("last-event-id") != "" || h.Verb == "GET" || h.Verb == "DELETE":
		return Legacy
	case h.Get("mcp-method") != "":
		return Modern
	}
	return Ambiguous
}

func (a *Auditor) noticeEra(m *message) Era {
	switch {
	case m.call.modernOnly() || m.meta.has(prefix+"subscriptionId") || m.meta.has(prefix+"protocolVersion"):
		return Modern
	case m.call.legacyOnly():
		return Legacy
	case m.cancelled != nil:
		return m.cancelled.era
	case m.ofToken != nil:
		return m.ofToken.era
	}
	if posted := a.posted[m.exchange()]; posted != nil && m.Dir == frame.S2C {
		return posted.era
	}
	if e := headersEra(m.http()); e != Ambiguous {
		return e
	}
	return m.scope.context()
}

func (m *message) answerEra() Era {
	switch {
	case m.request != nil:
		return m.request.era
	case m.refused != nil:
		return m.refused.era
	}
	code, _ := m.code()
	switch {
	case m.result.has("resultType") || len(m.More.ResultType) > 0 || modernCode(code):
		return Modern
	case m.result.has("protocolVersion") && m.result.has("serverInfo") && m.result.has("capabilities"):
		return Legacy
	}
	return headersEra(m.http())
}

func (a *Auditor) headEra(m *message) Era {
	if posted := a.posted[m.exchange()]; posted != nil {
		return posted.era
	}
	return headersEra(m.http())
}

// versionInForce is the version that a message is judged by. A handshake settles legacy versions only.
func (m *message) versionInForce() string {
	v := m.statedVersion()
	if m.era == Legacy && v > v2511 {
		return v2511
	}
	return v
}

func (m *message) statedVersion() string {
	switch {
	case m.era == Modern:
		return v2607
	case m.era != Legacy:
		return ""
	case m.request != nil && m.request.method == "initialize" && m.kind == isSuccess:
		if v := m.result.text("protocolVersion"); v != "" {
			return v
		}
		return string(m.More.Era)
	case m.request != nil:
		return m.request.version
	case m.kind == isHead && m.posted != nil:
		return m.posted.version
	case m.method == "initialize":
		if v := m.params.text("protocolVersion"); v != "" {
			return v
		}
		return string(m.More.Era)
	case m.scope.handshake != nil && m.scope.handshake.version != "":
		return m.scope.handshake.version
	}
	if v := m.requestHead().Get("mcp-protocol-version"); v != "" && v < v2607 {
		return v
	}
	return ""
}
