package tapcmd

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
)

const proxyLong = `Stands in front of a server that speaks MCP over Streamable HTTP, of either era, and records one line for each message of both
directions: JSON bodies, server-sent events, batches, GET streams. Each record names its HTTP exchange, connection, session and status; how
a stream ended, and what the transport refused, are records too. Bodies pass untouched and at once. What is compressed is unpacked in
the copy alone; of a copy at most --max-body is kept.

It listens on a loopback address unless told otherwise, and refuses a Host or Origin that is not of this machine or allowed by a flag, as
a web page's request by DNS rebinding would have. The Host goes on to the upstream, whose own check still works. Redirects pass to the
client. Headers, paths and queries are not recorded, and what is sent to other endpoints is not quoted: credentials travel in them.

--measure adds to each answer the size and a token estimate of its result over the canonical JSON, and the fingerprints of the tools in an
answer to tools/list: enough to meter answers and to watch tools without recording payloads.`

const proxyExample = `  %[1]s proxy --upstream http://127.0.0.1:3001/mcp --listen 127.0.0.1:8080 --log server.log
  %[1]s proxy --upstream https://mcp.example/mcp --side client --log client.log --hash-sessions
  %[1]s proxy --upstream http://127.0.0.1:3001 --listen 0.0.0.0:8080 --allow-host mcp.example --log server.log`

// proxyFlags are the flags of proxy.
type proxyFlags struct {
	record           recordFlags
	upstream, listen string
	hosts, origins   []string
	hash, measure    bool
	maxBody          int
}

// NewProxy is the command `proxy`.
func NewProxy(e *Env) *cobra.Command {
	var f proxyFlags
	c := &cobra.Command{
		Use:     "proxy --upstream URL [flags]",
		Short:   "Record what passes between clients and a Streamable HTTP server",
		Long:    proxyLong,
		Example: examples(proxyExample, e),
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runProxy(c.Context(), e, &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.upstream, "upstream", "", "the server's `URL`; its path is where / leads, and a request that has it keeps it")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "listen at `ADDR`; port 0 is any that is free")
	flags.StringSliceVar(&f.hosts, "allow-host", nil, "take requests for this `HOST` too, with a port or for every port; * is all, but of no more origins")
	flags.StringSliceVar(&f.origins, "allow-origin", nil, "take requests with this `ORIGIN` too, as scheme://host[:port]; * is all")
	flags.BoolVar(&f.hash, "hash-sessions", false, "record a hash of each session id instead of the id")
	flags.BoolVar(&f.measure, "measure", false, "record the size of results and the fingerprints of tools")
	flags.IntVar(&f.maxBody, "max-body", 64<<20, "keep at most this many `BYTES` of the copy of a body until it is understood")
	f.record.register(c, frame.Server)
	return c
}

func runProxy(ctx context.Context, e *Env, f *proxyFlags) error {
	if f.upstream == "" {
		return &UsageError{"no upstream given", e.Program + " proxy --upstream http://127.0.0.1:3001/mcp --log server.log"}
	}
	upstream, err := tap.ParseUpstream(f.upstream)
	if err != nil {
		return &UsageError{"--upstream: " + frame.Escape(err.Error()), "--upstream http://127.0.0.1:3001/mcp"}
	}
	if f.maxBody <= 0 {
		return &UsageError{"--max-body has to be positive", "it bounds the copy; the stream is never cut"}
	}
	o, err := f.record.options(e)
	if err != nil {
		return err
	}
	l, err := f.bind()
	if err != nil {
		return err
	}
	rec, err := tap.Open(o)
	if err != nil {
		l.Close()
		return err
	}
	defer rec.Close()
	h := &tap.HTTP{Recorder: rec, HashSessions: f.hash, MaxBody: f.maxBody}
	if f.measure {
		h.Measure = tap.MeasureAnswers
	}
	fmt.Fprintf(e.Stderr, "%s: listening on http://%s\n", e.Program, l.Addr())
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return h.ServeProxy(ctx, l, upstream, tap.Guard{Hosts: f.hosts, Origins: f.origins})
}

// bind listens. An address that other machines reach needs a word on who may be meant by it: every name of this machine is then
// somebody else's too.
func (f *proxyFlags) bind() (net.Listener, error) {
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return nil, &UsageError{"--listen: " + frame.Escape(err.Error()), "--listen 127.0.0.1:0 takes any free port"}
	}
	if a, ok := l.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() && len(f.hosts) == 0 {
		l.Close()
		return nil, &UsageError{fmt.Sprintf("--listen %s is not a loopback address", frame.Escape(f.listen)),
			"name the hosts that requests may be for: --allow-host mcp.example"}
	}
	return l, nil
}
