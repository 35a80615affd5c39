package audit

import (
	"regexp"
	"slices"

	"mcpdiag/ingest/frame"
)

// requestRules are about what 2026-07-28 wants in requests.
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
	for name, v := range f.inOrder() {
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
	for _, r := range m.result.object("inputRequests").inOrder() {
		if method := asObject(r).text("method"); method == "sampling/createMessage" || method == "roots/list" {
			return breaks("%s is deprecated", method)
		}
	}
	return keep
}
