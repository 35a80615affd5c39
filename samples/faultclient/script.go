package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// call is one step of a script.
type call struct {
	tool  string
	args  map[string]any
	pause time.Duration // instead of a call
	after bool          // do not wait for it
}

// parseScript reads "tool key=value …; tool & tool; pause 1s".
func parseScript(s string) ([]call, error) {
	var calls []call
	for _, part := range strings.Split(strings.ReplaceAll(s, "&", "&;"), ";") {
		text, after := strings.CutSuffix(strings.TrimSpace(part), "&")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		c := call{tool: words[0], args: map[string]any{}, after: after}
		if c.tool == "pause" && len(words) == 2 {
			d, err := time.ParseDuration(words[1])
			if err != nil {
				return nil, err
			}
			calls = append(calls, call{pause: d})
			continue
		}
		for _, w := range words[1:] {
			key, value, ok := strings.Cut(w, "=")
			if !ok {
				return nil, fmt.Errorf("%q is not key=value", w)
			}
			c.args[key] = argument(value)
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// argument reads a number, true or false, @N for N bytes, else a text.
func argument(s string) any {
	if n, err := strconv.Atoi(strings.TrimPrefix(s, "@")); err == nil && s[0] == '@' {
		return strings.Repeat("x", n)
	}
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	if b, err := strconv.ParseBool(s); err == nil {
		return b
	}
	return s
}

// play makes the calls.
func (c *client) play(ctx context.Context, s *mcp.ClientSession, o *options) {
	var running sync.WaitGroup
	defer running.Wait()
	for _, k := range o.calls {
		if k.pause > 0 {
			time.Sleep(k.pause)
			continue
		}
		if k.tool == "work" {
			c.armed.Store(true)
		}
		if k.after {
			running.Go(func() { c.call(ctx, s, k, o.timeout) })
			time.Sleep(apart)
			continue
		}
		c.call(ctx, s, k, o.timeout)
	}
}

// apart keeps the order of calls that are made at once.
const apart = 20 * time.Millisecond

func (c *client) call(ctx context.Context, s *mcp.ClientSession, k call, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if c.stopping && k.tool == "work" {
		time.AfterFunc(timeout/2, func() { closeSession(s) })
	}
	p := &mcp.CallToolParams{Name: k.tool, Arguments: k.args}
	if k.args["steps"] != nil {
		p.SetProgressToken("p1")
	}
	begun := time.Now()
	result, err := s.CallTool(ctx, p)
	took := time.Since(begun).Round(time.Millisecond)
	if err != nil {
		fmt.Fprintf(c.out, "%s: %v after %v\n", k.tool, err, took)
		return
	}
	size := 0
	for _, part := range result.Content {
		if t, ok := part.(*mcp.TextContent); ok {
			size += len(t.Text)
		}
	}
	fmt.Fprintf(c.out, "%s: %d bytes after %v\n", k.tool, size, took)
}
