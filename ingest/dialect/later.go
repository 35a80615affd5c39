package dialect

import (
	"container/heap"

	"mcpdiag/ingest/frame"
)

// later holds the answers of a document in which each stands with its request, until the requests have come to their time. All
// times are of one clock; what has none comes at the end.
type later struct {
	frames []lateFrame
	n      int
}

type lateFrame struct {
	frame frame.Frame
	n     int // among equal times the first stays the first
}

func (l *later) Len() int      { return len(l.frames) }
func (l *later) Swap(i, j int) { l.frames[i], l.frames[j] = l.frames[j], l.frames[i] }

// Less puts the earlier one first.
func (l *later) Less(i, j int) bool {
	a, b := &l.frames[i], &l.frames[j]
	if x, y := a.frame.At.Known(), b.frame.At.Known(); x != y {
		return x
	}
	if d, ok := a.frame.At.Sub(b.frame.At); ok && d != 0 {
		return d < 0
	}
	return a.n < b.n
}

// Push is for the heap.
func (l *later) Push(x any) { l.frames = append(l.frames, x.(lateFrame)) }

// Pop is for the heap.
func (l *later) Pop() any {
	last := l.frames[len(l.frames)-1]
	l.frames = l.frames[:len(l.frames)-1]
	return last
}

func (l *later) add(frames []frame.Frame) {
	for _, f := range frames {
		l.n++
		heap.Push(l, lateFrame{f, l.n})
	}
}

// until moves the answers that came up to now into b.
func (l *later) until(now frame.Instant, b *Batch) {
	for len(l.frames) > 0 {
		if d, ok := l.frames[0].frame.At.Sub(now); !ok || d > 0 {
			return
		}
		b.Frames = append(b.Frames, heap.Pop(l).(lateFrame).frame)
	}
}

// rest moves all of them.
func (l *later) rest(b *Batch) {
	for len(l.frames) > 0 {
		b.Frames = append(b.Frames, heap.Pop(l).(lateFrame).frame)
	}
}
