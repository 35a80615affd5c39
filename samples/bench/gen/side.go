package main

import (
	"bufio"
	"container/heap"
	"math"
	"os"
	"time"
)

// event is one line to be written.
type event struct {
	at   int64 // ns, true time
	seq  int   // order of adding, for equal times
	call int
	kind kind
}

// queue is a heap of events, the earliest on top.
type queue []event

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(e any)   { *q = append(*q, e.(event)) }
func (q queue) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
	}
	return q[i].seq < q[j].seq
}

func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}

// side writes one log. Its two clocks are off from the true time by wall and mono.
type side struct {
	path, name string
	wall       time.Time
	mono       int64
	line       *lineWriter
	file       *os.File
	out        *bufio.Writer
	queue      queue
	added      int
	lines      int
	err        error // the first; later writes do nothing
}

func newSide(path, name string, wall time.Duration, mono int64, o options) (*side, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	start := time.Date(2026, 3, 2, 9, 41, 3, 118e6, time.UTC).Add(wall)
	return &side{path: path, name: name, wall: start, mono: mono, line: newLineWriter(o), file: f, out: bufio.NewWriterSize(f, 1<<20)}, nil
}

func (s *side) add(at int64, call int, k kind) {
	heap.Push(&s.queue, event{at, s.added, call, k})
	s.added++
}

// flush writes every event before now.
func (s *side) flush(now int64) {
	for len(s.queue) > 0 && s.queue[0].at < now && s.err == nil {
		e := heap.Pop(&s.queue).(event)
		_, s.err = s.out.Write(s.line.format(s, e))
		s.lines++
	}
}

// close writes the rest, down to the disk: writing back while something is measured would disturb it.
func (s *side) close() error {
	s.flush(math.MaxInt64)
	for _, step := range []func() error{s.out.Flush, s.file.Sync, s.file.Close} {
		if err := step(); err != nil && s.err == nil {
			s.err = err
		}
	}
	return s.err
}
