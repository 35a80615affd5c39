package audit

import (
	"strings"

	"mcpdiag/ingest/frame"
)

// errorRules are about error codes and their data, and about the members of results.
func errorRules() []Rule {
	return []Rule{
		{ID: "unsupported-version-data", Text: "put supported, an array of strings, and requested, a string, into data of -32022", Weight: Error, Spec: "S26/basic/versioning; schema UnsupportedProtocolVersionError", Needs: Payload, On: isError, Token: "data",
			For: hasCode(-32022), Check: func(m *message) Verdict {
				data := m.errorObject.object("data")
				switch {
				case !data.isList("supported") || !allText(data.list("supported")):
					return faulty(data, "supported", "an array of strings")
				case !data.isText("requested"):
					return faulty(data, "requested", "a string")
				}
				return keep
			}},
		{ID: "missing-capability-data", Text: "put requiredCapabilities, an object, into data of -32021", Weight: Error, Spec: "S26/basic/index (errors); schema MissingRequiredClientCapabilityError", Needs: Payload, On: isError, Token: "data",
			For: hasCode(-32021), Check: func(m *message) Verdict {
				data := m.errorObject.object("data")
				if data.isObject("requiredCapabilities") {
					return keep
				}
				return faulty(data, "requiredCapabilities", "an object")
			}},
		{ID: "reserved-code", Text: "use no code from -32023 to -32099: the spec reserves them", Weight: Error, Spec: "S26/basic/index (errors)", Since: v2607, On: isError, For: fromServer,
			Check: onCode(func(m *message, code int64) Verdict {
				return want(code > -32023 || code < -32099, "the code %d is reserved", code)
			})},
		{ID: "legacy-code", Text: "answer with -32602 what was -32002, and ask by input_required what was -32042", Weight: Error, Spec: "S26/basic/index (errors)", Since: v2607, On: isError, For: fromServer,
			Check: onCode(func(m *message, code int64) Verdict {
				switch {
				case code != -32002 && code != -32042:
					return keep
				case m.server.modern == 0:
					return unclear("nothing shows that the server is a modern one")
				}
				return breaks("the code %d is of legacy versions", code)
			}),
			Fix: func(o object) {
				if code, _ := integer(o.object("error")["code"]); code == -32002 {
					o.object("error")["code"] = -32602
				}
			}},
		{ID: "implementation-code", Text: "use a code outside -32000 to -32019: nothing is agreed on what those mean", Weight: Warning, Spec: "S26/basic/index (errors)", Since: v2607, On: isError, For: fromServer,
			Check: onCode(func(m *message, code int64) Verdict {
				switch {
				case code > -32000 || code < -32019 || code == -32002:
					return keep
				case m.server.modern == 0:
					return unclear("nothing shows that the server is a modern one")
				}
				return breaks("the code %d is of the implementation range", code)
			})},
		{ID: "header-mismatch-on-http", Text: "send -32020 over HTTP only: a pipe has no headers", Weight: Warning, Spec: "S26/basic/transports/streamable-http", On: isError, For: hasCode(-32020),
			Check: func(m *message) Verdict {
				switch {
				case m.body.Stdio:
					return breaks("-32020 on a pipe")
				case !m.overHTTP():
					return unclear("the log does not show the transport")
				}
				return keep
			}},
		{ID: "url-elicitation-data", Text: "list in data.elicitations of -32042 what to visit", Weight: Error, Spec: "S25b/client/elicitation", Since: v2511, Until: v2511, Needs: Payload, On: isError, For: hasCode(-32042),
			Check: func(m *message) Verdict {
				data := m.errorObject.object("data")
				if data.isList("elicitations") {
					return keep
				}
				return faulty(data, "elicitations", "an array")
			}},
		{ID: "error-names-request", Text: "give the error of a request that could be read the request's id", Weight: Error, Spec: "S26/basic/index", Since: v2607, On: isError,
			For: func(m *message) bool { return m.request != nil || m.refused != nil && m.http() != nil },
			Check: func(m *message) Verdict {
				if m.refused != nil {
					return breaks("the error has no id, though the request could be read").citing(m.refused.line)
				}
				return keep
			}},
		{ID: "no-fallback", Text: "stay with the modern protocol after -32020, -32021 or -32022: they show a modern server", Weight: Error, Spec: "S26/basic/transports/stdio; S26/basic/versioning", On: isRequest,
			For: func(m *message) bool { return m.method == "initialize" && m.Dir != frame.S2C },
			Check: func(m *message) Verdict {
				if m.scope.modernErr == 0 {
					return keep
				}
				return breaks("initialize after an error that only a modern server sends").citing(m.scope.modernErr)
			}},
		{ID: "result-members", Text: "give a result the members that its method wants", Weight: Error, Spec: "S26, S25b: schema, results of each method", Needs: Payload, On: isSuccess,
			For: func(m *message) bool { return m.request != nil && m.request.call != nil }, Check: checkMembers},
		{ID: "structured-content", Text: "make structuredContent an object", Weight: Error, Spec: "S25b/server/tools", Since: v2506, Until: v2511, Needs: Payload, On: isSuccess,
			For: func(m *message) bool { return m.result.has("structuredContent") },
			Check: func(m *message) Verdict {
				return want(m.result.isObject("structuredContent"), "structuredContent is no object")
			}},
		{ID: "completion-values", Text: "complete with at most 100 values, all strings", Weight: Error, Spec: "S26/server/utilities/completion", Needs: Payload, On: isSuccess,
			For: func(m *message) bool {
				return m.request != nil && m.request.method == "completion/complete" && m.result.isObject("completion")
			},
			Check: func(m *message) Verdict {
				c := m.result.object("completion")
				if !c.isList("values") || !allText(c.list("values")) {
					return faulty(c, "values", "an array of strings")
				}
				return want(len(c.list("values")) <= 100, "completion has more than 100 values")
			}},
		{ID: "elicitation-action", Text: "answer an elicitation with accept, decline or cancel", Weight: Error, Spec: "S25b/client/elicitation", Since: v2506, Until: v2511, Needs: Payload, On: isSuccess,
			For: func(m *message) bool { return m.request != nil && m.request.method == "elicitation/create" },
			Check: func(m *message) Verdict {
				a := m.result.text("action")
				return want(a == "accept" || a == "decline" || a == "cancel", "the action %q is unknown", a)
			}},
	}
}

func hasCode(want int64) func(*message) bool {
	return func(m *message) bool {
		code, ok := m.code()
		return ok && code == want
	}
}

func onCode(check func(*message, int64) Verdict) func(*message) Verdict {
	return func(m *message) Verdict {
		code, ok := m.code()
		if !ok {
			return unclear("the code does not show")
		}
		return check(m, code)
	}
}

// checkMembers: an interim result and a task stand in for the result that the method wants.
func checkMembers(m *message) Verdict {
	if t := m.resultType(); t != "" && t != "complete" || m.request.task {
		return Verdict{}
	}
	for _, field := range strings.Fields(m.request.call.Result) {
		name, kind, _ := strings.Cut(field, ":")
		ok := map[string]bool{"{}": m.result.isObject(name), "[]": m.result.isList(name), `""`: m.result.isText(name), "?": m.result.has(name)}[kind]
		if !ok {
			return faulty(m.result, name, map[string]string{"{}": "an object", "[]": "an array", `""`: "a string"}[kind])
		}
	}
	return keep
}
