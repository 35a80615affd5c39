package main

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// format makes the writer of one answer.
type format func(http.ResponseWriter) answerWriter

// answerWriter writes one answer. begin says the status once; later calls of it have no effect.
type answerWriter interface {
	begin(status int)
	message(jsonrpc.Message)
}

// acceptable chooses how to answer by what the client accepts: an SSE event when it takes one, else JSON. nil is neither.
func acceptable(accept []string) format {
	list := strings.Join(accept, ",")
	if list == "" {
		return newJSON
	}
	var json bool
	for _, item := range strings.Split(list, ",") {
		media, _, err := mime.ParseMediaType(strings.TrimSpace(item))
		switch {
		case err != nil:
		case media == "text/event-stream":
			return newSSE
		case media == "application/json", media == "application/*", media == "*/*":
			json = true
		}
	}
	if json {
		return newJSON
	}
	return nil
}

// statusOf is the HTTP status of an answer: 2026-07-28 gives some errors one of their own (transports, streamable HTTP).
func statusOf(m jsonrpc.Message, version string) int {
	reply, ok := m.(*jsonrpc.Response)
	var fault *jsonrpc.Error
	if !ok || version < "2026-07-28" || !errors.As(reply.Error, &fault) {
		return http.StatusOK
	}
	switch fault.Code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeInvalidParams, -32020, -32021, -32022:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

func encode(m jsonrpc.Message) []byte {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		panic(err) // the dispatcher made it from JSON
	}
	return b
}

// jsonAnswer is a JSON document. Its header waits for the message: a client that sees none knows that nothing came yet.
type jsonAnswer struct {
	w      http.ResponseWriter
	status int
}

func newJSON(w http.ResponseWriter) answerWriter { return &jsonAnswer{w: w} }

func (a *jsonAnswer) begin(status int) { a.status = status }

func (a *jsonAnswer) message(m jsonrpc.Message) {
	a.w.Header().Set("Content-Type", "application/json")
	a.w.WriteHeader(a.status)
	a.w.Write(encode(m))
}

// sseAnswer is a stream of one event. Its header goes out at once.
type sseAnswer struct {
	w     http.ResponseWriter
	begun bool
}

func newSSE(w http.ResponseWriter) answerWriter { return &sseAnswer{w: w} }

func (a *sseAnswer) begin(status int) {
	if a.begun {
		return
	}
	a.begun = true
	h := a.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	a.w.WriteHeader(status)
	a.flush()
}

func (a *sseAnswer) message(m jsonrpc.Message) {
	fmt.Fprintf(a.w, "event: message\ndata: %s\n\n", encode(m))
	a.flush()
}

func (a *sseAnswer) flush() { http.NewResponseController(a.w).Flush() }
