package diagnose

import (
	"fmt"
	"sort"
	"time"

	"mcpdiag/ingest"
)

// held is how much longer the requester waited than the responder took: two durations, each on its own clock, compared.
func (s *scene) held() (time.Duration, bool) {
	wait, total := s.c.Wait(), s.c.Stages().Total
	return wait.D - total.D, wait.OK && total.OK
}

const (
	heldLong = time.Second          // held back less than this is a network
	burst    = 5 * time.Millisecond // frames read this close together came in one read
)

func buffering(s *scene) *Cause {
	if s.c.Leaf != AgentLevel || !(s.c.Stalled || s.c.Slow) {
		return nil
	}
	held, ok := s.held()
	if !ok || held < heldLong || held*2 < s.c.Wait().D {
		return nil
	}
	if c := s.flushedAtEOF(); c != nil {
		return c
	}
	together, spread := s.readTogether()
	say := func() string {
		text := fmt.Sprintf("written %s after the request was read, read %s after it was sent", Wait(s.c.Stages().Total.D), Wait(s.c.Wait().D))
		if together > 1 {
			text += fmt.Sprintf("; %s were read within %s of each other that the responder wrote over %s", plural(together, "answer"), Wait(burst), Wait(spread))
		}
		return text
	}
	if together > 1 && spread >= heldLong {
		return found(Buffering, say)
	}
	return candidate(Buffering, say)
}

// flushedAtEOF recognises an answer that came only when the requester closed its side.
func (s *scene) flushedAtEOF() *Cause {
	st := s.c.Sent.Stretch()
	k := dirIndex(s.c.requestDir())
	eof := st.EOF[k]
	if eof == 0 || eof > s.c.Sent.Line(ingest.Answer) || eof < s.c.Sent.Line(ingest.Request) {
		return nil
	}
	d, ok := s.c.Sent.At(ingest.Answer).Sub(st.EOFAt[k])
	if !ok || d < 0 || d > heldLong {
		return nil
	}
	if s.unended() {
		return candidate(Buffering, func() string {
			return fmt.Sprintf("it was read %s after the requester closed its side (%s), as the stream ended: flushed at end of input, or there before and its line had no end",
				Wait(d), Cite(s.c.Sent.Log, eof))
		})
	}
	return found(Buffering, func() string {
		return fmt.Sprintf("the responder wrote it within %s; it was read %s after the requester closed its side (%s): flushed at end of input",
			Wait(s.c.Stages().Total.D), Wait(d), Cite(s.c.Sent.Log, eof))
	})
}

// unended reports whether the answer was read at the very end of its stream: a recorder takes what stands behind the last line end
// for a message then, whenever its bytes came.
func (s *scene) unended() bool {
	d, ok := s.c.Sent.At(ingest.Answer).Sub(s.c.Sent.Stretch().EOFAt[dirIndex(s.c.answerDir())])
	return ok && d == 0
}

// readTogether counts the answers read in one burst with this call's, and how far apart they were written.
func (s *scene) readTogether() (n int, spread time.Duration) {
	read := s.around().read
	at := sort.Search(len(read), func(k int) bool { return read[k].Sent.Line(ingest.Answer) >= s.c.Sent.Line(ingest.Answer) })
	from, to := at, at
	for from > 0 && s.sameBurst(read[from-1]) {
		from--
	}
	for to < len(read) && s.sameBurst(read[to]) {
		to++
	}
	first, last := s.c.Served.At(ingest.Answer), s.c.Served.At(ingest.Answer)
	for _, c := range read[from:to] {
		written := c.Served.At(ingest.Answer)
		if d, ok := written.Sub(first); ok && d < 0 {
			first = written
		}
		if d, ok := written.Sub(last); ok && d > 0 {
			last = written
		}
	}
	spread, _ = last.Sub(first)
	return to - from, spread
}

func (s *scene) sameBurst(c *Call) bool {
	d, ok := c.Sent.At(ingest.Answer).Sub(s.c.Sent.At(ingest.Answer))
	return ok && d <= burst && d >= -burst
}

func proxyBuffering(s *scene) *Cause {
	r, p := s.c.Sent.Fact(), s.c.Served.Fact()
	if s.c.Leaf != AgentLevel || r.Progress < 3 || p.Progress < 3 {
		return nil
	}
	read, ok1 := s.c.Sent.At(ingest.Answer).Sub(r.ProgressFirstAt)
	written, ok2 := s.c.Served.At(ingest.Answer).Sub(p.ProgressFirstAt)
	if !ok1 || !ok2 || written < heldLong || read > 4*burst || read < 0 {
		return nil
	}
	return found(ProxyBuffering, func() string {
		return fmt.Sprintf("%s and the answer were written over %s and read within %s: something between held the stream back until it ended",
			plural(p.Progress, "progress notification"), Wait(written), Wait(read))
	})
}

func clientDeadline(s *scene) *Cause {
	if !s.c.Stalled || s.c.Sent.Line(ingest.Cancel) == 0 {
		return nil
	}
	cancel, total := s.c.CancelAfter(), s.c.Stages().Total
	if !cancel.OK || !total.OK || total.D < cancel.D {
		return nil
	}
	return found(ClientDeadline, func() string {
		text := fmt.Sprintf("cancelled after %s (%s); the responder took %s on its own clock and answered", Wait(cancel.D), Cite(s.c.Sent.Log, s.c.Sent.Line(ingest.Cancel)), Wait(total.D))
		if late, ok := s.c.Sent.Between(ingest.Cancel, ingest.Answer); ok {
			text += fmt.Sprintf(", %s too late", Wait(late))
		}
		if f := s.c.Sent.Fact(); f.Progress > 0 {
			text += fmt.Sprintf("; %s came meanwhile, so the deadline runs from the request and progress does not extend it", plural(f.Progress, "progress notification"))
		}
		if name := Deadline(cancel.D); name != "" {
			text += "; " + name
		}
		return text
	})
}

func cancelledByClient(s *scene) *Cause {
	h := s.c.Served
	cancel, exit := h.Line(ingest.Cancel), h.Line(ingest.Exit)
	if s.c.Leaf != NeverWritten || cancel == 0 || exit < cancel {
		return nil
	}
	return found(CancelledByClient, func() string {
		text := fmt.Sprintf("the cancel was read (%s) and the handler left", Cite(h.Log, cancel))
		if d, ok := h.Between(ingest.Cancel, ingest.Exit); ok {
			text += " " + Wait(d) + " after it"
		}
		text += "; a cancelled request is not answered, so this is correct"
		if d := s.c.CancelAfter(); d.OK {
			text += fmt.Sprintf("; the requester gave up after %s", Wait(d.D))
			if name := Deadline(d.D); name != "" {
				text += " (" + name + ")"
			}
		}
		return text
	})
}

func closedByClient(s *scene) *Cause {
	if !s.c.Stalled || !s.c.Sent.OK() || s.c.Leaf == AgentLevel || s.c.Sent.Line(ingest.Cancel) != 0 {
		return nil
	}
	k := dirIndex(s.c.requestDir())
	own, at := s.c.Sent.ended(k)
	peer, _ := s.c.Sent.ended(1 - k)
	if own == 0 || own < s.c.Sent.Line(ingest.Request) || (peer != 0 && peer < own) || s.c.Sent.Has(ingest.Refused) {
		return nil
	}
	d, ok := at.Sub(s.c.Sent.At(ingest.Request))
	say := func() string {
		text := fmt.Sprintf("%s: the requester closed its own side", Cite(s.c.Sent.Log, own))
		if ok {
			text += " " + Wait(d) + " after the request"
		}
		return text + " and had no answer yet"
	}
	total := s.c.Stages().Total
	if ok && (total.OK && total.D >= d || !total.OK && d < 30*time.Second && s.c.Leaf != NeverArrived) {
		return found(ClosedByClient, say).at(own)
	}
	return candidate(ClosedByClient, say)
}

func atAgentLevel(s *scene) *Cause {
	if !s.c.Quiet {
		return nil
	}
	f := s.c.Sent.Fact()
	return found(AtAgentLevel, func() string {
		text := "delivered"
		if w := s.c.Wait(); w.OK {
			text += " in " + Wait(w.D)
		}
		return text + fmt.Sprintf(" (%s); then the requester sent nothing for %s (until %s): what happened is above the protocol, or a person's pause",
			Cite(s.c.Sent.Log, s.c.Sent.Line(ingest.Answer)), Wait(f.Quiet), Cite(s.c.Sent.Log, f.QuietLine))
	})
}

// Deadline names the known default that a wait equals, within two per cent; "" when none.
func Deadline(d time.Duration) string {
	for _, k := range Deadlines() {
		if diff := d - k.After; diff > -k.After/50 && diff < k.After/50 {
			return fmt.Sprintf("%g s is the default of %s", k.After.Seconds(), k.Of)
		}
	}
	return ""
}

// KnownDeadline is a wait that some client is known to give up after.
type KnownDeadline struct {
	After time.Duration
	Of    string
}

// Deadlines lists the known defaults.
func Deadlines() []KnownDeadline {
	return []KnownDeadline{
		{5 * time.Second, "agent frameworks on python-sdk, and of discover probes"}, {10 * time.Second, "java-sdk servers asking clients"},
		{20 * time.Second, "java-sdk clients"}, {30 * time.Second, "python-sdk HTTP"}, {60 * time.Second, "the TypeScript and Kotlin SDKs and many hosts"},
		{100 * time.Second, "Cloudflare"}, {120 * time.Second, "PHP clients"}, {240 * time.Second, "Claude Desktop"}, {300 * time.Second, "Codex tool calls, SSE readers of python-sdk"},
		{600 * time.Second, "qwen-code and Ruby servers asking clients"},
	}
}
