package tapcmd

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"mcpdiag/ingest/frame"
	"mcpdiag/ingest/tap"
)

const teeLong = `Stands between a client and the stdio server CMD that it starts in the server's place, forwards every byte as it comes, both ways,
and records one line for each message: native frame log v1, metadata only unless --payload asks for more. Nothing that can go wrong with
the log touches the traffic: it costs one line on stderr, and what was lost is counted in a "gap" record.

A message that was read and could not be written for a while has two records, phase "read" and phase "written": a peer that does not
drain shows. A line that is no JSON-RPC message is an "invalid" record. The end of the input, signals, stderr and the exit status pass; the
server does not outlive the tee.

Put one in front of the server and one around the client's view of it (--side client) to have both logs that join asks for.

Exit status: the server's, 128 and the signal's number when a signal ended it, 127 when it could not be started, 2 for bad usage.`

const teeExample = `  %[1]s tee --log server.log -- node server.js
  %[1]s tee --side client --log client.log -- ssh host %[1]s tee --log server.log -- ./server
  %[1]s tee --log-dir logs --payload 4096 --redact token,password -- ./server --port 3
  %[1]s tee --stall-after 30s --log server.log -- ./server`

// NewTee is the command `tee`.
func NewTee(e *Env) *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:     "tee [flags] -- CMD [ARG…]",
		Short:   "Record what passes between a client and a stdio server",
		Long:    teeLong,
		Example: examples(teeExample, e),
		RunE:    func(_ *cobra.Command, args []string) error { return runTee(e, &f, args) },
	}
	c.Flags().SetInterspersed(false) // flags behind CMD are the server's
	f.register(c, frame.Server)
	return c
}

// A tee shares its cores with the client and the server. At least so many of its goroutines run at once, for the kernel is quicker
// than Go to let traffic pass a recorder that works; and a burst is not collected while it lasts.
const (
	leastThreads = 4
	gcPercent    = 400
)

func runTee(e *Env, f *recordFlags, args []string) error {
	if len(args) == 0 {
		return &UsageError{"no command to stand in front of", e.Program + " tee --log server.log -- CMD…"}
	}
	o, err := f.options(e)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), leastThreads))
	debug.SetGCPercent(gcPercent)
	t := tap.Tee{Command: args, Stdin: e.Stdin, Stdout: e.Stdout, Stderr: e.Stderr, Record: o}
	status, err := t.Run()
	if err != nil {
		return &StartError{err}
	}
	e.Exit(status)
	return nil
}
