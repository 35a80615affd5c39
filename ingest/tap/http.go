package tap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"mcpdiag/ingest/frame"
)

// HTTP records the MCP messages of HTTP exchanges, of both directions, in either era. Handler puts it in front of a server,
// Transport behind a client, and Proxy between two.
//
// A record's `exchange` names one HTTP request and its response, `conn` the connection, `session` the Mcp-Session-Id, `status`
// the HTTP status. The request that opens a session belongs to it, as far as
// the answer, which names it, comes soon. Sizes are of
// the message itself: a body, or the data of an SSE event, before any Content-Encoding. An answer of the transport without a
// JSON-RPC message in it is an `error` with id null and its status. An exchange that ends without having answered all its
// requests, and a stream that the server speaks on by itself, end with an `eof`: dir s2c when the server's side ended it, c2s
// when the client went away, `trunc` when it was cut off within a message or without the end that HTTP gives a body.
//
// Headers are never recorded, and neither are paths and queries: credentials travel in them. For the same reason a request's
// body that does not mean to be JSON-RPC, such as a form for a token endpoint, is an `invalid` record with its size alone.
type HTTP struct {
	Recorder     *Recorder
	Side         frame.Side // whose vantage it is; NoSide is the recorder's
	HashSessions bool       // record the first 16 hex digits of the SHA-256 of a session id instead of the id
	MaxBody      int        // bytes kept of the copy of a body or of an event until it is understood; 0 is 64 MiB. The stream is never cut
	Measure      Measure    // what else to record of an answer; nil: nothing

	exchanges atomic.Int64
	reading   sync.WaitGroup // of responses
}

// Wait waits until the responses that have ended, or that clients have closed, are in the recorder: before that one may be on its way
// there. It is for the end of a process, before the recorder is closed. A stream that is still open keeps it waiting until
// ctx is done.
func (h *HTTP) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		h.reading.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Measure adds to the event of an answer what only its payload shows. method is the request's.
type Measure func(e *Event, method string, message []byte)

const defaultMaxBody = 64 << 20

func (h *HTTP) maxBody() int {
	if h.MaxBody > 0 {
		return h.MaxBody
	}
	return defaultMaxBody
}

const sessionHeader = "Mcp-Session-Id"

// session names the session of a message by its headers; nil without one.
func (h *HTTP) session(header http.Header) []byte {
	id := header.Get(sessionHeader)
	if id == "" {
		return nil
	}
	if !h.HashSessions {
		return []byte(id)
	}
	sum := sha256.Sum256([]byte(id))
	return []byte(hex.EncodeToString(sum[:8]))
}

// exchange is one HTTP request and its response.
type exchange struct {
	h       *HTTP
	name    []byte
	conn    atomic.Pointer[string] // a client's connection is chosen while the exchange runs
	opens   opening
	session []byte
	verb    string            // of the request
	open    map[string][]byte // its requests that are not answered, by id: their methods
	asked   int
}

func (h *HTTP) begin(r *http.Request, conn string) *exchange {
	name := "e" + strconv.FormatInt(h.exchanges.Add(1), 10)
	x := &exchange{h: h, name: []byte(name), session: h.session(r.Header), verb: r.Method, open: map[string][]byte{}}
	x.conn.Store(&conn)
	return x
}

// record writes one event of the exchange.
func (x *exchange) record(e *Event, dir frame.Dir) {
	m := e.Extra()
	m.Exchange = x.name
	if conn := *x.conn.Load(); conn != "" {
		m.Conn = []byte(conn)
	}
	e.Side, e.Dir = x.h.Side, dir
	if e.Kind == frame.Request && x.session == nil && string(e.Method) == "initialize" {
		x.opens.hold(x, e)
		return
	}
	x.write(e)
}

func (x *exchange) write(e *Event) {
	if e.Session == nil {
		e.Session = x.session
	}
	x.h.Recorder.Record(e)
}

// follow keeps account of what the exchange's requests wait for, and measures answers.
func (x *exchange) follow(e *Event, dir frame.Dir) {
	switch {
	case e.Kind == frame.Request && dir == frame.C2S:
		x.asked++
		x.open[string(e.ID)] = append([]byte(nil), e.Method...)
	case e.Kind.Answer() && dir == frame.S2C:
		method := x.open[string(e.ID)]
		delete(x.open, string(e.ID))
		if x.h.Measure != nil && e.Payload != nil && !e.Trunc && !e.Cut {
			x.h.Measure(e, string(method), e.Payload)
		}
	}
}
