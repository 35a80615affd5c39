package diagnose

import (
	"encoding/json"
	"time"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/join"
)

// Half is one log's view of a call; a nil Log means that the log does not have it.
type Half struct {
	Log *ingest.Log
	N   uint32
}

// OK reports whether the log has the call.
func (h Half) OK() bool { return h.Log != nil }

// Line is the log-wide line of a point; 0 when it is not recorded.
func (h Half) Line(p ingest.Point) uint32 {
	if h.Log == nil {
		return 0
	}
	return h.Log.Line(h.N, p)
}

// At is the time of a point on the log's own clock.
func (h Half) At(p ingest.Point) frame.Instant {
	if h.Log == nil {
		return frame.Instant{}
	}
	return h.Log.At(h.N, p)
}

// Between is the time from one point to another on the log's clock. ok is false when an end is unknown or the clock stepped.
func (h Half) Between(from, to ingest.Point) (d time.Duration, ok bool) {
	if h.Log == nil {
		return 0, false
	}
	d, ok = h.Log.Between(h.N, from, to)
	return d, ok && d >= 0
}

// Stepped reports whether the clock went back between two points that are both known.
func (h Half) Stepped(from, to ingest.Point) bool {
	if h.Log == nil {
		return false
	}
	d, ok := h.Log.Between(h.N, from, to)
	return ok && d < 0
}

// Fact is what else the log knows; never nil.
func (h Half) Fact() *ingest.Fact {
	if h.Log == nil {
		return &ingest.Fact{QuietEnd: -1}
	}
	return h.Log.Fact(h.N)
}

// Stretch is the half's session or connection.
func (h Half) Stretch() *ingest.Stretch {
	if h.Log == nil {
		return &ingest.Stretch{}
	}
	return h.Log.Stretches[h.Log.Half(h.N).Stretch]
}

// in is where the half's stretch is.
func (h Half) in() join.Stretch { return join.Stretch{Log: h.Log, N: h.Log.Half(h.N).Stretch} }

// Has reports whether the half has a flag.
func (h Half) Has(f ingest.Flags) bool { return h.Log != nil && h.Log.Half(h.N).Flags&f != 0 }

// Call is one call with its verdict. What the logs say of it is looked up in them, so that a call costs little until it is
// printed.
type Call struct {
	Requester frame.Side
	Sent      Half // the requester's log
	Served    Half // the responder's log
	Q         [3]Truth
	Leaf      Leaf
	Reason    Reason // why there is no leaf; "" when there is one
	Stalled   bool
	Slow      bool
	Quiet     bool
	Causes    []Cause
	Follows   *Call // the call whose cause this one is a casualty of
	Hints     []Hint
}

// Hint is a near match: worth a look, never merged.
type Hint struct {
	Kind  string
	Text  string
	Lines []string
}

// any is the half to ask for what both sides know.
func (c *Call) any() Half {
	if c.Sent.OK() {
		return c.Sent
	}
	return c.Served
}

// ID is the JSON-RPC id, as its raw token. Of a call in a log without ids it is the id that the other log tells, if that was
// paired, else the word none.
func (c *Call) ID() frame.ID {
	for _, h := range []Half{c.Sent, c.Served} {
		if h.OK() && !h.Has(ingest.NoID) {
			return h.Log.ID(h.N)
		}
	}
	return frame.ID("none")
}

// NoID reports whether no log tells the id of the call.
func (c *Call) NoID() bool {
	return (!c.Sent.OK() || c.Sent.Has(ingest.NoID)) && (!c.Served.OK() || c.Served.Has(ingest.NoID))
}

// ByOrder reports whether the two halves were paired by tool and order, a log telling no ids: a likely join, not a certain one.
func (c *Call) ByOrder() bool {
	return c.Sent.OK() && c.Served.OK() && (c.Sent.Has(ingest.NoID) || c.Served.Has(ingest.NoID))
}

// Method is the spec method name; "" when no log tells.
func (c *Call) Method() string { return c.text((*ingest.Log).Method) }

// Name is the tool, prompt or resource; "" when no log tells.
func (c *Call) Name() string { return c.text((*ingest.Log).Name) }

func (c *Call) text(f func(*ingest.Log, uint32) string) string {
	for _, h := range []Half{c.Sent, c.Served} {
		if h.OK() {
			if s := f(h.Log, h.N); s != "" {
				return s
			}
		}
	}
	return ""
}

// Session is the name that the logs give the session; "" when neither does.
func (c *Call) Session() string {
	for _, h := range []Half{c.Sent, c.Served} {
		if h.OK() && h.Stretch().Session != "" {
			return h.Stretch().Session
		}
	}
	return ""
}

// Connection says which stretch of the requester's log, else of the responder's, the call belongs to, from 1.
func (c *Call) Connection() int { return c.any().Stretch().Number }

// Nth counts the requests with this id by this requester, in the named session, else in the file.
func (c *Call) Nth() int { return c.any().Log.NthInFile(c.any().N) }

// Ambiguous reports whether the call shared its id with another outstanding request.
func (c *Call) Ambiguous() bool {
	return c.Sent.Has(ingest.Ambiguous) || c.Served.Has(ingest.Ambiguous)
}

// Outcome is how the requester's wait ended; by the responder's log where the requester's does not have the call.
func (c *Call) Outcome() ingest.Outcome { return c.any().Log.Outcome(c.any().N) }

// Bytes is the size of the request or answer frame: the responder's figure for the answer (as written), the requester's for
// the request (as sent), else the other's; frame.Unknown when neither tells.
func (c *Call) Bytes(p ingest.Point) int64 {
	order := []Half{c.Sent, c.Served}
	if p == ingest.Answer {
		order = []Half{c.Served, c.Sent}
	}
	for _, h := range order {
		if h.OK() {
			if n := h.Log.Bytes(h.N, p); n != frame.Unknown {
				return n
			}
		}
	}
	return frame.Unknown
}

// Rows is the number of records in the result; frame.Unknown when no log tells.
func (c *Call) Rows() int64 {
	for _, h := range []Half{c.Served, c.Sent} {
		if h.OK() {
			if n := h.Log.Rows(h.N); n != frame.Unknown {
				return n
			}
		}
	}
	return frame.Unknown
}

// Stages are the responder's times. A missing mark makes its neighbours unknown; what is known adds up with residual 0.
type Stages struct {
	Dispatch, Handler, Flush, Total Span
	Residual                        Span
}

// Span is a duration on one clock, or unknown.
type Span struct {
	D  time.Duration
	OK bool
}

// MS is the span in milliseconds, as JSON writes it.
func (s Span) MS() *float64 {
	if !s.OK {
		return nil
	}
	ms := float64(s.D) / float64(time.Millisecond)
	return &ms
}

func (h Half) span(from, to ingest.Point) Span {
	d, ok := h.Between(from, to)
	return Span{d, ok}
}

// Stages are the stages of the responder's side: read to enter, enter to exit, exit to write.
func (c *Call) Stages() Stages {
	h := c.Served
	s := Stages{Dispatch: h.span(ingest.Request, ingest.Enter), Handler: h.span(ingest.Enter, ingest.Exit),
		Flush: h.span(ingest.Exit, ingest.Answer), Total: h.span(ingest.Request, ingest.Answer)}
	if s.Dispatch.OK && s.Handler.OK && s.Flush.OK && s.Total.OK {
		s.Residual = Span{s.Total.D - s.Dispatch.D - s.Handler.D - s.Flush.D, true}
	}
	return s
}

// Wait is the requester's time from the request to its answer.
func (c *Call) Wait() Span { return c.Sent.span(ingest.Request, ingest.Answer) }

// CancelAfter is the requester's time from the request to its cancel.
func (c *Call) CancelAfter() Span { return c.Sent.span(ingest.Request, ingest.Cancel) }

// IDJSON is the id with its JSON type and digits; null when no log tells it.
func (c *Call) IDJSON() json.RawMessage {
	if c.NoID() {
		return frame.ID(nil).JSON()
	}
	return c.ID().JSON()
}

// Problem reports whether the call is stalled, slow or quiet.
func (c *Call) Problem() bool { return c.Stalled || c.Slow || c.Quiet }

// FirstLine cites the line on which the call was first seen, in its requester's log if that has it.
func (c *Call) FirstLine() string {
	h := c.any()
	return Cite(h.Log, h.Log.FirstHalfLine(h.N))
}

// maxCandidates bounds how many of them are listed.
const maxCandidates = 32

// Candidates are the other calls that this one cannot be told from.
func (c *Call) Candidates() []*Call {
	var out []*Call
	for _, h := range []Half{c.Sent, c.Served} {
		if !h.OK() || len(out) > 0 {
			continue
		}
		if g := h.Log.GroupOf(h.N); g != nil {
			for _, m := range g.Members {
				if m != h.N && len(out) < maxCandidates {
					other := &Call{Requester: c.Requester}
					if h == c.Sent {
						other.Sent = Half{h.Log, m}
					} else {
						other.Served = Half{h.Log, m}
					}
					out = append(out, other)
				}
			}
		}
	}
	return out
}
