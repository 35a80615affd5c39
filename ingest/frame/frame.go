package frame

import (
	"bytes"
	"time"
)

// Side is whose log a record stands in.
type Side uint8

// The sides of a session. A proxy stands between the two.
const (
	NoSide Side = iota
	Client
	Server
	Proxy
)

var sideNames = [...]string{"", "client", "server", "proxy"}

func (s Side) String() string { return sideNames[s] }

// Peer is the other end of the session: Server for Client and Client for Server.
func (s Side) Peer() Side {
	switch s {
	case Client:
		return Server
	case Server:
		return Client
	}
	return NoSide
}

// ParseSide reads the word that the native format uses.
func ParseSide(b []byte) (Side, bool) {
	switch string(b) {
	case "client":
		return Client, true
	case "server":
		return Server, true
	case "proxy":
		return Proxy, true
	}
	return NoSide, false
}

// Dir is the direction of travel on the wire.
type Dir uint8

// Client to server, and server to client.
const (
	NoDir Dir = iota
	C2S
	S2C
)

var dirNames = [...]string{"", "c2s", "s2c"}

func (d Dir) String() string { return dirNames[d] }

// ParseDir reads "c2s" or "s2c".
func ParseDir(b []byte) (Dir, bool) {
	switch string(b) {
	case "c2s":
		return C2S, true
	case "s2c":
		return S2C, true
	}
	return NoDir, false
}

// From is the side that sends in this direction.
func (d Dir) From() Side {
	switch d {
	case C2S:
		return Client
	case S2C:
		return Server
	}
	return NoSide
}

// Kind is what a record records.
type Kind uint8

// The kinds of the native format.
const (
	NoKind Kind = iota
	Request
	Response
	Error
	Notification
	Invalid // bytes that are no JSON-RPC message
	HandlerEnter
	HandlerExit
	Open   // a stream or process starts
	EOF    // that direction ended
	Gap    // the writer could not keep up
	GaveUp // the requester stopped waiting, which no frame says; an extension of v1, for logs that tell it
)

var kindNames = [...]string{"", "request", "response", "error", "notification", "invalid", "handler_enter", "handler_exit", "open", "eof", "gap", "gave_up"}

func (k Kind) String() string { return kindNames[k] }

// Known reports whether k is one of the kinds.
func (k Kind) Known() bool { return int(k) < len(kindNames) }

// ParseKind reads the word that the native format uses.
func ParseKind(b []byte) (Kind, bool) {
	switch string(b) {
	case "request":
		return Request, true
	case "response":
		return Response, true
	case "error":
		return Error, true
	case "notification":
		return Notification, true
	case "invalid":
		return Invalid, true
	case "handler_enter":
		return HandlerEnter, true
	case "handler_exit":
		return HandlerExit, true
	case "open":
		return Open, true
	case "eof":
		return EOF, true
	case "gap":
		return Gap, true
	case "gave_up":
		return GaveUp, true
	}
	return NoKind, false
}

// Message reports whether the kind is a whole JSON-RPC message.
func (k Kind) Message() bool { return k >= Request && k <= Notification }

// Answer reports whether the kind answers a request.
func (k Kind) Answer() bool { return k == Response || k == Error }

// Handler reports whether the kind is a handler event.
func (k Kind) Handler() bool { return k == HandlerEnter || k == HandlerExit }

// Phase is the moment of a frame's life that a record marks. "Written" has strengths: a queued frame may never leave.
type Phase uint8

// The phases of the native format; NoPhase means read inbound, written outbound.
const (
	NoPhase Phase = iota
	Read
	Parsed
	Queued
	Written
)

var phaseNames = [...]string{"", "read", "parsed", "queued", "written"}

func (p Phase) String() string { return phaseNames[p] }

// ParsePhase reads the word that the native format uses.
func ParsePhase(b []byte) (Phase, bool) {
	for i, n := range phaseNames {
		if i > 0 && n == string(b) {
			return Phase(i), true
		}
	}
	return NoPhase, false
}

// Unknown is the value of Bytes and Rows when a record does not tell.
const Unknown = -1

// Frame is one record. Texts may point into the reader's buffer: whoever keeps one copies it.
type Frame struct {
	Line      uint32 // counted from 1 in its file; blank lines count
	Side      Side
	Dir       Dir
	Kind      Kind
	Phase     Phase
	Trunc     bool   // the line was cut: an absent id may be a lost id
	ID        ID     // nil when absent
	RequestID ID     // the id that a cancel or a progress refers to
	Method    []byte // spec method name
	Name      []byte // tool, prompt or resource URI
	Session   []byte // Mcp-Session-Id, or a name for the connection
	Bytes     int64  // whole frame on the wire, line end included; Unknown when not told
	Rows      int64  // records in the result; Unknown when not told
	At        Instant
	More      *More // the members that most records lack; nil when all are absent
}

// More holds the members that most records lack.
type More struct {
	Conn, Exchange, PID []byte
	Clock               []byte // names the monotonic clock
	Token               []byte // progress token, raw JSON token
	ResultType          []byte // 2026-07-28 resultType
	Era                 []byte // protocol version in force
	Raw                 []byte // prefix of the bytes of an invalid line
	Caps                []string
	Code                int64
	Status              int64 // HTTP status
	Seq                 int64
	Dropped             int64
	ToolError           bool
	HasCode, HasStatus  bool
	HasSeq              bool

	// What only logs that are no frame logs have; no native record shows them.
	Call   uint32        // the number of a call in a log without ids, from 1; 0 where the id is told
	Twin   uint8         // which of the files that its writer keeps told the event; 0 when it keeps one
	Waited time.Duration // how long the requester had waited, by its own words
	Word   string        // how the brief reading tells a record that is no frame
}

// Extra returns the frame's rare members, making room for them first.
func (f *Frame) Extra() *More {
	if f.More == nil {
		f.More = new(More)
	}
	return f.More
}

// Requester is the side whose request this frame is part of: it sends requests and cancels, and reads answers. A progress
// notification and a handler event count by the request that they serve. NoSide for all else.
func (f *Frame) Requester() Side {
	switch {
	case f.Kind == Request, f.Kind.Handler():
		return f.Dir.From()
	case f.Kind.Answer():
		return f.Dir.From().Peer()
	}
	return NoSide
}

// Clone copies f out of the buffer that its texts point into.
func (f *Frame) Clone() Frame {
	g := *f
	g.ID, g.RequestID = bytes.Clone(f.ID), bytes.Clone(f.RequestID)
	g.Method, g.Name, g.Session = bytes.Clone(f.Method), bytes.Clone(f.Name), bytes.Clone(f.Session)
	if f.More != nil {
		m := *f.More
		m.Conn, m.Exchange, m.PID, m.Clock, m.Token = bytes.Clone(m.Conn), bytes.Clone(m.Exchange), bytes.Clone(m.PID), bytes.Clone(m.Clock), bytes.Clone(m.Token)
		m.ResultType, m.Era, m.Raw = bytes.Clone(m.ResultType), bytes.Clone(m.Era), bytes.Clone(m.Raw)
		g.More = &m
	}
	return g
}
