package dialect

import (
	"bytes"
	"encoding/json"
	"time"

	"mcpdiag/ingest/frame"
)

// inspectorExport reads the protocol tab of MCP Inspector v2 as it exports it: one JSON array, in which an answer is folded
// into its request. An entry is two frames then; the answer came `duration` ms later.
//
//	[{"id":"…","timestamp":"2026-05-01T10:00:00.000Z","direction":"request","origin":"client","message":{…},"response":{…},"duration":12}]
func inspectorExport() *Dialect {
	return &Dialect{
		Name: "inspector", Writer: "MCP Inspector v2, the protocol tab's export", Vantage: "the client, both directions", Source: fromDescription,
		Sees: Everything &^ (Handlers | BadLines | Ends), Side: frame.Client, Ordered: true,
		Match: func([]byte) bool { return false },
		Whole: func(head []byte) bool {
			head = bytes.TrimLeft(head, " \t\r\n")
			if len(head) == 0 || head[0] != '[' || !bytes.HasPrefix(bytes.TrimLeft(head[1:], " \t\r\n"), []byte{'{'}) {
				return false // a carrier's `[pod/…]` opens with a bracket too
			}
			return bytes.Contains(head, []byte(`"direction"`)) && bytes.Contains(head, []byte(`"message"`)) &&
				bytes.Contains(head, []byte(`"timestamp"`))
		},
		New: newDocument(readInspector),
	}
}

const fromDescription = "from description"

const badDocument frame.Reason = "not the JSON document that it begins as"

type inspectorEntry struct {
	Timestamp         json.RawMessage
	Origin            string
	Message, Response json.RawMessage
	Duration          *float64
	ClientError       json.RawMessage
}

func readInspector(text []byte, d *document, b *Batch) frame.Reason {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return badDocument
	}
	var late later
	for dec.More() {
		var e inspectorEntry
		if dec.Decode(&e) != nil {
			late.rest(b)
			return badDocument
		}
		f := frame.Frame{Line: d.line(int(dec.InputOffset())), Rows: frame.Unknown, Bytes: frame.Unknown}
		if len(e.Timestamp) > 0 {
			wallTime(e.Timestamp, &f.At)
		}
		late.until(f.At, b)
		dir := map[string]frame.Dir{"client": frame.C2S, "server": frame.S2C}[e.Origin]
		d.message(e.Message, f, dir, b)
		if len(e.Response) < 2 {
			continue
		}
		if e.Duration != nil {
			f.At = f.At.Back(-time.Duration(*e.Duration * 1e6))
		}
		answer := new(Batch)
		d.message(e.Response, f, opposite(dir), answer)
		late.add(answer.Frames)
	}
	late.rest(b)
	return frame.NoReason
}
