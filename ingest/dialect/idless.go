package dialect

import (
	"strconv"
	"time"

	"mcpdiag/ingest/frame"
)

// idless numbers the calls of a log that tells no ids, so that an end finds its beginning: by server and tool. Where two calls
// of one tool are open the end must tell how long it took, else it is either's and closes neither for certain.
type idless struct {
	last uint32
	open map[string][]idlessCall
	left map[string]int // ends that could be either's
}

type idlessCall struct {
	n  uint32
	at frame.Instant
}

// The most calls that are remembered as open, in all and of one tool: an end looks through the latter, and a log of beginnings
// alone must not cost the square of its length.
const (
	maxIdless = 1 << 16
	maxAlike  = 1 << 8
)

// began adds the beginning of a call.
func (r *textReader) began(f frame.Frame, server, tool []byte, word string) uint32 {
	c := &r.calls
	if c.open == nil || len(c.open) > maxIdless {
		c.open, c.left = map[string][]idlessCall{}, map[string]int{}
	}
	c.last++
	key := string(server) + "\x00" + string(tool)
	if len(c.open[key]) >= maxAlike {
		delete(c.open, key)
		delete(c.left, key)
	}
	c.open[key] = append(c.open[key], idlessCall{c.last, f.At})
	f.Kind, f.Dir, f.Trunc = frame.Request, frame.C2S, true
	if f.Method == nil {
		f.Method, f.Name = []byte("tools/call"), tool
	}
	f.Extra().Call = c.last
	f.More.Word = word
	r.add(f)
	return c.last
}

// over adds the end of a call: f.Kind is Response, Error or GaveUp. took is what the log says that it lasted; -1 when nothing.
func (r *textReader) over(f frame.Frame, server, tool []byte, took time.Duration, word string) {
	c := &r.calls
	key := string(server) + "\x00" + string(tool)
	n, known := c.take(key, f.At, took)
	if f.Dir = frame.S2C; f.Kind == frame.GaveUp {
		f.Dir = frame.C2S
	}
	f.Extra().Word = word
	switch {
	case known:
		f.More.Call = n
	case len(c.open[key]) > 0: // of several, so none
		if f.Kind == frame.GaveUp {
			f.Kind = frame.Response // one of them has ended; that is all
		}
		if c.left[key]++; c.left[key] >= len(c.open[key]) {
			delete(c.open, key)
			delete(c.left, key)
		}
	case f.Kind == frame.GaveUp:
		return
	default: // the log starts after its beginning
		c.last++
		f.More.Call = c.last
	}
	f.Trunc = true
	r.add(f)
}

// closeEnough is how far what a log says of a call's length may be from its times.
const closeEnough = 1500 * time.Millisecond

// take finds the call that ends.
func (c *idless) take(key string, at frame.Instant, took time.Duration) (uint32, bool) {
	open, best := c.open[key], -1
	switch {
	case len(open) == 1:
		best = 0
	case len(open) > 1 && took >= 0:
		for i, call := range open {
			d, ok := at.Sub(call.at)
			if off := (d - took).Abs(); !ok || off > closeEnough {
				continue
			}
			if best >= 0 {
				return 0, false
			}
			best = i
		}
	}
	if best < 0 {
		return 0, false
	}
	n := open[best].n
	if open = append(open[:best:best], open[best+1:]...); len(open) == 0 {
		delete(c.open, key)
		delete(c.left, key)
	} else {
		c.open[key] = open
	}
	return n, true
}

// exchange adds an HTTP exchange, which a middle box tells once it has ended: the request and the answer stand on one line.
func (r *textReader) exchange(f frame.Frame, begin, end frame.Instant, status int64, word string) {
	if len(f.Method) > len("notifications/") && string(f.Method[:len("notifications/")]) == "notifications/" {
		f.Kind, f.Dir, f.At = frame.Notification, frame.C2S, begin
		f.Extra().Word = word
		f.More.Status, f.More.HasStatus = status, status != 0
		r.add(f)
		return
	}
	r.calls.last++
	g := f
	f.Kind, f.Dir, f.Trunc, f.At = frame.Request, frame.C2S, true, begin
	f.Extra().Call = r.calls.last
	f.More.Word = word
	r.add(f)
	g.More = nil
	g.Kind, g.Dir, g.Trunc, g.At, g.Method, g.Name = frame.Response, frame.S2C, true, end, nil, nil
	if f.More.Conn != nil {
		g.Extra().Conn = f.More.Conn
	}
	if status >= 400 {
		g.Kind = frame.Error
	}
	g.Extra().Call = r.calls.last
	g.More.Status, g.More.HasStatus = status, status != 0
	g.More.Word = word + " (its end)"
	r.add(g)
}

// failed adds the failed end of a call: an error that the server sent, or the client's own word that it stopped waiting.
func (r *textReader) failed(f frame.Frame, server, tool []byte, took time.Duration, why []byte) {
	word := "call fail " + string(tool)
	code, coded := errorCode(why)
	if coded {
		word += " " + strconv.FormatInt(code, 10)
		f.Extra().Code, f.More.HasCode = code, true
	}
	if f.Kind = frame.Error; isLocal(why) {
		f.Kind = frame.GaveUp
	}
	r.over(f, server, tool, took, word)
}

// shortMS is a duration in ms for the brief reading.
func shortMS(ns int64) string { return strconv.FormatInt(ns/1_000_000, 10) + "ms" }
