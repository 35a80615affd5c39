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

type nativeReader struct {
	decoder frame.Decoder
	frame   frame.Frame // the one that is passed on
}

func (r *nativeReader) Read(span []byte, b *Batch) {
	r.decoder.Warnings = frame.Warnings{}
	n := uint32(0)
	for len(span) > 0 {
		n++
		f := &r.frame
		if b.Take == nil {
			f = room(b)
		}
		f.Line = n
		size := r.decoder.Next(span, f)
		ok := size > 0
		if ok {
			span = span[size:]
		} else {
			var line []byte
			line, span = cutLine(span)
			ok = r.read(n, line, f, b)
		}
		switch {
		case b.Take == nil && !ok:
			b.Frames = b.Frames[:len(b.Frames)-1]
		case b.Take != nil && ok:
			b.Take(f)
		}
	}
	b.Lines += n
	b.Warnings.Add(&r.decoder.Warnings)
}

// read reads a line that the decoder did not know at sight; false when it is no record.
func (r *nativeReader) read(n uint32, line []byte, f *frame.Frame, b *Batch) bool {
	line, hole := trimLine(line)
	reason := frame.NoReason
	if len(line) > 0 {
		reason = r.decoder.Decode(line, f)
	}
	if reason != frame.NoReason || hole > 0 {
		b.Bad = append(b.Bad, Bad{Line: n, Reason: reason, Prefix: prefix(line), Hole: hole})
	}
	return len(line) > 0 && reason == frame.NoReason
}

// room adds a frame to b, of whatever content: a decoder writes all of it, and writing it twice would show.
func room(b *Batch) *frame.Frame {
	b.Frames = slices.Grow(b.Frames, 1)
	b.Frames = b.Frames[:len(b.Frames)+1]
	return &b.Frames[len(b.Frames)-1]
}
