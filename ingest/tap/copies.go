package tap

import (
	"bytes"
	"sync"
	"sync/atomic"
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
	sight atomic.Int64 // queue.size, to be had without the lock
	free  [][]byte     // blocks to be used again
	full  bool         // until the clerk comes, all that happens is only counted
	over  [3]overflow  // by direction
	ended bool
	wake  chan struct{} // something has happened
	hurry chan struct{} // so much has that the clerk should come at once
}

// pieces is what happened, in order.
type pieces struct {
	list   []piece
	blocks [][]byte // that nothing will be added to
	size   int      // of the chunks
}

// piece is one thing that happened to one direction.
type piece struct {
	what  what
	dir   frame.Dir
	at    time.Time
	chunk []byte
	missed
}

type what uint8

const (
	chunkRead    what = iota // bytes were read
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
	copyRoom   = 64 << 20 // bytes of traffic that wait for the clerk at most
	mostPieces = 1 << 17
	leastRoom  = 16 << 10 // that is worth a read
	blockSize  = 128 << 10
	keptBlocks = 128 // in a burst
	idleBlocks = 2
	muchCopied = chunkSize // worth the clerk's coming: more would leave the processor's cache before it does
)

func newCopies(room int) *copies {
	return &copies{room: room, wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1)}
}

// roomIn gives a pump a block with room for a chunk: the one it has, or another. Chunks are read where they are kept, since
// copying them would cost more than all else that a tee does.
func (c *copies) roomIn(block []byte) []byte {
	if cap(block)-len(block) >= leastRoom {
		return block
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if block != nil {
		c.queue.blocks = append(c.queue.blocks, block) // behind all chunks in it
	}
	if n := len(c.free) - 1; n >= 0 {
		block = c.free[n]
		c.free = c.free[:n]
		return block[:0]
	}
	return make([]byte, 0, blockSize)
}

// read queues a chunk, which must stay as it is; false when there is no room, and nothing of it is kept.
func (c *copies) read(dir frame.Dir, chunk []byte) bool {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full = c.full || c.queue.size+len(chunk) > c.room || len(c.queue.list) >= mostPieces; c.full {
		o := &c.over[dir]
		o.any, o.written = true, time.Time{}
		o.ends += int64(bytes.Count(chunk, []byte{'\n'}))
		o.open = chunk[len(chunk)-1] != '\n'
		return false
	}
	c.queue.list = append(c.queue.list, piece{what: chunkRead, dir: dir, at: now, chunk: chunk})
	c.queue.size += len(chunk)
	c.sight.Store(int64(c.queue.size))
	ring(c.wake) // now, for the write may never end; while the clerk is busy or dozing it costs nothing
	if c.much() {
		ring(c.hurry)
	}
	return true
}

// written notes that the last chunk of a direction has been written. The clerk has been woken for the chunk.
func (c *copies) written(dir frame.Dir) {
	now := time.Now()
	c.mu.Lock()
	if c.full {
		c.over[dir].written = now
	} else {
		c.queue.list = append(c.queue.list, piece{what: chunkWritten, dir: dir, at: now})
	}
	c.mu.Unlock()
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
	ring(c.wake)
}

// ring wakes whoever waits for c, or the next who will.
func ring(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (c *copies) much() bool {
	return c.ended || c.queue.size >= muchCopied || len(c.queue.list) >= mostPieces/2
}

// moved tells how much has happened that the clerk has not taken, and whether it should come at once.
func (c *copies) moved() (n int, urgent bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue.list), c.much()
}

// lookout is how long the clerk looks for more before it sleeps. In a stream the next chunk comes soon, and a clerk
// that sleeps has to be woken by the pump: that costs the traffic more than all else that a tee does.
const lookout = 400 * time.Microsecond

// lookOut reports whether much has happened again. While it has not, whoever has something to do comes first.
func (c *copies) lookOut() bool {
	for begun := time.Now(); time.Since(begun) < lookout; yield() {
		if c.sight.Load() >= muchCopied {
			return true
		}
	}
	return false
}

// trim gives up the blocks that a burst needed.
func (c *copies) trim() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := min(len(c.free), idleBlocks); n < len(c.free) {
		clear(c.free[n:])
		c.free = c.free[:n]
	}
}

// close is told that nothing follows.
func (c *copies) close() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	ring(c.wake)
	ring(c.hurry)
}

// take exchanges what is queued for what has been worked through.
func (c *copies) take(used pieces) (taken pieces, ended bool) {
	if cap(used.list) > keptRoom/64 {
		used.list = nil // the room that a burst needed
	}
	clear(used.list) // it points to blocks
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, block := range used.blocks {
		if len(c.free) < keptBlocks {
			c.free = append(c.free, block)
		}
	}
	taken, c.queue = c.queue, pieces{list: used.list[:0]}
	c.sight.Store(0)
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
