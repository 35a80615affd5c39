package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// layer is what a fault makes of the HTTP side. The server's log is inside of it: what the layer does is done by something
// that stands in front.
type layer func(b *bench, next http.Handler) http.Handler

// overHTTP puts a layer that has its way with calls of the tool `work`, and lets all else pass.
func overHTTP(do func(next http.Handler, w http.ResponseWriter, r *http.Request)) func(*bench, string) error {
	return func(b *bench, _ string) error {
		b.layer = func(_ *bench, next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if callsWork(r) {
					do(next, w, r)
				} else {
					next.ServeHTTP(w, r)
				}
			})
		}
		return nil
	}
}

// callsWork reports whether the request is a call of the tool `work`. It leaves the body as it was.
func callsWork(r *http.Request) bool {
	if r.Method != http.MethodPost {
		return false
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return err == nil && bytes.Contains(body, []byte(`"tools/call"`)) && bytes.Contains(body, []byte(`"name":"work"`))
}

func refuseSession(status int) func(http.Handler, http.ResponseWriter, *http.Request) {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		no := unknownSession()
		no.status = status
		no.write(w)
	}
}

func badGateway(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "<html><h1>502 Bad Gateway</h1></html>", http.StatusBadGateway)
}

func refuseJSON(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
	(&refusal{http.StatusBadRequest, jsonrpc.CodeParseError, "Parse error"}).write(w)
}

func bodyCap(b *bench, value string) error {
	limit, err := size(value)
	if err != nil {
		return err
	}
	b.layer = func(_ *bench, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > limit {
				(&refusal{http.StatusRequestEntityTooLarge, jsonrpc.CodeInvalidRequest, "Request body too large"}).write(w)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	return nil
}

// swallow lets the handler answer into the void, and the client wait.
func swallow(b *bench, next http.Handler) http.Handler {
	var l bench
	overHTTP(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&void{header: http.Header{}}, r.WithContext(context.WithoutCancel(r.Context())))
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	})(&l, "")
	return l.layer(b, next)
}

type void struct{ header http.Header }

func (v *void) Header() http.Header         { return v.header }
func (v *void) Write(p []byte) (int, error) { return len(p), nil }
func (v *void) WriteHeader(int)             {}

// holdBack keeps the body of a response until the handler has returned, and ignores that it is to be flushed.
func holdBack(next http.Handler, w http.ResponseWriter, r *http.Request) {
	k := &keeper{ResponseWriter: w}
	next.ServeHTTP(k, r)
	w.Write(k.kept)
}

type keeper struct {
	http.ResponseWriter
	kept []byte
}

func (k *keeper) Write(p []byte) (int, error) {
	k.kept = append(k.kept, p...)
	return len(p), nil
}

func (k *keeper) Flush() {}

func idleCut(b *bench, value string) error {
	d, err := time.ParseDuration(value)
	if err != nil {
		return err
	}
	return overHTTP(func(next http.Handler, w http.ResponseWriter, r *http.Request) { cutIdle(next, w, r, d) })(b, "")
}

// cutIdle cuts the response off when nothing was written for so long. The handler goes on and does not notice: a proxy has
// taken what it wrote.
func cutIdle(next http.Handler, w http.ResponseWriter, r *http.Request, d time.Duration) {
	c := &cut{ResponseWriter: w, wrote: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		next.ServeHTTP(c, r.WithContext(context.WithoutCancel(r.Context())))
	}()
	for {
		select {
		case <-done:
			return
		case <-c.wrote:
		case <-time.After(d):
			c.off()
			panic(http.ErrAbortHandler)
		}
	}
}

// cut is a response that may be cut off while its handler writes.
type cut struct {
	http.ResponseWriter
	mu    sync.Mutex
	gone  bool
	wrote chan struct{}
}

func (c *cut) off() {
	c.mu.Lock()
	c.gone = true
	c.mu.Unlock()
}

func (c *cut) while(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return
	}
	do()
	select {
	case c.wrote <- struct{}{}:
	default:
	}
}

func (c *cut) WriteHeader(status int) { c.while(func() { c.ResponseWriter.WriteHeader(status) }) }

func (c *cut) Write(p []byte) (n int, err error) {
	n = len(p)
	c.while(func() { n, err = c.ResponseWriter.Write(p) })
	return n, err
}

func (c *cut) Flush() {
	c.while(func() { http.NewResponseController(c.ResponseWriter).Flush() })
}
