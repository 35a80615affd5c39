package mcpgo_test

import (
	"context"
	"log"
	"net/http"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/server"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
	"mcpdiag/ingest/tap/mcpgo"
)

// A server over HTTP: what it reads and writes, and when its handlers run.
func Example_server() {
	rec, err := tap.Open(tap.Options{Side: frame.Server, Log: "server.log"})
	if err != nil {
		log.Fatal(err)
	}
	defer rec.Close()
	hooks := &server.Hooks{}
	mcpgo.Hooks(hooks, rec)
	s := server.NewMCPServer("example", "1", server.WithHooks(hooks))
	web := &tap.HTTP{Recorder: rec}
	log.Print(http.ListenAndServe("127.0.0.1:3001", web.Handler(server.NewStreamableHTTPServer(s))))
}

// A client on stdio.
func Example_client() {
	rec, err := tap.Open(tap.Options{Side: frame.Client, Log: "client.log"})
	if err != nil {
		log.Fatal(err)
	}
	defer rec.Close()
	c := client.NewClient(mcpgo.Transport(transport.NewStdio("./server", nil), rec))
	if err := c.Start(context.Background()); err != nil {
		log.Print(err)
	}
	defer c.Close()
}
