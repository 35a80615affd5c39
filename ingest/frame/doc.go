// Package frame says what one frame says.
//
// A frame is one JSON-RPC message crossing one vantage, or an event in its life there: a handler entered or left, a line
// that did not parse, a stream that opened or ended. The package holds the words for it (Side, Dir, Kind, Phase), the two
// types that make the classic mistakes impossible (ID keeps a token's JSON type and exact digits; Instant subtracts within
// one clock only), and the total decoder of the native log format, v1.
//
// For who looks into a message it holds canonical JSON (RFC 8785), fingerprints and sizes over it, and server-sent events put
// together from chunks.
//
// It does no I/O and knows no other room. It does not claim that a frame is legal MCP: that is the auditor's business.
package frame
