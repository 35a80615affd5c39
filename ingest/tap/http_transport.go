package tap

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// Transport records what a client sends through next and reads from it. A client that reads a response to its end, or closes
// it, sees no difference. nil is http.DefaultTransport.
func (h *HTTP) Transport(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return &roundTripper{h, next}
}

type roundTripper struct {
	h    *HTTP
	next http.RoundTripper
}

// RoundTrip sends the request. What was sent is recorded when the transport has read it, which is before it is on the wire.
func (t *roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	x := t.h.begin(r, "")
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		name := info.Conn.LocalAddr().String()
		x.conn.Store(&name)
	}})
	sent := r.Clone(ctx)
	in := newCopied(x, t.h.maxBody(), r.Header, -1) // a length of 0 may mean that it is not known
	t.tap(sent, r, in)
	response, err := t.next.RoundTrip(sent)
	in.end()
	if err != nil {
		x.none(ending{at: time.Now(), client: gaveUp(r.Context(), err), cut: true})
		return nil, err
	}
	head := head{response.StatusCode, response.Header.Clone(), time.Now()}
	if response.Uncompressed {
		head.header.Del("Content-Encoding")
	}
	out := &readTap{ReadCloser: response.Body, ctx: r.Context(), copy: newChunks(t.h.maxBody()), how: make(chan ending, 1)}
	t.h.reading.Go(func() { x.response(head, out.copy, func() ending { return <-out.how }) })
	response.Body = out.body()
	return response, nil
}

// gaveUp reports whether it was the client that ended an exchange with an error, also by a deadline of its own. http.Client's Timeout
// cancels what it sent, and its context may not have noticed yet.
func gaveUp(ctx context.Context, err error) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || errors.Is(err, context.Canceled) || ok && !time.Now().Before(deadline)
}

// tap copies the body as the transport reads it. Should it have to send it again it asks r for it, and that copy is not
// recorded twice.
func (t *roundTripper) tap(sent, r *http.Request, in *copied) {
	if r.Body == nil || r.Body == http.NoBody {
		in.end()
		return
	}
	sent.Body = &bodyTap{ReadCloser: r.Body, copy: in}
}

// readTap copies a response's body as it is read.
type readTap struct {
	io.ReadCloser
	ctx  context.Context
	copy *chunks
	how  chan ending
	once sync.Once
}

// body keeps the writer's half of a body that has one: a connection that switched protocols.
func (b *readTap) body() io.ReadCloser {
	if w, ok := b.ReadCloser.(io.Writer); ok {
		return struct {
			*readTap
			io.Writer
		}{b, w}
	}
	return b
}

func (b *readTap) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.copy.put(p[:n], time.Now())
	}
	if err != nil {
		b.end(ending{at: time.Now(), client: err != io.EOF && gaveUp(b.ctx, err), cut: err != io.EOF})
	}
	return n, err
}

// Close ends the body; before its end, it is the client that goes away.
func (b *readTap) Close() error {
	b.end(ending{at: time.Now(), client: true, cut: true})
	return b.ReadCloser.Close()
}

func (b *readTap) end(how ending) {
	b.once.Do(func() {
		b.copy.end()
		b.how <- how
	})
}
