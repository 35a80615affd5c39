package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// goSDK reads what the go-sdk's LoggingTransport writes: one message a line, without a time. Both sides write the same, so
// whose log it is shows when it writes what only one side may send.
//
//	write: {"jsonrpc":"2.0","id":2,"method":"tools/call",…}
//	read error: EOF
func goSDK() *Dialect {
	return &Dialect{
		Name: "go-sdk", Writer: "go-sdk, LoggingTransport", Vantage: "either side, told by content", Moment: "after Read returned, after Write returned",
		Sees: Everything &^ (Handlers | BadLines | Times), Ordered: true, Carried: true,
		Match: func(line []byte) bool {
			body, way := goLine(line)
			return way != noWay && (bytes.HasPrefix(body, []byte(`{"`)) || bytes.HasPrefix(line, []byte("read error: ")) || bytes.HasPrefix(line, []byte("write error: ")))
		},
		Weight: func([]byte) int { return 10 },
		New:    text(func() grammar { return &goLog{} }),
	}
}

func goLine(line []byte) (body []byte, w way) {
	for _, k := range [...]struct {
		word string
		way  way
	}{{"read: ", inward}, {"write: ", outward}, {"read error: ", inward}, {"write error: ", outward}} {
		if body, ok := bytes.CutPrefix(line, []byte(k.word)); ok {
			return body, k.way
		}
	}
	return nil, noWay
}

// goLog holds frames back until one tells whose log it is: a part of a rotated log may begin with answers, which do not.
type goLog struct {
	side  frame.Side
	early []goEarly
}

type goEarly struct {
	frame frame.Frame
	way   way
	line  uint32 // over the whole log
}

// mostEarly is how many frames are held back; a log that does not tell by then never will.
const mostEarly = 1000

// atEnd gives what was held back in a log that never told.
func (g *goLog) atEnd(r *textReader) { g.release(r) }

func (g *goLog) release(r *textReader) {
	for _, e := range g.early {
		r.at(e.line, &e.frame)
		g.place(r, &e.frame, e.way)
	}
	g.early = nil
}

// place gives the frame its side and direction.
func (g *goLog) place(r *textReader, f *frame.Frame, w way) {
	f.Side = g.side
	if f.Dir = w.dir(g.side); f.Dir != frame.NoDir {
		r.add(*f)
		return
	}
	r.directed(f, frame.NoDir)
}

func (g *goLog) line(r *textReader, line []byte) {
	body, way := goLine(line)
	if way == noWay {
		return
	}
	f := r.blank()
	if bytes.Contains(line[:min(len(line), 12)], []byte(" error")) {
		if dir := way.dir(g.side); way == inward && bytes.HasSuffix(body, []byte("EOF")) && dir != frame.NoDir {
			f.Side = g.side
			r.ended(f, dir)
		}
		return
	}
	if frame.DecodeMessage(bytes.TrimSpace(body), &f) != frame.NoReason {
		f = r.blank()
		if !r.cut(body, &f) {
			r.bad(line, frame.NotMessage)
			return
		}
	} else {
		f.Bytes = frame.Unknown // encoded anew for the log: its length is not that of the wire
	}
	if sure := methodDirections[string(f.Method)]; g.side == frame.NoSide && !f.Kind.Answer() {
		g.side = way.side(sure)
	}
	if f.Kind.Answer() && way == outward {
		f.Phase = frame.Written
	}
	if g.side == frame.NoSide && len(g.early) < mostEarly {
		g.early = append(g.early, goEarly{f.Clone(), way, r.here()})
		return
	}
	g.release(r)
	g.place(r, &f, way)
}
