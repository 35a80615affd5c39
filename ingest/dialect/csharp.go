package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// csharp reads the console of the C# SDK, two lines a record and without a time by default. At Information it tells when a
// handler was called and completed; at Trace the messages, within quotes that are not escaped.
//
//	trce: ModelContextProtocol.Server.StdioServerTransport[2118211034]
//	      Server (stream) (Grid Model) transport received message. Message: '{"method":"tools/call",…,"id":3}'.
func csharp() *Dialect {
	return &Dialect{
		Name: "csharp", Writer: "C# SDK, console logger", Vantage: "the server (a client alike)", Moment: "answers: handed to the transport, before the write",
		Knob: "set the level of ModelContextProtocol to Trace for messages, Information for handlers",
		Sees: Everything &^ (BadLines | Times | Ends), Ordered: true, Carried: true, Side: frame.Server,
		Match: prose(func(line []byte) bool {
			return bytes.Contains(line, []byte("ModelContextProtocol.")) || bytes.Contains(line, []byte(" transport received message. Message: '")) ||
				bytes.Contains(line, []byte(" transport sending message. Message: '")) || bytes.Contains(line, []byte("' request handler "))
		}),
		Weight: weights(func(line []byte) bool { return bytes.Contains(line, []byte("essage. Message: '")) }, 4),
		New:    text(func() grammar { return &dotnet{} }),
	}
}

type dotnet struct {
	at       frame.Instant // of the record's first line
	handlers numbered
	spliced  spliced
}

func (d *dotnet) line(r *textReader, line []byte) {
	f := r.blank()
	if at, _, ok := stamp(line); ok {
		d.at = at
	}
	f.At = d.at
	for _, k := range [...]struct {
		words string
		way   way
	}{{" transport received message. Message: '", inward}, {" transport sending message. Message: '", outward}} {
		if head, body, ok := bytes.Cut(line, []byte(k.words)); ok {
			d.message(r, line, head, body, f, k.way)
			return
		}
	}
	kind, method := d.spliced.event(line)
	if kind == frame.NoKind {
		return
	}
	f.Kind, f.Dir, f.Side, f.Method = kind, frame.C2S, dotnetSide(line), []byte(method)
	if f.Side == frame.Client {
		f.Dir = frame.S2C
	}
	d.handlers.add(r, f)
}

// dotnetSide reads who speaks, which is the first of the two named: a server's line goes on with its client. A console of one
// line a record has the category in front.
func dotnetSide(head []byte) frame.Side {
	client, server := bytes.Index(head, []byte(" Client (")), bytes.Index(head, []byte(" Server ("))
	if client >= 0 && (server < 0 || client < server) || bytes.HasPrefix(head, []byte("Client (")) {
		return frame.Client
	}
	return frame.Server
}

// message reads the JSON between the first quote and the last.
func (d *dotnet) message(r *textReader, line, head, body []byte, f frame.Frame, w way) {
	i := bytes.LastIndex(body, []byte("'"))
	if i < 0 || frame.DecodeMessage(body[:i], &f) != frame.NoReason {
		r.bad(line, frame.NotMessage)
		return
	}
	f.Side, f.Bytes = dotnetSide(head), int64(i)+1
	f.Dir = w.dir(f.Side)
	if f.Kind.Answer() && w == outward {
		f.Phase = frame.Queued
	}
	d.handlers.talks = true
	r.add(f)
}
