package tap

import (
	"bytes"
	"sync"
	"time"

	"mcpdiag/ingest/frame"
)

// copies is the bounded queue between the pumps, which carry the traffic, and the clerk, which makes records of a copy of it.
// Both directions share it, so that records stand in the order in which things happened: a chunk is queued before it is
// forwarded, hence before anything that answers it can come back.
type copies struct {
	mu    sync.Mutex
	room  int // bytes
	queue pieces
	full  bool        // until the clerk comes, all that happens is only counted
	over  [3]overflow // by direction
	ended bool
	wake  chan struct{}
}

// pieces is what happened, in order.
type pieces struct {
	list  []piece
	bytes []byte // of the chunks, one after another
}

// piece is one thing that happened to one direction.
type piece struct {
	what what
	dir  frame.Dir
	at   time.Time
	size int // of a chunk
	missed
}

type what uint8

const (
	chunkRead    what = iota // size bytes were read
	chunkMissed              // bytes were read and not copied
	chunkWritten             // all that was read so far has been written
	streamEnded
)

// missed is what is known of bytes that were not copied.
type missed struct {
	any  bool
	ends int64 // LF among them
	open bool  // they end within a line
}

// overflow is what happened to one direction while there was no room.
type overflow struct {
	missed
	written, ended time.Time
}

const (
	copyRoom   = 16 << 20 // bytes of traffic that wait for the clerk at most
	mostPieces = 1 << 17
)

func newCopies(room int) *copies { return &copies{room: room, wake: make(chan struct{}, 1)} }

// read queues a copy of a chunk. Nobody is woken for it: that is the business of what follows, when the chunk is on its way.
func (c *copies) read(dir frame.Dir, chunk []byte) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full = c.full || len(c.queue.bytes)+len(chunk) > c.room || len(c.queue.list) >= mostPieces; c.full {
		o := &c.over[dir]
		o.any, o.written = true, time.Time{}
		o.ends += int64(bytes.Count(chunk, []byte{'\n'}))
		o.open = chunk[len(chunk)-1] != '\n'
		return
	}
	c.queue.bytes = append(c.queue.bytes, chunk...)
	c.queue.list = append(c.queue.list, piece{what: chunkRead, dir: dir, at: now, size: len(chunk)})
}

// written notes that the last chunk of a direction has been written.
func (c *copies) written(dir frame.Dir) {
	now := time.Now()
	c.mu.Lock()
	if c.full {
		c.over[dir].written = now
	} else {
		c.queue.list = append(c.queue.list, piece{what: chunkWritten, dir: dir, at: now})
	}
	c.mu.Unlock()
	c.signal()
}

// end notes that a direction has ended.
func (c *copies) end(dir frame.Dir) {
	now := time.Now()
	c.mu.Lock()
	if c.full {
		c.over[dir].ended = now
	} else {
		c.queue.list = append(c.queue.list, piece{what: streamEnded, dir: dir, at: now})
	}
	c.mu.Unlock()
	c.signal()
}

func (c *copies) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// close is told that nothing follows.
func (c *copies) close() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.signal()
}

// take exchanges what is queued for an empty queue.
func (c *copies) take(empty pieces) (taken pieces, ended bool) {
	if cap(empty.bytes) > keptRoom || cap(empty.list) > keptRoom/64 {
		empty = pieces{} // the room that a burst needed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	taken, c.queue = c.queue, pieces{empty.list[:0], empty.bytes[:0]}
	if c.full {
		for dir, o := range c.over {
			taken.list = o.append(taken.list, frame.Dir(dir))
		}
		c.full, c.over = false, [3]overflow{}
	}
	return taken, c.ended
}

// append adds what happened while there was no room.
func (o overflow) append(list []piece, dir frame.Dir) []piece {
	if o.any {
		list = append(list, piece{what: chunkMissed, dir: dir, missed: o.missed})
	}
	if !o.written.IsZero() {
		list = append(list, piece{what: chunkWritten, dir: dir, at: o.written})
	}
	if !o.ended.IsZero() {
		list = append(list, piece{what: streamEnded, dir: dir, at: o.ended})
	}
	return list
}
