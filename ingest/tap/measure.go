package tap

import "mcpdiag/ingest/frame"

// MeasureAnswers is the Measure that meters answers and watches tools without recording payloads: size and token estimate of the
// result over its canonical JSON, and of an answer to tools/list the fingerprint of each tool's definition.
func MeasureAnswers(e *Event, method string, message []byte) {
	if m, ok := frame.MeasureAnswer(message); ok {
		e.ResultBytes, e.ResultTokens = m.Bytes, m.Tokens
	}
	if method != "tools/list" || e.Kind != frame.Response {
		return
	}
	tools, ok := frame.Tools(message)
	if !ok {
		return
	}
	e.Tools = map[string]string{}
	for _, t := range tools {
		if t.Fingerprint != "" { // a definition without a canonical form has none
			e.Tools[t.Name] = t.Fingerprint
		}
	}
}
