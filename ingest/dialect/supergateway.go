package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// supergateway reads the log of supergateway: what goes to the child is JSON; what the child says is printed as JavaScript
// prints objects, over several lines when it is wide, and below a depth only as [Object]. No times.
//
//	[supergateway] SSE → Child (session 5b6e…): {"jsonrpc":"2.0","id":2,"method":"tools/call",…}
//	[supergateway] Child → SSE: { jsonrpc: '2.0', id: 2, result: { content: [ [Object] ], isError: false } }
func supergateway() *Dialect {
	return &Dialect{
		Name: "supergateway", Writer: "supergateway", Vantage: "a bridge in front of a stdio server", Moment: "what the child wrote, before it is passed on",
		Sees: Everything &^ (Handlers | Sizes | Times), Ordered: true, Carried: true, Side: frame.Server,
		Match:  func(line []byte) bool { return bytes.HasPrefix(line, bridgeMark) },
		Weight: func([]byte) int { return 4 },
		New:    text(func() grammar { return &bridge{} }),
	}
}

var bridgeMark = []byte("[supergateway] ")

type bridge struct {
	child   object
	from    uint32 // the line on which the child's object began, over the whole log
	spliced spliced
	closed  bool
}

func (g *bridge) line(r *textReader, line []byte) {
	rest, own := bytes.CutPrefix(line, bridgeMark)
	if !own {
		g.more(r, line)
		return
	}
	g.child.drop() // a record of its own ends what was open
	head, body, ok := bytes.Cut(rest, []byte(": "))
	f := r.blank()
	switch {
	case ok && bytes.HasPrefix(head, []byte("Child → ")):
		g.from = r.here()
		g.feed(r, body)
	case ok && bytes.Contains(head, []byte(" → Child")):
		g.closed = false
		if !r.message(body, f, frame.C2S) {
			r.bad(line, frame.NotMessage)
		}
	case ok && string(head) == "Child stderr":
		r.stderr(&g.spliced, body, f)
	case ok && string(head) == "Child non-JSON":
		r.noise(body, f, frame.S2C)
	case bytes.HasPrefix(rest, []byte("SSE connection closed")), bytes.HasPrefix(rest, []byte("Client disconnected")):
		if !g.closed {
			f.Extra().Word = "close -"
			r.ended(f, frame.C2S)
		}
		g.closed = true
	}
}

// more reads a line that goes on with the child's object.
func (g *bridge) more(r *textReader, line []byte) {
	if g.child.open() {
		g.feed(r, line)
	}
}

func (g *bridge) feed(r *textReader, line []byte) {
	whole := g.child.feed(line)
	if whole == nil {
		return
	}
	f := r.blank()
	r.at(g.from, &f)
	if frame.DecodeMessage(inspected(whole), &f) != frame.NoReason {
		r.bad(line, frame.NotMessage)
		return
	}
	r.directed(&f, frame.S2C)
}
