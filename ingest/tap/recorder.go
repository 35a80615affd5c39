package tap

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"mcpdiag/ingest/frame"
)

// Event is one record to be written.
type Event struct {
	frame.Frame           // the Recorder adds Side, At, and what More has of clock, seq and pid, where they are missing
	Time        time.Time // when it happened, as time.Now said; zero: now
	Payload     []byte    // the message; the Recorder takes of it what its Payload policy allows
	Cut         bool      // Payload is only the beginning of it

	ResultBytes, ResultTokens int64             // see frame.Recorded
	Tools                     map[string]string // see frame.Recorded
}

// Recorder writes events to one log. It may be used from any goroutine.
type Recorder struct {
	o       Options
	start   time.Time
	redact  redaction
	sampler sampler

	mu      sync.Mutex
	queue   batch
	seq     int64
	closed  bool
	encoder frame.Encoder
	waits   waits

	stuck   bool          // the writer has not come for roomPatience
	room    chan struct{} // the writer has been there
	closing chan struct{}
	wake    chan struct{} // there is something in the queue, or an end
	plenty  chan struct{} // there is enough in it
	done    chan struct{}
	out     sink // the writer goroutine's
}

// batch is whole records, and how many more there would have been: said of them are in gap records among the bytes, lost of
// them come behind.
type batch struct {
	bytes               []byte
	records, said, lost int64
	huge                int // size of the record that is larger than the queue
}

// Open starts a recorder. It fails only when the options contradict themselves: a log that cannot be written is a complaint on
// Stderr, for traffic has to go on. The file is created by the first record.
func Open(o Options) (*Recorder, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	r := &Recorder{o: o, start: time.Now(), wake: make(chan struct{}, 1), plenty: make(chan struct{}, 1), room: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
	var name [8]byte
	rand.Read(name[:]) // never fails
	if o.PID == 0 {
		o.PID = os.Getpid()
	}
	r.encoder = frame.Encoder{Side: o.Side, Clock: hex.AppendEncode(nil, name[:]), PID: strconv.AppendInt(nil, int64(o.PID), 10)}
	r.redact = newRedaction(o.Redact)
	r.sampler = newSampler(&o, r.encoder.PID)
	r.out = newSink(&o, r.start, r.gap)
	go r.write()
	if o.StallAfter > 0 {
		r.waits.open = map[waitKey]*wait{}
		go r.watch()
	}
	return r, nil
}

// Record takes an event. It never blocks: it encodes the record into the queue, or counts it as lost when there is no room.
// Nothing of e is kept.
func (r *Recorder) Record(e *Event) { r.add(e) }

// add is Record, and tells how much the queue now holds.
func (r *Recorder) add(e *Event) (queued int) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	payload, cut := r.payload(e)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits.follow(e)
	if !r.enter(e, payload, cut) && (payload == nil || !r.enter(e, nil, true)) { // better no payload than no record
		r.queue.lost++
		return len(r.queue.bytes)
	}
	r.seq++
	switch r.queue.records++; {
	case r.queue.records == 1:
		ring(r.wake)
	case r.enough():
		ring(r.plenty)
	}
	return len(r.queue.bytes)
}

// enter writes a record at the queue's end, if it fits there.
func (r *Recorder) enter(e *Event, payload []byte, cut bool) bool {
	if !r.fits(0) { // nothing does: encoding would copy a full queue for each record that is lost
		return false
	}
	with := r.encode(r.queue.bytes, e, payload, cut)
	size := len(with) - len(r.queue.bytes)
	if !r.fits(size) {
		return false
	}
	r.queue.bytes = with
	if size > r.o.QueueBytes {
		r.queue.huge = size
	}
	return true
}

// Lose counts n events that the caller had to let go before it could make records of them.
func (r *Recorder) Lose(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if gap := r.gap(n, time.Now()); n > 0 && r.fits(len(gap)) {
		r.queue.bytes = append(r.queue.bytes, gap...)
		r.queue.said += n
	} else {
		r.queue.lost += n
	}
	ring(r.wake)
}

// fits reports whether a record of that many bytes can be queued: besides what the queue holds, one that is larger than the queue.
// After one that could not, none can, until the gap has its place behind what is queued: else it would stand behind what came later.
func (r *Recorder) fits(size int) bool {
	if r.closed || r.queue.lost > 0 {
		return false
	}
	if size > r.o.QueueBytes {
		return r.queue.huge == 0
	}
	return len(r.queue.bytes)-r.queue.huge+size <= r.o.QueueBytes
}

// encode appends the record.
func (r *Recorder) encode(b []byte, e *Event, payload []byte, cut bool) []byte {
	if e.Kind == frame.Open || e.Kind == frame.EOF || e.Kind == frame.Gap {
		e.Bytes, e.Rows = frame.Unknown, frame.Unknown
	}
	add := frame.Recorded{Seq: r.seq + 1, Trunc: cut, ResultBytes: e.ResultBytes, ResultTokens: e.ResultTokens, Tools: e.Tools, Payload: payload}
	add.At = r.instant(e.Time)
	return r.encoder.Append(b, &e.Frame, &add)
}

// instant is a time on both clocks.
func (r *Recorder) instant(t time.Time) (at frame.Instant) {
	at.Wall(t.Unix(), int32(t.Nanosecond()), true)
	at.Mono(int64(t.Sub(r.start)))
	return at
}

// gap is a record of records that are not there. It has no seq of its own: it stands for those that are missing.
func (r *Recorder) gap(n int64, at time.Time) []byte {
	f := frame.Frame{Kind: frame.Gap, Bytes: frame.Unknown, Rows: frame.Unknown, More: &frame.More{Dropped: n}}
	encoder := frame.Encoder{Side: r.encoder.Side, Clock: r.encoder.Clock, PID: r.encoder.PID} // its own: the writer comes without the lock
	return encoder.Append(nil, &f, &frame.Recorded{At: r.instant(at)})
}

// write is the writer goroutine: it takes what is queued, all at once, until the recorder is closed and the queue empty.
func (r *Recorder) write() {
	defer close(r.done)
	var taken batch
	for range r.wake {
		r.gather()
		r.mu.Lock()
		if cap(taken.bytes) > keptRoom {
			taken.bytes = nil // the room that a burst needed
		}
		taken, r.queue = r.queue, batch{bytes: taken.bytes[:0]}
		r.stuck = false
		closed := r.closed
		r.mu.Unlock()
		ring(r.room)
		r.out.put(taken)
		if closed {
			r.out.close()
			return
		}
	}
}

// gathering is how long the first record waits for others: a call of the kernel for each would cost more than the record.
const gathering = 2 * time.Millisecond

func (r *Recorder) gather() {
	r.mu.Lock()
	enough := r.enough()
	r.mu.Unlock()
	if enough {
		return
	}
	select {
	case <-time.After(gathering):
	case <-r.plenty:
	case <-r.closing:
	}
}

// enough reports whether the queue holds what is worth a call of the kernel.
func (r *Recorder) enough() bool { return len(r.queue.bytes) >= min(r.o.QueueBytes, keptRoom)/4 }

// halfFull is how much of its queue a recorder that is not in a hurry fills.
func (r *Recorder) halfFull() int { return min(r.o.QueueBytes, keptRoom) / 2 }

// roomPatience is how long waitForRoom waits for a writer that does not come.
const roomPatience = 200 * time.Millisecond

// waitForRoom is for callers that need not go on at once: it waits until the queue is half empty, unless the log is stuck.
func (r *Recorder) waitForRoom() {
	for {
		r.mu.Lock()
		room := r.stuck || r.closed || len(r.queue.bytes) <= r.halfFull()
		r.mu.Unlock()
		if room {
			return
		}
		select {
		case <-r.room:
		case <-time.After(roomPatience):
			r.mu.Lock()
			r.stuck = true
			r.mu.Unlock()
		}
	}
}

// keptRoom is how much of its buffers a recorder keeps when nothing happens.
const keptRoom = 256 << 10

// closePatience is how long Close waits for a log that does not take what is queued: the process has to end.
const closePatience = time.Second

// Close writes what is queued and ends the recorder. Records that come later are lost. The error says that records were lost;
// whoever read stderr knows why.
func (r *Recorder) Close() error {
	r.mu.Lock()
	again := r.closed
	r.closed = true
	r.mu.Unlock()
	if again {
		return nil
	}
	close(r.closing)
	ring(r.wake)
	select {
	case <-r.done:
	case <-time.After(closePatience):
		return errors.New("the log does not take its last records")
	}
	if r.out.total > 0 {
		return fmt.Errorf("%d records are not in the log", r.out.total)
	}
	return nil
}
