package main

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rewriting is a transport whose messages are changed on their way out, above the log: the log tells what was written.
type rewriting struct {
	mcp.Transport
	bench *bench
	write rewrite
}

// Connect connects the transport beneath.
func (t *rewriting) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &rewritingConn{Connection: c, t: t}, nil
}

type rewritingConn struct {
	mcp.Connection
	t    *rewriting
	seen readIDs
}

// Read follows what is cancelled.
func (c *rewritingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && r.Method == "notifications/cancelled" {
		c.seen.cancel(r.Params)
	}
	return m, err
}

// Write writes what the fault makes of the message.
func (c *rewritingConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if m = c.t.write(c.t.bench, m, &c.seen); m == nil {
		return nil
	}
	return c.Connection.Write(ctx, m)
}

// readIDs is the set of ids that a cancel has named.
type readIDs struct {
	mu  sync.Mutex
	ids map[jsonrpc.ID]bool
}

func (s *readIDs) cancel(params json.RawMessage) {
	var p struct {
		RequestID any `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = map[jsonrpc.ID]bool{}
	}
	s.ids[id] = true
}

func (s *readIDs) cancelled(id jsonrpc.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[id]
}
