package dialect

import (
	"bytes"

	"mcpdiag/ingest/frame"
)

// Body is the text of a frame, for whoever asks for it: an auditor does, a join does not.
type Body struct {
	Text  []byte // the message as JSON text, or the bytes that are none; nil when the log does not hold it
	Cut   bool   // Text is the beginning
	Stdio bool   // a recorder of bytes saw it on a line of a pipe
	Batch bool   // it is an element of a JSON array
	Part  int    // it is the Part-th, from 1, of Parts messages of one array or one line; 0 when alone
	Parts int
	HTTP  *HTTP // what carried it; nil when the log does not tell
	Guess bool  // of a request: either side may send its method, and nothing tells which one did

	// What a native record says of a message instead of its text; nil when it does not.
	Tools                     []byte // of an answer to tools/list: an object, tool to fingerprint
	ResultBytes, ResultTokens []byte // numbers
}

// HTTP is the head of an HTTP request or answer. A head whose exchange carries no message has a frame of kind Open.
type HTTP struct {
	Exchange string // names the request and its answer
	Verb     string // of a request
	Status   int    // of an answer
	Header   map[string]string
	Of       *HTTP        // of an answer: the request
	Event    *frame.Event // the server-sent event that a message came in; its Data is not kept
	Empty    bool         // there is no body
	Gone     bool         // of a request: the client closed the connection before the answer
}

// Get reads a header by its name in small letters.
func (h *HTTP) Get(name string) string {
	if h == nil {
		return ""
	}
	return h.Header[name]
}

// Stream reports whether the body is a stream of server-sent events.
func (h *HTTP) Stream() bool {
	return h != nil && mediaType(h.Get("content-type")) == "text/event-stream"
}

func mediaType(s string) string {
	t, _, _ := bytes.Cut([]byte(s), []byte{';'})
	return string(bytes.ToLower(bytes.TrimSpace(t)))
}

// WithBodies is the dialect with a reader that fills Batch.Bodies beside Batch.Frames. It costs a second look at every line,
// so only who needs the texts asks for it.
func (d *Dialect) WithBodies() *Dialect {
	e := *d
	texts, ok := bodyTexts[d.Name]
	if !ok {
		texts = anyTexts
	}
	e.Ordered = true
	e.New = func() Reader {
		r := &bodyReader{inner: d.New(), texts: texts, wires: wires{open: map[string]*wireStream{}}, native: d.Name == "native", wire: d.Name == "wire"}
		if d.Name == "jsonl" {
			r.records = newJSONL()
		}
		return r
	}
	return &e
}

// bodyTexts find the text of a line's frame, by dialect. The others' lines are searched for whole messages.
var bodyTexts = map[string]func(line []byte) (text []byte, cut bool){
	"native":   nativeText,
	"jsonl":    jsonlText,
	"mcptap":   jsonlText,
	"mcpsnoop": jsonlText,
	"tee-mcp":  teeText,
}

func anyTexts([]byte) ([]byte, bool) { return nil, false }

// nativeText is the member `frame`. A writer that cannot keep it as JSON writes it as a string.
func nativeText(line []byte) (text []byte, cut bool) {
	text = frame.Member(line, "frame")
	if s, ok := frame.Text(text); ok {
		text = []byte(s)
	}
	return text, string(frame.Member(line, "trunc")) == "true"
}

func jsonlText(line []byte) (text []byte, cut bool) {
	rec := parseRecord(line)
	if text, _ = rec.payload(); text == nil {
		return nil, false
	}
	var f frame.Frame
	return text, frame.DecodeMessage(text, &f) != frame.NoReason && frame.DecodeCut(text, &f)
}

func teeText(line []byte) (text []byte, cut bool) {
	var f frame.Frame
	literal, ok := teeHead(line, &f)
	if !ok {
		return nil, false
	}
	text, size, ok := pythonBytes(literal)
	if !ok {
		return nil, false
	}
	return text, f.Bytes > int64(size)
}

// bodyReader reads frames as the dialect does, and their texts beside them. Chunks it puts together itself: of HTTP the heads
// count, and of a line that is no message the whole.
type bodyReader struct {
	inner   Reader
	texts   func([]byte) ([]byte, bool)
	native  bool
	wire    bool
	records *jsonlReader // reads what stands around chunks; nil where there are none
	wires   wires
	one     Batch
}

func (r *bodyReader) Read(span []byte, b *Batch) {
	for len(span) > 0 {
		line, rest := cutLine(span)
		raw := span[:len(span)-len(rest)]
		span = rest
		b.Lines++
		if !r.chunk(line, b) {
			r.line(raw, line, b)
		}
	}
	b.pad()
}

// Finish appends what the dialect's own reader holds back until the log's end, if it does.
func (r *bodyReader) Finish(b *Batch) {
	if f, ok := r.inner.(interface{ Finish(*Batch) }); ok {
		f.Finish(b)
		b.pad()
	}
}

// chunk reads a line that carries bytes and no frame; it reports whether it is one.
func (r *bodyReader) chunk(line []byte, b *Batch) bool {
	if r.records == nil {
		return false
	}
	j, rec := r.records, parseRecord(line)
	e, _ := eventOf(rec)
	ends := e.what == anEnd || e.what == silent && rec.text(eventNames) == "close"
	if !ends && (e.what != aChunk || !isChunk(rec)) {
		return false
	}
	f := frame.Frame{Line: b.Lines, Bytes: frame.Unknown, Rows: frame.Unknown}
	j.place(rec, e, &f)
	j.ticks.read(rec, &f.At)
	j.labels(rec, &f)
	if !ends {
		r.wires.chunk(rec, f, b)
	} else if !r.wires.end(f, b) {
		return false
	}
	return true
}

// line reads a line that carries frames.
func (r *bodyReader) line(raw, line []byte, b *Batch) {
	r.one.Reset()
	r.inner.Read(raw, &r.one)
	line, _ = trimLine(line)
	b.Warnings.Add(&r.one.Warnings)
	text, cut := r.texts(line)
	if r.native && text == nil && onlyMessage(r.one.Frames) && r.one.Frames[0].Kind.Answer() {
		b.add(r.one.Frames[0], Body{Tools: frame.Member(line, "tools"), ResultBytes: frame.Member(line, "result_bytes"), ResultTokens: frame.Member(line, "result_tokens")})
	} else if text != nil && onlyMessage(r.one.Frames) {
		expand(&r.one.Frames[0], Body{Text: text, Cut: cut}, b)
	} else if n, array := arrayLen(text); array && n == len(r.one.Frames) {
		r.batch(text, b)
	} else {
		r.found(line, b)
	}
	for _, bad := range r.one.Bad {
		bad.Line = b.Lines
		b.Bad = append(b.Bad, bad)
	}
}

// batch pairs the frames of a line with the elements of the array that they were read from.
func (r *bodyReader) batch(text []byte, b *Batch) {
	k := 0
	frame.Elements(text, func(e []byte) {
		b.add(r.one.Frames[k], Body{Text: e, Batch: true, Part: k + 1, Parts: len(r.one.Frames)})
		k++
	})
}

// onlyMessage reports whether there is one frame, and a text of its line can be its own.
func onlyMessage(frames []frame.Frame) bool {
	return len(frames) == 1 && (frames[0].Kind.Message() || frames[0].Kind == frame.Invalid)
}

// found pairs the frames of a line with the messages that stand somewhere on it. A message that the dialect refused, and a
// line that is one JSON value and no message, is for an auditor to name.
func (r *bodyReader) found(line []byte, b *Batch) {
	frames := r.one.Frames
	for len(frames) > 1 && frames[0].Line != 1 { // held back from lines before: no text of this line is theirs
		b.add(frames[0], Body{})
		frames = frames[1:]
	}
	add := func(text []byte, body Body) {
		var g frame.Frame
		body.Text = text
		if frame.DecodeMessage(text, &g) == frame.NoReason && len(frames) > 0 {
			body.Guess = r.wire && g.Kind == frame.Request && methodDirections[string(g.Method)] == frame.NoDir && spokenDirection(before(line)) == frame.NoDir
			b.add(frames[0], body)
			frames = frames[1:]
			return
		}
		g = frame.Frame{Kind: frame.Invalid, Bytes: frame.Unknown, Rows: frame.Unknown, Dir: spokenDirection(line[:bytes.Index(line, text)])}
		if method, ok := frame.Text(frame.Member(text, "method")); ok && g.Dir == frame.NoDir {
			g.Dir = methodDirections[method]
		}
		g.Extra().Raw = text[:min(len(text), teeRaw)]
		b.add(g, body)
		r.one.Bad = nil
	}
	if r.wire || len(frames) > 0 {
		elements(line, r.wire, add)
	}
	for k := range frames {
		b.add(frames[k], Body{})
	}
}

// before is what stands on a line in front of its first message.
func before(line []byte) []byte {
	o := newObjects(line)
	if o.next() == nil {
		return line
	}
	return line[:o.first]
}

// elements calls add with each message on a line: of an array its elements, else the objects that name "jsonrpc". whole adds
// a line that is a JSON value of another kind.
func elements(line []byte, whole bool, add func([]byte, Body)) {
	if n, ok := arrayLen(line); ok && whole {
		if n == 0 {
			add(line, Body{})
			return
		}
		k := 0
		frame.Elements(line, func(e []byte) {
			k++
			add(e, Body{Batch: true, Part: k, Parts: n})
		})
		return
	}
	o := newObjects(line)
	found := false
	for object := o.next(); object != nil; object = o.next() {
		add(object, Body{})
		found = true
	}
	if end, shape := frame.ScanObject(line); !found && whole && shape == frame.PlainObject && end == len(line) {
		add(line, Body{})
	}
}

func arrayLen(text []byte) (n int, ok bool) {
	if len(text) == 0 || text[0] != '[' {
		return 0, false
	}
	ok = frame.Elements(text, func([]byte) { n++ })
	return n, ok
}

// add adds a frame with its body.
func (b *Batch) add(f frame.Frame, body Body) {
	f.Line = b.Lines
	b.pad()
	b.Frames = append(b.Frames, f)
	b.Bodies = append(b.Bodies, body)
}

// expand adds the frame that a text is, or those of the array that it is.
func expand(f *frame.Frame, body Body, b *Batch) {
	text := bytes.TrimSpace(body.Text)
	n, array := arrayLen(text)
	if !array || n == 0 {
		b.add(*f, body)
		return
	}
	k := 0
	frame.Elements(text, func(e []byte) {
		k++
		part := body
		part.Text, part.Batch, part.Part, part.Parts = e, true, k, n
		b.add(reread(f, e), part)
	})
}

// reread makes a copy of f the message that text is, or a frame of kind Invalid.
func reread(f *frame.Frame, text []byte) frame.Frame {
	g := *f
	g.More = moreOf(f)
	g.Kind, g.ID, g.Method, g.Name, g.Bytes = frame.NoKind, nil, nil, nil, int64(len(text))
	if frame.DecodeMessage(text, &g) != frame.NoReason {
		g.Kind = frame.Invalid
		g.Extra().Raw = text[:min(len(text), teeRaw)]
	}
	return g
}
