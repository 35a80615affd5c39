package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBody is the largest request body, in bytes. It is judged before anything is parsed.
const maxBody = 1 << 20

const sessionHeader = "Mcp-Session-Id"

// endpoint serves Streamable HTTP in front of the SDK's dispatcher: one message in a POST, its answer as JSON or as one SSE
// event. Of a legacy session it keeps the link; a message without one gets a link of its own. It has no GET stream, so what
// the server says of its own accord is dropped; the SDK's own handler, at /sdk, has one.
type endpoint struct {
	server   *mcp.Server
	mu       sync.Mutex
	sessions map[string]*link
}

func newEndpoint(s *mcp.Server) *endpoint { return &endpoint{server: s, sessions: map[string]*link{}} }

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		e.post(w, r)
	case http.MethodDelete:
		e.end(w, r)
	default:
		w.Header().Set("Allow", "POST, DELETE")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

func (e *endpoint) post(w http.ResponseWriter, r *http.Request) {
	m, no := readMessage(w, r)
	if no != nil {
		no.write(w)
		return
	}
	format := acceptable(r.Header.Values("Accept"))
	if format == nil {
		(&refusal{http.StatusNotAcceptable, jsonrpc.CodeInvalidRequest, "accept application/json or text/event-stream"}).write(w)
		return
	}
	l, no := e.link(w, r, m)
	if no != nil {
		no.write(w)
		return
	}
	call, ok := m.(*jsonrpc.Request)
	if ok {
		call.Extra = &mcp.RequestExtra{Header: r.Header}
	}
	if !ok || !call.IsCall() {
		l.send(m)
		if l.once {
			l.Close()
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer(w, r, l, call, format)
}

// answer hands a call to the dispatcher and writes what comes back. A legacy client that goes away has not cancelled (spec
// 2025-11-25, transports); with a link of its own it has, since the link ends with the exchange.
func answer(w http.ResponseWriter, r *http.Request, l *link, call *jsonrpc.Request, f format) {
	reply, err := l.ask(call)
	if err != nil {
		(&refusal{http.StatusBadRequest, jsonrpc.CodeInvalidRequest, err.Error()}).write(w)
		return
	}
	out := f(w)
	if !l.once {
		out.begin(http.StatusOK)
	}
	gone := r.Context().Done()
	if !l.once {
		gone = nil
	}
	select {
	case m := <-reply:
		out.begin(statusOf(m, r.Header.Get("Mcp-Protocol-Version")))
		out.message(m)
	case <-gone:
	case <-l.closed:
	}
	if l.once {
		l.Close()
	}
}

func (e *endpoint) end(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	l := e.sessions[r.Header.Get(sessionHeader)]
	delete(e.sessions, r.Header.Get(sessionHeader))
	e.mu.Unlock()
	if l == nil {
		unknownSession().write(w)
		return
	}
	l.Close()
	w.WriteHeader(http.StatusNoContent)
}

// forget drops every session, as a restart does.
func (e *endpoint) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, l := range e.sessions {
		delete(e.sessions, id)
		l.Close()
	}
}

// link finds the way to the dispatcher that the message goes.
func (e *endpoint) link(w http.ResponseWriter, r *http.Request, m jsonrpc.Message) (*link, *refusal) {
	if id := r.Header.Get(sessionHeader); id != "" {
		e.mu.Lock()
		defer e.mu.Unlock()
		if l := e.sessions[id]; l != nil {
			return l, nil
		}
		return nil, unknownSession()
	}
	call, ok := m.(*jsonrpc.Request)
	opens := ok && call.Method == "initialize"
	l := newLink(!opens)
	if _, err := e.server.Connect(context.Background(), l, l.options(r)); err != nil {
		return nil, &refusal{http.StatusInternalServerError, jsonrpc.CodeInternalError, err.Error()}
	}
	if opens {
		e.mu.Lock()
		e.sessions[l.id] = l
		e.mu.Unlock()
		w.Header().Set(sessionHeader, l.id)
	}
	return l, nil
}

// readMessage reads the one message of a body, or says why there is none.
func readMessage(w http.ResponseWriter, r *http.Request) (jsonrpc.Message, *refusal) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &refusal{http.StatusRequestEntityTooLarge, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the body is larger than %d bytes", maxBody)}
	case err != nil:
		return nil, &refusal{http.StatusBadRequest, jsonrpc.CodeInvalidRequest, "the body cannot be read"}
	}
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return nil, &refusal{http.StatusBadRequest, jsonrpc.CodeInvalidRequest, "the body is empty"}
	case !json.Valid(body):
		return nil, &refusal{http.StatusBadRequest, jsonrpc.CodeParseError, "the body is not JSON"}
	case body[0] != '{':
		return nil, &refusal{http.StatusBadRequest, jsonrpc.CodeInvalidRequest, "the body is not an object"}
	}
	m, err := jsonrpc.DecodeMessage(body)
	if err != nil {
		return nil, &refusal{http.StatusBadRequest, jsonrpc.CodeInvalidRequest, "the body is no JSON-RPC message"}
	}
	return m, nil
}

// refusal is an answer of the endpoint itself, which names no request.
type refusal struct {
	status  int
	code    int
	message string
}

func unknownSession() *refusal { return &refusal{http.StatusNotFound, -32001, "Session not found"} }

func (no *refusal) write(w http.ResponseWriter) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": no.code, "message": no.message}})
	if err != nil {
		panic(err) // three constants and a string
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(no.status)
	w.Write(body)
}
