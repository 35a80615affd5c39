package ingest

import (
	"time"

	"mcpdiag/ingest/frame"
)

// twins takes out the second telling of an event that a host writes into two files of its own: Claude Desktop's mcp.log has all
// servers and mcp-server-NAME.log one. The files may be given one after the other or mixed by a tail of both.
type twins struct {
	seen map[copyKey][]twin
	n    int
}

type twin struct {
	file uint8
	at   frame.Instant
}

// maxTwins bounds the memory of events whose second telling never comes.
const maxTwins = 1 << 20

// twinTime is how far apart the two tellings of an event are at most.
const twinTime = 2 * time.Millisecond

// again reports whether the event was told before, in the other file.
func (t *twins) again(f *frame.Frame) bool {
	if !f.At.Known() {
		return false
	}
	key := keyOf(f)
	key.session = string(f.More.Conn)
	told := t.seen[key]
	for k, other := range told {
		d, ok := f.At.Sub(other.at)
		if ok && d.Abs() <= twinTime && other.file != f.More.Twin {
			t.seen[key] = append(told[:k:k], told[k+1:]...)
			t.n--
			return true
		}
	}
	if t.seen == nil || t.n >= maxTwins {
		t.seen, t.n = map[copyKey][]twin{}, 0
	}
	t.seen[key] = append(t.seen[key], twin{f.More.Twin, f.At})
	t.n++
	return false
}
