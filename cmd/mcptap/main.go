// Mcptap is the recorders of mcpdiag alone, as one small static binary: what has to stand in front of a server should cost no more
// than standing there.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"mcpdiag/cmd/internal/build"
	"mcpdiag/cmd/internal/help"
	"mcpdiag/cmd/internal/tapcmd"
)

func main() {
	status := 0
	e := &tapcmd.Env{Program: "mcptap", Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: func(s int) { status = s }}
	if err := newRoot(e).Execute(); err != nil {
		status = complain(e, err)
	}
	os.Exit(status)
}

func newRoot(e *tapcmd.Env) *cobra.Command {
	root := &cobra.Command{
		Use:           "mcptap",
		Short:         "Records what passes between an MCP client and its server, as frame logs that mcpdiag joins",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       build.Version(),
	}
	root.SetVersionTemplate(build.Line("mcptap"))
	root.AddCommand(tapcmd.NewTee(e), tapcmd.NewProxy(e))
	help.Fit(root)
	return root
}

// complain says what is wrong, and with what status to exit.
func complain(e *tapcmd.Env, err error) int {
	fmt.Fprintf(e.Stderr, "mcptap: %s\n", err)
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		fmt.Fprintf(e.Stderr, "hint: %s\n", hinted.Hint())
	}
	var status interface{ ExitStatus() int }
	if errors.As(err, &status) {
		return status.ExitStatus()
	}
	return 2
}
