package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mcpdiag/cmd/internal/help"
	"mcpdiag/ingest"
)

// Exit statuses.
const (
	exitFine    = 0
	exitStalled = 1 // something is stalled
	exitUsage   = 2 // bad usage, or an input from which no record was read
	exitUnsure  = 3 // nothing is stalled, but a call has no leaf or a log is empty
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second one ends the program at once
	os.Exit(run(ctx, &env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, now: time.Now}, os.Args[1:]))
}

// env is the world as a command sees it, so that tests can run one in process.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	now            func() time.Time
	status         int // what a command that worked wants to exit with
	noProgress     bool
	memory         memory
}

// terminal reports whether w is a terminal, and how wide it is.
func (e *env) terminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return width, err == nil
}

// run is the program: it maps errors to exit statuses, in this one place.
func run(ctx context.Context, e *env, args []string) int {
	root := newRoot(e)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if closing := e.memory.made.Close(); err == nil {
		err = closing
	}
	if err == nil {
		return e.status
	}
	fmt.Fprintf(e.stderr, "mcpdiag: %s\n", err)
	var hinted interface{ hint() string }
	var told interface{ Hint() string }
	var input *ingest.InputError
	switch {
	case errors.As(err, &input) && input.Hint != "":
		fmt.Fprintf(e.stderr, "hint: %s\n", input.Hint)
	case errors.As(err, &hinted):
		fmt.Fprintf(e.stderr, "hint: %s\n", hinted.hint())
	case errors.As(err, &told):
		fmt.Fprintf(e.stderr, "hint: %s\n", told.Hint())
	}
	var status interface{ ExitStatus() int }
	if errors.As(err, &status) {
		return status.ExitStatus()
	}
	return exitUsage
}

// usageError is a command line that cannot be followed.
type usageError struct{ what, tip string }

func (u *usageError) Error() string { return u.what }
func (u *usageError) hint() string  { return u.tip }

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:           "mcpdiag",
		Short:         "Joins the client's and the server's frame log of an MCP session and says where each stalled call stopped",
		Example:       joinExample,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
	}
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.PersistentFlags().BoolVar(&e.noProgress, "no-progress", false, "show no progress on standard error, where a terminal would")
	root.PersistentFlags().StringVar(&e.memory.limit, "memory-limit", "", "a `SIZE` (1GB, 512MiB) to keep to: what does not fit goes to a temporary folder (default: half of the machine's memory)")
	root.AddCommand(newJoin(e), newWatch(e), newThreshold(e), newStages(e), newDeadlines(e), newFrames(e), newSQL(e), newExport(e))
	root.AddCommand(newAudit(e), newTools(e))
	root.AddCommand(newTee(e), newProxy(e), newCost(e))
	root.AddCommand(newFold(e), newShip(e))
	root.AddCommand(newFormats(e), newDemo(e), newMan(e))
	root.SetVersionTemplate(versionLine())
	completeValues(root)
	help.Fit(root)
	return root
}
