package tap_test

import (
	"log"
	"net/http"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
)

// Any net/http server of MCP: what its handler reads and writes.
func ExampleHTTP_Handler() {
	rec, err := tap.Open(tap.Options{Side: frame.Server, Log: "server.log"})
	if err != nil {
		log.Fatal(err)
	}
	defer rec.Close()
	var endpoint http.Handler = http.NotFoundHandler() // yours
	web := &tap.HTTP{Recorder: rec}
	log.Print(http.ListenAndServe("127.0.0.1:3001", web.Handler(endpoint)))
}

// Any HTTP client of MCP: what it sends, and what of the answers it reads.
func ExampleHTTP_Transport() {
	rec, err := tap.Open(tap.Options{Side: frame.Client, Log: "client.log"})
	if err != nil {
		log.Fatal(err)
	}
	defer rec.Close()
	web := &tap.HTTP{Recorder: rec}
	client := &http.Client{Transport: web.Transport(http.DefaultTransport)}
	client.CloseIdleConnections() // and use it as ever
}
