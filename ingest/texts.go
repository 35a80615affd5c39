package ingest

import (
	"strings"
	"unicode/utf8"
)

// texts numbers the few texts that many records share (methods, tools). Number 0 is the absent text.
type texts struct {
	number map[string]uint32
	list   []string
	recent [64]uint32 // the latest of each length and end, since few texts make most records
}

func (t *texts) intern(b []byte) uint32 {
	if len(b) == 0 {
		return 0
	}
	recent := &t.recent[(len(b)*5+int(b[0])+3*int(b[len(b)-1]))%len(t.recent)]
	if n := *recent; n != 0 && t.list[n] == string(b) {
		return n
	}
	n, ok := t.number[string(b)]
	if !ok {
		n = t.add(string(b))
	}
	*recent = n
	return n
}

// add numbers a new text. A database takes valid UTF-8 only, and a text read from a hostile log may be anything.
func (t *texts) add(s string) uint32 {
	if t.number == nil {
		t.number = map[string]uint32{}
		t.list = []string{""}
	}
	n := uint32(len(t.list))
	t.number[s] = n
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	t.list = append(t.list, s)
	return n
}

func (t *texts) text(n uint32) string {
	if n == 0 {
		return ""
	}
	return t.list[n]
}
