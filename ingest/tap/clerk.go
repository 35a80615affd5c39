package tap

import (
	"bytes"
	"runtime/debug"
	"time"

	"mcpdiag/ingest/frame"
)

// clerk makes records of the copies, in a goroutine of its own.
type clerk struct {
	copies  *copies
	record  *Recorder
	inbound frame.Dir     // the direction in which the side of the log reads
	apart   time.Duration // when read and written are further apart than this they are two records
	framers [3]*Framer    // by direction
	pending [3][]*pending // messages that were read and, as far as is known, not written
	writing time.Time     // when the chunk being framed was written; zero: not yet, or not known
}

// pending is a message that is read and not yet written.
type pending struct {
	event Event
	said  bool // the record of the reading is out
}

func newClerk(c *copies, r *Recorder, apart time.Duration) *clerk {
	k := &clerk{copies: c, record: r, apart: apart, inbound: frame.C2S}
	if r.o.Side == frame.Client {
		k.inbound = frame.S2C
	}
	for _, dir := range []frame.Dir{frame.C2S, frame.S2C} {
		k.framers[dir] = NewFramer(dir, r.o.Payload.Room(), k.framed)
	}
	return k
}

// Traffic comes first, also on a machine with few cores: the clerk waits for a pause in it, unless much is there to be done.
const (
	pause        = time.Millisecond
	longestPause = 50 * time.Millisecond
)

// work goes on until the copies are closed.
func (k *clerk) work() {
	var taken pieces
	alarm := time.NewTimer(time.Hour)
	defer alarm.Stop()
	fat := false // a burst has left its memory
	for ended, more := false, false; !ended; {
		quiet := false
		if !more {
			select {
			case <-k.copies.wake:
				k.waitForPause()
			case <-alarm.C:
				quiet = true
			}
		}
		taken, ended = k.copies.take(taken)
		k.enter(taken)
		next := k.overdue(time.Now(), ended)
		if fat = fat || taken.size > bigBurst; fat {
			next = min(next, time.Second)
		}
		if fat && quiet && len(taken.list) == 0 {
			k.copies.trim()
			debug.FreeOSMemory() // not at the next collection, which may be long after
			fat = false
		}
		if more = taken.size >= muchCopied && k.copies.lookOut(); !more {
			alarm.Reset(next)
		}
	}
}

const bigBurst = 1 << 20

// waitForPause waits until nothing happens, or too much has.
func (k *clerk) waitForPause() {
	before := -1
	doze := time.NewTimer(pause)
	defer doze.Stop()
	for begun := time.Now(); time.Since(begun) < longestPause; {
		n, urgent := k.copies.moved()
		if urgent || n == before {
			return
		}
		before = n
		doze.Reset(pause)
		select {
		case <-doze.C:
		case <-k.copies.hurry:
		}
	}
}

// enter works through what happened.
func (k *clerk) enter(taken pieces) {
	for i, p := range taken.list {
		switch p.what {
		case chunkRead:
			k.writing = writtenAt(taken.list[i+1:], p.dir)
			k.framers[p.dir].Write(p.chunk, p.at)
		case chunkMissed:
			k.record.Lose(k.framers[p.dir].Skip(p.ends, p.open))
		case chunkWritten:
			k.settle(p.dir, len(k.pending[p.dir]), p.at)
		case streamEnded:
			k.writing = p.at
			k.framers[p.dir].Close(p.at)
			for _, left := range k.pending[p.dir] { // the receiver is gone
				k.read(left)
			}
			k.log(&Event{Frame: frame.Frame{Dir: p.dir, Kind: frame.EOF}, Time: p.at})
		}
	}
}

// writtenAt finds when the chunk in front of the list was written; zero when that has not happened.
func writtenAt(list []piece, dir frame.Dir) time.Time {
	for _, p := range list {
		if p.dir == dir && p.what == chunkWritten {
			return p.at
		}
		if p.dir == dir && p.what == chunkRead {
			break
		}
	}
	return time.Time{}
}

// framed takes what a Framer makes of a chunk.
func (k *clerk) framed(e *Event) {
	if e.Kind.Answer() {
		k.answered(e)
	}
	if len(k.pending[e.Dir]) == 0 && !k.writing.IsZero() && k.writing.Sub(e.Time) <= k.apart {
		k.both(e, k.writing)
		return
	}
	p := &pending{event: *e}
	p.event.Frame = e.Frame.Clone() // its texts point into a chunk, whose room will be used again
	if p.event.Payload = nil; k.record.o.Payload != 0 {
		p.event.Payload = bytes.Clone(e.Payload)
	}
	k.pending[e.Dir] = append(k.pending[e.Dir], p)
	if !k.writing.IsZero() {
		k.settle(e.Dir, len(k.pending[e.Dir]), k.writing)
	}
}

// answered settles a request by its answer: the peer has read it, though the pump may not have said yet that it wrote it.
func (k *clerk) answered(e *Event) {
	other := frame.C2S + frame.S2C - e.Dir
	for i, p := range k.pending[other] {
		if p.event.Kind == frame.Request && bytes.Equal(p.event.ID, e.ID) {
			k.settle(other, i+1, e.Time)
			return
		}
	}
}

// settle records the first n pending messages of a direction as written: in one record with the reading, or in a second one
// when that was long ago, or its record is out.
func (k *clerk) settle(dir frame.Dir, n int, at time.Time) {
	waiting := k.pending[dir]
	for _, p := range waiting[:n] {
		if !p.said && at.Sub(p.event.Time) <= k.apart {
			k.both(&p.event, at)
			continue
		}
		k.read(p)
		p.event.Phase, p.event.Time = frame.Written, at
		k.log(&p.event)
	}
	clear(waiting[:n])
	k.pending[dir] = append(waiting[:0], waiting[n:]...)
}

// both records a message that was read and written at about the same time. The side of the log says which of the two counts.
func (k *clerk) both(e *Event, written time.Time) {
	if e.Dir != k.inbound {
		e.Time = written
	}
	k.log(e)
}

// read records that a message was read.
func (k *clerk) read(p *pending) {
	if !p.said {
		p.said = true
		p.event.Phase = frame.Read
		k.log(&p.event)
		p.event.Payload = nil
	}
}

// overdue records what was read long ago, and is not written: the peer does not drain. It returns when to look again.
func (k *clerk) overdue(now time.Time, ended bool) time.Duration {
	next := time.Hour
	for _, waiting := range k.pending {
		for _, p := range waiting {
			left := k.apart - now.Sub(p.event.Time)
			switch {
			case p.said:
			case left <= 0 || ended:
				k.read(p)
			default:
				next = min(next, left)
			}
		}
	}
	return next
}

// log records an event. Unlike the traffic, the clerk can wait for a log that is a little slow.
func (k *clerk) log(e *Event) {
	if k.record.add(e) > k.record.halfFull() {
		k.record.waitForRoom()
	}
}
