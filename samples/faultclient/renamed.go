package main

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// renamed is a transport under other ids.
type renamed struct {
	mcp.Transport
	to   func(int64) any
	only string // calls of this method; "" is all
}

// Connect connects the transport beneath.
func (t *renamed) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &renamedConn{Connection: c, to: t.to, only: t.only, from: map[jsonrpc.ID][]jsonrpc.ID{}}, nil
}

type renamedConn struct {
	mcp.Connection
	to   func(int64) any
	only string // this method; "" is all
	mu   sync.Mutex
	from map[jsonrpc.ID][]jsonrpc.ID // the ids behind a new one, oldest first
}

// Write writes a call under its new id.
func (c *renamedConn) Write(ctx context.Context, m jsonrpc.Message) error {
	r, ok := m.(*jsonrpc.Request)
	if n, isInt := rawInt(m); ok && isInt && c.takes(r.Method) {
		id, err := jsonrpc.MakeID(asFloat(c.to(n)))
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.from[id] = append(c.from[id], r.ID)
		c.mu.Unlock()
		m = &jsonrpc.Request{ID: id, Method: r.Method, Params: r.Params, Extra: r.Extra}
	}
	return c.Connection.Write(ctx, m)
}

// Read reads an answer under its old one.
func (c *renamedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		if old := c.from[r.ID]; len(old) > 0 {
			c.from[r.ID] = old[1:]
			return &jsonrpc.Response{ID: old[0], Result: r.Result, Error: r.Error, Extra: r.Extra}, nil
		}
	}
	return m, err
}

func (c *renamedConn) takes(method string) bool { return c.only == "" || c.only == method }

func rawInt(m jsonrpc.Message) (int64, bool) {
	r, ok := m.(*jsonrpc.Request)
	if !ok || !r.IsCall() {
		return 0, false
	}
	n, ok := r.ID.Raw().(int64)
	return n, ok
}

// asFloat is how MakeID takes numbers.
func asFloat(v any) any {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v
}

// muted is a transport that does not answer the server.
type muted struct{ mcp.Transport }

// Connect connects the transport beneath.
func (t *muted) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &mutedConn{c}, nil
}

type mutedConn struct{ mcp.Connection }

// Write writes all but answers.
func (c *mutedConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if _, ok := m.(*jsonrpc.Response); ok {
		return nil
	}
	return c.Connection.Write(ctx, m)
}
