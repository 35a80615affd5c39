package gosdk_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
	"mcpdiag/ingest/tap/gosdk"
)

func open(t *testing.T, side frame.Side) (*tap.Recorder, func() []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	rec, err := tap.Open(tap.Options{Side: side, Log: path})
	if err != nil {
		t.Fatal(err)
	}
	return rec, func() []string {
		t.Helper()
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for line := range bytes.Lines(text) {
			out = append(out, spelled(t, line))
		}
		return out
	}
}

// spelled is a record as: dir kind, and the members that say what it is.
func spelled(t *testing.T, line []byte) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	var words []string
	for _, key := range []string{"dir", "kind", "id", "method", "name", "phase", "bytes", "tool_error", "code", "raw"} {
		if m[key] != nil {
			words = append(words, strings.Trim(string(m[key]), `"`))
		}
	}
	return strings.Join(words, " ")
}

func server(rec *tap.Recorder) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "f"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "bad"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, fmt.Errorf("no")
	})
	s.AddReceivingMiddleware(gosdk.Middleware(rec))
	return s
}

const (
	hello  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"
	inited = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
)

// session feeds lines to a server on pipes and waits for so many answers.
func session(t *testing.T, rec *tap.Recorder, lines string, answers int) {
	t.Helper()
	in, feed := io.Pipe()
	out, back := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- server(rec).Run(context.Background(), gosdk.IO(in, back, rec)) }()
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		io.WriteString(feed, lines)
	}()
	r := bufio.NewReader(out)
	for range answers {
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	go io.Copy(io.Discard, r)
	<-fed
	feed.Close()
	<-done
}

func has(t *testing.T, log []string, want ...string) {
	t.Helper()
	all := "\n" + strings.Join(log, "\n") + "\n"
	for _, w := range want {
		if !strings.Contains(all, "\n"+w+"\n") {
			t.Errorf("the log has no %q:%s", w, all)
		}
	}
}

// TestStdio checks what a server's log says: exact sizes, ids in handler events whatever their type, tool errors, ends.
func TestStdio(t *testing.T) {
	rec, log := open(t, frame.Server)
	call := `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"f","arguments":{}}}` + "\r\n"
	bad := `{ "jsonrpc":"2.0", "id":7, "method":"tools/call", "params":{"name":"bad"}}` + "\n"
	session(t, rec, hello+inited+call+bad, 3)
	has(t, log(), fmt.Sprintf("c2s request 1 initialize %d", len(hello)), "c2s handler_enter 1 initialize", "c2s handler_exit 1 initialize",
		"c2s notification notifications/initialized 55",
		fmt.Sprintf("c2s request x tools/call f %d", len(call)), "c2s handler_enter x tools/call f", "c2s handler_exit x tools/call f", "s2c response x 51",
		fmt.Sprintf("c2s request 7 tools/call bad %d", len(bad)), "c2s handler_exit 7 tools/call bad true", "c2s eof", "s2c eof")
}

// TestBatch takes a batch apart, as the SDK does.
func TestBatch(t *testing.T) {
	rec, log := open(t, frame.Server)
	session(t, rec, hello+inited+`[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]`+"\n", 2)
	has(t, log(), "c2s request 2 ping 40", "c2s request 3 ping 40", "c2s handler_exit 3 ping", "s2c response 2 37", "s2c response 3 37")
}

// TestBadLine checks that the line that ends the SDK's session is in the log.
func TestBadLine(t *testing.T) {
	rec, log := open(t, frame.Server)
	session(t, rec, hello+"DEBUG here\n"+inited, 0)
	has(t, log(), "c2s invalid 11 DEBUG here", "c2s eof")
}

// TestBlockedWrite checks that an answer that nobody reads is queued, and written when it is.
func TestBlockedWrite(t *testing.T) {
	rec, log := open(t, frame.Server)
	in, feed := io.Pipe()
	out, back := io.Pipe() // a write returns when it was read
	done := make(chan error, 1)
	go func() { done <- server(rec).Run(context.Background(), gosdk.IO(in, back, rec)) }()
	io.WriteString(feed, hello)
	time.Sleep(300 * time.Millisecond) // longer than a write may take unsaid
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	feed.Close()
	<-done
	all := strings.Join(log(), "\n")
	if strings.Count(all, "s2c response 1 queued ") != 1 || strings.Count(all, "s2c response 1 written ") != 1 {
		t.Error(all)
	}
}

// TestMessageTransport wraps a transport whose bytes are not seen.
func TestMessageTransport(t *testing.T) {
	far, farLog := open(t, frame.Server)
	near, nearLog := open(t, frame.Client)
	a, b := mcp.NewInMemoryTransports()
	ctx := context.Background()
	served, err := server(far).Connect(ctx, gosdk.Transport(b, far), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(ctx, gosdk.Transport(a, near), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "f"}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	served.Wait()
	has(t, nearLog(), "s2c response 2", "c2s eof")
	has(t, farLog(), "c2s request 2 tools/call f", "c2s handler_enter 2 tools/call f", "c2s handler_exit 2 tools/call f")
}

// TestForgedHeader sends the header that carries ids within the process: the outside has no say in it.
func TestForgedHeader(t *testing.T) {
	rec, log := open(t, frame.Server)
	s := server(rec)
	web := &tap.HTTP{Recorder: rec}
	handler := gosdk.Handler(web, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}))
	for _, body := range []string{`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`, `[{"jsonrpc":"2.0","id":6,"method":"tools/list"}]`} {
		r := httptest.NewRequest("POST", "http://127.0.0.1/", strings.NewReader(body))
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Mcpdiag-Call", `{"id":999,"session":"forged"}`)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	all := log()
	has(t, all, "c2s handler_enter 5 tools/list", "c2s handler_exit 5 tools/list", "c2s handler_enter tools/list")
	if strings.Contains(strings.Join(all, "\n"), "999") {
		t.Errorf("a forged id: %q", all)
	}
}
