package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// link is the HTTP side's way to the SDK's dispatcher: a transport with one connection, itself. What is posted is read by the
// dispatcher, and what the dispatcher writes goes to whoever asked.
type link struct {
	id     string
	once   bool // for one exchange only: a message without a session
	in     chan jsonrpc.Message
	closed chan struct{}
	close  sync.Once

	mu      sync.Mutex
	waiting map[jsonrpc.ID]chan jsonrpc.Message
}

func newLink(once bool) *link {
	return &link{id: rand.Text(), once: once, in: make(chan jsonrpc.Message, 1), closed: make(chan struct{}), waiting: map[jsonrpc.ID]chan jsonrpc.Message{}}
}

// options gives a legacy message without a session the state that its handshake would have made. A modern one carries it.
func (l *link) options(r *http.Request) *mcp.ServerSessionOptions {
	version := r.Header.Get("Mcp-Protocol-Version")
	if !l.once || version >= "2026-07-28" {
		return nil
	}
	if version == "" {
		version = "2025-03-26" // what the spec says to assume
	}
	return &mcp.ServerSessionOptions{State: &mcp.ServerSessionState{
		InitializeParams: &mcp.InitializeParams{ProtocolVersion: version}, InitializedParams: &mcp.InitializedParams{}}}
}

// Connect gives the dispatcher its end.
func (l *link) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID names the session; a link for one exchange has none.
func (l *link) SessionID() string {
	if l.once {
		return ""
	}
	return l.id
}

// send posts a message that wants no answer.
func (l *link) send(m jsonrpc.Message) {
	select {
	case l.in <- m:
	case <-l.closed:
	}
}

// ask posts a call. Its answer comes on the channel, once.
func (l *link) ask(call *jsonrpc.Request) (<-chan jsonrpc.Message, error) {
	reply := make(chan jsonrpc.Message, 1)
	l.mu.Lock()
	if l.waiting[call.ID] != nil {
		l.mu.Unlock()
		return nil, fmt.Errorf("id %v is in use", call.ID.Raw())
	}
	l.waiting[call.ID] = reply
	l.mu.Unlock()
	l.send(call)
	return reply, nil
}

// Read gives the dispatcher the next message. What was sent before the link was closed comes before its end.
func (l *link) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-l.in:
		return m, nil
	default:
	}
	select {
	case m := <-l.in:
		return m, nil
	case <-l.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write takes what the dispatcher says. What nobody asked for has no stream to go to.
func (l *link) Write(_ context.Context, m jsonrpc.Message) error {
	answer, ok := m.(*jsonrpc.Response)
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if reply := l.waiting[answer.ID]; reply != nil {
		delete(l.waiting, answer.ID)
		reply <- m
	}
	return nil
}

// Close ends the link.
func (l *link) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
}
