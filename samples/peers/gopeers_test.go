package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	mcpgoclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgomcp "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
	"mcpdiag/ingest/tap/gosdk"
	"mcpdiag/ingest/tap/mcpgo"
	"mcpdiag/samples/logtest"
)

// TestMain is also the processes of the tests: `PROGRAM as ROLE …`.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "as" {
		os.Exit(as(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// as plays a part: tee SIDE LOG CMD…, or SERVER LOG, whose log is its own.
func as(role string, args []string) int {
	if role == "tee" {
		side, _ := frame.ParseSide([]byte(args[0]))
		t := tap.Tee{Command: args[2:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Record: tap.Options{Side: side, Log: args[1], Stderr: os.Stderr}}
		status, err := t.Run()
		if err != nil {
			return 127
		}
		return status
	}
	rec, err := tap.Open(tap.Options{Side: frame.Server, Log: args[0], Stderr: os.Stderr})
	if err != nil {
		return 1
	}
	defer rec.Close()
	if role == "mcp-go" {
		err = mcpgoserver.ServeStdio(newMCPGo(rec))
	} else {
		err = newGoSDK(rec).Run(context.Background(), gosdk.Stdio(rec))
	}
	if err != nil {
		return 1
	}
	return 0
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

type size struct {
	N int `json:"n" jsonschema:"how many bytes to answer with"`
}

func newGoSDK(rec *tap.Recorder) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "peer", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "fill"}, func(_ context.Context, _ *mcp.CallToolRequest, in size) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("ü", in.N/2)}}}, nil, nil
	})
	s.AddReceivingMiddleware(gosdk.Middleware(rec))
	return s
}

func newMCPGo(rec *tap.Recorder) *mcpgoserver.MCPServer {
	hooks := &mcpgoserver.Hooks{}
	mcpgo.Hooks(hooks, rec)
	s := mcpgoserver.NewMCPServer("peer", "1", mcpgoserver.WithHooks(hooks))
	s.AddTool(mcpgomcp.NewTool("fill", mcpgomcp.WithNumber("n")), func(_ context.Context, r mcpgomcp.CallToolRequest) (*mcpgomcp.CallToolResult, error) {
		return mcpgomcp.NewToolResultText(strings.Repeat("ü", r.GetInt("n", 0)/2)), nil
	})
	return s
}

// caller is a client: it lists the tools, and calls one.
type caller struct {
	list  func(context.Context) error
	call  func(ctx context.Context, tool string, n int) (length int, err error)
	close func()
}

func goSDKCaller(t *testing.T, transport mcp.Transport, version string) *caller {
	t.Helper()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "peer", Version: "1"}, nil).Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	return &caller{
		list: func(ctx context.Context) error { _, err := s.ListTools(ctx, nil); return err },
		call: func(ctx context.Context, tool string, n int) (int, error) {
			r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"n": n}})
			if err != nil {
				return 0, err
			}
			return len(r.Content[0].(*mcp.TextContent).Text), nil
		},
		close: func() { s.Close() },
	}
}

func mcpGoCaller(t *testing.T, over transport.Interface, version string) *caller {
	t.Helper()
	c := mcpgoclient.NewClient(over)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var hello mcpgomcp.InitializeRequest
	hello.Params.ProtocolVersion = version
	hello.Params.ClientInfo = mcpgomcp.Implementation{Name: "peer", Version: "1"}
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	return &caller{
		list: func(ctx context.Context) error { _, err := c.ListTools(ctx, mcpgomcp.ListToolsRequest{}); return err },
		call: func(ctx context.Context, tool string, n int) (int, error) {
			var r mcpgomcp.CallToolRequest
			r.Params.Name, r.Params.Arguments = tool, map[string]any{"n": n}
			result, err := c.CallTool(ctx, r)
			if err != nil {
				return 0, err
			}
			return len(result.Content[0].(mcpgomcp.TextContent).Text), nil
		},
		close: func() { c.Close() },
	}
}

// converse is what every pair does: a listing, answers of all sizes, some at once, and an error.
func (c *caller) converse(t *testing.T) {
	t.Helper()
	defer c.close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := c.list(ctx); err != nil {
		t.Error(err)
	}
	for _, n := range []int{0, 2, 5000, 300_000} {
		if got, err := c.call(ctx, "fill", n); err != nil || got != n {
			t.Errorf("asked for %d bytes: %d, %v", n, got, err)
		}
	}
	var all sync.WaitGroup
	for k := range 20 {
		all.Go(func() {
			if got, err := c.call(ctx, "fill", 2*k); err != nil || got != 2*k {
				t.Errorf("asked for %d bytes: %d, %v", 2*k, got, err)
			}
		})
	}
	all.Wait()
	if _, err := c.call(ctx, "nonesuch", 0); err == nil {
		t.Error("an unknown tool was called")
	}
}

// delivered joins two logs and checks that everything was, with stages that add up where handlers were recorded.
func delivered(t *testing.T, client, server string, handlers bool) {
	t.Helper()
	logs, err := ingest.Read(context.Background(), ingest.Set{Sources: []ingest.Source{{Path: client, Label: "client.log"}}, Side: frame.Client}, ingest.Options{Quiet: logtest.Quiet})
	if err != nil {
		t.Fatal(err)
	}
	far, err := ingest.Read(context.Background(), ingest.Set{Sources: []ingest.Source{{Path: server, Label: "server.log"}}, Side: frame.Server}, ingest.Options{Quiet: logtest.Quiet})
	if err != nil {
		t.Fatal(err)
	}
	d := logtest.Diagnose(t, logs[0], far[0])
	if len(d.Calls) < 26 { // a listing, 24 calls, an error
		t.Errorf("%d calls", len(d.Calls))
	}
	staged := 0
	for _, c := range d.Calls {
		if c.Leaf != diagnose.AgentLevel || c.Stalled {
			t.Errorf("id %s %s: %s", c.ID(), c.Method(), logtest.SayCall(c))
		}
		if r := c.Stages().Residual; r.OK {
			staged++
			if r.D != 0 {
				t.Errorf("id %s: residual %v", c.ID(), r.D)
			}
		}
	}
	if handlers && staged < 20 {
		t.Errorf("%d calls have stages", staged)
	}
	for _, f := range d.Findings {
		if f.Kind == "orphan_response" || f.Kind == "records_lost" || f.Kind == "id_reused" {
			t.Errorf("%s: %s", f.Kind, f.Text)
		}
	}
}

func clients() []string {
	return []string{"go-sdk 2025-11-25", "go-sdk 2026-07-28", "mcp-go 2025-11-25", "mcp-go 2026-07-28"}
}

// TestTwoTees joins what two tees record of real sessions, and what the servers record themselves.
func TestTwoTees(t *testing.T) {
	for _, server := range []string{"go-sdk", "mcp-go"} {
		for _, client := range clients() {
			t.Run(client+" to "+server, func(t *testing.T) {
				dir := t.TempDir()
				near, far, own := filepath.Join(dir, "near.log"), filepath.Join(dir, "far.log"), filepath.Join(dir, "own.log")
				me := self(t)
				args := []string{"as", "tee", "client", near, me, "as", "tee", "server", far, me, "as", server, own}
				if sdk, version, _ := strings.Cut(client, " "); sdk == "go-sdk" {
					goSDKCaller(t, &mcp.CommandTransport{Command: exec.Command(me, args...)}, version).converse(t)
				} else {
					mine := filepath.Join(dir, "mine.log")
					rec, err := tap.Open(tap.Options{Side: frame.Client, Log: mine, Stderr: os.Stderr})
					if err != nil {
						t.Fatal(err)
					}
					mcpGoCaller(t, mcpgo.Transport(transport.NewStdio(me, nil, args...), rec), version).converse(t)
					if err := rec.Close(); err != nil {
						t.Error(err)
					}
					delivered(t, mine, far, false)
				}
				delivered(t, near, far, false)
				if server == "go-sdk" { // mcp-go's hooks are half a log: it does not say what it reads and writes
					delivered(t, near, own, true)
				}
			})
		}
	}
}

// TestTwoProxies joins what two proxies record of real sessions over HTTP, and what servers and clients record themselves.
func TestTwoProxies(t *testing.T) {
	for _, server := range []string{"go-sdk stateful", "go-sdk stateless", "mcp-go"} {
		for _, client := range clients() {
			if server == "go-sdk stateful" && client == "mcp-go 2026-07-28" {
				continue // has no sessions in that version, and does not fall back; without a proxy neither
			}
			t.Run(client+" to "+server, func(t *testing.T) {
				logs := map[string]string{}
				open := func(name string, side frame.Side) *tap.Recorder {
					logs[name] = filepath.Join(t.TempDir(), name)
					rec, err := tap.Open(tap.Options{Side: side, Log: logs[name], Stderr: os.Stderr})
					if err != nil {
						t.Fatal(err)
					}
					return rec
				}
				own, far, near, mine := open("own", frame.Server), open("far", frame.Server), open("near", frame.Client), open("mine", frame.Client)
				backend := httptest.NewServer(webServer(server, own))
				second := httptest.NewServer((&tap.HTTP{Recorder: far}).Proxy(parsed(t, backend.URL), tap.Guard{}))
				first := httptest.NewServer((&tap.HTTP{Recorder: near}).Proxy(parsed(t, second.URL), tap.Guard{}))
				web := &tap.HTTP{Recorder: mine}
				recorded := &http.Client{Transport: web.Transport(nil)}
				if sdk, version, _ := strings.Cut(client, " "); sdk == "go-sdk" {
					goSDKCaller(t, &mcp.StreamableClientTransport{Endpoint: first.URL, HTTPClient: recorded}, version).converse(t)
				} else {
					over, err := transport.NewStreamableHTTP(first.URL, transport.WithHTTPBasicClient(recorded))
					if err != nil {
						t.Fatal(err)
					}
					mcpGoCaller(t, over, version).converse(t)
				}
				last, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				if err := web.Wait(last); err != nil {
					t.Error("a stream was not closed")
				}
				for _, s := range []*httptest.Server{first, second, backend} {
					s.CloseClientConnections()
					s.Close()
				}
				for _, rec := range []*tap.Recorder{own, far, near, mine} {
					if err := rec.Close(); err != nil {
						t.Error(err)
					}
				}
				delivered(t, logs["near"], logs["far"], false)
				delivered(t, logs["mine"], logs["far"], false)
				delivered(t, logs["near"], logs["own"], true)
			})
		}
	}
}

func webServer(name string, rec *tap.Recorder) http.Handler {
	web := &tap.HTTP{Recorder: rec}
	if name == "mcp-go" {
		return web.Handler(mcpgoserver.NewStreamableHTTPServer(newMCPGo(rec)))
	}
	s := newGoSDK(rec)
	return gosdk.Handler(web, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: name == "go-sdk stateless"}))
}

func parsed(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
