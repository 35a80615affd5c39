package gosdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
)

// callHeader carries a call to the middleware, within the process.
const callHeader = "X-Mcpdiag-Call"

// call is what the middleware cannot see by itself.
type call struct {
	ID                json.RawMessage `json:"id"`
	Session, Exchange string
}

// opens reports whether the call opens a session over HTTP. Until its answer is there, nobody knows the session that it
// belongs to, so its handler cannot be recorded in the right one.
func (c *call) opens(method string) bool {
	return method == "initialize" && c.Exchange != "" && c.Session == ""
}

func encodeCall(c call) []byte {
	b, err := json.Marshal(c)
	if err != nil {
		return nil // an id that is no JSON; the SDK would not have taken it
	}
	return b
}

// Middleware records when a handler is entered and left, by which request's id. It is for AddReceivingMiddleware of a server or
// of a client. Without this package's transport or Handler the ids are not known, and the records have none.
func Middleware(rec *tap.Recorder) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			c, served := calling(req)
			if !served && isNotification(method) {
				return next(ctx, method, req)
			}
			if c.opens(method) {
				return next(ctx, method, req)
			}
			record(rec, frame.HandlerEnter, method, req, c, nil, nil)
			result, err := next(ctx, method, req)
			record(rec, frame.HandlerExit, method, req, c, result, err)
			return result, err
		}
	}
}

func isNotification(method string) bool {
	return bytes.HasPrefix([]byte(method), []byte("notifications/"))
}

func calling(req mcp.Request) (c call, ok bool) {
	extra := req.GetExtra()
	if extra == nil || extra.Header == nil {
		return c, false
	}
	return c, json.Unmarshal([]byte(extra.Header.Get(callHeader)), &c) == nil
}

func record(rec *tap.Recorder, kind frame.Kind, method string, req mcp.Request, c call, result mcp.Result, err error) {
	var e tap.Event
	e.Kind, e.Method, e.Name = kind, []byte(method), name(req)
	e.Bytes, e.Rows = frame.Unknown, frame.Unknown
	if id, _, ok := frame.ParseID(c.ID); ok {
		e.ID = id
	}
	e.Dir = frame.C2S
	if _, client := req.GetSession().(*mcp.ClientSession); client {
		e.Dir = frame.S2C
	}
	if c.Session != "" {
		e.Session = []byte(c.Session)
	}
	if c.Exchange != "" {
		e.Extra().Exchange = []byte(c.Exchange)
	}
	if tool, ok := result.(*mcp.CallToolResult); ok && tool != nil && tool.IsError {
		e.Extra().ToolError = true
	}
	var fault *jsonrpc.Error
	if errors.As(err, &fault) {
		m := e.Extra()
		m.Code, m.HasCode = fault.Code, true
	}
	rec.Record(&e)
}

// name is the tool, prompt or resource that a request is about.
func name(req mcp.Request) []byte {
	switch p := req.GetParams().(type) {
	case *mcp.CallToolParamsRaw:
		return []byte(p.Name)
	case *mcp.CallToolParams:
		return []byte(p.Name)
	case *mcp.GetPromptParams:
		return []byte(p.Name)
	case *mcp.ReadResourceParams:
		return []byte(p.URI)
	}
	return nil
}

// Handler records what a server's HTTP handler reads and writes, and tells Middleware the ids.
func Handler(h *tap.HTTP, next http.Handler) http.Handler {
	return h.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del(callHeader) // the outside has no say in it
		if r.Method == http.MethodPost && r.Body != nil {
			identify(h, r)
		}
		next.ServeHTTP(w, r)
	}))
}

// mostPeeked is how much of a body is read ahead for its id, in bytes: what the SDK takes at most.
const mostPeeked = 4 << 20

// identify reads the id of the request in the body. The body stays as it was.
func identify(h *tap.HTTP, r *http.Request) {
	body := r.Body
	text, err := io.ReadAll(io.LimitReader(body, mostPeeked))
	r.Body = &again{io.MultiReader(bytes.NewReader(text), failing{err}, body), body}
	var f frame.Frame
	if err != nil || frame.DecodeMessage(text, &f) != frame.NoReason || f.Kind != frame.Request {
		return
	}
	c := call{ID: f.ID.JSON()}
	c.Session, c.Exchange = h.Names(r)
	r.Header.Set(callHeader, string(encodeCall(c)))
}

// again is a body that was read ahead.
type again struct {
	io.Reader
	io.Closer
}

// failing repeats the error that reading ahead met, where it met it.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}
