package ingest

import (
	"time"

	"mcpdiag/ingest/frame"
)

// Survey is what the halves of one requester in one stretch come to: the sizes, lines and silences that a cause is compared with.
type Survey struct {
	LargestRequest int64  // bytes
	LastRequest    uint32 // the latest line of a request
	Answered       uint32 // the latest line of a request that was answered
	Largest        int64  // bytes of the largest answer
	LargestLine    uint32 // and its line, the first of equals
	LastAnswer     uint32 // the latest line of an answer
}

// Asked is a requester in a stretch.
type Asked struct {
	Stretch uint32
	By      frame.Side
}

// Surveys adds up the halves of the stretches that are wanted: a million halves cost some milliseconds.
func (l *Log) Surveys(wanted []bool) map[Asked]*Survey {
	if l.surveys != nil {
		return l.surveys
	}
	surveys := map[Asked]*Survey{}
	var t *Survey
	var last Asked
	for i := range l.arena.n {
		l.arena.walked(i)
		h := l.arena.at(i)
		if !wanted[h.Stretch] {
			continue
		}
		if asked := (Asked{h.Stretch, h.By}); t == nil || asked != last {
			if last, t = asked, surveys[asked]; t == nil {
				t = &Survey{}
				surveys[asked] = t
			}
		}
		t.add(h)
	}
	return surveys
}

func (t *Survey) add(h *Half) {
	t.LastRequest = max(t.LastRequest, h.line[Request])
	if n := h.bytes[Request]; n != noBytes {
		t.LargestRequest = max(t.LargestRequest, int64(n))
	}
	if h.line[Answer] == 0 {
		return
	}
	t.Answered = max(t.Answered, h.line[Request])
	t.LastAnswer = max(t.LastAnswer, h.line[Answer])
	if n := h.bytes[Answer]; n != noBytes && int64(n) > t.Largest {
		t.Largest, t.LargestLine = int64(n), h.line[Answer]
	}
}

// LongestSilence is the longest silence before an answer that this requester got in this stretch.
func (l *Log) LongestSilence(of Asked) time.Duration {
	if l.silences != nil {
		return l.silences[of]
	}
	longest := time.Duration(0)
	for i := range l.arena.n {
		l.arena.walked(i)
		if h := l.arena.at(i); h.Stretch == of.Stretch && h.By == of.By && h.line[Answer] != 0 {
			longest = max(longest, l.Silence(i))
		}
	}
	return longest
}

// Silence is how long nothing was heard of call i before its answer.
func (l *Log) Silence(i uint32) time.Duration {
	if f := l.Fact(i); f.Progress > 0 {
		last, _ := l.At(i, Answer).Sub(f.ProgressLastAt)
		return max(f.ProgressGap, last)
	}
	d, _ := l.Between(i, Request, Answer)
	return max(d, 0)
}
