package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// document reads a log that is one JSON document: it is kept until the log ends and then read as a whole.
type document struct {
	read   func(text []byte, d *document, b *Batch) frame.Reason
	text   []byte
	lines  uint32
	begun  uint32 // lines of the spans before
	tooBig bool
	asked  wireReader
	calls  uint32
	place  int    // the last place in the text of which a line was asked
	passed uint32 // line ends before it
}

// documentMost is the size up to which a document is read.
const documentMost = 512 << 20

func newDocument(read func([]byte, *document, *Batch) frame.Reason) func() Reader {
	return func() Reader { return &document{read: read, asked: wireReader{open: map[string]held{}}} }
}

// Read keeps the span.
func (d *document) Read(span []byte, b *Batch) {
	if len(d.text)+len(span) > documentMost {
		d.tooBig = true
	} else {
		d.text = append(d.text, span...)
	}
	n := uint32(bytes.Count(span, []byte{'\n'}))
	if len(span) > 0 && span[len(span)-1] != '\n' {
		n++
	}
	b.Lines += n
	d.lines += n
}

// Finish reads the document.
func (d *document) Finish(b *Batch) {
	if len(bytes.TrimSpace(d.text)) == 0 {
		return
	}
	reason := frame.Reason("document too long")
	if !d.tooBig {
		reason = d.read(d.text, d, b)
	}
	if reason != frame.NoReason {
		b.Bad = append(b.Bad, Bad{Line: d.line(len(d.text)), Reason: reason, Prefix: prefix(bytes.TrimLeft(d.text, " \r\n\t"))})
	}
}

// line is the line of a place in the document, as a batch that follows the last span counts it.
func (d *document) line(at int) uint32 {
	if at >= d.place {
		d.passed += uint32(bytes.Count(d.text[d.place:at], []byte{'\n'}))
		d.place = at
	}
	return d.passed + 1 - d.lines
}

// message adds the JSON-RPC message in text, or the several of a batch.
func (d *document) message(text []byte, f frame.Frame, dir frame.Dir, b *Batch) bool {
	objects := messages(bytes.TrimSpace(text))
	for _, object := range objects {
		g := f
		g.More = moreOf(&f)
		g.Bytes = int64(len(object)) + 1
		if frame.DecodeMessage(object, &g) != frame.NoReason {
			return false
		}
		if g.Dir = dir; dir == frame.NoDir {
			g.Dir = d.asked.direction(&g, nil)
		}
		b.Frames = append(b.Frames, g)
	}
	return len(objects) > 0
}
