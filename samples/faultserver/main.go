// Faultserver is a small MCP server on the official Go SDK that misbehaves on demand, on stdio or over HTTP.
//
//	faultserver [--log FILE] [--fault NAME[=VALUE]]…              on stdio
//	faultserver --http ADDR [--log FILE] [--fault NAME[=VALUE]]…  at http://ADDR/mcp, and the SDK's own handler at /sdk
//	faultserver --list                                            what it can do wrong
//
// Its tools echo and work do the same: they answer with as many bytes, after as much time as they are asked to. Only work has
// the fault. --log records what the server itself reads, does and writes; most faults lie below that log and do not show in it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
	"mcpdiag/ingest/tap/gosdk"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "faultserver: %s\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	b := &bench{invalid: func([]byte) {}}
	flags := flag.NewFlagSet("faultserver", flag.ContinueOnError)
	log := flags.String("log", "", "record what the server reads, does and writes in `FILE`")
	addr := flags.String("http", "", "serve HTTP at `ADDR` instead of stdio")
	list := flags.Bool("list", false, "list the faults")
	flags.Func("fault", "misbehave: `NAME[=VALUE]`", func(s string) error { return putFault(b, s) })
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *list {
		listFaults(os.Stdout)
		return nil
	}
	rec, err := record(*log)
	if err != nil {
		return err
	}
	defer rec.Close()
	b.invalid = func(line []byte) { recordInvalid(rec, line) }
	s := newServer(b)
	s.AddReceivingMiddleware(gosdk.Middleware(rec))
	if b.serial {
		s.AddReceivingMiddleware(oneByOne)
	}
	if *addr != "" {
		return serveHTTP(ctx, *addr, b.handlers(s, rec))
	}
	return serveStdio(ctx, b, s, rec, os.Stdin, os.Stdout)
}

func listFaults(w io.Writer) {
	for _, f := range faults() {
		name := f.name
		if f.value != "" {
			name += "=" + f.value
		}
		fmt.Fprintf(w, "%-18s %s\n", name, f.injects)
	}
}

// record opens the server's log. Without one its records go nowhere.
func record(log string) (*tap.Recorder, error) {
	o := tap.Options{Program: "faultserver", Side: frame.Server, Log: log}
	if log != "" {
		o.Stderr = os.Stderr
	}
	return tap.Open(o)
}

func recordInvalid(rec *tap.Recorder, line []byte) {
	var e tap.Event
	e.Kind, e.Dir, e.Bytes, e.Rows = frame.Invalid, frame.C2S, int64(len(line)), frame.Unknown
	e.Extra().Raw = line[:min(len(line), 200)]
	rec.Record(&e)
}

// oneByOne lets one call at a time through to its handler.
func oneByOne(next mcp.MethodHandler) mcp.MethodHandler {
	var turn sync.Mutex
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if strings.HasPrefix(method, "notifications/") {
			return next(ctx, method, r)
		}
		turn.Lock()
		defer turn.Unlock()
		return next(ctx, method, r)
	}
}

// serveStdio serves one session. The log stands between the SDK and the faults of the wire.
func serveStdio(ctx context.Context, b *bench, s *mcp.Server, rec *tap.Recorder, in io.ReadCloser, out io.WriteCloser) error {
	if b.inlet != nil {
		in = b.inlet(b, in)
	}
	if b.outlet != nil {
		out = b.outlet(b, out)
	}
	var t mcp.Transport = gosdk.IO(in, out, rec)
	if b.messages != nil {
		t = b.messages(t)
	}
	err := s.Run(ctx, t)
	out.Close()
	return err
}

// handlers are the server's HTTP side: the endpoint at /mcp and the SDK's own at /sdk.
func (b *bench) handlers(s *mcp.Server, rec *tap.Recorder) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mcp", newEndpoint(s))
	mux.Handle("/sdk", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	h := gosdk.Handler(&tap.HTTP{Recorder: rec}, mux)
	if b.layer != nil {
		return b.layer(b, h)
	}
	return h
}

// serveHTTP says on stderr where it listens: port 0 is any.
func serveHTTP(ctx context.Context, addr string, h http.Handler) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "faultserver: listening on http://%s/mcp\n", l.Addr())
	server := &http.Server{Handler: h}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}
