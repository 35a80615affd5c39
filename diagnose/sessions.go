package diagnose

import (
	"mcpdiag/ingest"
)

// Session is one session, or one connection where none is named, as the logs show it.
type Session struct {
	Name       string // "" when neither log names it
	Connection int    // which stretch of its log it is, from 1
	// Stretches are the log's views of it, by side; nil where a log has no record of it.
	Stretches [3]*ingest.Stretch
}

// Sessions lists the sessions in the order of the client's log; those that only the server's log has come last.
func (d *Diagnosis) Sessions() []*Session {
	list, _ := d.sessions()
	return list
}

// SessionIndex finds the place of a call's session in Sessions, and that of a log's stretch.
func (d *Diagnosis) SessionIndex() (of func(*Call) int, ofStretch func(*ingest.Log, uint32) int) {
	_, index := d.sessions()
	ofStretch = func(l *ingest.Log, stretch uint32) int { return index[d.join.Align.Pair[l.Number()][stretch]] }
	return func(c *Call) int { h := c.any(); return ofStretch(h.Log, h.Log.Half(h.N).Stretch) }, ofStretch
}

func (d *Diagnosis) sessions() (list []*Session, index map[uint32]int) {
	index = map[uint32]int{}
	for _, l := range d.Logs {
		for i, stretch := range l.Stretches {
			pair := d.join.Align.Pair[l.Number()][i]
			k, ok := index[pair]
			if !ok {
				k = len(list)
				index[pair] = k
				list = append(list, &Session{Name: stretch.Session, Connection: stretch.Number})
			}
			if list[k].Stretches[l.Side] == nil { // several stretches may share a pair; the first stands for them
				list[k].Stretches[l.Side] = stretch
			}
		}
	}
	return list, index
}
