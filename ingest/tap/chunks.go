package tap

import (
	"io"
	"sync"
	"time"
)

// chunks is the copy of a body on its way from the traffic to the goroutine that reads it. Putting never waits: what finds no
// room is counted and the copy is broken from there on, the stream is not. One goroutine puts, one reads.
type chunks struct {
	mu     sync.Mutex
	more   *sync.Cond
	queue  []chunk
	held   int // bytes in the queue
	limit  int // bytes it may hold
	ended  bool
	lost   bool  // a chunk found no room
	total  int64 // bytes put, kept or not
	latest chunk
}

type chunk struct {
	b  []byte
	at time.Time
}

func newChunks(limit int) *chunks {
	c := &chunks{limit: limit}
	c.more = sync.NewCond(&c.mu)
	return c
}

// put copies b.
func (c *chunks) put(b []byte, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.total += int64(len(b)); c.ended || c.lost {
		return
	}
	if room := c.limit - c.held; len(b) > room {
		b, c.lost = b[:room], true
	}
	c.queue = append(c.queue, chunk{append([]byte(nil), b...), at})
	c.held += len(b)
	c.more.Signal()
}

// end says that nothing more comes.
func (c *chunks) end() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.more.Broadcast()
}

// Read gives what was put, until the end or the first loss.
func (c *chunks) Read(p []byte) (int, error) {
	if len(c.latest.b) == 0 {
		c.mu.Lock()
		for len(c.queue) == 0 && !c.ended && !c.lost {
			c.more.Wait()
		}
		if len(c.queue) == 0 {
			c.mu.Unlock()
			return 0, io.EOF
		}
		c.latest = c.queue[0]
		c.queue = c.queue[1:]
		c.held -= len(c.latest.b)
		c.mu.Unlock()
	}
	n := copy(p, c.latest.b)
	c.latest.b = c.latest.b[n:]
	return n, nil
}

// at is when the chunk that was read last crossed.
func (c *chunks) at() time.Time { return c.latest.at }

// broken reports whether bytes were lost, and how many were put so far.
func (c *chunks) broken() (total int64, lost bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total, c.lost
}

// wait waits for the end and returns how many bytes were put.
func (c *chunks) wait() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.ended {
		c.more.Wait()
	}
	return c.total
}
