// Package audit judges each message of a log against the rules of MCP, both eras: modern (2026-07-28, metadata in every
// request) and legacy (2025-11-25 and before, a handshake).
//
// Rules are a table (Rules): each has an id, what is to be done, a weight, where the spec says it, the versions it holds for,
// what it needs to see, and a check. A rule that a message concerns gives one of three verdicts: kept, broken, or not judged
// with the reason, as when a log has no payloads. Not judged is never kept.
//
// Each message is judged by itself. What is remembered from one message to the next is correlation, and never protocol state:
// which request an answer belongs to, which ids, tokens and subscriptions are open. A modern message is judged by its own
// metadata alone: no handshake is assumed for it, no process, connection or session is its state, and no capability comes
// from an earlier request. The era is told for each message, since one endpoint may serve both at once.
//
// The package reads no files and writes none. It does not claim that what a message says is true.
package audit
