package ingest

import (
	"strconv"
	"time"

	"mcpdiag/ingest/frame"
)

// number gives a frame of a call without an id the number that its dialect gave the call, as a token that no JSON id can be.
// It reports whether there is one.
func number(f *frame.Frame) bool {
	if f.More == nil || f.More.Call == 0 {
		return false
	}
	f.ID = append(frame.ID{'#'}, strconv.FormatUint(uint64(f.More.Call), 10)...)
	return true
}

// numbered marks a half whose id is such a number.
func (l *folder) numbered(h *Half) {
	h.Flags |= NoID
	l.NoIDs++
}

// gaveUp folds a requester's own word that it stopped waiting. A log that tells only this of a call tells of a request too.
func (l *folder) gaveUp(s *Stretch, f *frame.Frame) {
	by := f.Dir.From()
	i, ok := uint32(0), false
	switch {
	case f.ID.Known() || number(f):
		if i, ok = l.find(s, by, f.ID); !ok && len(f.Method) > 0 {
			i, ok = l.impliedRequest(s, f), true
		}
	default:
		i, ok = l.soleOpen(s, by)
	}
	if !ok {
		l.note("cancel_of_unknown", f.Line, -1)
		return
	}
	h := l.arena.at(i)
	if h.line[Answer] != 0 || h.line[Cancel] != 0 {
		return
	}
	if l.set(i, h, Cancel, f); by == l.Side {
		h.Flags |= LocalEnd
	}
}

// impliedRequest opens the half of a request of which only the end is told, on the line of that.
func (l *folder) impliedRequest(s *Stretch, f *frame.Frame) uint32 {
	i, h := l.open(s, f.Dir.From(), f.ID, 0, false)
	h.method, h.name = l.texts.intern(f.Method), l.texts.intern(f.Name)
	g := *f
	if g.At = (frame.Instant{}); f.More != nil && f.More.Waited > 0 {
		g.At = f.At.Back(f.More.Waited)
	}
	l.set(i, h, Request, &g)
	return i
}

// ackWindow is how long after a cancel its acknowledgement comes; an answer that was under way may take as long, but has no
// code 0.
const ackWindow = 10 * time.Millisecond

// acknowledges reports whether the answer is the responder's word that it dropped the request: an error with code 0 right after
// the cancel, as the Python SDK v1 sends it. It shows that the request was read and was not answered until then.
func (l *folder) acknowledges(h *Half, i uint32, f *frame.Frame) bool {
	if f.Kind != frame.Error || h.line[Cancel] == 0 || f.More == nil || !f.More.HasCode || f.More.Code != 0 {
		return false
	}
	d, ok := f.At.Sub(l.At(i, Cancel))
	return ok && d >= 0 && d <= ackWindow
}

func (l *folder) acknowledge(s *Stretch, h *Half, i uint32, f *frame.Frame) {
	h.Flags |= Acked
	l.fact(i).AckLine = f.Line
	l.settle(s, i, h)
}
