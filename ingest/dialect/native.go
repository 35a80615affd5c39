package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

func native() *Dialect {
	return &Dialect{
		Name: "native", Writer: "mcpdiag tee, proxy, tap", Vantage: "as each record says",
		Sees:  Everything,
		Match: matchNative,
		New:   func() Reader { return new(nativeReader) },
	}
}

func matchNative(line []byte) bool {
	return len(line) > 0 && line[0] == '{' && bytes.Contains(line, []byte(`"kind"`)) && !bytes.Contains(line, []byte(`"jsonrpc"`))
}

type nativeReader struct{ decoder frame.Decoder }

func (r *nativeReader) Read(span []byte, b *Batch) {
	r.decoder.Warnings = frame.Warnings{}
	b.Lines += eachLine(span, func(n uint32, line []byte, hole int) {
		var reason frame.Reason
		if len(line) > 0 {
			b.Frames = append(b.Frames, frame.Frame{Line: n})
			reason = r.decoder.Decode(line, &b.Frames[len(b.Frames)-1])
			if reason != frame.NoReason {
				b.Frames = b.Frames[:len(b.Frames)-1]
			}
		}
		if reason != frame.NoReason || hole > 0 {
			b.Bad = append(b.Bad, Bad{Line: n, Reason: reason, Prefix: prefix(line), Hole: hole})
		}
	})
	b.Warnings.Add(&r.decoder.Warnings)
}
