package audit

import (
	"regexp"
	"slices"
	"strings"

	"mcpdiag/ingest/frame"
)

// modernRules are about what 2026-07-28 wants in requests and results.
func modernRules() []Rule {
	return append(requestRules(), resultRules()...)
}

func requestRules() []Rule {
	return []Rule{
		{ID: "protocol-version", Text: "put " + prefix + "protocolVersion, a string, into params._meta of every request", Weight: Error, Spec: "S26/basic/index (_meta)", Since: v2607, Needs: Payload, On: isRequest, Token: "metadata", Voids: true,
			For: fromClient,
			Check: func(m *message) Verdict {
				return metaMember(m, "protocolVersion", m.meta.isText(prefix+"protocolVersion"), "a string")
			},
			Fix: func(o object) { metaOf(o)[prefix+"protocolVersion"] = v2607 }},
		{ID: "client-capabilities", Text: "put " + prefix + "clientCapabilities, an object, into params._meta of every request", Weight: Error, Spec: "S26/basic/index (_meta)", Since: v2607, Needs: Payload, On: isRequest, Token: "metadata", Voids: true,
			For: fromClient,
			Check: func(m *message) Verdict {
				return metaMember(m, "clientCapabilities", m.meta.isObject(prefix+"clientCapabilities"), "an object")
			},
			Fix: func(o object) { metaOf(o)[prefix+"clientCapabilities"] = map[string]any{} }},
		{ID: "client-info", Text: "put " + prefix + "clientInfo into params._meta of every request", Weight: Warning, Spec: "S26/basic/index (_meta)", Since: v2607, Needs: Payload, On: isRequest, Token: "clientInfo",
			For: fromClient,
			Check: func(m *message) Verdict {
				if m.meta.has(prefix + "clientInfo") {
					return keep
				}
				return lacks("clientInfo")
			},
			Fix: func(o object) {
				metaOf(o)[prefix+"clientInfo"] = map[string]any{"name": "example-client", "version": "1.0.0"}
			}},
		{ID: "client-info-shape", Text: "give clientInfo a name and a version, both strings", Weight: Error, Spec: "S26/basic/index (_meta); schema Implementation", Since: v2607, Needs: Payload, On: isRequest, Token: "clientInfo",
			For:   func(m *message) bool { return m.doc == nil || m.meta.has(prefix+"clientInfo") },
			Check: func(m *message) Verdict { return implementation(m.meta.object(prefix+"clientInfo"), "clientInfo") }},
		{ID: "log-level-known", Text: "ask for one of the eight log levels", Weight: Error, Spec: "S26/server/utilities/logging", Since: v2607, Needs: Payload, On: isRequest,
			For: func(m *message) bool { return m.meta.has(prefix + "logLevel") },
			Check: func(m *message) Verdict {
				return want(levelOf(m.meta.text(prefix+"logLevel")) >= 0, "the log level is unknown")
			}},
		{ID: "trace-context", Text: "write traceparent as W3C Trace Context has it", Weight: Error, Spec: "S26/basic/index (_meta)", Since: v2607, Needs: Payload, On: isRequest | isNotice,
			For: func(m *message) bool {
				return m.meta.has("traceparent") || m.meta.has("tracestate") || m.meta.has("baggage")
			},
			Check: checkTrace},
		{ID: "version-modern", Text: "declare a modern version in params._meta: for a legacy one the answer is -32022, unless the server has it", Weight: Info, Spec: "S26/basic/versioning", Since: v2607, Needs: Payload, On: isRequest,
			For: func(m *message) bool { return m.meta.isText(prefix + "protocolVersion") },
			Check: func(m *message) Verdict {
				v := m.meta.text(prefix + "protocolVersion")
				return want(v >= v2607, "the declared version %s is a legacy one", v)
			}},
		{ID: "server-request", Text: "ask the client by an input_required result: a server sends no requests", Weight: Error, Spec: "S26/basic/patterns/mrtr", Since: v2607, On: isRequest, Voids: true,
			For: func(m *message) bool { return m.Dir == frame.S2C }, Check: func(m *message) Verdict { return breaks("the server sent the request %s", m.method) }},
		{ID: "client-response", Text: "send no JSON-RPC responses to a server: input goes into the retried request", Weight: Error, Spec: "S26/basic/patterns/mrtr; S26/basic/transports", Since: v2607, On: isAnswer, Voids: true,
			For: func(m *message) bool { return m.Dir == frame.C2S }, Check: func(m *message) Verdict { return breaks("the client sent a response") }},
		{ID: "mrtr-new-id", Text: "retry with another id", Weight: Error, Spec: "S26/basic/patterns/mrtr", Since: v2607, Needs: Payload, On: isRequest, For: isRetry,
			Check: onLeg(func(m *message) Verdict {
				return want(string(m.ID) != string(m.leg.id), "the retry has the id of the request")
			})},
		{ID: "mrtr-request-state", Text: "repeat requestState exactly as it was given, and send none when none was", Weight: Error, Spec: "S26/basic/patterns/mrtr", Since: v2607, Needs: Payload, On: isRequest, For: isRetry,
			Check: onLeg(checkState)},
		{ID: "mrtr-keys", Text: "answer inputRequests under their own keys", Weight: Error, Spec: "S26/basic/patterns/mrtr", Since: v2607, Needs: Payload, On: isRequest, For: isRetry,
			Check: onLeg(checkKeys)},
		{ID: "mrtr-same-request", Text: "retry with the same method and params", Weight: Error, Spec: "S26/basic/patterns/mrtr", Since: v2607, Needs: Payload, On: isRequest, For: isRetry,
			Check: onLeg(func(m *message) Verdict {
				return want(base(m.params) == m.leg.base, "the retry's params differ from the request's")
			})},
		{ID: "listen-filter", Text: "say in params.notifications, an object, what to listen to", Weight: Error, Spec: "S26/basic/patterns/subscriptions", Since: v2607, Needs: Payload, On: isRequest,
			For: func(m *message) bool { return m.method == "subscriptions/listen" }, Check: checkFilter},
		{ID: "tasks-extension", Text: "declare the extension " + tasksExtension + " in each request of it", Weight: Error, Spec: "ext-tasks", Since: v2607, Needs: Payload, On: isRequest,
			For: func(m *message) bool {
				return m.call != nil && m.call.Extension == tasksExtension && m.Dir == frame.C2S
			},
			Check: func(m *message) Verdict {
				return want(m.declared("extensions", tasksExtension), "the request does not declare the extension")
			}},
		{ID: "deprecated", Text: "plan without Roots, Sampling and Logging: 2026-07-28 deprecates them", Weight: Info, Spec: "S26/deprecated", Since: v2607, Needs: Payload, On: isRequest | isSuccess,
			For: func(m *message) bool { return m.meta.has(prefix+"logLevel") || m.result.has("inputRequests") }, Check: checkDeprecated},
		{ID: "notification-over-http", Text: "close the response stream to cancel: over HTTP the core protocol has no notification of a client", Weight: Info, Spec: "S26/basic/transports/streamable-http", Since: v2607, On: isNotice,
			For: func(m *message) bool { return m.Dir == frame.C2S && m.overHTTP() }, Check: func(m *message) Verdict { return breaks("%s over HTTP", m.method) }},
	}
}

func fromClient(m *message) bool { return m.Dir != frame.S2C }

func metaMember(m *message, name string, ok bool, kind string) Verdict {
	switch {
	case ok:
		return keep
	case !m.meta.has(prefix + name):
		return lacks(name)
	}
	return breaks("%s is not %s", name, kind)
}

// metaOf is params._meta of a message, made where it is not there.
func metaOf(o object) object {
	for _, name := range [...]string{"params", "_meta"} {
		if !o.isObject(name) {
			o[name] = map[string]any{}
		}
		o = o.object(name)
	}
	return o
}

func implementation(o object, what string) Verdict {
	return want(o.isText("name") && o.isText("version"), "%s has no name and version", what)
}

// levelOf is the rank of a log level; -1 when it is none.
func levelOf(s string) int {
	return slices.Index([]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}, s)
}

func checkTrace(m *message) Verdict {
	for _, name := range [...]string{"traceparent", "tracestate", "baggage"} {
		if m.meta.has(name) && !m.meta.isText(name) {
			return breaks("%s is no string", name)
		}
	}
	if !m.meta.has("traceparent") {
		return keep
	}
	ok, _ := regexp.MatchString("^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}", m.meta.text("traceparent"))
	return want(ok, "traceparent is malformed")
}

func isRetry(m *message) bool {
	return m.params.has("inputResponses") || m.params.has("requestState")
}

// onLeg judges a retry by the answer that asked for it.
func onLeg(check func(*message) Verdict) func(*message) Verdict {
	return func(m *message) Verdict {
		if m.leg == nil {
			return unclear("the answer that asked for the input is not in the log")
		}
		return check(m).citing(m.leg.line)
	}
}

func checkState(m *message) Verdict {
	state, has := m.params["requestState"]
	switch {
	case !m.leg.hasState:
		return want(!has, "requestState is sent though none was given")
	case !has:
		return lacks("requestState")
	}
	return want(state == m.leg.state, "requestState is not what was given")
}

func checkKeys(m *message) Verdict {
	var keys []string
	for k := range m.params.object("inputResponses") {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return want(slices.Equal(keys, m.leg.keys), "the keys of inputResponses are not those of inputRequests")
}

func checkFilter(m *message) Verdict {
	f := m.params.object("notifications")
	if f == nil {
		return faulty(m.params, "notifications", "an object")
	}
	for name, v := range f {
		list, isList := v.([]any)
		_, isBool := v.(bool)
		switch name {
		case "resourceSubscriptions", "taskIds":
			if !isList || !allText(list) {
				return breaks("%s is no array of strings", name)
			}
		case "toolsListChanged", "promptsListChanged", "resourcesListChanged":
			if !isBool {
				return breaks("%s is no boolean", name)
			}
		}
	}
	return keep
}

func checkDeprecated(m *message) Verdict {
	if m.meta.has(prefix + "logLevel") {
		return breaks("logLevel asks for Logging, which is deprecated")
	}
	for _, r := range m.result.object("inputRequests") {
		if method := asObject(r).text("method"); method == "sampling/createMessage" || method == "roots/list" {
			return breaks("%s is deprecated", method)
		}
	}
	return keep
}

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
	for _, v := range m.result.object("inputRequests") {
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
	for _, v := range m.result.object("inputRequests") {
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
		for name, v := range asObject(t).object("inputSchema").object("properties") {
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
