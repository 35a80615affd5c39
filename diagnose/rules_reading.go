package diagnose

import (
	"fmt"
	"strings"
	"time"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// lost is the size of the answer that was written and not read; 0 when the call is no such loss or nobody tells its size.
func (s *scene) lost() int64 {
	if s.c.Leaf != WrittenNotRead {
		return 0
	}
	return max(0, s.c.Bytes(ingest.Answer))
}

func embeddedNewline(s *scene) *Cause {
	lost := s.lost()
	if s.c.Leaf != WrittenNotRead {
		return nil
	}
	for _, run := range runs(s.badRead()) {
		n, sum := int64(len(run)), total(run)
		if n < 2 {
			continue
		}
		where := Cite(s.c.Sent.Log, run[0].Line)
		if s.spells(run) {
			return found(EmbeddedNewline, func() string {
				return fmt.Sprintf("%s: %d bad lines in a row, put together, are the answer with id %s: it was written over several lines", where, n, s.c.ID())
			}).at(run[0].Line)
		}
		if lost == 0 || sum == frame.Unknown {
			continue
		}
		switch lost - sum {
		case 0:
			return found(EmbeddedNewline, func() string {
				return fmt.Sprintf("%s: %d bad lines in a row add up to %s, exactly the lost frame: it was written over several lines", where, n, size(sum))
			}).at(run[0].Line)
		case 3 * (n - 1): // U+2028 and U+2029 have three bytes
			return found(EmbeddedNewline, func() string {
				return fmt.Sprintf("%s: %d bad lines in a row, %s in all, are the lost frame (%s) less 3 B a break: its reader splits at U+2028 or U+2029", where, n, size(sum), size(lost))
			}).at(run[0].Line)
		}
	}
	return nil
}

// spells reports whether what the log has of the bad lines, put together, is this call's answer. Where it has beginnings only,
// that is no JSON.
func (s *scene) spells(run []*ingest.Mark) bool {
	var text []byte
	for _, m := range run {
		text = append(text, m.Raw...)
	}
	var f frame.Frame
	return frame.DecodeMessage(text, &f) == frame.NoReason && f.Kind.Answer() && string(f.ID) == string(s.c.ID())
}

func interleaved(s *scene) *Cause {
	lost := s.lost()
	if lost == 0 {
		return nil
	}
	for _, run := range runs(s.badRead()) {
		sum := total(run)
		if sum <= lost {
			continue
		}
		for _, other := range s.read().lost {
			if other == s.c || other.Sent.Line(ingest.Request) > run[0].Line || other.Bytes(ingest.Answer) != sum-lost {
				continue
			}
			return found(Interleaved, func() string {
				return fmt.Sprintf("%s: %s of %s in all = %s (id %s) + %s (id %s): two frames were written into each other",
					Cite(s.c.Sent.Log, run[0].Line), plural(len(run), "bad line"), size(sum), size(lost), s.c.ID(), size(sum-lost), other.ID())
			}).at(run[0].Line)
		}
	}
	return nil
}

// hangUp is how soon after a bad line a reader that cannot live with it closes the stream.
const hangUp = time.Second

func contamination(s *scene) *Cause {
	if s.c.Leaf != WrittenNotRead && s.c.Leaf != NeverWritten {
		return nil
	}
	marks := s.badRead()
	if len(marks) == 0 {
		return nil
	}
	if c := s.glued(marks); c != nil {
		return c
	}
	last := marks[len(marks)-1]
	st := s.c.Sent.Stretch()
	eof := dirIndex(s.c.answerDir())
	if st.EOF[eof] > last.Line && st.End[eof].Line < last.Line {
		if d, ok := st.EOFAt[eof].Sub(last.At); !ok || d <= hangUp {
			return found(Contamination, func() string {
				text := fmt.Sprintf("%s: a line that is not JSON-RPC (%s%q)", Cite(s.c.Sent.Log, last.Line), sizeIfKnown(last.Bytes), last.Raw)
				if ok {
					return text + fmt.Sprintf("; the stream ended %s after it (%s)", Wait(d), Cite(s.c.Sent.Log, st.EOF[eof]))
				}
				return text + fmt.Sprintf("; the stream ended right after it (%s)", Cite(s.c.Sent.Log, st.EOF[eof]))
			}).at(last.Line)
		}
	}
	if s.c.Leaf == WrittenNotRead {
		return candidate(Contamination, func() string {
			return fmt.Sprintf("%s read while it waited, first %s (%q)", plural(len(marks), "bad line"), Cite(s.c.Sent.Log, marks[0].Line), marks[0].Raw)
		})
	}
	return nil
}

// glued finds a bad line that is the lost frame with text in front.
func (s *scene) glued(marks []*ingest.Mark) *Cause {
	lost := s.lost()
	for _, m := range marks {
		front := m.Bytes - lost
		if lost == 0 || front <= 0 || m.Bytes == frame.Unknown {
			continue
		}
		k := strings.IndexByte(m.Raw, '{')
		if k >= 0 && int64(k) == front {
			return found(Contamination, func() string {
				return fmt.Sprintf("%s: a bad line of %s is %s of text (%q) glued in front of the lost frame of %s",
					Cite(s.c.Sent.Log, m.Line), size(m.Bytes), size(front), m.Raw[:k], size(lost))
			}).at(m.Line)
		}
	}
	return nil
}

func maxLineLength(s *scene) *Cause {
	lost := s.lost()
	if lost == 0 {
		return nil
	}
	v := s.read()
	smallest := v.least
	if lost <= v.Largest {
		return nil
	}
	leftover := s.leftover(lost, v.Largest, smallest)
	say := func() string {
		text := bracket(v.Largest, smallest)
		if v.LastAnswer > 0 {
			text += fmt.Sprintf(" (largest read: %s)", Cite(s.c.Sent.Log, v.LargestLine))
		}
		if leftover != "" {
			text += "; " + leftover
		}
		return text
	}
	survived := s.answeredAfter(v.firstGone) // it lives, and drops what is too long
	if smallest <= v.Largest {
		return s.diedOnIt(v, survived)
	}
	if leftover != "" && (survived || len(v.lost) > 1) || len(v.lost) > 1 && (survived || len(within(v.Largest, smallest)) == 1) {
		return found(MaxLineLength, say)
	}
	return candidate(MaxLineLength, say)
}

// diedOnIt takes the first loss, larger than all that was read, for a frame that ended its reader: what was lost after it may be
// of any size. Where the reader lived, the sizes cross and there is no ceiling.
func (s *scene) diedOnIt(v *survey, survived bool) *Cause {
	if survived || s.c.Sent.Line(ingest.Request) != v.firstGone {
		return nil
	}
	return candidate(MaxLineLength, func() string {
		return fmt.Sprintf("it is the first loss, and with %s larger than all that was read (%s at most); a reader that ends at a line that is too long loses all after it", size(s.lost()), size(v.Largest))
	})
}

// leftover explains a bad line as what was left of the lost frame after its reader threw whole bufferfuls away.
func (s *scene) leftover(lost, passed, smallest int64) string {
	for _, m := range s.badRead() {
		gone := lost - m.Bytes
		c, ok := multipleOf(gone)
		if m.Bytes <= 0 || !ok || c.Bytes < passed || c.Bytes >= smallest {
			continue
		}
		return fmt.Sprintf("%s: the leftover line has %s, and %s − %s = %s = %d × %s", Cite(s.c.Sent.Log, m.Line), size(m.Bytes),
			Thousands(lost), Thousands(m.Bytes), Thousands(gone), gone/c.Bytes, size(c.Bytes))
	}
	return ""
}

func readerStopped(s *scene) *Cause {
	if s.c.Leaf != WrittenNotRead {
		return nil
	}
	st := s.c.Sent.Stretch()
	in, out := st.End[dirIndex(s.c.answerDir())], st.End[dirIndex(s.c.requestDir())]
	if st.EOF[dirIndex(s.c.answerDir())] != 0 || out.Line <= in.Line || len(after(s.badRead(), in.Line)) > 0 {
		return nil
	}
	unread := len(s.read().lost)
	say := func() string {
		text := fmt.Sprintf("nothing was read after %s", Cite(s.c.Sent.Log, in.Line))
		if in.Line == 0 {
			text = "nothing was read at all"
		} else if in.Kind == frame.Notification {
			text += fmt.Sprintf(" (%s)", in.Method)
		}
		waiting := "an answer to it was written"
		if unread > 1 {
			waiting = plural(unread, "answer") + " to it were written"
		}
		return text + fmt.Sprintf(", though it still wrote (%s) and %s", Cite(s.c.Sent.Log, out.Line), waiting)
	}
	if unread > 1 {
		return found(ReaderStopped, say).at(in.Line + 1)
	}
	return candidate(ReaderStopped, say)
}

func sseDropped(s *scene) *Cause {
	if s.c.Leaf != WrittenNotRead && s.c.Leaf != AgentLevel || !s.c.Sent.OK() {
		return nil
	}
	k := dirIndex(s.c.answerDir())
	eof, at := s.c.Sent.ended(k)
	if eof == 0 || eof < s.c.Sent.Line(ingest.Request) || (s.c.Sent.Line(ingest.Answer) != 0 && eof > s.c.Sent.Line(ingest.Answer)) {
		return nil
	}
	if cancel := s.c.Sent.Line(ingest.Cancel); cancel != 0 && cancel < eof {
		return nil
	}
	if own, _ := s.c.Sent.ended(1 - k); own != 0 && own < eof {
		return nil // it closed its own side first
	}
	return found(SSEDropped, func() string {
		text := fmt.Sprintf("%s: the stream ended", Cite(s.c.Sent.Log, eof))
		if d, ok := at.Sub(s.c.Sent.At(ingest.Request)); ok {
			text += fmt.Sprintf(" %s after the request", Wait(d))
			if longest := s.longestSilence(); d > longest && d >= 5*time.Second {
				text += fmt.Sprintf(" (answers that were read had kept silent for %s at most)", Wait(longest))
			}
		}
		if total := s.c.Stages().Total; total.OK {
			text += fmt.Sprintf("; the responder needed %s on its own clock", Wait(total.D))
		}
		if f := s.c.Served.Fact(); len(f.Repeats) > 0 {
			text += fmt.Sprintf("; the answer that arrived is a replay (written again at %s)", Cite(s.c.Served.Log, f.Repeats[0]))
		}
		return text
	}).at(eof)
}
