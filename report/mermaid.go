package report

import (
	"fmt"
	"strings"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
)

// diagram draws one call as a Mermaid sequence diagram with two participants. What went from one side to the other stands in the
// order in which it had to; a frame that was lost ends in a cross.
func (m *markdown) diagram(c *diagnose.Call) {
	q := &sequence{c: c, short: m.short, asker: c.Requester.String(), peer: c.Requester.Peer().String()}
	q.ask()
	q.serve()
	q.answer()
	m.printf("```mermaid\nsequenceDiagram\n    participant client\n    participant server\n%s```\n\n", q.String())
}

// sequence is the body of a diagram.
type sequence struct {
	strings.Builder
	c           *diagnose.Call
	short       *strings.Replacer // cites logs by their short names: a diagram is narrow
	asker, peer string
}

func (q *sequence) arrow(from, how, to, text string) {
	fmt.Fprintf(q, "    %s%s%s: %s\n", from, how, to, mermaid(q.short.Replace(text)))
}

func (q *sequence) note(over, text string) {
	if text != "" {
		fmt.Fprintf(q, "    Note over %s: %s\n", over, mermaid(q.short.Replace(text)))
	}
}

// gap is a note between the two.
func (q *sequence) gap(text string) { q.note("client,server", text) }

func (q *sequence) ask() {
	c := q.c
	text := "id " + string(c.ID()) + " " + facts(toolOf(c), sized(c.Bytes(ingest.Request)), cited("sent", c.Sent, ingest.Request), cited("read", c.Served, ingest.Request))
	switch c.Q[0] {
	case diagnose.Yes:
		q.arrow(q.asker, "->>", q.peer, text)
	case diagnose.No:
		q.arrow(q.asker, "-x", q.peer, text)
		q.gap("the gap: sent, never read")
	default:
		q.arrow(q.asker, "-)", q.peer, text)
		q.gap("not known whether it arrived")
	}
}

// serve is what the responder did, and what the requester did meanwhile; in which order, no clock tells.
func (q *sequence) serve() {
	c := q.c
	sum, _ := stageWords(c)
	q.note(q.peer, sum)
	if c.Leaf == diagnose.NeverWritten {
		q.note(q.peer, "no answer written")
	}
	if c.Stalled && c.Leaf != diagnose.WrittenNotRead {
		q.note(q.asker, waited(c))
	}
}

func (q *sequence) answer() {
	c := q.c
	text := facts("answer", sized(c.Bytes(ingest.Answer)), cited("written", c.Served, ingest.Answer), cited("read", c.Sent, ingest.Answer))
	switch {
	case c.Q[2] == diagnose.Yes:
		q.arrow(q.peer, "-->>", q.asker, text)
	case c.Q[1] == diagnose.Yes && c.Q[2] == diagnose.No:
		q.arrow(q.peer, "--x", q.asker, text)
		q.gap("the gap: written, never read")
		q.note(q.asker, waited(c))
	case c.Q[1] == diagnose.Yes:
		q.arrow(q.peer, "--)", q.asker, text)
		q.gap("not known whether it was read")
	}
}
