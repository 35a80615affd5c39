package gosdk_test

import (
	"context"
	"log"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
	"mcpdiag/ingest/tap/gosdk"
)

// A server on stdio: what it reads and writes, and when its handlers run.
func Example_stdioServer() {
	rec, err := tap.Open(tap.Options{Side: frame.Server, Log: "server.log"})
	if err != nil {
		log.Fatal(err)
	}
	defer rec.Close()
	server := mcp.NewServer(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	server.AddReceivingMiddleware(gosdk.Middleware(rec))
	if err := server.Run(context.Background(), gosdk.Stdio(rec)); err != nil {
		log.Print(err)
	}
}

// A server over HTTP.
func Example_httpServer() {
	rec, err := tap.Open(tap.Options{Side: frame.Server, Log: "server.log"})
	if err != nil {
		log.Fatal(err)
	}
	defer rec.Close()
	server := mcp.NewServer(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	server.AddReceivingMiddleware(gosdk.Middleware(rec))
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	log.Print(http.ListenAndServe("127.0.0.1:3001", gosdk.Handler(&tap.HTTP{Recorder: rec}, handler)))
}

// A client over HTTP. The SDK's transport stays as it is; its http.Client is recorded.
func Example_httpClient() {
	rec, err := tap.Open(tap.Options{Side: frame.Client, Log: "client.log"})
	if err != nil {
		log.Fatal(err)
	}
	defer rec.Close()
	web := &tap.HTTP{Recorder: rec}
	client := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{
		Endpoint:   "http://127.0.0.1:3001",
		HTTPClient: &http.Client{Transport: web.Transport(nil)},
	}, nil)
	if err != nil {
		log.Print(err)
		return
	}
	defer session.Close()
}
