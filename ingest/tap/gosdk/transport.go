package gosdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
)

// Stdio is mcp.StdioTransport, recorded.
func Stdio(rec *tap.Recorder) mcp.Transport { return IO(os.Stdin, stdout{}, rec) }

// stdout is standard output, which a transport does not close.
type stdout struct{}

func (stdout) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (stdout) Close() error                { return nil }

// IO is mcp.IOTransport, recorded: sizes are those on the wire, and what is no message is recorded before the SDK gives up on
// it.
func IO(in io.ReadCloser, out io.WriteCloser, rec *tap.Recorder) mcp.Transport {
	seen := &lookahead{ReadCloser: in}
	return &transport{next: &mcp.IOTransport{Reader: seen, Writer: out}, rec: rec, seen: seen}
}

// Transport records what passes any transport of stdio kind, such as mcp.CommandTransport. It sees messages and not bytes, so
// the size of what is read is not known. It is not for HTTP: see the package.
func Transport(next mcp.Transport, rec *tap.Recorder) mcp.Transport {
	return &transport{next: next, rec: rec}
}

type transport struct {
	next mcp.Transport
	rec  *tap.Recorder
	seen *lookahead // nil: bytes are not seen
}

// Connect connects the transport beneath.
func (t *transport) Connect(ctx context.Context) (mcp.Connection, error) {
	next, err := t.next.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{Connection: next, rec: t.rec, seen: t.seen, out: frame.C2S, in: frame.S2C}
	if t.rec.Side() == frame.Server {
		c.out, c.in = c.in, c.out
	}
	return c, nil
}

type conn struct {
	mcp.Connection
	rec     *tap.Recorder
	seen    *lookahead
	out, in frame.Dir
	ends    [3]sync.Once // by direction
	closed  atomic.Bool
}

// Read reads the next message. Its id goes with it to the middleware.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		c.failed(err)
		return m, err
	}
	if c.seen != nil {
		e := c.seen.next()
		c.record(&e, c.in)
	} else if text, err := jsonrpc.EncodeMessage(m); err == nil {
		e := event(text)
		e.Bytes = frame.Unknown // as it was written, it may have been longer
		c.record(&e, c.in)
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		tag(r)
	}
	return m, nil
}

// tag gives the middleware the request's id.
func tag(r *jsonrpc.Request) {
	id, err := json.Marshal(r.ID.Raw())
	if err != nil {
		return
	}
	extra, _ := r.Extra.(*mcp.RequestExtra)
	if extra == nil {
		extra = &mcp.RequestExtra{}
		r.Extra = extra
	}
	if extra.Header == nil {
		extra.Header = http.Header{}
	}
	extra.Header.Set(callHeader, string(encodeCall(call{ID: id})))
}

// failed records what could not be read, and that nothing more will be. After its own end a side does not read on, and the
// other's is not known.
func (c *conn) failed(err error) {
	if errors.Is(err, context.Canceled) || c.closed.Load() {
		return
	}
	if c.seen != nil && !errors.Is(err, io.EOF) {
		if e, ok := c.seen.bad(); ok {
			c.record(&e, c.in)
		}
	}
	c.eof(c.in)
}

// slowWrite is how long a write may take before the log shows when it began.
const slowWrite = 100 * time.Millisecond

// Write writes a message and records it when the write has returned. One that does not return stands there as queued.
func (c *conn) Write(ctx context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return c.Connection.Write(ctx, m)
	}
	text = append(text, '\n')
	begun := time.Now()
	late := time.AfterFunc(slowWrite, func() {
		e := event(text)
		e.Phase, e.Time = frame.Queued, begun
		c.record(&e, c.out)
	})
	err = c.Connection.Write(ctx, m)
	waited := !late.Stop()
	if err != nil {
		c.eof(c.out)
		return err
	}
	e := event(text)
	if waited {
		e.Phase = frame.Written
	}
	c.record(&e, c.out)
	return nil
}

// Close ends the side's own direction.
func (c *conn) Close() error {
	c.closed.Store(true)
	c.eof(c.out)
	return c.Connection.Close()
}

func (c *conn) eof(dir frame.Dir) {
	c.ends[dir].Do(func() {
		var e tap.Event
		e.Kind, e.Bytes, e.Rows = frame.EOF, frame.Unknown, frame.Unknown
		c.record(&e, dir)
	})
}

func (c *conn) record(e *tap.Event, dir frame.Dir) {
	e.Dir = dir
	e.Session = nil
	if id := c.SessionID(); id != "" {
		e.Session = []byte(id)
	}
	c.rec.Record(e)
}

// event is what a line says: a message, or bytes that are none.
func event(line []byte) tap.Event {
	var e tap.Event
	e.Payload = line
	if frame.DecodeMessage(line, &e.Frame) != frame.NoReason {
		e = tap.Event{}
		e.Kind = frame.Invalid
		e.Extra().Raw = bytes.TrimRight(line[:min(len(line), rawPrefix)], "\r\n")
	}
	if e.Kind == frame.Error && e.ID == nil {
		e.ID = frame.ID("null") // the format's word for an error that names no request
	}
	e.Bytes, e.Rows = int64(len(line)), frame.Unknown
	return e
}

// rawPrefix is how much of what is no message is recorded, in bytes.
const rawPrefix = 200
