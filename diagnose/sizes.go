package diagnose

import (
	"cmp"
	"context"
	"math"
	"slices"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// AnswerSizes counts the answers to one tool by their size in bytes and by their fate, healthy calls too.
type AnswerSizes struct {
	Requester    frame.Side
	Method, Name string
	Total        int
	// Counts are answers by bucket and fate; bucket k holds sizes from SizeEdge(k) up to SizeEdge(k+1).
	Counts map[int]*[3]int
}

// SizeEdge is the lower edge of a bucket of sizes: ten to a decade.
func SizeEdge(bucket int) float64 { return math.Pow(10, float64(bucket)/10) }

// Sizes counts the answers to every tool, the tool with the most first. The diagnosis's database must still be open.
func (d *Diagnosis) Sizes(ctx context.Context) ([]*AnswerSizes, error) {
	tools := map[toolKey]*AnswerSizes{}
	err := d.eachVerdict(ctx, func(c *Call) {
		n, fate := c.sizeAt(ingest.Answer), c.fate(ingest.Answer)
		if n <= 0 || fate == Untold {
			return
		}
		key := toolOf(c.Requester, c.Method(), c.Name())
		s := tools[key]
		if s == nil {
			s = &AnswerSizes{Requester: key.Requester, Method: key.Method, Name: key.Name, Counts: map[int]*[3]int{}}
			tools[key] = s
		}
		k := int(math.Floor(10 * math.Log10(float64(n))))
		if s.Counts[k] == nil {
			s.Counts[k] = &[3]int{}
		}
		s.Counts[k][fate]++
		s.Total++
	})
	if err != nil {
		return nil, err
	}
	var list []*AnswerSizes
	for _, s := range tools {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *AnswerSizes) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Requester, b.Requester), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}
