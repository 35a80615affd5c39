package audit

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mcpdiag/ingest/frame"
)

// httpRules are about Streamable HTTP.
func httpRules() []Rule {
	return []Rule{
		{ID: "http-json-rpc", Text: "carry one JSON-RPC message in a JSON body or an event", Weight: Error, Spec: "S26/basic/transports/streamable-http", Needs: Heads, On: isAny | isInvalid, For: hasHead,
			Check: func(m *message) Verdict {
				return want(m.kind != isInvalid || isEnvelope(m), "what it carries is no JSON-RPC message")
			}},
		{ID: "accept", Text: "accept application/json and text/event-stream in a POST", Weight: Error, Spec: "S26/basic/transports/streamable-http; S25b/basic/transports", Since: v2503, Needs: Heads, On: isCall | isAnswer, For: isPost,
			Check: func(m *message) Verdict {
				a := strings.ToLower(m.http().Get("accept"))
				return want(accepts(a, "application/json") && accepts(a, "text/event-stream"), "Accept does not list both types")
			}},
		{ID: "header-protocol-version", Text: "repeat the version of _meta in MCP-Protocol-Version", Weight: Error, Spec: "S26/basic/transports/streamable-http (headers)", Since: v2607, Needs: Heads | Payload, On: isRequest, For: isPost, Token: "headers",
			Check: func(m *message) Verdict {
				return headerSays(m, "mcp-protocol-version", m.meta.text(prefix+"protocolVersion"))
			}},
		{ID: "header-method", Text: "repeat the method in Mcp-Method", Weight: Error, Spec: "S26/basic/transports/streamable-http (headers)", Since: v2607, Needs: Heads, On: isRequest, For: isPost, Token: "headers",
			Check: func(m *message) Verdict { return headerSays(m, "mcp-method", m.method) }},
		{ID: "header-name", Text: "repeat the name of the tool or prompt, the URI or the task's id in Mcp-Name", Weight: Error, Spec: "S26/basic/transports/streamable-http (headers)", Since: v2607, Needs: Heads | Payload, On: isRequest, Token: "headers",
			For: func(m *message) bool {
				_, named := m.argument()
				return isPost(m) && named
			},
			Check: func(m *message) Verdict {
				name, _ := m.argument()
				return headerSays(m, "mcp-name", name)
			}},
		{ID: "header-param", Text: "repeat the arguments that a tool marks with x-mcp-header in Mcp-Param-…", Weight: Error, Spec: "S26/basic/transports/streamable-http (x-mcp-header)", Since: v2607, Needs: Heads | Payload, On: isRequest, Token: "headers",
			For: func(m *message) bool {
				return isPost(m) && m.method == "tools/call" && m.server.headers[string(m.Name)] != nil
			}, Check: checkParams},
		{ID: "header-mismatch-rejected", Text: "answer a request whose headers are absent or differ from its body with -32020", Weight: Error, Spec: "S26/basic/transports/streamable-http (status codes)", Since: v2607, On: isAnswer,
			For: func(m *message) bool { return m.request != nil && m.request.badHeaders && m.server.modern > 0 },
			Check: func(m *message) Verdict {
				code, _ := m.code()
				return want(m.kind == isError && (code == -32020 || code == -32022 || code == -32602), "a request whose headers are wrong is not answered with -32020")
			}},
		{ID: "status-of-code", Text: "answer with the HTTP status that belongs to the error", Weight: Error, Spec: "S26/basic/transports/streamable-http (status codes)", Since: v2607, On: isError,
			For: func(m *message) bool { return m.More.HasStatus && !streamed(m) && m.Dir == frame.S2C }, Check: onCode(checkStatus)},
		{ID: "accepted-202", Text: "answer an accepted notification or response with 202 and no body", Weight: Error, Spec: "S26/basic/transports/streamable-http; S25b/basic/transports", Since: v2503, Needs: Heads, On: isHead,
			For: func(m *message) bool { return answerHead(m) && m.posted == nil && m.postedNotice }, Check: func(m *message) Verdict {
				h := m.http()
				switch {
				case h.Status >= 400:
					return keep
				case h.Status != 202:
					return breaks("it is answered with %d", h.Status)
				}
				return want(h.Empty, "202 has a body")
			}},
		{ID: "response-type", Text: "answer a request with application/json or text/event-stream", Weight: Error, Spec: "S26/basic/transports/streamable-http; S25b/basic/transports", Since: v2503, Needs: Heads, On: isHead,
			For: func(m *message) bool { return answerHead(m) && m.posted != nil && m.http().Status < 300 }, Check: func(m *message) Verdict {
				t, _, _ := strings.Cut(strings.ToLower(m.http().Get("content-type")), ";")
				if t = strings.TrimSpace(t); t == "" && m.http().Of.Gone {
					return unclear("the client had closed the connection")
				}
				return want(t == "application/json" || t == "text/event-stream", "the content type is %q", t)
			}},
		{ID: "get-answer", Text: "answer GET with a stream of events or with 405", Weight: Error, Spec: "S25b/basic/transports", Since: v2503, Until: v2511, Needs: Heads, On: isHead,
			For: func(m *message) bool { return answerHead(m) && m.http().Of.Verb == "GET" }, Check: func(m *message) Verdict {
				h := m.http()
				return want(h.Stream() || h.Status == 405 || h.Status >= 400 && h.Status != 200, "GET is answered with %d and no stream", h.Status)
			}},
		{ID: "get-delete-405", Text: "answer GET and DELETE with 405", Weight: Warning, Spec: "S26/basic/transports/streamable-http", Needs: Heads, On: isHead,
			For: func(m *message) bool {
				return answerHead(m) && (m.http().Of.Verb == "GET" || m.http().Of.Verb == "DELETE") && m.server.modern > 0 && m.server.inits == 0
			},
			Check: func(m *message) Verdict {
				return want(m.http().Status == 405, "%s is answered with %d", m.http().Of.Verb, m.http().Status)
			}},
		{ID: "get-stream-no-responses", Text: "send no response on a stream of GET unless it resumes one", Weight: Error, Spec: "S25b/basic/transports", Since: v2503, Until: v2511, Needs: Heads, On: isAnswer,
			For: func(m *message) bool {
				return m.Dir == frame.S2C && m.http() != nil && m.http().Event != nil && m.http().Of != nil && m.http().Of.Verb == "GET"
			},
			Check: func(m *message) Verdict {
				return want(m.http().Of.Get("last-event-id") != "", "a response on a stream of GET")
			}},
		{ID: "priming-event", Text: "open a stream with an event that has an id and no data", Weight: Warning, Spec: "S25b/basic/transports", Since: v2511, Until: v2511, Needs: Heads, On: isHead | isAny,
			For: func(m *message) bool {
				return m.Dir == frame.S2C && m.http() != nil && m.http().Event != nil && m.firstEvent && m.posted != nil
			}, Check: func(m *message) Verdict {
				return want(m.kind == isHead && m.http().Event.HasID, "the stream's first event has no id, or has data")
			}},
		{ID: "event-id-unique", Text: "use an event id once in a session", Weight: Error, Spec: "S25b/basic/transports", Since: v2503, Until: v2511, Needs: Heads, On: isHead | isAny,
			For: func(m *message) bool {
				return m.Dir == frame.S2C && m.http() != nil && m.http().Event != nil && m.http().Event.HasID
			}, Check: func(m *message) Verdict {
				if m.eventBefore == nil || m.replay {
					return keep
				}
				return breaks("the event id was used before").citing(m.eventBefore.line)
			}},
		{ID: "resume-own-stream", Text: "replay after Last-Event-ID only events of the stream that is resumed", Weight: Error, Spec: "S25b/basic/transports", Since: v2503, Until: v2511, Needs: Heads, On: isHead | isAny | isInvalid,
			For: func(m *message) bool { return m.replay }, Check: func(m *message) Verdict {
				if m.resumed == nil {
					return unclear("the stream that is resumed is not in the log")
				}
				return want(m.resumed.exchange == m.eventBefore.exchange, "an event of another stream is replayed").citing(m.eventBefore.line)
			}},
		{ID: "modern-event-id", Text: "leave event ids and retry out: streams cannot be resumed any more", Weight: Info, Spec: "S26/changelog", Since: v2607, Needs: Heads, On: isHead | isAny,
			For: func(m *message) bool { return m.Dir == frame.S2C && m.http() != nil && m.http().Event != nil },
			Check: func(m *message) Verdict {
				return want(!m.http().Event.HasID && m.http().Event.Retry == "", "the event has an id or a retry")
			}},
		{ID: "no-buffering", Text: "send X-Accel-Buffering: no with a stream of events", Weight: Warning, Spec: "S26/basic/transports/streamable-http", Since: v2607, Needs: Heads, On: isHead,
			For: func(m *message) bool { return answerHead(m) && m.http().Stream() },
			Check: func(m *message) Verdict {
				return want(strings.EqualFold(m.http().Get("x-accel-buffering"), "no"), "X-Accel-Buffering: no is absent")
			}},
		{ID: "modern-session", Text: "mint no Mcp-Session-Id: 2026-07-28 has no sessions", Weight: Warning, Spec: "S26/basic/transports/streamable-http", Since: v2607, Needs: Heads, On: isHead, For: answerHead,
			Check: func(m *message) Verdict {
				return want(m.http().Get("mcp-session-id") == "", "an answer brings Mcp-Session-Id")
			}},
		{ID: "session-id-visible", Text: "make a session id of visible ASCII characters", Weight: Error, Spec: "S25b/basic/transports", Since: v2503, Until: v2511, Needs: Heads, On: isHead,
			For: func(m *message) bool { return answerHead(m) && m.http().Get("mcp-session-id") != "" },
			Check: func(m *message) Verdict {
				return want(all(m.http().Get("mcp-session-id"), func(c byte) bool { return c > 0x20 && c < 0x7F }), "the session id holds other characters")
			}},
		{ID: "session-id-sent", Text: "send the session's Mcp-Session-Id with every request after initialize", Weight: Error, Spec: "S25b/basic/transports", Since: v2503, Until: v2511, Needs: Heads, On: isAny,
			For: func(m *message) bool { return isPost(m) && m.method != "initialize" },
			Check: func(m *message) Verdict {
				switch {
				case m.http().Get("mcp-session-id") != "" || m.server.sessions == 0:
					return keep
				case m.server.sessions < m.server.inits:
					return unclear("only some clients were given a session")
				}
				return breaks("Mcp-Session-Id is absent")
			}},
		{ID: "legacy-version-header", Text: "send MCP-Protocol-Version with every request after initialize", Weight: Error, Spec: "S25b/basic/transports", Since: v2506, Until: v2511, Needs: Heads, On: isAny,
			For: func(m *message) bool { return isPost(m) && m.method != "initialize" }, Check: func(m *message) Verdict {
				v := m.http().Get("mcp-protocol-version")
				switch {
				case v == "":
					return breaks("MCP-Protocol-Version is absent")
				case m.scope.handshake != nil && m.scope.handshake.version != "" && m.scope.name != "http":
					return want(v == m.scope.handshake.version, "MCP-Protocol-Version is not the negotiated version")
				}
				return keep
			}},
	}
}

func hasHead(m *message) bool { return m.http() != nil }

func isPost(m *message) bool { return m.Dir == frame.C2S && m.http() != nil }

// answerHead reports whether the message is the head of an HTTP answer to a request that the log has.
func answerHead(m *message) bool {
	h := m.http()
	return h != nil && h.Of != nil && h.Event == nil
}

func accepts(list, kind string) bool {
	for _, item := range strings.Split(list, ",") {
		item, _, _ = strings.Cut(item, ";")
		if item = strings.TrimSpace(item); item == kind || item == "*/*" || item == strings.Split(kind, "/")[0]+"/*" {
			return true
		}
	}
	return false
}

// headerSays compares a header with the value that the body has.
func headerSays(m *message, name, value string) Verdict {
	got := m.http().Get(name)
	switch {
	case got == "":
		return lacks(headerNames[name])
	case decodeHeader(got) != value:
		return breaks("%s differs from the body", headerNames[name])
	}
	return keep
}

var headerNames = map[string]string{"mcp-protocol-version": "MCP-Protocol-Version", "mcp-method": "Mcp-Method", "mcp-name": "Mcp-Name"}

// decodeHeader takes off the coding of values that are no plain ASCII.
func decodeHeader(s string) string {
	if b64, ok := strings.CutPrefix(s, "=?base64?"); ok {
		if b64, ok = strings.CutSuffix(b64, "?="); ok {
			if b, err := base64.StdEncoding.DecodeString(b64); err == nil {
				return string(b)
			}
		}
	}
	return s
}

func checkParams(m *message) Verdict {
	arguments := m.params.object("arguments")
	headers := m.server.headers[string(m.Name)]
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		header := headers[name]
		v, has := arguments[name]
		got, sent := m.http().Header["mcp-param-"+strings.ToLower(header)]
		switch has = has && v != nil; {
		case has && !sent:
			return lacks("Mcp-Param-" + header)
		case !has && sent:
			return breaks("Mcp-Param-%s is sent for an argument that is absent", header)
		case has && !sameValue(decodeHeader(got), v):
			return breaks("Mcp-Param-%s differs from the argument", header)
		}
	}
	return keep
}

// sameValue compares a header with an argument; integers by their value.
func sameValue(header string, v any) bool {
	switch v := v.(type) {
	case string:
		return header == v
	case bool:
		return header == strconv.FormatBool(v)
	case json.Number:
		a, err1 := strconv.ParseFloat(header, 64)
		b, err2 := v.Float64()
		return err1 == nil && err2 == nil && a == b
	}
	return false
}

// streamed reports whether the message came as an event: the status then was sent before.
func streamed(m *message) bool { return m.http() != nil && m.http().Event != nil }

// statuses are the HTTP statuses that the modern spec binds to a code.
var statuses = map[int64]int64{-32020: 400, -32021: 400, -32022: 400, -32601: 404}

func checkStatus(m *message, code int64) Verdict {
	status, bound := statuses[code]
	if code == -32602 && m.request != nil && m.request.incomplete {
		status, bound = 400, true
	}
	switch {
	case !bound || m.More.Status == status:
		return keep
	case !modernCode(code) && m.server.modern == 0:
		return unclear("nothing shows that the server is a modern one")
	}
	return breaks("%d came with HTTP status %d, not %d", code, m.More.Status, status)
}

// event is a server-sent event that had an id.
type event struct {
	line     uint32
	exchange string
}

// relateHTTP finds what a message of HTTP refers to.
func (a *Auditor) relateHTTP(m *message) {
	h := m.http()
	if h == nil {
		return
	}
	m.posted, m.postedNotice = a.posted[m.exchange()], a.notices[m.exchange()]
	if h.Event == nil {
		return
	}
	m.firstEvent = !a.streams[m.exchange()]
	a.streams[m.exchange()] = true
	if h.Event.HasID {
		key, after := m.scope.name+" "+h.Event.ID, h.Of.Get("last-event-id")
		m.eventBefore, m.resumed = a.events[key], a.events[m.scope.name+" "+after]
		if m.replay = m.eventBefore != nil && after != ""; !m.replay {
			a.events[key] = &event{m.line, m.exchange()}
		}
	}
}

func (a *Auditor) rememberHTTP(m *message) {
	if m.http() != nil && m.Dir == frame.C2S && m.kind&(isNotice|isAnswer) != 0 {
		a.notices[m.exchange()] = true
	}
	if len(a.posted) > maxRemembered {
		clear(a.posted)
	}
}
