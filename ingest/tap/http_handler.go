package tap

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Handler records what a server's handler reads and writes. What passes is not touched: the response is flushed when the
// handler flushes it, and a handler that hijacks the connection gets it.
func (h *HTTP) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := h.begin(r, r.RemoteAddr)
		in := newCopied(x, h.maxBody(), r.Header, r.ContentLength)
		out := newResponse(w, x, in)
		r2 := r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
		r2.Header = r.Header.Clone()
		if r.Body != nil && r.Body != http.NoBody {
			r2.Body = &bodyTap{ReadCloser: r.Body, copy: in}
			out.unread, out.waits = r2.Body, r.Header.Get("Expect") != ""
		} else {
			in.end()
		}
		defer func() {
			caught := recover()
			in.end()
			out.end(ending{at: time.Now(), client: r.Context().Err() != nil, cut: caught != nil})
			if caught != nil {
				panic(caught) // what the server knows to handle: http.ErrAbortHandler cuts the response off
			}
		}()
		next.ServeHTTP(out, r2)
	})
}

type exchangeKey struct{}

// Names are the names that a request behind Handler has in the log: its session's, "" without one, and its exchange's.
func (h *HTTP) Names(r *http.Request) (session, name string) {
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return string(h.session(r.Header)), ""
	}
	return string(x.session), string(x.name)
}

// copied is the copy of a request's body, recorded once it is complete.
type copied struct {
	*chunks
	length int64 // that the request declares; -1 when it does not
	seen   atomic.Int64
	once   sync.Once
	done   chan struct{} // closed when it is recorded
	finish func()
}

func newCopied(x *exchange, limit int, header http.Header, length int64) *copied {
	c := &copied{chunks: newChunks(limit), length: length, done: make(chan struct{})}
	c.finish = func() {
		c.chunks.end()
		x.request(c.chunks, header)
		close(c.done)
	}
	return c
}

// end records the request as far as it came. It does so in the goroutine that read the body's last byte, so that a request
// stands in the log before anything that its handler says.
func (c *copied) end() { c.once.Do(c.finish) }

func (c *copied) whole() bool { return c.length >= 0 && c.seen.Load() >= c.length }

func (c *copied) read(p []byte, err error) {
	if len(p) > 0 {
		c.put(p, time.Now())
		c.seen.Add(int64(len(p)))
	}
	if err != nil || c.whole() {
		c.end()
	}
}

// bodyTap copies a request's body as it is read.
type bodyTap struct {
	io.ReadCloser
	copy *copied
}

// Read reads on, up to the length that was declared. A transport looks behind that for more, and by then a quick answer may have made
// the server close the body: the error would cut the answer off.
func (b *bodyTap) Read(p []byte) (int, error) {
	if b.copy.whole() {
		return 0, io.EOF
	}
	n, err := b.ReadCloser.Read(p)
	b.copy.read(p[:n], err)
	return n, err
}

func (b *bodyTap) Close() error {
	b.copy.end()
	return b.ReadCloser.Close()
}

// response is a ResponseWriter that copies what it writes.
type response struct {
	http.ResponseWriter
	x      *exchange
	in     *copied
	copy   *chunks
	unread io.Reader // the request's body
	waits  bool      // the client waits for 100 Continue before it sends it
	duplex bool      // the handler may read the body after it has begun to answer
	began  bool
	read   chan struct{} // closed when the response is recorded
	how    ending
}

func newResponse(w http.ResponseWriter, x *exchange, in *copied) *response {
	return &response{ResponseWriter: w, x: x, in: in, copy: newChunks(x.h.maxBody())}
}

// Unwrap lets http.ResponseController reach what this package does not know: deadlines, hijacking, full duplex.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// EnableFullDuplex is what http.ResponseController calls for a handler that reads and answers at the same time.
func (w *response) EnableFullDuplex() error {
	w.duplex = true
	return http.NewResponseController(w.ResponseWriter).EnableFullDuplex()
}

// begin starts to record the response. The request comes first, read or not: its handler has answered it. Only a handler
// in full duplex may be reading it still, and its response is recorded when it has been read.
func (w *response) begin(status int) {
	if w.began {
		return
	}
	w.began = true
	if !w.duplex {
		w.readRest()
		w.in.end()
	}
	h := head{status, w.Header().Clone(), time.Now()}
	w.read = make(chan struct{})
	w.x.h.reading.Go(func() {
		defer close(w.read)
		<-w.in.done
		w.x.response(h, w.copy, func() ending { return w.how })
	})
}

// mostRest is how much of a body net/http reads by itself before it answers, in bytes.
const mostRest = 256 << 10

// readRest reads what a handler that refuses a request has left of it, so that the log shows what was refused. The server
// would do it now in any case (RFC 9112, 9.3), unless the client waits to be told to go on, or it is more than that.
func (w *response) readRest() {
	if w.unread == nil || w.waits || w.in.length-w.in.seen.Load() >= mostRest {
		return
	}
	select {
	case <-w.in.done:
	default:
		io.CopyN(io.Discard, w.unread, mostRest)
	}
}

func (w *response) Write(p []byte) (int, error) {
	w.begin(http.StatusOK)
	n, err := w.ResponseWriter.Write(p)
	w.copy.put(p[:n], time.Now())
	return n, err
}

// Flush sends what was written. Some frameworks ask for an http.Flusher and buffer without one.
func (w *response) Flush() {
	w.begin(http.StatusOK)
	http.NewResponseController(w.ResponseWriter).Flush()
}

// mostAwaited is how long a response may be, in bytes, for its handler to return only when it is recorded. That keeps the order of
// the log, and takes no time. A long one must not end later than it would without a recorder.
const mostAwaited = 64 << 10

// end is told that the handler has returned, so that all of the response is there.
func (w *response) end(how ending) {
	w.how = how
	if !w.began && (how.client || how.cut) {
		w.x.none(how)
		return
	}
	w.begin(http.StatusOK) // what the server says for a handler that says nothing
	w.copy.end()
	if total, _ := w.copy.broken(); total <= mostAwaited {
		<-w.read
	}
}
