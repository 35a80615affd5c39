package audit

import (
	"encoding/json"
	"strings"

	"mcpdiag/ingest/frame"
)

// noticeRules are about notifications.
func noticeRules() []Rule {
	return []Rule{
		{ID: "progress-live", Text: "send progress only for a token of a request in progress", Weight: Error, Spec: "S26/basic/patterns/progress", On: isNotice, For: isProgress, Check: checkProgressLive},
		{ID: "progress-increases", Text: "let progress, a number, increase with each notification", Weight: Error, Spec: "S26/basic/patterns/progress", Needs: Payload, On: isNotice, For: isProgress, Check: checkProgressIncreases},
		{ID: "cancel-names-request", Text: "name in requestId, a string or an integer, what is cancelled", Weight: Error, Spec: "S26/basic/patterns/cancellation", Needs: Payload, On: isNotice, For: isCancel,
			Check: func(m *message) Verdict {
				if isToken(m.params["requestId"]) {
					return keep
				}
				return faulty(m.params, "requestId", "a string or an integer")
			}},
		{ID: "cancel-of-a-request", Text: "cancel only a request that was sent in the same direction", Weight: Warning, Spec: "S26/basic/patterns/cancellation", On: isNotice,
			For: func(m *message) bool { return isCancel(m) && m.RequestID.Known() }, Check: checkCancelled},
		{ID: "cancel-initialize", Text: "never cancel initialize", Weight: Error, Spec: "S25b/basic/utilities/cancellation", Until: v2511, On: isNotice,
			For: func(m *message) bool { return isCancel(m) && m.cancelled != nil }, Check: func(m *message) Verdict { return want(m.cancelled.method != "initialize", "initialize is cancelled") }},
		{ID: "cancelled-not-answered", Text: "send nothing more for a request whose cancel was read", Weight: Error, Spec: "S26/basic/transports/stdio", Since: v2607, On: isAnswer, For: ofCancelled, Check: checkHeeded},
		{ID: "cancelled-not-answered-legacy", Text: "send no answer to a request whose cancel was read", Weight: Warning, Spec: "S25b/basic/utilities/cancellation", Until: v2511, On: isAnswer, For: ofCancelled, Check: checkHeeded},
		{ID: "log-shape", Text: "give a log message one of the eight levels, and data", Weight: Error, Spec: "S26/server/utilities/logging", Needs: Payload, On: isNotice, For: isLog,
			Check: func(m *message) Verdict {
				if levelOf(m.params.text("level")) < 0 {
					return faulty(m.params, "level", "one of the eight")
				}
				return want(m.params.has("data"), "data is absent")
			}},
		{ID: "log-asked", Text: "send log messages only while a request that asked for them is open, at its level or above", Weight: Error, Spec: "S26/server/utilities/logging", Since: v2607, Needs: Payload, On: isNotice, For: isLog, Check: checkLogAsked},
		{ID: "listen-acknowledged", Text: "acknowledge a subscription before anything else on it", Weight: Error, Spec: "S26/basic/patterns/subscriptions", Since: v2607, On: isNotice,
			For: func(m *message) bool { return isChange(m) && m.listen != nil }, Check: func(m *message) Verdict {
				return want(m.listen.acked, "%s comes before the acknowledgement", m.method).citing(m.listen.line)
			}},
		{ID: "listen-acknowledgement", Text: "name the subscription and what of it is honoured in an acknowledgement", Weight: Error, Spec: "S26/basic/patterns/subscriptions", Since: v2607, Needs: Payload, On: isNotice, For: isAcknowledgement, Check: checkAcknowledgement},
		{ID: "subscription-id", Text: "put the id of the subscriptions/listen, its JSON type kept, into _meta of each notification of it", Weight: Error, Spec: "S26/basic/patterns/subscriptions", Since: v2607, Needs: Payload, On: isNotice,
			For: func(m *message) bool { return isChange(m) || isAcknowledgement(m) }, Check: checkSubscriptionID},
		{ID: "change-asked", Text: "notify of changes only where a subscription asked for them", Weight: Error, Spec: "S26/basic/patterns/subscriptions", Since: v2607, Needs: Payload, On: isNotice, For: isChange, Check: checkChangeAsked},
		{ID: "listen-changes-only", Text: "keep progress and log messages off a subscription", Weight: Error, Spec: "S26/basic/patterns/subscriptions", Since: v2607, On: isNotice,
			For: func(m *message) bool { return (isProgress(m) || isLog(m)) && m.Dir == frame.S2C }, Check: func(m *message) Verdict {
				return want(m.listen == nil, "%s on a subscription", m.method)
			}},
	}
}

func isProgress(m *message) bool { return m.method == "notifications/progress" }
func isCancel(m *message) bool   { return m.method == "notifications/cancelled" }
func isLog(m *message) bool      { return m.method == "notifications/message" }
func isAcknowledgement(m *message) bool {
	return m.method == "notifications/subscriptions/acknowledged"
}

// isChange reports whether the notification tells of a change.
func isChange(m *message) bool {
	return m.Dir == frame.S2C && (strings.HasSuffix(m.method, "/list_changed") || m.method == "notifications/resources/updated" || m.method == "notifications/tasks")
}

// checkProgressLive: after a cancel the two cross on their way, which is legal. A task of 2025-11-25 goes on after its answer.
func checkProgressLive(m *message) Verdict {
	r := m.ofToken
	switch {
	case m.doc == nil && len(m.More.Token) == 0:
		return unclear("the log has no payload")
	case r == nil && m.scope.asked(opposite(m.Dir)) == 0:
		return unclear("the log shows no requests of that direction")
	case r == nil && m.scope.blind:
		return unclear("the payload of a request is not in the log")
	case r == nil:
		return breaks("no request gave this progress token")
	case r.cancelledAt != 0:
		return unclear("it may have crossed the cancel of its request")
	case r.done != 0 && (m.version == v2511 && r.task):
		return keep
	case r.done != 0:
		return breaks("its request was answered before").citing(r.done)
	}
	return keep
}

func checkProgressIncreases(m *message) Verdict {
	now, ok := number(m.params["progress"])
	if !ok {
		return faulty(m.params, "progress", "a number")
	}
	if m.ofToken == nil {
		return unclear("the request is not in the log")
	}
	before, has := number(m.ofToken.progress)
	return want(!has || now > before, "progress does not increase")
}

func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// checkCancelled: a cancel that crosses the answer is legal.
func checkCancelled(m *message) Verdict {
	switch {
	case m.cancelled != nil || m.scope.closed[idKey(m.Dir, m.RequestID)] != nil || m.scope.used[idKey(m.Dir, m.RequestID)] != 0:
		return keep
	case m.era == Modern && m.Dir == frame.S2C:
		return Verdict{} // the spec contradicts itself on how a server ends a subscription
	case m.overHTTP() && m.scope.name == "http":
		return unclear("no session shows whose request it is")
	case m.scope.asked(m.Dir) == 0:
		return unclear("the log shows no requests of that direction")
	}
	return breaks("no request with this id was sent in this direction")
}

func ofCancelled(m *message) bool { return m.request != nil && m.request.cancelledAt != 0 }

// checkHeeded: only the responder's own log shows that it had read the cancel.
func checkHeeded(m *message) Verdict {
	if m.side != m.Dir.From() {
		return unclear("the answer may have crossed the cancel: the answering side's own log would show it")
	}
	return breaks("the answer comes after the cancel").citing(m.request.cancelledAt)
}

func checkLogAsked(m *message) Verdict {
	level := levelOf(m.params.text("level"))
	asked := false
	for _, list := range m.scope.open {
		for _, r := range list {
			if m.exchange() != "" && r.exchange() != m.exchange() {
				continue
			}
			if r.doc == nil && r.era == Modern {
				return unclear("the payload of an open request is not in the log")
			}
			if l := levelOf(r.meta.text(prefix + "logLevel")); l >= 0 {
				if asked = true; level >= l {
					return keep
				}
			}
		}
	}
	if asked {
		return breaks("the level is below what was asked for")
	}
	return breaks("no open request asked for log messages")
}

func checkAcknowledgement(m *message) Verdict {
	if !m.params.isObject("notifications") {
		return faulty(m.params, "notifications", "an object")
	}
	return keep
}

func checkSubscriptionID(m *message) Verdict {
	id, has := m.meta[prefix+"subscriptionId"]
	switch {
	case !has:
		return lacks("subscriptionId")
	case m.listen != nil:
		return want(token(id) == token(m.listen.id), "subscriptionId is not the id of the subscription").citing(m.listen.line)
	case m.scope.asked(frame.C2S) == 0:
		return unclear("the log shows no requests of that direction")
	}
	return breaks("no subscription with this id is open")
}

func checkChangeAsked(m *message) Verdict {
	if m.listen == nil {
		if m.meta.has(prefix+"subscriptionId") || m.scope.asked(frame.C2S) == 0 {
			return unclear("the subscription is not in the log")
		}
		return breaks("%s without a subscription", m.method)
	}
	f := m.listen.filter
	switch m.method {
	case "notifications/tools/list_changed":
		return want(f["toolsListChanged"] == true, "toolsListChanged was not asked for").citing(m.listen.line)
	case "notifications/prompts/list_changed":
		return want(f["promptsListChanged"] == true, "promptsListChanged was not asked for").citing(m.listen.line)
	case "notifications/resources/list_changed":
		return want(f["resourcesListChanged"] == true, "resourcesListChanged was not asked for").citing(m.listen.line)
	case "notifications/resources/updated":
		uri := m.params.text("uri")
		for _, v := range f.list("resourceSubscriptions") {
			if s, _ := v.(string); s != "" && strings.HasPrefix(uri, s) {
				return keep
			}
		}
		return breaks("the resource was not asked for").citing(m.listen.line)
	}
	return keep
}
