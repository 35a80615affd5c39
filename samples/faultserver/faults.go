package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fault is one way to misbehave.
type fault struct {
	name    string
	value   string // when none is given; "" is a fault without one
	injects string
	put     func(b *bench, value string) error
}

// faults is the table of what a server can be told to do wrong. All of it begins with the first call of the tool `work`.
func faults() []fault {
	return []fault{
		{"stdout-noise", "", "a log line is printed on stdout just before the answer", below(noise)},
		{"early-noise", "", "the handler prints a log line on stdout when it is entered", inHandler(func(context.Context, *mcp.CallToolRequest) { fmt.Println("DEBUG work called") })},
		{"never-return", "", "the handler never returns", inHandler(func(context.Context, *mcp.CallToolRequest) { select {} })},
		{"exit", "", "the process dies in the handler", inHandler(func(context.Context, *mcp.CallToolRequest) { os.Exit(3) })},
		{"serial", "", "one handler at a time, and the first never returns", neverSerial},
		{"stop-reading", "", "stdin is not read while the handler runs, and it never returns", stopReading},
		{"mute-cancelled", "", "a request that was cancelled gets no answer", above(muteCancelled)},
		{"no-answer", "", "the handler returns and no answer is written", above(noAnswer)},
		{"string-ids", "", "an answer has the request's id as a string", above(stringIDs)},
		{"slow-write", "700ms", "the answer is written long after the handler has returned", slowWrite},

		{"pretty-print", "", "an answer stands over several lines", below(prettyPrint)},
		{"glued", "", "text without a line end stands in front of an answer", below(glued)},
		{"interleaved", "", "two answers are written into each other", below(interleaved)},
		{"block-buffer", "", "stdout is buffered and flushed at its end", blockBuffer},
		{"drop-response", "", "an answer that was written never leaves", dropResponse},
		{"lines", "", "stdin is read line by line, and what is no message is passed over", func(b *bench, _ string) error { b.inlet = readLines; return nil }},

		{"no-flush", "", "a stream of events is held back until its end", overHTTP(holdBack)},
		{"session-404", "", "the sessions are forgotten: 404", overHTTP(refuseSession(404))},
		{"session-400", "", "the sessions are forgotten: 400", overHTTP(refuseSession(400))},
		{"bad-gateway", "", "a proxy in front answers 502", overHTTP(badGateway)},
		{"body-cap", "1MiB", "a body that is larger is refused: 413", bodyCap},
		{"idle-cut", "2s", "a proxy in front cuts a stream that was silent for so long", idleCut},
		{"unparsed", "", "a request is refused as bad JSON", overHTTP(refuseJSON)},
	}
}

// putFault puts a fault, NAME or NAME=VALUE, into the bench.
func putFault(b *bench, s string) error {
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
		return f.put(b, value)
	}
	return fmt.Errorf("no fault is called %q", name)
}

func inHandler(do func(context.Context, *mcp.CallToolRequest)) func(*bench, string) error {
	return func(b *bench, _ string) error {
		b.handler = do
		return nil
	}
}

func neverSerial(b *bench, _ string) error {
	b.serial = true
	b.handler = func(context.Context, *mcp.CallToolRequest) { select {} }
	return nil
}

func stopReading(b *bench, _ string) error {
	b.inlet = readNothing
	b.handler = func(context.Context, *mcp.CallToolRequest) { select {} }
	return nil
}

// rewrite changes a message that the SDK writes; nil drops it. seen are the messages that it has read.
type rewrite func(b *bench, m jsonrpc.Message, seen *readIDs) jsonrpc.Message

func above(r rewrite) func(*bench, string) error {
	return func(b *bench, _ string) error {
		b.messages = func(t mcp.Transport) mcp.Transport { return &rewriting{t, b, r} }
		return nil
	}
}

func slowWrite(b *bench, value string) error {
	d, err := time.ParseDuration(value)
	if err != nil {
		return err
	}
	return above(func(b *bench, m jsonrpc.Message, _ *readIDs) jsonrpc.Message {
		if isAnswer(m) && b.armed.Load() {
			time.Sleep(d)
		}
		return m
	})(b, "")
}

func isAnswer(m jsonrpc.Message) bool {
	_, ok := m.(*jsonrpc.Response)
	return ok
}

func muteCancelled(_ *bench, m jsonrpc.Message, seen *readIDs) jsonrpc.Message {
	if r, ok := m.(*jsonrpc.Response); ok && seen.cancelled(r.ID) {
		return nil
	}
	return m
}

func noAnswer(b *bench, m jsonrpc.Message, _ *readIDs) jsonrpc.Message {
	if isAnswer(m) && b.armed.Swap(false) {
		return nil
	}
	return m
}

func stringIDs(b *bench, m jsonrpc.Message, _ *readIDs) jsonrpc.Message {
	if r, ok := m.(*jsonrpc.Response); ok && b.armed.Load() {
		return withID(r, fmt.Sprint(r.ID.Raw()))
	}
	return m
}

// withID is the answer under another id.
func withID(r *jsonrpc.Response, id string) jsonrpc.Message {
	to, err := jsonrpc.MakeID(id)
	if err != nil {
		return r
	}
	return &jsonrpc.Response{ID: to, Result: r.Result, Error: r.Error}
}

// size reads a number of bytes: 16384, 64KiB, 1MiB.
func size(s string) (int64, error) {
	unit := int64(1)
	for suffix, n := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20} {
		if t, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = t, n
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 {
		return 0, errors.New(strconv.Quote(s) + " is no size")
	}
	return n * unit, nil
}
