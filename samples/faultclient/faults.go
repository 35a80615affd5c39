package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
)

// armed is set once the tool `work` was called: until then everything is in order.
type armed struct{ atomic.Bool }

// fault is one way to misbehave.
type fault struct {
	name    string
	value   string // when none is given; "" is a fault without one
	injects string
	put     func(c *client, value string) error
}

// faults is the table of what a client can be told to do wrong.
func faults() []fault {
	return []fault{
		{"lines", "", "stdout is read line by line, and what is no message is passed over", func(c *client, _ string) error { c.inlet = readLines(0); return nil }},
		{"line-ceiling", "16384", "a line that is longer is passed over", lineCeiling},
		{"reader-stopped", "", "nothing is read any more", func(c *client, _ string) error { c.inlet = stopReading; return nil }},
		{"garbled-request", "", "the first byte of a request is another one", func(c *client, _ string) error { c.outlet = garble; return nil }},
		{"close-early", "", "the connection is closed while a call waits", func(c *client, _ string) error { c.stopping = true; return nil }},
		{"constant-id", "", "every call has the id 7", renaming(true, func(int64) any { return int64(7) })},
		{"huge-ids", "", "ids are beyond 2^53, and odd: the SDK's server rounds them", func(c *client, _ string) error { c.outlet = enlarge; return nil }},
		{"renumber", "", "something on the way gives the calls other ids", renaming(false, func(n int64) any { return n + 5 })},
		{"samples", "", "sampling is declared and answered", func(c *client, _ string) error { c.sampling = sample(); return nil }},
		{"hang-sampling", "", "sampling is declared and never answered", func(c *client, _ string) error { c.hang = true; return nil }},
		{"mute", "", "sampling is not declared, and a request for it is not answered", mute},
	}
}

func listFaults(w io.Writer) {
	for _, f := range faults() {
		name := f.name
		if f.value != "" {
			name += "=" + f.value
		}
		fmt.Fprintf(w, "%-20s %s\n", name, f.injects)
	}
}

// putFault puts a fault, NAME or NAME=VALUE, into the client.
func putFault(c *client, s string) error {
	name, value, given := strings.Cut(s, "=")
	for _, f := range faults() {
		if f.name != name {
			continue
		}
		if given && f.value == "" {
			return fmt.Errorf("fault %s takes no value", name)
		}
		if !given {
			value = f.value
		}
		return f.put(c, value)
	}
	return fmt.Errorf("no fault is called %q", name)
}

func sample() *mcp.CreateMessageResult {
	return &mcp.CreateMessageResult{Model: "none", Role: "assistant", Content: &mcp.TextContent{Text: "this one"}}
}

func lineCeiling(c *client, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 {
		return fmt.Errorf("%q is no number of bytes", value)
	}
	c.inlet = readLines(n)
	return nil
}

// readLines reads as many hand-written clients do: line by line, up to a ceiling, and past what is no JSON.
func readLines(ceiling int) func(*client, io.ReadCloser) io.ReadCloser {
	return func(c *client, next io.ReadCloser) io.ReadCloser {
		return &lines{ReadCloser: next, r: bufio.NewReader(next), ceiling: ceiling, bad: c.invalid}
	}
}

type lines struct {
	io.ReadCloser
	r       *bufio.Reader
	rest    []byte
	ceiling int // 0: none
	bad     func(line []byte)
}

// Read reads from the next good line.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.r.ReadBytes('\n')
		switch {
		case l.ceiling > 0 && len(line) > l.ceiling:
		case json.Valid(line):
			l.rest = line
		case len(line) > 0:
			l.bad(line)
		}
		if err != nil && len(l.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// invalid notes a line that is no message.
func (c *client) invalid(line []byte) {
	var e tap.Event
	e.Kind, e.Dir, e.Bytes, e.Rows = frame.Invalid, frame.S2C, int64(len(line)), frame.Unknown
	e.Extra().Raw = line[:min(len(line), 400)]
	c.rec.Record(&e)
}

// stopReading reads nothing more once `work` was called.
func stopReading(c *client, next io.ReadCloser) io.ReadCloser { return &stopped{next, c} }

type stopped struct {
	io.ReadCloser
	c *client
}

// Read never returns what comes after the fault.
func (s *stopped) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if s.c.armed.Load() {
		select {}
	}
	return n, err
}

// garble changes the first byte of the first call of `work`.
func garble(c *client, next io.WriteCloser) io.WriteCloser { return &garbled{next, c} }

type garbled struct {
	io.WriteCloser
	c *client
}

// Write writes a frame, whole or not.
func (g *garbled) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(`"work"`)) && g.c.armed.Swap(false) {
		p = append([]byte("#"), p[1:]...)
	}
	return g.WriteCloser.Write(p)
}

// enlarge makes an id N of the tool `work` 2^53+2N+1.
func enlarge(c *client, next io.WriteCloser) io.WriteCloser { return &enlarged{next} }

type enlarged struct{ io.WriteCloser }

var idMember = regexp.MustCompile(`"(id|requestId)":[0-9]+`)

// Write writes a frame with a larger id.
func (e *enlarged) Write(p []byte) (int, error) {
	if !bytes.Contains(p, []byte(`"work"`)) && !bytes.Contains(p, []byte("notifications/cancelled")) {
		return e.WriteCloser.Write(p)
	}
	larger := idMember.ReplaceAllFunc(p, func(m []byte) []byte {
		name, digits, _ := bytes.Cut(m, []byte(":"))
		n, err := strconv.ParseInt(string(digits), 10, 52)
		if err != nil {
			return m
		}
		return fmt.Appendf(nil, "%s:%d", name, 1<<53+2*n+1)
	})
	_, err := e.WriteCloser.Write(larger)
	return len(p), err
}

// renaming changes the ids of the calls, and back in the answers: above the log, which has the new ones, or below it.
func renaming(above bool, to func(int64) any) func(*client, string) error {
	return func(c *client, _ string) error {
		if above {
			c.above = func(t mcp.Transport) mcp.Transport { return &renamed{Transport: t, to: to, only: "tools/call"} }
		} else {
			c.below = func(t mcp.Transport) mcp.Transport { return &renamed{Transport: t, to: to} }
		}
		return nil
	}
}

// mute drops what the client would answer to the server's requests.
func mute(c *client, _ string) error {
	c.above = func(t mcp.Transport) mcp.Transport { return &muted{t} }
	return nil
}
