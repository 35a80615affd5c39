package dialect

import (
	"strings"

	"mcpdiag/ingest/frame"
)

// What a record tells beside frames: handlers, failures, ends.

// done reads the report that a write ended: `written` where the kernel took the bytes, `queued` where a library's buffer did,
// which may keep them. Only an answer's counts; a request shows its arrival on the other side.
func (r *jsonlReader) done(rec record, e deed, f frame.Frame, b *Batch) {
	id := rec.id(idNames)
	r.dones = r.dones || e.phase == frame.Written
	if !id.Known() || rec.text(errorNames) != "" {
		return
	}
	o, known := r.sent[string(id)]
	delete(r.sent, string(id))
	switch {
	case known && !o.kind.Answer():
		return
	case known:
		f.Kind, f.Dir = o.kind, o.dir
	case e.phase == frame.Written && f.Dir == frame.S2C && r.asked.onlyHolder(id) != frame.S2C:
		f.Kind = frame.Response // the recorder reports nothing but the end of the write
		if n, ok := rec.number(sizeNames); ok {
			f.Bytes = n
		}
	default:
		return
	}
	f.ID, f.Phase = id, e.phase
	b.Frames = append(b.Frames, f)
}

// handler reads a handler event. A notification's handler serves no call.
func (r *jsonlReader) handler(rec record, e deed, f frame.Frame, b *Batch) {
	method := rec.text(methodNames)
	if strings.HasPrefix(method, "notifications/") {
		return
	}
	if f.ID = rec.id(idNames); f.ID == nil {
		f.ID = rec.id(requestIDNames)
	}
	if !f.ID.Known() {
		f.ID = nil
	}
	f.Kind, f.Method, f.Name = e.kind, []byte(method), []byte(rec.text(toolNames))
	if f.Method == nil && f.Name == nil && f.ID == nil {
		return
	}
	f.Dir = methodDirections[method]
	if f.Dir == frame.NoDir {
		f.Dir = frame.C2S
		if f.Side == frame.Client || f.Side == frame.NoSide && r.side == frame.Client {
			f.Dir = frame.S2C
		}
	}
	if n, ok := rec.number(rowNames); ok && f.Kind == frame.HandlerExit {
		f.Rows = n
	}
	if !r.named { // the handler knows a session that the frames do not name
		f.Session = nil
	}
	b.Frames = append(b.Frames, f)
}

// failure reads a send that failed. What the transport was told instead of an answer is the peer's refusal: a JSON-RPC error
// without an id, or a page of HTML.
func (r *jsonlReader) failure(rec record, f frame.Frame, b *Batch) {
	side := f.Side
	if side == frame.NoSide {
		side = r.side
	}
	if f.Dir == frame.NoDir {
		f.Dir = outward.dir(side)
	}
	if o := r.sent[string(rec.id(idNames))]; f.Dir == frame.NoDir || o.kind.Answer() {
		return
	}
	err := rec.text(errorNames)
	f.Dir = opposite(f.Dir)
	status := statusIn(err)
	if o := newObjects([]byte(err)); frame.DecodeMessage(o.next(), &f) != frame.NoReason || f.Kind != frame.Error || f.ID.Known() {
		if status == 0 {
			return
		}
		f.Kind, f.ID = frame.Invalid, nil
		f.Extra().Raw = []byte(err[:min(len(err), teeRaw)])
	}
	if status != 0 {
		f.Extra().Status, f.More.HasStatus = status, true
	}
	b.Frames = append(b.Frames, f)
}

// complaint reads an error that a transport reported. One about a line that is no JSON-RPC is that line.
func (r *jsonlReader) complaint(rec record, f frame.Frame, b *Batch) {
	if f.Dir == frame.NoDir {
		side := f.Side
		if side == frame.NoSide {
			side = r.side
		}
		f.Dir = inward.dir(side)
	}
	if err := rec.text(errorNames); f.Dir != frame.NoDir && isUnparsed(err) {
		f.Kind, f.Extra().Raw = frame.Invalid, quotedIn(err)
		b.Frames = append(b.Frames, f)
	}
}

// readError reads the error that a reader got instead of a frame.
func (r *jsonlReader) readError(err string, f frame.Frame, b *Batch) {
	switch {
	case f.Dir == frame.NoDir:
		return
	case isUnparsed(err):
		r.failed = true
		f.Kind, f.Extra().Raw = frame.Invalid, quotedIn(err)
	case strings.HasSuffix(err, "EOF"):
		f.Kind = frame.EOF
	default:
		return
	}
	b.Frames = append(b.Frames, f)
}

// end reads the end of a stream.
func (r *jsonlReader) end(e deed, f frame.Frame, b *Batch) {
	if e.dir != frame.NoDir {
		f.Dir = e.dir
	}
	if r.streams.flush(f, b) && f.Dir != frame.NoDir {
		f.Kind = frame.EOF
		b.Frames = append(b.Frames, f)
	}
}

// close reads that the log's own side closed the connection: it writes no more, and a reader that gave up at an error reads no
// more either.
func (r *jsonlReader) close(f frame.Frame, b *Batch) {
	side := f.Side
	if side == frame.NoSide {
		side = r.side
	}
	if side != frame.Client && side != frame.Server {
		return
	}
	f.Kind, f.Dir = frame.EOF, outward.dir(side)
	b.Frames = append(b.Frames, f)
	if r.failed {
		r.failed = false
		f.Dir = opposite(f.Dir)
		b.Frames = append(b.Frames, f)
	}
}
