package audit

// batchRules are about JSON arrays of messages, which one version defines.
func batchRules() []Rule {
	return []Rule{
		{ID: "batch", Text: "send each message alone: batches are in 2025-03-26 only", Weight: Error, Spec: "S26/basic/transports/index; S25a/changelog", Since: v2506, On: isAny | isInvalid,
			For: func(m *message) bool { return m.body.Text != nil }, Check: func(m *message) Verdict { return want(!m.body.Batch, "it is an element of a batch") }},
		{ID: "batch-undefined", Text: "send each message alone: 2024-11-05 does not define batches", Weight: Warning, Spec: "S24/basic/messages", Until: v2024, On: isAny,
			For: func(m *message) bool { return m.body.Text != nil }, Check: func(m *message) Verdict { return want(!m.body.Batch, "it is an element of a batch") }},
		{ID: "batch-initialize", Text: "send initialize alone, never in a batch", Weight: Error, Spec: "S25m/basic/lifecycle", Until: v2511, On: isRequest,
			For:   func(m *message) bool { return m.method == "initialize" && m.body.Text != nil },
			Check: func(m *message) Verdict { return want(!m.body.Batch, "initialize is in a batch") }},
		{ID: "batch-not-empty", Text: "send no empty array", Weight: Error, Spec: "JSON-RPC 2.0, 6", On: isInvalid | isAny,
			For:   func(m *message) bool { return m.body.Batch || string(m.body.Text) == "[]" },
			Check: func(m *message) Verdict { return want(m.body.Batch, "an empty array") }},
	}
}
