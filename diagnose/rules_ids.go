package diagnose

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/join"
)

// someOf is how many of many are named.
const someOf = 8

func idReusedInFlight(s *scene) *Cause {
	if !s.c.Ambiguous() {
		return nil
	}
	return found(IDReusedInFlight, func() string {
		h := s.c.Sent
		if !h.Has(ingest.Ambiguous) {
			h = s.c.Served
		}
		g := h.Log.GroupOf(h.N)
		var lines, answers []string
		for _, m := range g.Members[:min(len(g.Members), someOf)] {
			what := h.Log.Name(m)
			if what == "" {
				what = h.Log.Method(m)
			}
			lines = append(lines, fmt.Sprintf("%s at %s", what, Cite(h.Log, h.Log.Line(m, ingest.Request))))
		}
		for _, n := range g.Answers[:min(len(g.Answers), someOf)] {
			answers = append(answers, Cite(h.Log, n))
		}
		text := fmt.Sprintf("id %s was used by %s at once (%s); ", s.c.ID(), plural(len(g.Members), "request"), strings.Join(lines, ", "))
		if len(answers) == 0 {
			return text + "none was answered"
		}
		return text + fmt.Sprintf("answered: %s (%s), and which request that answers cannot be told", plural(len(answers), "time"), strings.Join(answers, ", "))
	})
}

func idsRenumbered(s *scene) *Cause {
	if s.c.Leaf != NoLeaf {
		return nil
	}
	h := s.c.any()
	doubt := s.doubts[join.Stretch{Log: h.Log, N: h.Log.Half(h.N).Stretch}]
	if doubt == nil {
		return nil
	}
	s.c.Reason = CannotTell // the logs are whole; it is the ids that do not decide
	say := func() string { return doubt.Text }
	for i, j := range doubt.Alike {
		if h.Log.Side == frame.Client && h.N == i {
			other := Half{doubt.Server.Log, j}
			s.c.Hints = append(s.c.Hints, Hint{IDsRenumbered, fmt.Sprintf("by order, method, tool and size this is the server's id %s", other.Log.ID(j)), []string{other.answerLine()}})
		}
	}
	if doubt.Kind == IDsRenumbered {
		return found(IDsRenumbered, say)
	}
	return candidate(IDsRenumbered, say)
}

// nearMiss finds the one answer that nobody asked for, in this session and to this requester, that near takes for ours.
func (s *scene) nearMiss(near func(frame.ID) bool) (Half, bool) {
	var hit Half
	n := 0
	seen := map[string]bool{}
	for _, h := range s.orphans[s.d.pair(s.c)] {
		id := h.Log.ID(h.N)
		if h.Log.Half(h.N).By != s.c.Requester || !near(id) {
			continue
		}
		if !seen[string(id)] {
			n++
			hit = h
		}
		seen[string(id)] = true
	}
	return hit, n == 1
}

// unanswered reports whether the requester got no answer by its id.
func (s *scene) unanswered() bool {
	return s.c.Leaf != AgentLevel && s.c.Sent.Line(ingest.Answer) == 0 && !s.c.Ambiguous()
}

func idTypeMismatch(s *scene) *Cause {
	if !s.unanswered() || len(s.orphans) == 0 || s.c.NoID() {
		return nil
	}
	id := s.c.ID()
	h, ok := s.nearMiss(func(other frame.ID) bool { return other.IsString() != id.IsString() && other.Bare() == id.Bare() })
	if !ok {
		return nil
	}
	s.hint(IDTypeMismatch, h)
	return found(IDTypeMismatch, func() string {
		return fmt.Sprintf("an answer with id %s (%s) has the same digits as %s and another JSON type; nobody asked with that id", h.Log.ID(h.N), h.sizedLine(), id)
	})
}

func idBeyond(s *scene) *Cause {
	if !s.unanswered() || len(s.orphans) == 0 || s.c.NoID() || !s.c.ID().IsInteger() {
		return nil
	}
	id := string(s.c.ID())
	h, ok := s.nearMiss(func(other frame.ID) bool {
		return string(other) != id && (rounded(id, string(other)) || truncated(id, string(other)))
	})
	if !ok {
		return nil
	}
	s.hint(IDBeyond, h)
	return found(IDBeyond, func() string {
		return fmt.Sprintf("%s: an answer with id %s; %s does not survive a trip through a double or 32 bits", h.answerLine(), h.Log.ID(h.N), id)
	})
}

// rounded reports whether two integers are one as a double.
func rounded(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && x == y
}

// truncated reports whether b is the low 32 bits of a, signed or not.
func truncated(a, b string) bool {
	x, ok1 := new(big.Int).SetString(a, 10)
	y, ok2 := new(big.Int).SetString(b, 10)
	if !ok1 || !ok2 || x.BitLen() <= 31 {
		return false
	}
	low := new(big.Int).And(x, big.NewInt(1<<32-1))
	return low.Cmp(y) == 0 || new(big.Int).Sub(low, big.NewInt(1<<32)).Cmp(y) == 0
}

func (s *scene) hint(kind string, h Half) {
	s.c.Hints = append(s.c.Hints, Hint{kind, fmt.Sprintf("the answer with id %s may be this call's", h.Log.ID(h.N)), []string{h.answerLine()}})
}

// sizedLine cites an orphan's line, with its size where the log tells it.
func (h Half) sizedLine() string {
	if n := h.Log.Bytes(h.N, ingest.Answer); n != frame.Unknown {
		return size(n) + ", " + h.answerLine()
	}
	return h.answerLine()
}

func (h Half) answerLine() string { return Cite(h.Log, h.Log.FirstHalfLine(h.N)) }
