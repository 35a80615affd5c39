package frame

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/gowebpki/jcs"
)

// Canonical returns the canonical form of one JSON text (RFC 8785): members sorted by UTF-16 code units at every level, no
// space, one spelling for each number and string. Two encoders that mean the same value give the same bytes.
//
// What RFC 8785 gives no form has none here: a name that stands twice, a lone surrogate, bytes that are no UTF-8, a number
// beyond an IEEE 754 double. Integers beyond 2^53 come out as the double that every I-JSON reader would take them for.
func Canonical(b []byte) ([]byte, error) {
	s := scanner{b: b}
	s.space()
	switch s.walk() {
	case tooDeep: // the library recurses, and would ten times as deep
		return nil, errors.New("nested too deeply")
	case badJSON:
		return nil, errors.New("not JSON")
	}
	if s.space(); s.i < len(b) {
		return nil, errors.New("not JSON")
	}
	return jcs.Transform(b)
}

// Fingerprint is the SHA-256, in lower-case hex, of the canonical form of one JSON text: of a whole tool definition, say.
func Fingerprint(b []byte) (string, error) {
	c, err := Canonical(b)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(c)
	return hex.EncodeToString(sum[:]), nil
}

// TokenEstimator names the rule of Tokens, for reports and for who compares figures of two tools.
const TokenEstimator = "bytes/4"

// Tokens estimates how many tokens of a language model a canonical JSON text of n bytes takes: one for every four bytes of
// UTF-8, rounded up. It is no tokenizer's count; it is the same for every model, and compares two texts fairly.
func Tokens(n int64) int64 { return (n + 3) / 4 }

// Measure is a size over the canonical form: bytes, and the estimate of Tokens.
type Measure struct{ Bytes, Tokens int64 }

// MeasureJSON measures one JSON text; ok is false when it has no canonical form.
func MeasureJSON(b []byte) (m Measure, ok bool) {
	c, err := Canonical(b)
	if err != nil {
		return Measure{}, false
	}
	n := int64(len(c))
	return Measure{n, Tokens(n)}, true
}

// MeasureAnswer measures the `result` or the `error` of a message: the members result_bytes and result_tokens of the native
// format. ok is false for a message that has neither, or one without a canonical form.
func MeasureAnswer(message []byte) (m Measure, ok bool) {
	body := Member(message, "result")
	if body == nil {
		body = Member(message, "error")
	}
	if body == nil {
		return Measure{}, false
	}
	return MeasureJSON(body)
}

// Tool is one definition of an answer to tools/list, as it stands there.
type Tool struct {
	Name        string
	Definition  []byte // the JSON text
	Fingerprint string // of the definition; "" when it has no canonical form
}

// Tools takes the tools out of an answer to tools/list, in their order. ok is false when `result.tools` is no array. What in
// it is no object with a name is passed over: it is no tool that can be called.
func Tools(message []byte) (tools []Tool, ok bool) {
	ok = Elements(Member(Member(message, "result"), "tools"), func(e []byte) {
		name, named := Text(Member(e, "name"))
		if !named {
			return
		}
		print, _ := Fingerprint(e)
		tools = append(tools, Tool{name, e, print})
	})
	return tools, ok
}
