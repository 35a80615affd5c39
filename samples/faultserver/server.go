package main

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bench is a server and the places where a fault can be put into it. From the inside out: the handler of the tool `work`, the
// messages that the SDK writes, the log, and the bytes of the wire. A fault below the log is one that the server does not see.
type bench struct {
	armed atomic.Bool // the tool `work` was called: until then everything is in order

	handler  func(context.Context, *mcp.CallToolRequest) // what `work` does first
	messages func(mcp.Transport) mcp.Transport           // above the log
	serial   bool                                        // one handler at a time
	outlet   outlet                                      // below the log, stdout
	inlet    inlet                                       // below the log, stdin
	layer    layer                                       // below the log, HTTP
	invalid  func(line []byte)                           // notes a line that is no message in the log
}

// work is what the tools are asked to do.
type work struct {
	Text   string `json:"text,omitempty" jsonschema:"what to answer"`
	Bytes  int    `json:"bytes,omitempty" jsonschema:"how long the answer is, in bytes"`
	MS     int    `json:"ms,omitempty" jsonschema:"how long it takes, in milliseconds"`
	Steps  int    `json:"steps,omitempty" jsonschema:"how many progress notifications it sends meanwhile"`
	Deaf   bool   `json:"deaf,omitempty" jsonschema:"do not stop when cancelled"`
	Sample bool   `json:"sample,omitempty" jsonschema:"ask the client for a sample first"`
}

// newServer makes a server with two tools that do the same: echo is always in order, and work has the fault.
func newServer(b *bench) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "faultserver", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Answers, in order"}, do)
	mcp.AddTool(s, &mcp.Tool{Name: "work", Description: "Answers, unless the fault prevents it"},
		func(ctx context.Context, r *mcp.CallToolRequest, in work) (*mcp.CallToolResult, any, error) {
			b.armed.Store(true)
			if b.handler != nil {
				b.handler(ctx, r)
			}
			return do(ctx, r, in)
		})
	return s
}

func do(ctx context.Context, r *mcp.CallToolRequest, in work) (*mcp.CallToolResult, any, error) {
	if in.Sample {
		_, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 16,
			Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "which?"}}}})
		if err != nil {
			return nil, nil, err
		}
	}
	if err := pass(ctx, r, in); err != nil {
		return nil, nil, err
	}
	text := in.Text + strings.Repeat("x", max(0, in.Bytes-len(in.Text)))
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

// pass lets the time pass, with a progress notification after each step of it.
func pass(ctx context.Context, r *mcp.CallToolRequest, in work) error {
	if in.Deaf {
		ctx = context.WithoutCancel(ctx)
	}
	steps := max(in.Steps, 1)
	for k := range steps {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(in.MS) * time.Millisecond / time.Duration(steps)):
		}
		if in.Steps > 0 {
			r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(k + 1), Total: float64(steps)})
		}
	}
	return nil
}
