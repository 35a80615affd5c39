package audit

import (
	"slices"
	"strings"

	"mcpdiag/ingest/frame"
)

// remember takes the message into what later ones are related to.
func (a *Auditor) remember(m *message) {
	switch m.kind {
	case isRequest:
		a.rememberRequest(m)
	case isNotice:
		a.rememberNotice(m)
	case isSuccess, isError:
		a.rememberAnswer(m)
	case isHead:
		if h := m.http(); h.Of != nil && h.Event == nil && h.Empty && h.Status >= 400 { // refused without a word
			if posted := a.posted[m.exchange()]; posted != nil {
				a.close(posted, m)
			}
		}
	}
}

func (a *Auditor) rememberRequest(m *message) {
	s := m.scope
	if len(s.used) >= maxRemembered {
		clear(s.used)
		clear(s.closed)
		clear(s.tokens)
	}
	switch {
	case m.method == "initialize" && m.era == Legacy:
		clear(s.used)
		clear(s.closed)
		if strings.HasPrefix(s.name, "process ") { // a new connection: what was outstanding on the old one will not be answered
			clear(s.open)
			clear(s.tokens)
		}
		s.init, s.handshake = m, nil
		a.server.inits++
	case m.era == Modern:
		s.modern++
	case m.Dir == frame.C2S && s.before == nil && s.init == nil && s.handshake == nil && m.method != "ping":
		s.before = m
	}
	s.blind = s.blind || m.doc == nil
	key := idKey(m.Dir, m.ID)
	if !m.body.Guess {
		s.used[key] = m.line
	}
	s.open[key] = append(s.open[key], m)
	if len(m.More.Token) > 0 {
		s.tokens[idKey(m.Dir, m.More.Token)] = m
	}
	if m.exchange() != "" {
		a.posted[m.exchange()] = m
	}
	if m.method == "subscriptions/listen" {
		id, _ := parse(m.ID.JSON())
		name := s.name + token(id)
		if m.exchange() != "" {
			name = "exchange " + m.exchange()
		}
		a.listens[name] = &listen{line: m.line, id: id, filter: m.params.object("notifications")}
	}
	if m.leg != nil {
		a.legs = slices.DeleteFunc(a.legs, func(l *leg) bool { return l == m.leg })
	}
}

func (a *Auditor) rememberNotice(m *message) {
	switch m.method {
	case "notifications/initialized":
		if m.scope.handshake != nil {
			m.scope.handshake.initialized = true
		}
	case "notifications/cancelled":
		if m.cancelled != nil {
			m.cancelled.cancelledAt = m.line
		}
	case "notifications/progress":
		if m.ofToken != nil {
			m.ofToken.progress = m.params["progress"]
		}
	case "notifications/tools/list_changed":
		clear(a.listings)
	case "notifications/subscriptions/acknowledged":
		if m.listen != nil {
			m.listen.acked = true
			if f := m.params.object("notifications"); f != nil {
				m.listen.filter = f
			}
		}
	}
}

func (a *Auditor) rememberAnswer(m *message) {
	code, _ := m.code()
	if m.kind == isError && modernCode(code) && m.scope.modernErr == 0 {
		m.scope.modernErr = m.line
	}
	r := m.request
	if r == nil {
		if m.refused != nil {
			a.close(m.refused, m)
		}
		return
	}
	if m.kind == isSuccess {
		a.rememberSuccess(m, r)
	} else if r.method == "server/discover" && code == -32601 && a.server.noDiscover == 0 {
		a.server.noDiscover = m.line
	}
	if r == m.scope.init {
		m.scope.init = nil
	}
	a.close(r, m)
}

func (a *Auditor) rememberSuccess(m, r *message) {
	if m.era == Modern && a.server.modern == 0 && (m.result.has("resultType") || len(m.More.ResultType) > 0) {
		a.server.modern = m.line
	}
	if r.method == "initialize" && r.era == Legacy {
		m.scope.handshake = &handshake{line: m.line, version: m.version, client: r.More.Caps, server: m.More.Caps}
		if strings.HasPrefix(m.scope.name, "session ") {
			a.server.sessions++
		}
	}
	if m.result.text("resultType") == "input_required" {
		a.rememberLeg(m, r)
	}
	if len(m.names) > 0 {
		a.listings[setOf(r, m.names)] = &listing{line: m.line, names: m.names}
		rememberHeaders(&a.server, m.result.list("tools"))
	}
	if next := m.result.text("nextCursor"); next != "" {
		a.pages[r.method+" "+next] = &listing{line: m.line, scope: m.result.text("cacheScope")}
	}
}

const maxLegs = 256

func (a *Auditor) rememberLeg(m, r *message) {
	l := &leg{line: m.line, method: r.method, name: string(r.Name), base: base(r.params), id: r.ID}
	l.state, l.hasState = m.result["requestState"].(string)
	for k := range m.result.object("inputRequests") {
		l.keys = append(l.keys, k)
	}
	slices.Sort(l.keys)
	if a.legs = append(a.legs, l); len(a.legs) > maxLegs {
		a.legs = a.legs[1:]
	}
}

// rememberHeaders notes which arguments of a tool are to be repeated in headers.
func rememberHeaders(s *server, tools []any) {
	for _, t := range tools {
		tool, headers := asObject(t), map[string]string{}
		for name, p := range tool.object("inputSchema").object("properties") {
			if h := asObject(p).text("x-mcp-header"); h != "" {
				headers[name] = h
			}
		}
		if len(headers) > 0 {
			s.headers[tool.text("name")] = headers
		} else {
			delete(s.headers, tool.text("name"))
		}
	}
}

// close ends a request, and lets go of its text.
func (a *Auditor) close(r, by *message) {
	s, key := r.scope, idKey(r.Dir, r.ID)
	s.open[key] = slices.DeleteFunc(s.open[key], func(o *message) bool { return o == r })
	if len(s.open[key]) == 0 {
		delete(s.open, key)
	}
	s.closed[key] = &closed{by.line, string(by.body.Text), by.exchange()}
	r.done = by.line
	r.doc, r.params, r.body.Text = nil, nil, nil
	if r.method == "subscriptions/listen" {
		for k, l := range a.listens {
			if l.line == r.line {
				delete(a.listens, k)
			}
		}
	}
}
