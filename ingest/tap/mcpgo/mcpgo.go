// Package mcpgo records what a client or server on mark3labs/mcp-go reads, does and writes.
//
// A server gets hooks, which say when a handler was entered and left, with the request's id:
//
//	hooks := &server.Hooks{}
//	mcpgo.Hooks(hooks, rec)
//	s := server.NewMCPServer(name, version, server.WithHooks(hooks))
//
// What it reads and writes is recorded around it: mcpdiag tee on stdio, tap.HTTP's Handler over HTTP. The hooks come before the
// answer is written, so a handler that has been left is no answer.
//
// A client's transport is wrapped:
//
//	c := client.NewClient(mcpgo.Transport(transport.NewStdio(command, nil, args...), rec))
//
// Over HTTP, give its http.Client a tap.HTTP Transport instead: that sees the answers of the transport as well.
package mcpgo

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
)

// Hooks adds hooks that record when handlers are entered and left.
func Hooks(h *server.Hooks, rec *tap.Recorder) {
	h.AddBeforeAny(func(ctx context.Context, id any, method mcp.MCPMethod, message any) {
		record(ctx, rec, frame.HandlerEnter, id, method, message, false)
	})
	h.AddOnSuccess(func(ctx context.Context, id any, method mcp.MCPMethod, message, result any) {
		tool, ok := result.(*mcp.CallToolResult)
		record(ctx, rec, frame.HandlerExit, id, method, message, ok && tool.IsError)
	})
	h.AddOnError(func(ctx context.Context, id any, method mcp.MCPMethod, message any, _ error) {
		record(ctx, rec, frame.HandlerExit, id, method, message, false)
	})
}

// stdioSession is what mcp-go calls its only session on stdio, where the log has no name for it.
const stdioSession = "stdio"

func record(ctx context.Context, rec *tap.Recorder, kind frame.Kind, id any, method mcp.MCPMethod, message any, toolError bool) {
	session := ""
	if s := server.ClientSessionFromContext(ctx); s != nil && s.SessionID() != stdioSession {
		session = s.SessionID()
	}
	if session != "" && method == mcp.MethodInitialize {
		return // over HTTP its session begins with its answer, which is not there yet
	}
	var e tap.Event
	e.Kind, e.Dir, e.Method, e.Name = kind, frame.C2S, []byte(method), name(message)
	e.Bytes, e.Rows = frame.Unknown, frame.Unknown
	e.ID = token(id)
	if session != "" {
		e.Session = []byte(session)
	}
	if toolError {
		e.Extra().ToolError = true
	}
	rec.Record(&e)
}

// token is the JSON token of an id; nil when there is none.
func token(id any) frame.ID {
	text, err := json.Marshal(id)
	if err != nil {
		return nil
	}
	t, _, ok := frame.ParseID(text)
	if !ok {
		return nil
	}
	return t
}

// name is the tool, prompt or resource that a request is about.
func name(message any) []byte {
	switch m := message.(type) {
	case *mcp.CallToolRequest:
		return []byte(m.Params.Name)
	case *mcp.GetPromptRequest:
		return []byte(m.Params.Name)
	case *mcp.ReadResourceRequest:
		return []byte(m.Params.URI)
	}
	return nil
}
