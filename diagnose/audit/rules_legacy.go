package audit

import (
	"strings"

	"mcpdiag/ingest/frame"
)

// legacyRules are about the handshake and what it settles, by version.
func legacyRules() []Rule {
	return []Rule{
		{ID: "initialize-first", Text: "open with initialize", Weight: Error, Spec: "S25b/basic/lifecycle", Until: v2511, On: isRequest, For: isInitialize, Check: func(m *message) Verdict {
			switch {
			case m.scope.before == nil:
				return keep
			case m.scope.http:
				return unclear("no session shows whose requests came before")
			}
			return breaks("%s came before initialize", m.scope.before.method).citing(m.scope.before.line)
		}},
		{ID: "initialize-params", Text: "give initialize protocolVersion, capabilities and clientInfo with name and version", Weight: Error, Spec: "S25b/basic/lifecycle", Until: v2511, Needs: Payload, On: isRequest, For: isInitialize, Check: func(m *message) Verdict {
			switch {
			case !m.params.isText("protocolVersion"):
				return faulty(m.params, "protocolVersion", "a string")
			case !m.params.isObject("capabilities"):
				return faulty(m.params, "capabilities", "an object")
			}
			return implementation(m.params.object("clientInfo"), "clientInfo")
		}},
		{ID: "initialize-result", Text: "name in the serverInfo of the initialize result the server and its version", Weight: Error, Spec: "S25b/basic/lifecycle", Until: v2511, Needs: Payload, On: isSuccess, For: ofInitialize,
			Check: func(m *message) Verdict { return implementation(m.result.object("serverInfo"), "serverInfo") }},
		{ID: "initialize-version-known", Text: "negotiate a legacy version that exists", Weight: Warning, Spec: "S25b/basic/lifecycle", Until: v2511, On: isSuccess, For: ofInitialize,
			Check: func(m *message) Verdict {
				v := m.statedVersion()
				switch v {
				case "2024-10-07", v2024, v2503, v2506, v2511:
					return keep
				case "":
					return unclear("the version does not show")
				}
				return breaks("the negotiated version %q is none of the legacy ones", v)
			}},
		{ID: "initialize-once", Text: "initialize a session once", Weight: Info, Spec: "S25b/basic/lifecycle (implied)", Until: v2511, On: isRequest, For: isInitialize, Check: func(m *message) Verdict {
			if m.scope.handshake == nil || m.scope.http {
				return keep
			}
			return breaks("the session was initialized before").citing(m.scope.handshake.line)
		}},
		{ID: "initialized-sent", Text: "send notifications/initialized after the initialize result and before other requests", Weight: Error, Spec: "S25b/basic/lifecycle", Until: v2511, On: isRequest, For: func(m *message) bool {
			return m.Dir == frame.C2S && m.method != "ping" && m.method != "initialize" && m.scope.handshake != nil
		}, Check: func(m *message) Verdict {
			h := m.scope.handshake
			switch {
			case h.initialized:
				return keep
			case m.body.Guess:
				return unclear(guessed)
			case m.scope.http && m.scope.name == "http":
				return unclear("no session shows whose handshake it is")
			case h.told:
				return Verdict{}
			}
			h.told = true
			return breaks("no notifications/initialized came before %s", m.method).citing(h.line)
		}},
		{ID: "early-client-request", Text: "send no request but ping before the initialize result", Weight: Warning, Spec: "S25b/basic/lifecycle", Until: v2511, On: isRequest, For: func(m *message) bool {
			return m.Dir == frame.C2S && m.method != "initialize" && m.scope.init != nil
		}, Check: func(m *message) Verdict {
			switch {
			case m.scope.http && m.scope.name == "http":
				return unclear("no session shows whose handshake it is")
			case m.body.Guess && m.method != "ping":
				return unclear(guessed)
			}
			return want(m.method == "ping", "%s before the initialize result", m.method).citing(m.scope.init.line)
		}},
		{ID: "early-server-request", Text: "send no request but ping before notifications/initialized", Weight: Warning, Spec: "S25b/basic/lifecycle", Until: v2511, On: isRequest, For: func(m *message) bool {
			return m.Dir == frame.S2C && (m.scope.init != nil || m.scope.handshake != nil)
		}, Check: func(m *message) Verdict {
			return want(m.method == "ping" || m.scope.handshake != nil && m.scope.handshake.initialized, "%s before notifications/initialized", m.method)
		}},
		{ID: "capability-negotiated", Text: "use only capabilities that were negotiated", Weight: Error, Spec: "S25b/basic/lifecycle (operation)", Since: v2506, Until: v2511, On: isCall, For: wantsCapability, Check: checkCapability},
		{ID: "capability-negotiated-early", Text: "use only capabilities that were negotiated", Weight: Warning, Spec: "S25m/basic/lifecycle (operation)", Until: v2503, On: isCall, For: wantsCapability, Check: checkCapability},
	}
}

func isInitialize(m *message) bool { return m.method == "initialize" && m.Dir != frame.S2C }

func ofInitialize(m *message) bool { return m.request != nil && m.request.method == "initialize" }

func wantsCapability(m *message) bool {
	return m.era == Legacy && m.call != nil && m.call.Cap != "" && m.call.in(max(m.version, m.call.CapSince)) && m.version >= m.call.CapSince
}

// checkCapability: of a request the receiver has declared it, of a notification the sender.
func checkCapability(m *message) Verdict {
	h := m.scope.handshake
	switch {
	case h == nil:
		return unclear("the handshake is not in the log")
	case m.body.Guess:
		return unclear(guessed)
	}
	declarer := m.Dir.From()
	if m.kind == isRequest {
		declarer = declarer.Peer()
	}
	caps := h.client
	if declarer == frame.Server {
		caps = h.server
	}
	if caps == nil {
		return unclear("what was declared is not in the log")
	}
	if m.method == "notifications/progress" || declares(caps, m.call.Cap) {
		return checkSubCapability(m, caps)
	}
	return breaks("%s without the capability %s of the %s", m.method, m.call.Cap, declarer)
}

// checkSubCapability looks at what 2025-11-25 split off: elicitation by URL, and tools in sampling.
func checkSubCapability(m *message, caps []string) Verdict {
	if m.version != v2511 || m.doc == nil || m.kind != isRequest {
		return keep
	}
	name := wantedCapability(m.method, m.params)
	switch {
	case !strings.Contains(name, "."):
		return keep
	case name == "elicitation.form":
		return want(declares(caps, name) || !declares(caps, "elicitation.url"), "%s without the capability %s", m.method, name)
	}
	return want(declares(caps, name), "%s without the capability %s", m.method, name)
}
