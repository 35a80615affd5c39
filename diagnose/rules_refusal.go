package diagnose

import (
	"fmt"
	"time"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// idle is the silence after which an HTTP 400 is read as an expired session.
const idle = time.Minute

// refusedWith returns the facts of a refusal with one of the statuses; nil without. No status at all matches 0.
func (s *scene) refusedWith(statuses ...int64) *ingest.Fact {
	if !s.c.Sent.Has(ingest.Refused) {
		return nil
	}
	f := s.c.Sent.Fact()
	for _, n := range statuses {
		if f.RefusedStatus == n {
			return f
		}
	}
	return nil
}

// refusal says what came back, where and how soon.
func (s *scene) refusal(f *ingest.Fact) string {
	text := fmt.Sprintf("%s: an error with no id", Cite(s.c.Sent.Log, f.RefusedLine))
	if f.RefusedStatus != 0 {
		text += fmt.Sprintf(", HTTP %d", f.RefusedStatus)
	}
	if f.RefusedCode != 0 {
		text += fmt.Sprintf(", code %d", f.RefusedCode)
	}
	if d, ok := f.RefusedAt.Sub(s.c.Sent.At(ingest.Request)); ok {
		text += ", " + Wait(d) + " after the request"
	}
	return text + "; it was the only request outstanding"
}

func session404(s *scene) *Cause {
	f := s.refusedWith(404)
	if f == nil {
		return nil
	}
	return found(Session404, func() string {
		return s.refusal(f) + ": the server no longer knows the session"
	})
}

func sessionExpired(s *scene) *Cause {
	f := s.refusedWith(400)
	if f == nil {
		return nil
	}
	before := s.c.Sent.Fact().Before
	say := func() string {
		text := s.refusal(f)
		if before > 0 {
			text += ", after " + Wait(before) + " of silence on the session"
		}
		return text + ": the session is lost or expired (the spec wants 404 here)"
	}
	if before >= idle {
		return found(SessionExpired, say)
	}
	return candidate(SessionExpired, say)
}

func requestTooLarge(s *scene) *Cause {
	if f := s.refusedWith(413); f != nil {
		return found(RequestTooLarge, func() string {
			return s.refusal(f) + fmt.Sprintf(": the request has %s", size(s.c.Bytes(ingest.Request)))
		})
	}
	if s.c.Leaf != NeverArrived || s.c.Bytes(ingest.Request) == frame.Unknown {
		return nil
	}
	v, lost := s.served(), s.read()
	if v.LastRequest == 0 || lost.leastReq <= v.LargestRequest {
		return nil
	}
	say := func() string { return "of the requests " + bracket(v.LargestRequest, lost.leastReq) }
	if lost.lostReq > 1 && s.answeredAfter(lost.firstLost) {
		return found(MaxLineLength, say)
	}
	return candidate(MaxLineLength, say)
}

// served is the survey of the requests that the responder read.
func (s *scene) served() *survey {
	at, ok := s.servedIn()
	if !ok {
		return &survey{}
	}
	return s.look(place{at, uint8(s.c.Requester)})
}

func requestUnparsed(s *scene) *Cause {
	if s.c.Leaf != NeverArrived {
		return nil
	}
	want := s.c.Bytes(ingest.Request)
	marks, l := s.badServed()
	for _, m := range marks {
		if m.Bytes == want && want != frame.Unknown {
			return found(RequestUnparsed, func() string {
				return fmt.Sprintf("%s: a line of %s, the request's size, arrived and was not read as a frame; it begins %q", Cite(l, m.Line), size(m.Bytes), m.Raw)
			})
		}
	}
	for _, run := range runs(marks) {
		if len(run) > 1 && total(run) == want && want != frame.Unknown {
			return found(EmbeddedNewline, func() string {
				return fmt.Sprintf("%s: %d bad lines in a row add up to %s, the request's size", Cite(l, run[0].Line), len(run), size(want))
			})
		}
	}
	if f := s.c.Sent.Fact(); s.c.Sent.Has(ingest.Refused) && f.RefusedCode == -32700 {
		return found(RequestUnparsed, func() string { return s.refusal(f) })
	}
	return nil
}

func refusedByPeer(s *scene) *Cause {
	if !s.c.Sent.Has(ingest.Refused) || s.c.Leaf == AgentLevel {
		return nil
	}
	f := s.c.Sent.Fact()
	if f.RefusedStatus == 0 || f.RefusedStatus == 400 {
		return candidate(RefusedByPeer, func() string { return s.refusal(f) })
	}
	return found(RefusedByPeer, func() string { return s.refusal(f) })
}
