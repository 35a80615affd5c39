package tap

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"strconv"
	"strings"
)

// payload takes of a message what the policy allows, as JSON, and reports whether that is less than all of it. Keys are redacted
// first: a cut must not leave a secret that its key would have given away.
func (r *Recorder) payload(e *Event) (payload []byte, cut bool) {
	if e.Payload == nil || r.o.Payload == 0 || !r.sampler.takes(e) {
		return nil, false
	}
	payload, cut = r.redact.apply(bytes.TrimSpace(e.Payload)), e.Cut
	if limit := int64(r.o.Payload); limit >= 0 && int64(len(payload)) > limit {
		payload, cut = payload[:limit], true
	}
	if cut || !json.Valid(payload) {
		payload, _ = json.Marshal(string(payload)) // a string cannot fail
	}
	return payload, cut
}

// sampler chooses the calls whose payload is recorded: a request and its answer fare alike, since both have the id.
type sampler struct {
	all     bool
	below   uint64
	session string
	pid     string
	seed    maphash.Seed
}

func newSampler(o *Options, pid []byte) sampler {
	s := sampler{all: o.Sample == 0 || o.Sample == 1, session: o.OnlySession, pid: string(pid), seed: maphash.MakeSeed()}
	s.below = uint64(o.Sample * (1 << 63))
	return s
}

func (s *sampler) takes(e *Event) bool {
	if s.session != "" && s.session != string(e.Session) && s.session != s.pid {
		return false
	}
	if s.all {
		return true
	}
	var h maphash.Hash
	h.SetSeed(s.seed)
	h.Write(e.Session)
	h.WriteByte(0)
	if e.ID != nil {
		h.Write(e.ID)
	} else {
		h.WriteString(strconv.FormatInt(e.Time.UnixNano(), 10))
	}
	return h.Sum64()>>1 < s.below
}

// redaction is the set of keys, in small letters, whose values stay out of payloads.
type redaction map[string]bool

func newRedaction(keys []string) redaction {
	if len(keys) == 0 {
		return nil
	}
	r := redaction{}
	for _, k := range keys {
		r[strings.ToLower(strings.TrimSpace(k))] = true
	}
	return r
}

const redacted = `"[redacted]"`

// apply copies a JSON text without the values of the keys. The text may be cut, or be no JSON at all: then what
// follows such a key goes as far as it can be a value.
func (r redaction) apply(b []byte) []byte {
	if r == nil {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		if b[i] != '"' {
			out = append(out, b[i])
			i++
			continue
		}
		end := stringEnd(b, i)
		out = append(out, b[i:end]...)
		value := skipSpace(b, end)
		if value < len(b) && b[value] == ':' && r.has(b[i:end]) {
			value = skipSpace(b, value+1)
			out = append(append(out, ':'), redacted...)
			end = valueEnd(b, value)
		}
		i = end
	}
	return out
}

func (r redaction) has(quoted []byte) bool {
	var key string
	if json.Unmarshal(quoted, &key) != nil {
		key = strings.Trim(string(quoted), `"`)
	}
	return r[strings.ToLower(key)]
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// stringEnd is the index behind the string at b[i].
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// valueEnd is the index behind the value at b[i].
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = stringEnd(b, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 {
				return i
			}
			if b[i] != ',' {
				depth--
			}
			if depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
}
