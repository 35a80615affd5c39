package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	listing    = `{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{}}`
	note       = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	both       = "application/json, text/event-stream"
)

// ways are the two ways to the endpoint: in process, and over a loopback socket.
func ways(t *testing.T) map[string]func(*http.Request) *http.Response {
	h := newEndpoint(newServer(&bench{}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return map[string]func(*http.Request) *http.Response{
		"in process": func(r *http.Request) *http.Response {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Result()
		},
		"over a socket": func(r *http.Request) *http.Response {
			r.URL.Scheme, r.URL.Host, r.RequestURI = "http", l.Addr().String(), ""
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			return response
		},
	}
}

func posted(body, accept string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(body))
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	r.Header.Set("Content-Type", "application/json")
	return r
}

func read(t *testing.T, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEndpointAnswers(t *testing.T) {
	large := `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", maxBody) + `"}`
	exact := `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", maxBody-len(`{"jsonrpc":"2.0","id":1,"method":""}`)) + `"}`
	for _, c := range []struct {
		name, body, accept string
		status             int
		media              string
		code               int // of a refusal, whose id is null
	}{
		{"a request, as JSON", listing, "application/json", 200, "application/json", 0},
		{"a request, without Accept", listing, "", 200, "application/json", 0},
		{"a request, as an event", listing, "text/event-stream", 200, "text/event-stream", 0},
		{"a request, as both clients must accept", listing, both, 200, "text/event-stream", 0},
		{"a request that accepts neither", listing, "text/html", 406, "application/json", -32600},
		{"a notification", note, both, 202, "", 0},
		{"a response, which yields no reply", `{"jsonrpc":"2.0","id":5,"result":{}}`, both, 202, "", 0},
		{"no body", "", both, 400, "application/json", -32600},
		{"a blank body", " \n", both, 400, "application/json", -32600},
		{"bad JSON", `{"jsonrpc":`, both, 400, "application/json", -32700},
		{"an array", `[` + listing + `]`, both, 400, "application/json", -32600},
		{"a string", `"x"`, both, 400, "application/json", -32600},
		{"a number", `1`, both, 400, "application/json", -32600},
		{"an object that is no message", `{"a":1}`, both, 400, "application/json", -32600},
		{"too large", large, both, 413, "application/json", -32600},
		{"too large and no JSON", strings.Repeat("x", maxBody+1), both, 413, "application/json", -32600},
		{"as large as may be", exact, "application/json", 200, "application/json", 0},
	} {
		for way, send := range ways(t) {
			t.Run(c.name+" "+way, func(t *testing.T) {
				response := send(posted(c.body, c.accept))
				text := read(t, response)
				if response.StatusCode != c.status || response.Header.Get("Content-Type") != c.media {
					t.Fatalf("status %d, %q: %s", response.StatusCode, response.Header.Get("Content-Type"), text)
				}
				if c.code != 0 {
					refused(t, text, c.code)
				}
				if c.status == 202 && text != "" {
					t.Errorf("a body: %s", text)
				}
				if c.media == "text/event-stream" {
					text = event(t, text)
				}
				if c.status == 200 && !json.Valid([]byte(text)) {
					t.Errorf("no JSON: %s", text)
				}
			})
		}
	}
}

// refused checks an error that names no request.
func refused(t *testing.T, text string, code int) {
	t.Helper()
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int
			Message string
		}
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	if m.JSONRPC != "2.0" || string(m.ID) != "null" || m.Error.Code != code || m.Error.Message == "" {
		t.Errorf("refused with %s", text)
	}
}

// event checks that the stream is one event, and returns its data.
func event(t *testing.T, text string) string {
	t.Helper()
	data, ok := strings.CutPrefix(text, "event: message\ndata: ")
	data, end := strings.CutSuffix(data, "\n\n")
	if !ok || !end || strings.Contains(data, "\n") {
		t.Fatalf("not one event: %q", text)
	}
	return data
}

func TestEndpointSession(t *testing.T) {
	for way, send := range ways(t) {
		t.Run(way, func(t *testing.T) {
			response := send(posted(initialize, "application/json"))
			id := response.Header.Get(sessionHeader)
			if text := read(t, response); id == "" || !strings.Contains(text, `"protocolVersion":"2025-11-25"`) {
				t.Fatalf("session %q: %s", id, text)
			}
			in := func(body string) *http.Request {
				r := posted(body, "application/json")
				r.Header.Set(sessionHeader, id)
				return r
			}
			if r := send(in(note)); r.StatusCode != 202 {
				t.Errorf("initialized: %d", r.StatusCode)
			}
			if text := read(t, send(in(listing))); !strings.Contains(text, `"echo"`) || !strings.Contains(text, `"id":"a"`) {
				t.Errorf("tools: %s", text)
			}
			end := in("")
			end.Method = http.MethodDelete
			if r := send(end); r.StatusCode != 204 {
				t.Errorf("DELETE: %d", r.StatusCode)
			}
			gone := send(in(listing))
			if gone.StatusCode != 404 {
				t.Errorf("after DELETE: %d", gone.StatusCode)
			}
			refused(t, read(t, gone), -32001)
			get := in("")
			get.Method = http.MethodGet
			if r := send(get); r.StatusCode != 405 || r.Header.Get("Allow") == "" {
				t.Errorf("GET: %d", r.StatusCode)
			}
		})
	}
}

// TestSDKClient connects the SDK's client to the endpoint in both eras, and on stdio, which shares the server.
func TestSDKClient(t *testing.T) {
	s := newServer(&bench{})
	web := httptest.NewServer(newEndpoint(s))
	defer web.Close()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			near, far := mcp.NewInMemoryTransports()
			if _, err := s.Connect(context.Background(), far, nil); err != nil {
				t.Fatal(err)
			}
			for _, transport := range []mcp.Transport{near, &mcp.StreamableClientTransport{Endpoint: web.URL}} {
				sized(t, transport, version)
			}
		})
	}
}

func sized(t *testing.T, transport mcp.Transport, version string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "work", Arguments: map[string]any{"bytes": 1234}})
	if err != nil {
		t.Fatal(err)
	}
	if text := result.Content[0].(*mcp.TextContent).Text; len(text) != 1234 {
		t.Errorf("%d bytes", len(text))
	}
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Errorf("version %s", got)
	}
}

func TestFaultNames(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range faults() {
		if seen[f.name] || f.injects == "" {
			t.Errorf("fault %q", f.name)
		}
		seen[f.name] = true
		if err := putFault(&bench{}, f.name); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
	for _, wrong := range []string{"nonesuch", "glued=1", "idle-cut=soon", "body-cap=-1", "body-cap=big"} {
		if putFault(&bench{}, wrong) == nil {
			t.Errorf("%s was taken", wrong)
		}
	}
	var list bytes.Buffer
	listFaults(&list)
	if n := strings.Count(list.String(), "\n"); n != len(faults()) {
		t.Errorf("%d lines", n)
	}
}
