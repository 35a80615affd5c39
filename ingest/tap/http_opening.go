package tap

import (
	"bytes"
	"sync"
	"time"
)

// opening holds back the record of an initialize until its response says which session it opens. It belongs to that session:
// there its answer is, and what it declares holds there. A response that does not come soon is not waited for, since a log
// that ends there must show the request.
type opening struct {
	mu   sync.Mutex
	held *Event
}

// holdFor is how long a record is held back.
const holdFor = time.Second

func (o *opening) hold(x *exchange, e *Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held != nil { // a batch, which may not hold an initialize at all
		x.write(e)
		return
	}
	o.held = e.clone()
	time.AfterFunc(holdFor, func() { o.release(x, nil) })
}

// release writes what is held, as of a session. It reports whether anything was.
func (o *opening) release(x *exchange, session []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held == nil {
		return false
	}
	o.held.Session = session
	x.write(o.held)
	o.held = nil
	return true
}

// clone is a copy that points into nothing of e's.
func (e *Event) clone() *Event {
	c := *e
	c.ID, c.RequestID = bytes.Clone(e.ID), bytes.Clone(e.RequestID)
	c.Method, c.Name, c.Session = bytes.Clone(e.Method), bytes.Clone(e.Name), bytes.Clone(e.Session)
	c.Payload = bytes.Clone(e.Payload)
	if e.More != nil {
		m := *e.More
		for _, b := range []*[]byte{&m.Conn, &m.Exchange, &m.PID, &m.Clock, &m.Token, &m.ResultType, &m.Era, &m.Raw} {
			*b = bytes.Clone(*b)
		}
		c.More = &m
	}
	return &c
}
