package ingest

import (
	"time"

	"mcpdiag/ingest/frame"
)

// copies stands in front of a fold and takes out the copies of a log that was captured at k points: every frame stands
// there k times, within the time of a hop. Whether a log is one shows only at its end, so a log whose head looks like one is
// folded twice, once as it is and once without its copies, until a frame breaks the pattern.
type copies struct {
	folder func() *folder
	plain  *folder
	once   *folder // nil: not copies
	head   []frame.Frame
	k      int
	groups map[copyKey]*copyGroup
	queue  []*copyGroup
	begun  bool
}

const (
	hopTime  = 2 * time.Millisecond
	copyHead = 64 // frames at a log's head in which the pattern must show
)

// copyKey is what two copies of a frame share.
type copyKey struct {
	dir        frame.Dir
	kind       frame.Kind
	id, method string
	requestID  string
	bytes      int64
	session    string
}

type copyGroup struct {
	key copyKey
	at  frame.Instant
	n   int
}

func newCopies(folder func() *folder) *copies {
	return &copies{folder: folder, plain: folder()}
}

// fold takes the next record.
func (c *copies) fold(f *frame.Frame) {
	if c.begun && c.once == nil {
		c.plain.fold(f)
		return
	}
	if !c.begun {
		c.head = append(c.head, f.Clone())
		if len(c.head) >= copyHead {
			c.begin()
		}
		return
	}
	c.both(f)
}

// begin decides, from the head, whether the log may be one of copies.
func (c *copies) begin() {
	c.begun = true
	if c.k = multiplicity(c.head); c.k > 1 {
		c.once = c.folder()
		c.groups = map[copyKey]*copyGroup{}
	}
	for k := range c.head {
		c.both(&c.head[k])
	}
	c.head = nil
}

func (c *copies) both(f *frame.Frame) {
	if c.once != nil {
		g := *f
		switch c.seen(f) {
		case newFrame:
			c.once.fold(&g)
		case broken:
			c.once, c.groups, c.queue = nil, nil, nil
		}
	}
	c.plain.fold(f)
}

type sighting uint8

const (
	newFrame sighting = iota
	copyOfOne
	broken
)

// seen places a frame in its group of copies.
func (c *copies) seen(f *frame.Frame) sighting {
	for len(c.queue) > 0 {
		g := c.queue[0]
		if d, ok := f.At.Sub(g.at); g.n < c.k && (!ok || d <= hopTime) {
			break
		}
		if g.n < c.k {
			return broken
		}
		c.queue = c.queue[1:]
	}
	key := keyOf(f)
	if g := c.groups[key]; g != nil {
		if d, ok := f.At.Sub(g.at); !ok || d > hopTime {
			return broken
		}
		if g.n++; g.n == c.k {
			delete(c.groups, key)
		}
		return copyOfOne
	}
	if !f.At.Known() {
		return broken
	}
	g := &copyGroup{key: key, at: f.At, n: 1}
	c.groups[key] = g
	c.queue = append(c.queue, g)
	return newFrame
}

func keyOf(f *frame.Frame) copyKey {
	return copyKey{f.Dir, f.Kind, string(f.ID), string(f.Method), string(f.RequestID), f.Bytes, string(f.Session)}
}

// multiplicity is how often the first frame stands at the head within a hop; 1 unless a second frame does the same.
func multiplicity(head []frame.Frame) int {
	k, second := 0, false
	for i := range head {
		d, ok := head[i].At.Sub(head[0].At)
		if keyOf(&head[i]) == keyOf(&head[0]) && ok && d <= hopTime {
			k++
		} else {
			second = true
		}
	}
	if !second || k < 2 {
		return 1
	}
	return k
}

// finish ends the fold and tells which reading stands.
func (c *copies) finish() *folder {
	if !c.begun {
		c.begin()
	}
	if c.once == nil || len(c.groups) > 0 {
		return c.plain
	}
	c.once.Records = c.plain.Records
	c.once.Copies = c.k
	return c.once
}
