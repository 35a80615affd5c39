package diagnose

import (
	"fmt"
	"strings"
	"time"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// nested finds the server's own request that was sent from within this call's handler and never answered. A handler that left
// only when the call was cancelled had waited until then.
func (s *scene) nested() *Call {
	h := s.c.Served
	exit, cancel := h.Line(ingest.Exit), h.Line(ingest.Cancel)
	if s.c.Leaf != NeverWritten || s.c.Requester != frame.Client || h.Line(ingest.Enter) == 0 || exit != 0 && (cancel == 0 || exit < cancel) {
		return nil
	}
	for _, c := range s.around().reverse {
		if c.Sent.Line(ingest.Request) > h.Line(ingest.Enter) {
			return c
		}
	}
	return nil
}

// outer finds the client's call whose handler sent this server's request.
func (s *scene) outer() *Call {
	if s.c.Requester != frame.Server || !s.c.Sent.OK() || s.c.Sent.Line(ingest.Answer) != 0 {
		return nil
	}
	for _, c := range s.around().handlers {
		if (&scene{s.stage, c}).nested() == s.c {
			return c
		}
	}
	return nil
}

func circularWait(s *scene) *Cause {
	outer, inner := s.c, s.nested()
	if inner == nil {
		if outer, inner = s.outer(), s.c; outer == nil {
			return nil
		}
	}
	if inner.Leaf != NeverWritten || inner.Served.Line(ingest.Enter) != 0 || (&scene{s.stage, outer}).busyAfter(inner) {
		return nil
	}
	c := found(CircularWait, func() string {
		text := fmt.Sprintf("the handler of id %s waits for the server's own request id %s %s (%s", outer.ID(), inner.ID(), inner.Method(), Cite(inner.Sent.Log, inner.Sent.Line(ingest.Request)))
		if d, ok := inner.Sent.At(ingest.Request).Sub(outer.Served.At(ingest.Enter)); ok {
			text += ", " + Wait(d) + " after the handler was entered"
		}
		text += fmt.Sprintf("); the client read it (%s) and does not answer while it waits for id %s: each holds the other's request", Cite(inner.Served.Log, inner.Served.Line(ingest.Request)), outer.ID())
		if d := outer.CancelAfter(); d.OK {
			text += fmt.Sprintf("; ended by the client after %s", Wait(d.D))
		}
		return text
	})
	if s.c == inner {
		c.heads = outer
	}
	return c
}

// busyAfter reports whether the client sent something of its own after it read the inner request: then it is not stuck.
func (s *scene) busyAfter(inner *Call) bool {
	line, at := inner.Served.Line(ingest.Request), inner.Served.in()
	return s.look(place{at, uint8(frame.Client)}).LastRequest > line || s.look(place{at, uint8(frame.Server)}).LastAnswer > line
}

func reverseUnanswered(s *scene) *Cause {
	inner := s.nested()
	if inner == nil {
		return nil
	}
	return found(ReverseUnanswered, func() string {
		return fmt.Sprintf("the handler waits for the server's own request id %s %s (%s), which was not answered (%s)",
			inner.ID(), inner.Method(), Cite(inner.Sent.Log, inner.Sent.Line(ingest.Request)), inner.Leaf.Words())
	})
}

// needs is the client's capability that a server's request takes.
func needs(method string) string {
	capability, _, _ := strings.Cut(method, "/")
	switch capability {
	case "sampling", "elicitation", "roots":
		return capability
	}
	return ""
}

func notServed(s *scene) *Cause {
	inner := s.nested()
	if s.c.Requester == frame.Server && s.c.Leaf != AgentLevel {
		inner = s.c
	}
	if inner == nil || !inner.Sent.OK() {
		return nil
	}
	want := needs(inner.Method())
	caps := inner.Sent.Stretch().Caps[0]
	if want == "" || caps == nil || declared(caps, want) {
		return nil
	}
	return found(NotServed, func() string {
		return fmt.Sprintf("id %s %s (%s) needs the client's capability %q, and the client declared %s", inner.ID(), inner.Method(),
			Cite(inner.Sent.Log, inner.Sent.Line(ingest.Request)), want, list(caps))
	})
}

func declared(caps []string, want string) bool {
	for _, c := range caps {
		if c == want || strings.HasPrefix(c, want+".") {
			return true
		}
	}
	return false
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func serverClosed(s *scene) *Cause {
	if s.c.Leaf == NeverArrived && s.c.Sent.OK() {
		st := s.c.Sent.Stretch()
		if eof := st.EOF[dirIndex(s.c.answerDir())]; eof != 0 && eof < s.c.Sent.Line(ingest.Request) {
			return found(ServerClosed, func() string {
				return fmt.Sprintf("%s: the peer's stream had ended before the request was sent", Cite(s.c.Sent.Log, eof))
			}).at(eof)
		}
		return nil
	}
	if s.c.Leaf != NeverWritten {
		return nil
	}
	st := s.c.Served.Stretch()
	k := dirIndex(s.c.answerDir())
	cancel := s.c.Served.Line(ingest.Cancel)
	if eof := st.EOF[k]; eof > s.c.Served.Line(ingest.Request) && (cancel == 0 || cancel > eof) {
		return found(ServerClosed, func() string {
			text := fmt.Sprintf("%s: the responder closed its output", Cite(s.c.Served.Log, eof))
			if d, ok := st.EOFAt[k].Sub(s.c.Served.At(ingest.Enter)); ok {
				return text + fmt.Sprintf(" %s after the handler was entered, which never left", Wait(d))
			}
			return text + " and had not answered"
		}).at(eof)
	}
	return s.goneQuiet()
}

// goneQuiet takes the end of the responder's stream, seen by the requester soon after it asked, for its death when the
// responder's own log falls silent there: a process that dies writes no eof.
func (s *scene) goneQuiet() *Cause {
	if !s.c.Sent.OK() {
		return nil
	}
	served := s.c.Served.Stretch()
	eof, at := s.c.Sent.ended(dirIndex(s.c.answerDir()))
	d, ok := at.Sub(s.c.Sent.At(ingest.Request))
	last := max(s.c.Served.Line(ingest.Request), s.c.Served.Line(ingest.Enter))
	if eof < s.c.Sent.Line(ingest.Request) || eof == 0 || s.c.Sent.Line(ingest.Cancel) != 0 || !ok || d > 5*time.Second || served.Last > last {
		return nil
	}
	return found(ServerClosed, func() string {
		return fmt.Sprintf("%s: the stream ended %s after the request, and the responder's log has nothing after %s", Cite(s.c.Sent.Log, eof), Wait(d), Cite(s.c.Served.Log, last))
	}).at(eof)
}

// blocker is the call whose handler was entered and never left, with nothing after it in the responder's log.
func (s *scene) blocker() *Call {
	stretch, _ := s.servedStretch()
	if stretch == nil {
		return nil
	}
	open := s.around().handlers
	if len(open) == 0 || !s.c.Sent.OK() {
		return nil
	}
	c := open[len(open)-1] // the last one entered: before it the responder still read
	if c.Requester == s.c.Requester && c.Leaf == NeverWritten && stretch.Last <= c.Served.Line(ingest.Enter) && c.Sent.OK() &&
		c.Sent.Line(ingest.Request) < s.c.Sent.Line(ingest.Request) {
		return c
	}
	return nil
}

func stoppedReading(s *scene) *Cause {
	if s.c.Leaf != NeverArrived || s.c.Requester != frame.Client {
		return nil
	}
	if b := s.blocker(); b != nil {
		c := found(StoppedReading, func() string {
			return fmt.Sprintf("the responder's log is silent after the handler of id %s was entered (%s): it reads nothing while that handler runs", b.ID(), Cite(b.Served.Log, b.Served.Line(ingest.Enter)))
		})
		c.heads = b
		return c
	}
	stretch, l := s.servedStretch()
	if stretch == nil || !s.c.Sent.OK() || s.c.Served.OK() || s.answeredAfter(s.c.Sent.Line(ingest.Request)) || s.c.Sent.Has(ingest.Refused) {
		return nil
	}
	return candidate(StoppedReading, func() string {
		return fmt.Sprintf("the responder's log has nothing of this session after %s: a pipe that is stuck, a responder that stopped reading, or a log that stopped", Cite(l, stretch.Last))
	})
}

func queuedBehind(s *scene) *Cause {
	h := s.c.Served
	if !h.OK() || h.Line(ingest.Request) == 0 {
		return nil
	}
	if s.c.Leaf == NeverWritten && h.Line(ingest.Enter) == 0 {
		if open := s.around().handlers; len(open) > 0 {
			c := open[len(open)-1]
			if c.Served.Line(ingest.Enter) < h.Line(ingest.Request) && h.Stretch().Entered < h.Line(ingest.Request) {
				cause := found(QueuedBehind, func() string {
					return fmt.Sprintf("read (%s) and never entered; the handler of id %s was open before it and never left (%s), and none was entered since", Cite(h.Log, h.Line(ingest.Request)), c.ID(), Cite(c.Served.Log, c.Served.Line(ingest.Enter)))
				})
				cause.heads = c
				return cause
			}
		}
		return nil
	}
	if d := s.c.Stages().Dispatch; (s.c.Slow || s.c.Stalled) && s.mostOfWait(d) {
		front := h.inFront()
		if !front.OK() {
			return candidate(QueuedBehind, func() string {
				return fmt.Sprintf("read at %s, entered %s later; no other handler was open meanwhile", Cite(h.Log, h.Line(ingest.Request)), Wait(d.D))
			})
		}
		return found(QueuedBehind, func() string {
			return fmt.Sprintf("read at %s, entered %s later: it waited for its turn behind id %s (%s)", Cite(h.Log, h.Line(ingest.Request)), Wait(d.D),
				front.Log.ID(front.N), Cite(front.Log, front.Line(ingest.Enter)))
		})
	}
	return nil
}

// lookBack is how many calls before a slow one are asked whether they stood in its way.
const lookBack = 4096

// inFront finds a handler of the same stretch that was entered before this one and still open when this request was read.
func (h Half) inFront() Half {
	for i := h.N; i > h.N-min(h.N, lookBack); i-- {
		other := Half{h.Log, i - 1}
		enter, exit := other.Line(ingest.Enter), other.Line(ingest.Exit)
		if h.Log.Half(i-1).Stretch == h.Log.Half(h.N).Stretch && enter != 0 && enter < h.Line(ingest.Enter) &&
			(exit == 0 || exit > h.Line(ingest.Request)) {
			return other
		}
	}
	return Half{}
}

// mostOfWait reports whether a stage is at least half of what the requester waited, or of what the responder took.
func (s *scene) mostOfWait(d Span) bool {
	for _, whole := range []Span{s.c.Wait(), s.c.CancelAfter(), s.c.Stages().Total} {
		if whole.OK {
			return d.OK && d.D*2 >= whole.D
		}
	}
	return false
}

func handlerBlocked(s *scene) *Cause {
	h := s.c.Served
	if s.c.Leaf != NeverWritten || h.Line(ingest.Enter) == 0 || h.Line(ingest.Exit) != 0 {
		return nil
	}
	return found(HandlerBlocked, func() string {
		text := fmt.Sprintf("the handler was entered (%s) and never left", Cite(h.Log, h.Line(ingest.Enter)))
		_, last := h.Log.Span()
		if d, ok := last.Sub(h.At(ingest.Enter)); ok && d > 0 {
			text += fmt.Sprintf("; the responder's log goes on for %s", Wait(d))
		}
		if age := s.c.Age(); age.OK {
			text += fmt.Sprintf("; the requester's log goes on for %s after the request", Wait(age.D))
		}
		return text
	})
}

func slowWrite(s *scene) *Cause {
	d := s.c.Stages().Flush
	if (s.c.Slow || s.c.Stalled) && s.mostOfWait(d) {
		return found(SlowWrite, func() string {
			return fmt.Sprintf("%s of the responder's %s lie between the handler's exit and the write", Wait(d.D), Wait(s.c.Stages().Total.D))
		})
	}
	h := s.c.Served
	if s.c.Leaf == NeverWritten && h.Line(ingest.Exit) != 0 {
		return candidate(SlowWrite, func() string {
			return fmt.Sprintf("the handler left (%s) and nothing was written: serialising failed, or the write is stuck", Cite(h.Log, h.Line(ingest.Exit)))
		})
	}
	return nil
}

func slowHandler(s *scene) *Cause {
	d := s.c.Stages().Handler
	if !s.c.Slow || !s.mostOfWait(d) {
		return nil
	}
	inner := s.waitedOn()
	return found(SlowHandler, func() string {
		text := fmt.Sprintf("%s of the responder's time passed in the handler, which returned", Wait(d.D))
		if inner != nil {
			text += fmt.Sprintf("; %s of that it waited for the server's own request id %s %s (%s)", Wait(inner.Wait().D), inner.ID(), inner.Method(), Cite(inner.Sent.Log, inner.Sent.Line(ingest.Request)))
		}
		return text
	})
}

// waitedOn finds the server's own request that took most of this call's handler: a chain, and the handler is not to blame.
func (s *scene) waitedOn() *Call {
	h := s.c.Served
	if s.c.Requester != frame.Client {
		return nil
	}
	for _, c := range s.around().asked {
		within := c.Sent.Line(ingest.Request) > h.Line(ingest.Enter) && c.Sent.Line(ingest.Answer) != 0 && c.Sent.Line(ingest.Answer) < h.Line(ingest.Exit)
		if w := c.Wait(); within && w.OK && w.D*2 >= s.c.Stages().Handler.D {
			return c
		}
	}
	return nil
}
