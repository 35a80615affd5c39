// Faultclient is a small MCP client on the official Go SDK that misbehaves on demand.
//
//	faultclient [flags] -- CMD…         runs a server and talks to it on stdio
//	faultclient [flags] --http URL      talks to a server over Streamable HTTP
//	faultclient --list                  what it can do wrong
//
// It makes the calls of its script, one after another, and says on stdout how each went:
//
//	--script "echo; work bytes=20000; pause 1s; work ms=500 & echo"
//
// calls the tools of faultserver; "&" does not wait for the call before it. --log records what the client itself sends and reads,
// above most of its faults: a line that its reader lost is not in it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
	"mcpdiag/ingest/tap/gosdk"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "faultclient: %s\n", err)
		os.Exit(1)
	}
}

type options struct {
	log, url, version string
	timeout           time.Duration
	calls             []call
	command           []string
}

func run(ctx context.Context, args []string, out io.Writer) error {
	c := &client{out: out}
	var o options
	flags := flag.NewFlagSet("faultclient", flag.ContinueOnError)
	flags.StringVar(&o.log, "log", "", "record what the client sends and reads in `FILE`")
	flags.StringVar(&o.url, "http", "", "talk to the server at `URL`")
	flags.StringVar(&o.version, "protocol", "", "speak this protocol `VERSION`")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Second, "give up on a call after this long")
	script := flags.String("script", "echo", "the `CALLS` to make")
	list := flags.Bool("list", false, "list the faults")
	flags.Func("fault", "misbehave: `NAME[=VALUE]`", func(s string) error { return putFault(c, s) })
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *list {
		listFaults(out)
		return nil
	}
	var err error
	if o.calls, err = parseScript(*script); err != nil {
		return err
	}
	o.command = flags.Args()
	if (o.url == "") == (len(o.command) == 0) {
		return errors.New("either --http URL or -- CMD…")
	}
	return c.run(ctx, &o)
}

// client is a client and the places where a fault can be put into it. From the inside out: the messages that the SDK reads and
// writes, the log, the messages below it, and the bytes of the wire.
type client struct {
	out      io.Writer
	rec      *tap.Recorder
	web      *tap.HTTP
	stopping bool                              // close the connection while a call waits
	sampling *mcp.CreateMessageResult          // what it answers; nil and !mute: it is not declared
	hang     bool                              // it takes the server's requests and never answers them
	above    func(mcp.Transport) mcp.Transport // the log
	below    func(mcp.Transport) mcp.Transport // the log
	inlet    func(*client, io.ReadCloser) io.ReadCloser
	outlet   func(*client, io.WriteCloser) io.WriteCloser
	armed    armed
}

func (c *client) run(ctx context.Context, o *options) error {
	rec, err := tap.Open(tap.Options{Program: "faultclient", Side: frame.Client, Log: o.log, Stderr: complaints(o.log)})
	if err != nil {
		return err
	}
	defer rec.Close()
	c.rec = rec
	c.web = &tap.HTTP{Recorder: rec}
	transport, err := c.transport(o)
	if err != nil {
		return err
	}
	sdk := mcp.NewClient(&mcp.Implementation{Name: "faultclient", Version: "1"}, c.options())
	session, err := sdk.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: o.version})
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	c.play(ctx, session, o)
	closeSession(session)
	last, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c.web.Wait(last) // a stream that the SDK has not closed is not waited for
	return nil
}

// complaints is where the recorder complains; without a log its records would go there too.
func complaints(log string) io.Writer {
	if log == "" {
		return nil
	}
	return os.Stderr
}

func (c *client) options() *mcp.ClientOptions {
	var o mcp.ClientOptions
	if c.sampling != nil || c.hang {
		o.CreateMessageHandler = func(ctx context.Context, _ *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			if c.hang {
				select {}
			}
			return c.sampling, nil
		}
	}
	return &o
}

func (c *client) transport(o *options) (mcp.Transport, error) {
	if o.url != "" {
		return &mcp.StreamableClientTransport{Endpoint: o.url, HTTPClient: &http.Client{Transport: c.web.Transport(nil)}}, nil
	}
	p, err := start(o.command)
	if err != nil {
		return nil, err
	}
	var in io.ReadCloser = io.NopCloser(p.stdout)
	var out io.WriteCloser = p
	if c.inlet != nil {
		in = c.inlet(c, in)
	}
	if c.outlet != nil {
		out = c.outlet(c, out)
	}
	var t mcp.Transport
	if c.below == nil {
		t = gosdk.IO(in, out, c.rec)
	} else {
		t = gosdk.Transport(c.below(&mcp.IOTransport{Reader: in, Writer: out}), c.rec)
	}
	if c.above != nil {
		t = c.above(t)
	}
	return t, nil
}

// closeSession closes the session, and does not wait for a server that does not let go.
func closeSession(s *mcp.ClientSession) {
	done := make(chan error, 1)
	go func() { done <- s.Close() }()
	select {
	case <-done: // a fault may have broken it before
	case <-time.After(closeGrace):
	}
}

const closeGrace = 5 * time.Second
