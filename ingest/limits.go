package ingest

import "time"

// Limits are the user's thresholds, each on the clock of the log that it is applied to, and which calls he asks for.
type Limits struct {
	Slow     time.Duration // an answered call that took this long is worth a word
	Patience time.Duration // an unanswered call younger than this at its log's end is still open
	Quiet    time.Duration // silence after an answer that is worth a word
	Session  string        // only calls of this session; "" is all
	ID       string        // only calls with this id, as a JSON token or bare; "" is all
	Since    Bound         // only calls from here on
	Until    Bound         // only calls before this
}

// Bound is one end of a window: a wall time, or a distance from a log's first record. Each log is measured on its own clock.
type Bound struct {
	Set   bool
	Wall  time.Time // the zero time: After counts
	After time.Duration
}

// before reports whether half i began before the bound; one whose time is unknown did not.
func (b Bound) before(l *Log, i uint32) bool {
	at := l.At(i, Request)
	if !b.Wall.IsZero() {
		return at.HasWall() && at.Time().Before(b.Wall)
	}
	d, ok := at.Sub(l.first)
	return ok && d < b.After
}

// All reports whether every call is asked for.
func (m *Limits) All() bool { return m.Session == "" && m.ID == "" && !m.Since.Set && !m.Until.Set }

// shows reports whether half i is asked for.
func (m *Limits) shows(l *Log, i uint32) bool {
	if m.Session != "" && l.Stretches[l.Half(i).Stretch].Session != m.Session {
		return false
	}
	if m.ID != "" {
		if id := l.ID(i); string(id) != m.ID && id.Bare() != m.ID {
			return false
		}
	}
	return (!m.Since.Set || !m.Since.before(l, i)) && (!m.Until.Set || m.Until.before(l, i))
}
