package mcpgo

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
)

// Transport records what passes a client's transport. It sees messages and not bytes: what is read was already taken apart, so
// sizes are known only of what is written. A transport that takes requests of the server, or is told the protocol version, still does.
func Transport(next transport.Interface, rec *tap.Recorder) transport.Interface {
	t := &recorded{Interface: next, rec: rec}
	both, isBoth := next.(transport.BidirectionalInterface)
	web, isWeb := next.(transport.HTTPConnection)
	switch {
	case isBoth && isWeb:
		return &versionedBoth{bidirectional{t, both}, web}
	case isBoth:
		return &bidirectional{t, both}
	case isWeb:
		return &versioned{t, web}
	}
	return t
}

type recorded struct {
	transport.Interface
	rec *tap.Recorder
	end sync.Once
}

// SendRequest sends a request and records it, and its answer when it comes.
func (t *recorded) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	session := t.GetSessionId() // an initialize has none yet, and so its answer has none
	t.write(r)
	answer, err := t.Interface.SendRequest(ctx, r)
	if err == nil && answer != nil {
		t.readIn(session, answer)
	}
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		t.event(frame.EOF, frame.S2C)
	}
	return answer, err
}

// SendNotification sends a notification and records it.
func (t *recorded) SendNotification(ctx context.Context, n mcp.JSONRPCNotification) error {
	t.write(n)
	return t.Interface.SendNotification(ctx, n)
}

// SetNotificationHandler records each notification before it is handled.
func (t *recorded) SetNotificationHandler(handle func(mcp.JSONRPCNotification)) {
	t.Interface.SetNotificationHandler(func(n mcp.JSONRPCNotification) {
		t.read(n)
		handle(n)
	})
}

// Close ends the client's side.
func (t *recorded) Close() error {
	t.end.Do(func() { t.event(frame.EOF, frame.C2S) })
	return t.Interface.Close()
}

func (t *recorded) write(m any) {
	text, err := json.Marshal(m)
	if err == nil {
		t.message(t.GetSessionId(), text, frame.C2S, int64(len(text))+1)
	}
}

func (t *recorded) read(m any) { t.readIn(t.GetSessionId(), m) }

func (t *recorded) readIn(session string, m any) {
	text, err := json.Marshal(m)
	if err == nil {
		t.message(session, text, frame.S2C, frame.Unknown)
	}
}

func (t *recorded) message(session string, text []byte, dir frame.Dir, size int64) {
	e := tap.Event{Payload: text}
	if frame.DecodeMessage(text, &e.Frame) != frame.NoReason {
		return // the SDK made it, so it is one
	}
	e.Dir, e.Bytes, e.Rows = dir, size, frame.Unknown
	t.record(session, &e)
}

func (t *recorded) event(kind frame.Kind, dir frame.Dir) {
	var e tap.Event
	e.Kind, e.Dir, e.Bytes, e.Rows = kind, dir, frame.Unknown, frame.Unknown
	t.record(t.GetSessionId(), &e)
}

func (t *recorded) record(session string, e *tap.Event) {
	if session != "" {
		e.Session = []byte(session)
	}
	t.rec.Record(e)
}

// bidirectional is a transport that takes requests of the server.
type bidirectional struct {
	*recorded
	both transport.BidirectionalInterface
}

// SetRequestHandler records each request before it is handled, and the answer before it is sent.
func (b *bidirectional) SetRequestHandler(handle transport.RequestHandler) {
	b.both.SetRequestHandler(func(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		b.read(r)
		answer, err := handle(ctx, r)
		if err == nil && answer != nil {
			b.write(answer)
		}
		return answer, err
	})
}

// versioned is a transport that is told the protocol version.
type versioned struct {
	*recorded
	web transport.HTTPConnection
}

// SetProtocolVersion passes the version on.
func (v *versioned) SetProtocolVersion(version string) { v.web.SetProtocolVersion(version) }

type versionedBoth struct {
	bidirectional
	web transport.HTTPConnection
}

// SetProtocolVersion passes the version on.
func (v *versionedBoth) SetProtocolVersion(version string) { v.web.SetProtocolVersion(version) }
