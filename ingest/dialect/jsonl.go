package dialect

import (
	"bytes"
	"encoding/json"
	"strings"

	"mcpdiag/ingest/frame"
)

// jsonl reads the JSON lines of other recorders: one object a line, with an event, a direction and a frame, or what the
// recorder says of the frame. Their members differ in name only, so names and words are tables (jsonl_words.go).
//
//	{"wall":"2026-11-30T02:22:11.640Z","ms":335.2,"side":"server","ev":"frame","dir":"c2s","kind":"req","id":1,"n":229,"msg":"{…"}
//	{"wall":"2026-11-30T02:22:11.196Z","pid":27638,"dir":"c2s","ev":"read","off":0,"n":230,"data":"{…}\n"}
//
// The second kind is a chunk as read(2) gave it; see chunks.go.
func jsonl() *Dialect {
	return &Dialect{
		Name: "jsonl", Writer: "other recorders: one JSON object a line, with an event and a direction", Vantage: "as each record says",
		Sees:    Everything, // of what such a recorder may show; a given one may show less
		Ordered: true,       // chunks are put together, and an answer's direction is found by who asked
		Match:   matchJSONL,
		New:     func() Reader { return newJSONL() },
	}
}

// The reasons for which a line of this dialect is none.
const (
	noEventTold frame.Reason = "no event and no direction"
	noFrameTold frame.Reason = "an event without its frame"
)

// matchJSONL claims a line whose event and direction give a frame: a record of the native format, a message as it is, and
// the JSON lines that every program logs are none. A message in a member, with no event beside it, is left to wire, which takes
// it out of any line; once a log is of this dialect, such a line is read here as well.
func matchJSONL(line []byte) bool {
	rec := parseRecord(line)
	if rec == nil || rec["jsonrpc"] != nil {
		return false
	}
	var d frame.Decoder
	var f frame.Frame
	if d.Decode(line, &f) == frame.NoReason {
		return false
	}
	e, told := eventOf(rec)
	if !told {
		return false
	}
	if e.what == aChunk {
		dir, _ := dirOf(rec)
		return isChunk(rec) && dir != frame.NoDir
	}
	r, b := newJSONL(), new(Batch)
	if r.record(1, rec, b) != frame.NoReason || len(b.Frames) == 0 {
		return false
	}
	dir, way := dirOf(rec)
	spelled := dir != frame.NoDir || way != noWay || e.way != noWay
	k := b.Frames[0].Kind
	return k.Handler() || spelled && (k.Message() || e.what == anEnd)
}

// jsonlReader remembers what makes later lines clear.
type jsonlReader struct {
	side    frame.Side     // whose log it is, once a record tells
	asked   wireReader     // who holds which id open, for directions that are not told
	sent    map[string]out // the messages that this side sent and whose writing was not reported yet, by id
	dones   bool           // the log reports finished writes
	failed  bool           // the last thing read was an error
	named   bool           // its frames name their session
	bare    bool           // sizes are without the line end
	counts  bool           // its records are numbered, one after another
	seq     int64          // the last number
	ticks   ticks
	streams streams
}

// out is a message on its way out.
type out struct {
	kind frame.Kind
	dir  frame.Dir
}

// maxSent bounds the memory of messages whose end is never reported.
const maxSent = 1 << 16

func newJSONL() *jsonlReader {
	return &jsonlReader{asked: wireReader{open: map[string]held{}}, sent: map[string]out{}}
}

func (r *jsonlReader) Read(span []byte, b *Batch) {
	b.Lines += eachLine(span, func(n uint32, line []byte, hole int) {
		var reason frame.Reason
		if len(line) > 0 {
			if rec := parseRecord(line); rec == nil {
				reason = notObject(line)
			} else {
				reason = r.record(n, rec, b)
			}
		}
		b.refuse(n, line, hole, reason)
	})
}

func notObject(line []byte) frame.Reason {
	if json.Valid(line) {
		return frame.NotObject
	}
	return frame.NotJSON
}

// record reads one record. Events that are about no frame add none: they are read, and not unreadable.
func (r *jsonlReader) record(n uint32, rec record, b *Batch) frame.Reason {
	e, told := eventOf(rec)
	f := frame.Frame{Line: n, Bytes: frame.Unknown, Rows: frame.Unknown}
	word := r.place(rec, e, &f)
	r.ticks.read(rec, &f.At)
	r.labels(rec, &f)
	r.missed(rec, f, b)
	if silentDirs[strings.ToLower(rec.text(dirNames))] {
		return frame.NoReason
	}
	if e.what == aChunk && isChunk(rec) {
		r.streams.chunk(rec, f, b)
		return frame.NoReason
	}
	switch e.what {
	case aCrossing, aChunk:
		return r.crossing(rec, e, f, b)
	case aHandler:
		r.handler(rec, e, f, b)
	case aDone:
		r.done(rec, e, f, b)
	case aFailure:
		r.failure(rec, f, b)
	case aComplaint:
		r.complaint(rec, f, b)
	case anEnd:
		r.end(e, f, b)
	case aClose:
		r.close(f, b)
	case unheard:
		return r.loose(rec, told, word, f, b)
	}
	return frame.NoReason
}

// missed notes that records are missing, in a log that numbers them.
func (r *jsonlReader) missed(rec record, f frame.Frame, b *Batch) {
	n, ok := decimal(rec["seq"])
	if !r.counts || !ok {
		return
	}
	if r.seq > 0 && n > r.seq+1 {
		f.Kind, f.Dir = frame.Gap, frame.NoDir
		f.Extra().Dropped = n - r.seq - 1
		b.Frames = append(b.Frames, f)
	}
	r.seq = n
}

// loose reads a record whose event tells nothing: with a direction and a whole message it is a frame. One without an event
// and a direction is not of this dialect, whatever it is.
func (r *jsonlReader) loose(rec record, told, word bool, f frame.Frame, b *Batch) frame.Reason {
	text, _ := rec.payload()
	if word && (batchOf(text) != nil || frame.DecodeMessage(text, &f) == frame.NoReason) {
		return r.crossing(rec, deed{what: aCrossing}, f, b)
	}
	if raw, ok := rawText(text); ok && word {
		f.Kind, f.Extra().Raw = frame.Invalid, raw[:min(len(raw), teeRaw)]
		b.Frames = append(b.Frames, f)
	}
	if told || word {
		return frame.NoReason
	}
	return noEventTold
}

// place settles the side and the direction. word is true when a member spells a direction. What was written by a side, or
// read by it, tells the one from the other.
func (r *jsonlReader) place(rec record, e deed, f *frame.Frame) (word bool) {
	f.Side = sideWords[strings.ToLower(rec.text(sideNames))]
	dir, way := dirOf(rec)
	word = dir != frame.NoDir || way != noWay
	if way == noWay {
		way = e.way
	}
	if f.Dir = dir; dir == frame.NoDir && way != noWay {
		side := f.Side
		if side == frame.NoSide {
			side = r.side
		}
		f.Dir = way.dir(side)
	}
	if f.Side == frame.NoSide && e.way != noWay {
		f.Side = e.way.side(f.Dir)
	}
	if r.side == frame.NoSide && f.Side != frame.Proxy {
		r.side = f.Side
	}
	return word
}

// labels reads what tells one connection from another.
func (r *jsonlReader) labels(rec record, f *frame.Frame) {
	f.Session = []byte(rec.text(sessionNames))
	for _, l := range [...]struct {
		names []string
		set   func(v []byte)
	}{
		{connNames, func(v []byte) { f.Extra().Conn = v }},
		{pidNames, func(v []byte) { f.Extra().PID = v }},
	} {
		if v := rec.label(l.names); v != nil {
			l.set(v)
		}
	}
}

// crossing reads a frame that passed.
func (r *jsonlReader) crossing(rec record, e deed, f frame.Frame, b *Batch) frame.Reason {
	if err := rec.text(errorNames); err != "" && !rec.has(payloadNames) {
		r.readError(err, f, b)
		return frame.NoReason
	}
	text, length := rec.payload()
	if objects := batchOf(text); objects != nil {
		return r.batch(objects, e, f, b)
	}
	whole := text != nil && frame.DecodeMessage(text, &f) == frame.NoReason
	size, sized := rec.number(sizeNames)
	sized = sized && length <= len(text) // else it is the size of what stands around the message
	if text != nil && !whole && (!sized || size > int64(len(text))) {
		frame.DecodeCut(text, &f)
	}
	r.members(rec, &f)
	if f.Kind == frame.NoKind {
		if text == nil {
			return noFrameTold
		}
		f.Kind, f.Extra().Raw = frame.Invalid, text[:min(len(text), teeRaw)]
	}
	f.Bytes = r.size(size, sized, text, whole && length >= 0)
	r.direct(e, &f)
	if f.Dir == frame.NoDir {
		return frame.BadSideOrDir
	}
	r.failed = false
	r.named = r.named || len(f.Session) > 0
	r.leaves(e, &f)
	b.Frames = append(b.Frames, f)
	return frame.NoReason
}

// batch reads the messages of an array, each as if it had crossed alone: what the record says beside it is about none of them.
func (r *jsonlReader) batch(objects [][]byte, e deed, f frame.Frame, b *Batch) frame.Reason {
	for _, object := range objects {
		g := f
		g.More = moreOf(&f)
		if reason := r.crossing(record{payloadNames[0]: object}, e, g, b); reason != frame.NoReason {
			return reason
		}
	}
	return frame.NoReason
}

// members fills in what the record says of its frame and the payload, cut or absent, does not.
func (r *jsonlReader) members(rec record, f *frame.Frame) {
	id := rec.id(idNames)
	if f.Kind == frame.NoKind {
		f.Kind = rec.kind(id)
		f.ID = nil
	}
	switch {
	case f.Kind == frame.NoKind || f.Kind == frame.Invalid:
		return
	case f.ID == nil && f.Kind != frame.Notification:
		if f.ID = id; f.ID.IsNull() && f.Kind != frame.Error {
			f.ID = nil
		}
		f.Trunc = f.Trunc && f.ID == nil
	}
	if f.ID == nil && (f.Kind == frame.Request || f.Kind == frame.Response) {
		f.Trunc = true // its id is not told, which is not to have none
	}
	if f.Kind != frame.Request && f.Kind != frame.Notification {
		return
	}
	if method := rec.text(methodNames); f.Method == nil && method != "" {
		f.Method = []byte(method)
	}
	if name := rec.text(toolNames); f.Name == nil && name != "" && takesName(f.Method) {
		f.Name = []byte(name)
	}
	if id := rec.id(requestIDNames); f.RequestID == nil && id.Known() && f.Kind == frame.Notification {
		f.RequestID = id
	}
}

// size is the frame's size with its line end. Some recorders measure the JSON text alone; that shows where the text is whole.
func (r *jsonlReader) size(n int64, told bool, text []byte, whole bool) int64 {
	if whole {
		length := int64(len(bytes.TrimRight(text, "\r\n")))
		if !told {
			return length + 1
		}
		if n == length || n == length+1 {
			r.bare = n == length
			return length + 1
		}
	}
	switch {
	case !told:
		return frame.Unknown
	case r.bare:
		return n + 1
	}
	return n
}

// direct finds the direction of a frame that does not tell it, and with it the side.
func (r *jsonlReader) direct(e deed, f *frame.Frame) {
	if !f.Kind.Message() {
		return
	}
	if f.Dir == frame.NoDir {
		f.Dir = r.asked.direction(f, nil)
		if f.Side == frame.NoSide {
			f.Side = e.way.side(f.Dir)
		}
		if r.side == frame.NoSide {
			r.side = f.Side
		}
	} else if f.Kind == frame.Request && len(r.asked.open) < maxSent {
		r.asked.open[string(f.ID)] |= heldIn(f.Dir)
	} else if f.Kind.Answer() {
		r.asked.answered(f.ID, opposite(f.Dir))
	}
}

// leaves notes a message on its way out. In a log that reports finished writes, one that was only handed over is queued.
func (r *jsonlReader) leaves(e deed, f *frame.Frame) {
	side := f.Side
	if side == frame.NoSide {
		side = r.side
	}
	if side != f.Dir.From() || !f.ID.Known() || !f.Kind.Message() {
		return
	}
	if len(r.sent) >= maxSent {
		clear(r.sent)
	}
	r.sent[string(f.ID)] = out{f.Kind, f.Dir}
	if r.dones && e.way == outward && f.Kind.Answer() {
		f.Phase = frame.Queued
	}
}
