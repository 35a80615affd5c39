package dialect

import (
	"slices"

	"mcpdiag/ingest/frame"
)

func native() *Dialect {
	return &Dialect{
		Name: "native", Writer: "recorders of the format v1, yours among them", Vantage: "as each record says",
		Sees:  Everything,
		Match: matchNative,
		New:   func() Reader { return new(nativeReader) },
	}
}

func matchNative(line []byte) bool {
	var d frame.Decoder
	var f frame.Frame
	return d.Decode(line, &f) == frame.NoReason
}

type nativeReader struct{ decoder frame.Decoder }

func (r *nativeReader) Read(span []byte, b *Batch) {
	r.decoder.Warnings = frame.Warnings{}
	n := uint32(0)
	for len(span) > 0 {
		n++
		f := room(b)
		f.Line = n
		if size := r.decoder.Next(span, f); size > 0 {
			span = span[size:]
			continue
		}
		b.Frames = b.Frames[:len(b.Frames)-1]
		var line []byte
		line, span = cutLine(span)
		r.read(n, line, b)
	}
	b.Lines += n
	b.Warnings.Add(&r.decoder.Warnings)
}

// read reads a line that the decoder did not know at sight.
func (r *nativeReader) read(n uint32, line []byte, b *Batch) {
	line, hole := trimLine(line)
	var reason frame.Reason
	if len(line) > 0 {
		f := room(b)
		f.Line = n
		if reason = r.decoder.Decode(line, f); reason != frame.NoReason {
			b.Frames = b.Frames[:len(b.Frames)-1]
		}
	}
	if reason != frame.NoReason || hole > 0 {
		b.Bad = append(b.Bad, Bad{Line: n, Reason: reason, Prefix: prefix(line), Hole: hole})
	}
}

// room adds a frame to b, of whatever content: a decoder writes all of it, and writing it twice would show.
func room(b *Batch) *frame.Frame {
	b.Frames = slices.Grow(b.Frames, 1)
	b.Frames = b.Frames[:len(b.Frames)+1]
	return &b.Frames[len(b.Frames)-1]
}
