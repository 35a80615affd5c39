package dialect

import (
	"bytes"
	"strconv"
	"strings"

	"mcpdiag/ingest/frame"
)

// wires puts the chunks of a byte recorder together for who wants the texts: lines of a pipe, or HTTP/1.1 with its heads.
type wires struct {
	open  map[string]*wireStream
	heads map[string][]*HTTP // by connection: the requests that wait for their answer
}

// pad keeps b.Bodies as long as b.Frames.
func (b *Batch) pad() {
	for len(b.Bodies) < len(b.Frames) {
		b.Bodies = append(b.Bodies, Body{})
	}
}

// wireStream is one direction of one connection.
type wireStream struct {
	stream
	head    *HTTP // whose body is being read; nil between two
	left    int64 // bytes of the body, or of its chunk, that are still to come
	chunked bool
	toEnd   bool // the body ends with the connection
	body    []byte
	events  *frame.EventStream
	count   int
}

// chunk reads one chunk; see streams.chunk for the labels of f.
func (w *wires) chunk(rec record, f frame.Frame, b *Batch) {
	if f.Side == frame.NoSide {
		f.Side = frame.Proxy
	}
	if f.Dir == frame.NoDir {
		return
	}
	data := bytesOf(rec)
	st := w.of(&f)
	off, told := rec.number([]string{"off", "offset"})
	if !told {
		off = st.next
	}
	lost := len(b.Frames)
	data = st.align(off, data, &f, b)
	if len(b.Frames) > lost {
		st.head, st.body, st.events = nil, nil, nil
		b.pad()
	}
	if !st.begun && len(data) > 0 {
		st.begun, st.http = true, startsHTTP(data)
	}
	if st.http {
		st.rest = append(st.rest, data...)
		w.http(st, &f, b)
		return
	}
	w.lines(st, data, &f, b)
}

func (w *wires) of(f *frame.Frame) *wireStream {
	key := streamKey(f)
	if len(w.open) >= maxStreams && w.open[key] == nil {
		w.open = map[string]*wireStream{}
	}
	if w.open[key] == nil {
		w.open[key] = &wireStream{}
	}
	return w.open[key]
}

// end reads what a stream ends with. It reports whether the stream was one of HTTP, whose end ends no session.
func (w *wires) end(f frame.Frame, b *Batch) bool {
	if f.Side == frame.NoSide {
		f.Side = frame.Proxy
	}
	http := false
	for _, d := range [...]frame.Dir{frame.C2S, frame.S2C} {
		if f.Dir != frame.NoDir && f.Dir != d {
			continue
		}
		g := f
		g.Dir = d
		st := w.open[streamKey(&g)]
		if st == nil {
			continue
		}
		http = http || st.http
		if st.http && st.toEnd && st.head != nil {
			w.finish(st, &g, b)
		} else if rest := bytes.TrimSpace(st.rest); !st.http && len(rest) > 0 && !st.blind {
			pipeLine(rest, int64(len(st.rest)), &g, b)
		}
		delete(w.open, streamKey(&g))
	}
	return http
}

// lines reads the bytes of a pipe.
func (w *wires) lines(st *wireStream, data []byte, f *frame.Frame, b *Batch) {
	st.rest = append(st.rest, data...)
	for {
		end := bytes.IndexByte(st.rest, '\n')
		if end < 0 {
			break
		}
		line := bytes.Clone(st.rest[:end+1])
		st.rest = st.rest[end+1:]
		if bare := bytes.TrimSpace(line); st.blind {
			st.blind = false
		} else if len(bare) > 0 {
			pipeLine(bare, int64(len(line)), f, b)
		}
	}
	if len(st.rest) > maxRest {
		st.lose(f, b)
		b.pad()
	}
}

// pipeLine adds the message, or the messages, that a line of a pipe is; else a bad line.
func pipeLine(bare []byte, size int64, f *frame.Frame, b *Batch) {
	body := Body{Text: bare, Stdio: true}
	if n, array := arrayLen(bare); array && n > 0 {
		expand(f, body, b)
		return
	}
	objects := messages(bare)
	if len(objects) < 2 || bare[0] != '{' {
		g := reread(f, bare)
		g.Bytes = size
		b.add(g, body)
		return
	}
	for k, object := range objects {
		b.add(reread(f, object), Body{Text: object, Stdio: true, Part: k + 1, Parts: len(objects)})
	}
}

// http reads as much of st.rest as is complete.
func (w *wires) http(st *wireStream, f *frame.Frame, b *Batch) {
	for len(st.rest) > 0 {
		if st.head == nil {
			if !w.begin(st, f, b) {
				break
			}
			continue
		}
		if !w.more(st, f, b) {
			break
		}
	}
	if len(st.rest) > maxRest || len(st.body) > maxRest {
		st.rest, st.body, st.head, st.events = nil, nil, nil, nil
	}
}

// begin reads a head; false when it is not complete.
func (w *wires) begin(st *wireStream, f *frame.Frame, b *Batch) bool {
	st.rest = bytes.TrimLeft(st.rest, "\r\n")
	end, skip := bytes.Index(st.rest, []byte("\r\n\r\n")), 4
	if end < 0 {
		if end, skip = bytes.Index(st.rest, []byte("\n\n")), 2; end < 0 {
			return false
		}
	}
	head := parseHead(string(st.rest[:end]))
	st.rest = st.rest[end+skip:]
	if head == nil || head.Verb == "" && head.Status < 200 {
		return true
	}
	st.head = head
	w.pair(st, head, f)
	st.frame(head)
	b.add(openFrame(f, head), Body{HTTP: head})
	if head.Empty {
		w.finish(st, f, b)
	}
	return true
}

// pair names the exchange: the n-th request and the n-th answer of a connection are one.
func (w *wires) pair(st *wireStream, head *HTTP, f *frame.Frame) {
	conn := ""
	if f.More != nil {
		conn = string(f.More.PID) + "/" + string(f.More.Conn)
	}
	if w.heads == nil {
		w.heads = map[string][]*HTTP{}
	}
	if head.Verb != "" {
		st.count++
		head.Exchange = strings.Trim(conn, "/") + "." + strconv.Itoa(st.count)
		w.heads[conn] = append(w.heads[conn], head)
	} else if waiting := w.heads[conn]; len(waiting) > 0 {
		head.Of, head.Exchange = waiting[0], waiting[0].Exchange
		w.heads[conn] = waiting[1:]
	}
}

// frame tells where the body of a head ends (RFC 9112, 6.3).
func (st *wireStream) frame(head *HTTP) {
	length, err := strconv.ParseInt(head.Get("content-length"), 10, 64)
	st.chunked = strings.Contains(strings.ToLower(head.Get("transfer-encoding")), "chunked")
	st.left, st.toEnd, st.body, st.events = 0, false, nil, nil
	if head.Stream() {
		st.events = new(frame.EventStream)
	}
	switch {
	case st.chunked:
	case err == nil && length >= 0:
		st.left, head.Empty = length, length == 0
	case head.Verb != "" || head.Status == 204 || head.Status == 304 || head.Status == 202:
		head.Empty = true
	default:
		st.toEnd = true
	}
}

// more reads what is there of a body; false when it takes more than that.
func (w *wires) more(st *wireStream, f *frame.Frame, b *Batch) bool {
	switch {
	case st.toEnd:
		w.take(st, len(st.rest), f, b)
		return false
	case !st.chunked:
		n := min(st.left, int64(len(st.rest)))
		w.take(st, int(n), f, b)
		if st.left -= n; st.left == 0 {
			w.finish(st, f, b)
		}
		return true
	case st.left > 0:
		n := min(st.left, int64(len(st.rest)))
		w.take(st, int(n), f, b)
		st.left -= n
		return true
	}
	st.rest = bytes.TrimPrefix(st.rest, []byte("\r\n"))
	end := bytes.Index(st.rest, []byte("\r\n"))
	if end < 0 {
		return false
	}
	size, _, _ := bytes.Cut(st.rest[:end], []byte{';'})
	n, err := strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 63)
	st.rest = st.rest[end+2:]
	if err != nil || n < 0 || n > maxRest {
		st.head, st.rest = nil, nil // no chunk: what follows cannot be told apart
		return false
	}
	if st.left = n; n == 0 {
		st.rest = bytes.TrimPrefix(st.rest, []byte("\r\n"))
		st.head.Empty = len(st.body) == 0 && st.events == nil
		w.finish(st, f, b)
	}
	return true
}

// take moves bytes of the body from rest to where they belong.
func (w *wires) take(st *wireStream, n int, f *frame.Frame, b *Batch) {
	data := st.rest[:n]
	st.rest = st.rest[n:]
	if st.events == nil {
		st.body = append(st.body, data...)
		return
	}
	head := st.head
	st.events.Feed(data, func(e *frame.Event) {
		event := *e
		event.Data = nil
		carrier := *head
		carrier.Event = &event
		if !e.Message() {
			b.add(openFrame(f, &carrier), Body{HTTP: &carrier})
			return
		}
		httpBody(bytes.Clone(e.Data), &carrier, f, b)
	})
}

// finish ends a body.
func (w *wires) finish(st *wireStream, f *frame.Frame, b *Batch) {
	head, body := st.head, bytes.TrimSpace(st.body)
	st.head, st.body, st.events = nil, nil, nil
	if len(body) > 0 && head.Get("content-encoding") == "" {
		httpBody(bytes.Clone(body), head, f, b)
	}
}

// httpBody adds the messages of a body or an event. A body that says by its type that it is no JSON, as a gateway's page is
// none, carries no message.
func httpBody(text []byte, head *HTTP, f *frame.Frame, b *Batch) {
	if kind := mediaType(head.Get("content-type")); head.Event == nil && kind != "" && !strings.HasSuffix(kind, "json") {
		return
	}
	g := *f
	label(&g, head)
	expandRead(&g, Body{Text: text, HTTP: head}, b)
}

func expandRead(f *frame.Frame, body Body, b *Batch) {
	if n, array := arrayLen(body.Text); array && n > 0 {
		expand(f, body, b)
		return
	}
	b.add(reread(f, body.Text), body)
}

// openFrame is the frame of a head or of an event without a message.
func openFrame(f *frame.Frame, head *HTTP) frame.Frame {
	g := *f
	label(&g, head)
	g.Kind = frame.Open
	return g
}

func label(f *frame.Frame, head *HTTP) {
	f.More = moreOf(f)
	more := f.Extra()
	more.Exchange, more.Conn = []byte(head.Exchange), nil
	if head.Status != 0 {
		more.Status, more.HasStatus = int64(head.Status), true
	}
}

// parseHead reads the head of a request or an answer; nil when it is neither. Names of headers become small letters; of one
// that is there twice the values are joined, as RFC 9110 allows.
func parseHead(text string) *HTTP {
	lines := strings.Split(text, "\n")
	words := strings.Fields(lines[0])
	h := &HTTP{Header: map[string]string{}}
	switch {
	case len(words) >= 2 && strings.HasPrefix(words[0], "HTTP/"):
		h.Status, _ = strconv.Atoi(words[1])
	case len(words) == 3 && strings.HasPrefix(words[2], "HTTP/"):
		h.Verb = words[0]
	default:
		return nil
	}
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if old, twice := h.Header[name]; twice {
			value = old + ", " + value
		}
		h.Header[name] = value
	}
	return h
}
