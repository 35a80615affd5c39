package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// jetbrains reads the log of JetBrains AI Assistant. Its labels name the recipient, and other logs of this look name the
// sender, so the direction is taken from the content.
//
//	2025-07-28 23:12:43,079 SERVER - {"id":61,"method":"initialize",…}
func jetbrains() *Dialect {
	return &Dialect{
		Name: "jetbrains", Writer: "JetBrains AI Assistant", Vantage: "the IDE, both directions; the server's stderr is spliced in",
		Sees: fullPayload, Side: frame.Client, Clock: true, Ordered: true, Carried: true,
		Match: func(line []byte) bool { _, label, _, ok := ideHead(line); return ok && string(label) != "INFO" },
		Weight: weights(func(line []byte) bool {
			_, _, body, _ := ideHead(line)
			return len(body) > 0 && body[0] == '{'
		}, hostFrame),
		New: text(func() grammar { return &ide{} }),
	}
}

// ideHead reads `DATE TIME,mmm LABEL - `.
func ideHead(line []byte) (at frame.Instant, label, body []byte, ok bool) {
	at, rest, ok := stamp(line)
	if !ok || !at.Zoneless() || len(line) < 20 || line[19] != ',' {
		return at, nil, nil, false
	}
	label, body, ok = bytes.Cut(rest, []byte(" - "))
	switch string(label) {
	case "SERVER", "CLIENT", "INFO", "WARN", "ERROR", "DEBUG":
		return at, label, body, ok
	}
	return at, nil, nil, false
}

type ide struct{ spliced spliced }

func (i *ide) line(r *textReader, line []byte) {
	f := r.blank()
	at, label, body, ok := ideHead(line)
	if !ok {
		r.stderr(&i.spliced, line, f)
		return
	}
	f.At = at
	wire := string(label) == "SERVER" || string(label) == "CLIENT"
	switch {
	case wire && len(body) > 0 && body[0] == '{':
		r.doubted = true
		dir := frame.C2S // the label names the recipient, where the content does not tell
		if string(label) == "CLIENT" {
			dir = frame.S2C
		}
		if !r.message(body, f, dir) {
			r.bad(line, frame.NotMessage)
		}
	case wire:
		r.stderr(&i.spliced, body, f)
	case bytes.HasPrefix(body, []byte("Server stopped")):
		r.ended(f, frame.S2C)
	}
}
