package ingest

import (
	"time"

	"mcpdiag/ingest/frame"
)

// twins takes out the second telling of an event that a host writes into two files of its own: Claude Desktop's mcp.log has all
// servers and mcp-server-NAME.log one. The files may be given one after the other or mixed by a tail of both.
type twins struct {
	seen map[twinKey][]twin
	n    int
}

// twinKey is an event and when it was, in steps of twinTime: a look into three of them finds what is near.
type twinKey struct {
	copyKey
	step int64
}

type twin struct {
	file uint8
	at   frame.Instant
}

// maxTwins bounds the memory of events whose second telling never comes.
const maxTwins = 1 << 20

// sameTwins bounds the events that cannot be told from each other within twinTime.
const sameTwins = 16

// twinTime is how far apart the two tellings of an event are at most.
const twinTime = 2 * time.Millisecond

// again reports whether the event was told before, in the other file.
func (t *twins) again(f *frame.Frame) bool {
	if !f.At.Known() {
		return false
	}
	wall, _ := f.At.WallNS()
	key := twinKey{keyOf(f), wall / int64(twinTime)}
	key.session = string(f.More.Conn)
	for _, near := range [...]int64{-1, 0, 1} {
		if t.take(twinKey{key.copyKey, key.step + near}, f) {
			return true
		}
	}
	if t.seen == nil || t.n >= maxTwins {
		t.seen, t.n = map[twinKey][]twin{}, 0
	}
	if len(t.seen[key]) < sameTwins {
		t.seen[key] = append(t.seen[key], twin{f.More.Twin, f.At})
		t.n++
	}
	return false
}

// take takes the other telling of the event out of one step; false when it is not there.
func (t *twins) take(key twinKey, f *frame.Frame) bool {
	told := t.seen[key]
	for k, other := range told {
		if d, ok := f.At.Sub(other.at); !ok || d.Abs() > twinTime || other.file == f.More.Twin {
			continue
		}
		t.n--
		if told = append(told[:k:k], told[k+1:]...); len(told) == 0 {
			delete(t.seen, key)
		} else {
			t.seen[key] = told
		}
		return true
	}
	return false
}
