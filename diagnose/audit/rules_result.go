package audit

import (
	"slices"
	"strings"

	"mcpdiag/ingest/frame"
)

// resultRules are about what 2026-07-28 wants in results.
func resultRules() []Rule {
	return []Rule{
		{ID: "result-type", Text: "put resultType, a string, into every result", Weight: Error, Spec: "S26/basic/index (results)", Since: v2607, On: isSuccess, Token: "resultType", Voids: true, For: fromServer,
			Check: checkResultType,
			Fix:   func(o object) { resultOf(o)["resultType"] = "complete" }},
		{ID: "result-type-known", Text: "use complete, input_required, or a type of an extension that the request declared", Weight: Error, Spec: "S26/basic/index (results)", Since: v2607, On: isSuccess, Token: "resultType", Voids: true, For: fromServer,
			Check: checkResultTypeKnown},
		{ID: "legacy-shaped-answer", Text: "answer a modern request as 2026-07-28 has it, or with an error: this is a legacy-shaped answer to a modern request", Weight: Info, Spec: "S26/basic/versioning", Since: v2607, Needs: Payload, On: isSuccess, For: fromServer,
			Check: func(m *message) Verdict {
				return want(m.resultType() != "" || m.request == nil || m.request.era != Modern, "a legacy-shaped answer to a modern request")
			}},
		{ID: "input-required-method", Text: "answer only tools/call, prompts/get and resources/read with input_required", Weight: Error, Spec: "S26/basic/patterns/mrtr", Since: v2607, On: isSuccess, For: asksInput,
			Check: func(m *message) Verdict {
				return want(mayAskInput(m.request.method), "%s is answered with input_required", m.request.method)
			}},
		{ID: "input-required-content", Text: "give an input_required result inputRequests or requestState", Weight: Error, Spec: "S26/basic/patterns/mrtr", Since: v2607, Needs: Payload, On: isSuccess, For: asksInput,
			Check: func(m *message) Verdict {
				return want(m.result.isObject("inputRequests") || m.result.isText("requestState"), "it has neither inputRequests nor requestState")
			}},
		{ID: "input-requests", Text: "make each of inputRequests a method and params of elicitation/create, sampling/createMessage or roots/list", Weight: Error, Spec: "S26/basic/patterns/mrtr", Since: v2607, Needs: Payload, On: isSuccess,
			For: func(m *message) bool { return asksInput(m) && (m.doc == nil || m.result.has("inputRequests")) }, Check: checkInputRequests},
		{ID: "input-capability", Text: "ask only for input whose capability this very request declared", Weight: Error, Spec: "S26/basic/patterns/mrtr", Since: v2607, Needs: Payload, On: isSuccess,
			For: func(m *message) bool { return asksInput(m) && (m.doc == nil || m.result.has("inputRequests")) }, Check: checkInputCapability},
		{ID: "server-info", Text: "put " + prefix + "serverInfo into result._meta", Weight: Warning, Spec: "S26/basic/index (_meta)", Since: v2607, Needs: Payload, On: isSuccess, Token: "serverInfo", For: fromServer,
			Check: func(m *message) Verdict {
				if m.result.object("_meta").has(prefix + "serverInfo") {
					return keep
				}
				return lacks("serverInfo")
			},
			Fix: func(o object) {
				r := resultOf(o)
				if !r.isObject("_meta") {
					r["_meta"] = map[string]any{}
				}
				r.object("_meta")[prefix+"serverInfo"] = map[string]any{"name": "example-server", "version": "1.0.0"}
			}},
		{ID: "server-info-shape", Text: "give serverInfo a name and a version, both strings", Weight: Error, Spec: "S26/basic/index (_meta); schema Implementation", Since: v2607, Needs: Payload, On: isSuccess, Token: "serverInfo",
			For: func(m *message) bool { return m.result.object("_meta").has(prefix + "serverInfo") },
			Check: func(m *message) Verdict {
				return implementation(m.result.object("_meta").object(prefix+"serverInfo"), "serverInfo")
			}},
		{ID: "ttl-ms", Text: "put ttlMs, an integer of 0 or more, into complete results of server/discover, lists and resources/read", Weight: Error, Spec: "S26/server/utilities/caching", Since: v2607, Needs: Payload, On: isSuccess, Token: "ttlMs", For: isCacheable,
			Check: func(m *message) Verdict {
				n, ok := integer(m.result["ttlMs"])
				if ok = ok || isInteger(m.result["ttlMs"]) && !strings.HasPrefix(token(m.result["ttlMs"]), "-"); ok && n >= 0 {
					return keep
				}
				return faulty(m.result, "ttlMs", "an integer of 0 or more")
			},
			Fix: func(o object) { resultOf(o)["ttlMs"] = 0 }},
		{ID: "cache-scope", Text: `put cacheScope, "public" or "private", into complete results of server/discover, lists and resources/read`, Weight: Error, Spec: "S26/server/utilities/caching", Since: v2607, Needs: Payload, On: isSuccess, Token: "cacheScope", For: isCacheable,
			Check: func(m *message) Verdict {
				if s := m.result.text("cacheScope"); s == "public" || s == "private" {
					return keep
				}
				return faulty(m.result, "cacheScope", `"public" or "private"`)
			},
			Fix: func(o object) { resultOf(o)["cacheScope"] = "private" }},
		{ID: "cache-scope-pages", Text: "give all pages of a list the same cacheScope", Weight: Error, Spec: "S26/server/utilities/caching", Since: v2607, Needs: Payload, On: isSuccess,
			For: func(m *message) bool { return m.page != nil && isCacheable(m) },
			Check: func(m *message) Verdict {
				return want(m.result.text("cacheScope") == m.page.scope, "cacheScope changes between pages").citing(m.page.line)
			}},
		{ID: "tool-order", Text: "list tools in the same order as long as the set is the same", Weight: Warning, Spec: "S26/server/tools", Since: v2607, Needs: Payload, On: isSuccess,
			For: func(m *message) bool { return m.listing != nil },
			Check: func(m *message) Verdict {
				return want(slices.Equal(m.names, m.listing.names), "the same tools come in another order").citing(m.listing.line)
			}},
		{ID: "header-annotation", Text: "name in x-mcp-header a token, once in a schema, and only of a string, integer or boolean", Weight: Error, Spec: "S26/basic/transports/streamable-http (x-mcp-header)", Since: v2607, Needs: Payload, On: isSuccess,
			For: func(m *message) bool { return m.request != nil && m.request.method == "tools/list" && len(m.names) > 0 }, Check: checkAnnotations},
		{ID: "task-handle", Text: "answer with a task only tools/call, only where the request declared the extension, and with all its members", Weight: Error, Spec: "ext-tasks", Since: v2607, Needs: Payload, On: isSuccess,
			For: func(m *message) bool { return m.request != nil && m.resultType() == "task" }, Check: checkTask},
		{ID: "listen-result", Text: "end a subscription with a result that names it in _meta", Weight: Error, Spec: "S26/basic/patterns/subscriptions", Since: v2607, Needs: Payload, On: isSuccess,
			For: func(m *message) bool { return m.request != nil && m.request.method == "subscriptions/listen" },
			Check: func(m *message) Verdict {
				meta := m.result.object("_meta")
				if !meta.has(prefix + "subscriptionId") {
					return lacks("subscriptionId")
				}
				return want(token(meta[prefix+"subscriptionId"]) == token(m.doc["id"]), "subscriptionId is not the id of the request")
			}},
		{ID: "discover-implemented", Text: "implement server/discover", Weight: Error, Spec: "S26/server/discover", Since: v2607, On: isSuccess | isError, For: fromServer, Check: checkDiscover},
		{ID: "release-candidate", Text: "follow the release of 2026-07-28: this is its release-candidate shape", Weight: Warning, Spec: "tag 2026-07-28-RC", Since: v2607, Needs: Payload, On: isAnswer, For: fromServer, Check: checkCandidate},
		{ID: "metadata-rejected", Text: "answer a request without its required metadata with -32602", Weight: Error, Spec: "S26/basic/index (_meta)", Since: v2607, On: isAnswer,
			For: func(m *message) bool { return m.request != nil && m.request.incomplete && m.server.modern > 0 },
			Check: func(m *message) Verdict {
				code, _ := m.code()
				return want(m.kind == isError && (code == -32602 || code == -32020), "a request without its metadata is not answered with -32602")
			}},
	}
}

func fromServer(m *message) bool { return m.Dir != frame.C2S }

// resultType is the type of a success; "" when it has none.
func (m *message) resultType() string {
	if m.doc != nil {
		return m.result.text("resultType")
	}
	return string(m.More.ResultType)
}

func resultOf(o object) object {
	if !o.isObject("result") {
		o["result"] = map[string]any{}
	}
	return o.object("result")
}

func checkResultType(m *message) Verdict {
	switch {
	case m.resultType() != "":
		return keep
	case m.doc == nil:
		return unclear("the log has no payload")
	}
	return faulty(m.result, "resultType", "a string")
}

func checkResultTypeKnown(m *message) Verdict {
	switch t := m.resultType(); {
	case t == "":
		return Verdict{}
	case t == "complete" || t == "input_required":
		return keep
	case m.request == nil || m.request.meta == nil:
		return unclear("the request, which declares extensions, is not in the log")
	case t == "task":
		return want(m.request.declared("extensions", tasksExtension), "the type task is of an extension that the request did not declare")
	case len(m.request.meta.object(prefix+"clientCapabilities").object("extensions")) > 0:
		return unclear("it may be of an extension that the request declared")
	default:
		return breaks("the type %q is unknown", t)
	}
}

func asksInput(m *message) bool { return m.request != nil && m.resultType() == "input_required" }

// isCacheable: what is not complete carries no lifetime, and what has no type at all may be a legacy answer, which
// another rule reports; it is judged as complete all the same.
func isCacheable(m *message) bool {
	return m.request != nil && cacheable(m.request.method) && fromServer(m) && (m.resultType() == "complete" || m.resultType() == "")
}

func checkInputRequests(m *message) Verdict {
	for _, v := range m.result.object("inputRequests").inOrder() {
		r := asObject(v)
		switch method := r.text("method"); {
		case r == nil:
			return breaks("one of inputRequests is no object")
		case method != "elicitation/create" && method != "sampling/createMessage" && method != "roots/list":
			return breaks("inputRequests holds the method %q", method)
		case r.has("jsonrpc") || r.has("id"):
			return breaks("inputRequests holds a whole JSON-RPC request")
		case r.has("params") && !r.isObject("params"):
			return breaks("params of one of inputRequests is no object")
		}
	}
	return want(m.result.isObject("inputRequests"), "inputRequests is no object")
}

func checkInputCapability(m *message) Verdict {
	if m.request.meta == nil {
		return unclear("the request's payload is not in the log")
	}
	for _, v := range m.result.object("inputRequests").inOrder() {
		r := asObject(v)
		if name := wantedCapability(r.text("method"), r.object("params")); name != "" && !m.request.allows(name) {
			return breaks("%s without the capability %s", r.text("method"), name)
		}
	}
	return keep
}

// wantedCapability is what a client must have declared to be asked.
func wantedCapability(method string, params object) string {
	switch method {
	case "elicitation/create":
		if params.text("mode") == "url" {
			return "elicitation.url"
		}
		return "elicitation.form"
	case "sampling/createMessage":
		if params.has("tools") || params.has("toolChoice") {
			return "sampling.tools"
		}
		return "sampling"
	case "roots/list":
		return "roots"
	}
	return ""
}

// allows reports whether the request's own metadata declares a capability. An empty elicitation declares forms.
func (m *message) allows(name string) bool {
	if name == "elicitation.form" {
		e := m.meta.object(prefix + "clientCapabilities").object("elicitation")
		return e != nil && (len(e) == 0 || e.isObject("form"))
	}
	return m.declared(strings.Split(name, ".")...)
}

func checkAnnotations(m *message) Verdict {
	for _, t := range m.result.list("tools") {
		seen := map[string]bool{}
		for name, v := range asObject(t).object("inputSchema").object("properties").inOrder() {
			p := asObject(v)
			if !p.has("x-mcp-header") {
				continue
			}
			header, kind := p.text("x-mcp-header"), p.text("type")
			switch {
			case !httpToken(header):
				return breaks("x-mcp-header of %q is no token", name)
			case seen[strings.ToLower(header)]:
				return breaks("the header %q is there twice", header)
			case kind != "string" && kind != "integer" && kind != "boolean":
				return breaks("x-mcp-header of %q, whose type is %q", name, kind)
			}
			seen[strings.ToLower(header)] = true
		}
	}
	return keep
}

func httpToken(s string) bool {
	return s != "" && all(s, func(c byte) bool { return alphanumeric(c) || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0 })
}

func checkTask(m *message) Verdict {
	switch {
	case m.request.method != "tools/call":
		return breaks("%s is answered with a task", m.request.method)
	case m.request.meta != nil && !m.request.declared("extensions", tasksExtension):
		return breaks("the request did not declare the extension")
	}
	for _, name := range [...]string{"taskId", "status", "createdAt", "lastUpdatedAt"} {
		if !m.result.isText(name) {
			return faulty(m.result, name, "a string")
		}
	}
	if ttl, has := m.result["ttlMs"]; !has || ttl != nil && !isInteger(ttl) {
		return faulty(m.result, "ttlMs", "an integer or null")
	}
	return keep
}

// checkDiscover: whether a server implements it shows only where it was asked.
func checkDiscover(m *message) Verdict {
	code, _ := m.code()
	discover := m.request != nil && m.request.method == "server/discover"
	switch {
	case m.kind == isSuccess && discover:
		return keep
	case m.kind == isError && discover && code == -32601 && m.server.modern > 0:
		return breaks("server/discover is not implemented, by a server that answers as a modern one").citing(m.server.modern)
	case m.kind == isSuccess && m.server.modern == 0 && m.server.noDiscover > 0 && m.resultType() != "":
		return breaks("server/discover is not implemented, by a server that answers as a modern one").citing(m.server.noDiscover)
	}
	return Verdict{}
}

func checkCandidate(m *message) Verdict {
	code, _ := m.code()
	data := m.errorObject.object("data")
	switch {
	case m.kind == isSuccess && m.result.isObject("serverInfo") && m.request != nil && m.request.method == "server/discover":
		return breaks("2026-07-28 release-candidate shape: serverInfo at the top of the result")
	case code == -32001 && strings.Contains(strings.ToLower(m.errorObject.text("message")), "header"):
		return breaks("2026-07-28 release-candidate shape: -32001 for a header mismatch, now -32020")
	case code == -32003 && data.has("requiredCapabilities"):
		return breaks("2026-07-28 release-candidate shape: -32003 for a missing capability, now -32021")
	case code == -32004 && data.has("supported"):
		return breaks("2026-07-28 release-candidate shape: -32004 for an unsupported version, now -32022")
	}
	return Verdict{}
}
