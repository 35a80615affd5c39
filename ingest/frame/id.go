package frame

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// ID is a JSON-RPC id as its raw JSON token: `47`, `"47"` and `47.0` are three ids, 2^53+1 is not 2^53, `0` and `""` are ids.
// String tokens are in canonical spelling, so that equal strings are equal tokens. nil means that there is no id.
type ID []byte

// null is the id of an answer whose writer did not know which request it answers.
var null = []byte("null")

// IsNull reports whether the id is the JSON null.
func (id ID) IsNull() bool { return string(id) == "null" }

// IsString reports whether the id is a JSON string.
func (id ID) IsString() bool { return len(id) > 0 && id[0] == '"' }

// IsInteger reports whether the id is written as a JSON integer; the spec allows no other number.
func (id ID) IsInteger() bool {
	return len(id) > 0 && !id.IsString() && !id.IsNull() && !bytes.ContainsAny(id, ".eE")
}

// Known reports whether the id can name a request.
func (id ID) Known() bool { return len(id) > 0 && !id.IsNull() }

// StringID makes the token of a string id.
func StringID(s string) ID { return canonicalString([]byte(s)) }

// JSON returns the token as valid JSON, for output.
func (id ID) JSON() json.RawMessage {
	if len(id) == 0 {
		return null
	}
	if !id.IsString() {
		return json.RawMessage(id)
	}
	b, err := json.Marshal(id.Bare())
	if err != nil {
		return null
	}
	return b
}

// Bare returns a string id without its quotes and escapes, and any other token as it is.
func (id ID) Bare() string {
	if !id.IsString() {
		return string(id)
	}
	var s string
	if json.Unmarshal(id, &s) == nil {
		return s
	}
	return strings.ToValidUTF8(string(id[1:len(id)-1]), "\uFFFD")
}

const hexDigits = "0123456789abcdef"

// canonicalString spells a decoded string as one JSON token. A byte that is no UTF-8 becomes \xNN, which no JSON string can
// hold: two ids that differ in such a byte must stay two ids, and a database takes UTF-8 only.
func canonicalString(s []byte) []byte {
	out := make([]byte, 0, len(s)+2)
	out = append(out, '"')
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		switch {
		case r == utf8.RuneError && n == 1:
			out = append(out, '\\', 'x', hexDigits[s[0]>>4], hexDigits[s[0]&15])
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r < 0x20:
			out = append(out, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		default:
			out = append(out, s[:n]...)
		}
		s = s[n:]
	}
	return append(out, '"')
}
