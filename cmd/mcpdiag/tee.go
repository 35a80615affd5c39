package main

import (
	"github.com/spf13/cobra"

	"mcpdiag/cmd/internal/tapcmd"
)

// tapEnv is the world as the recorders' commands see it.
func tapEnv(e *env) *tapcmd.Env {
	return &tapcmd.Env{Program: "mcpdiag", Stdin: e.stdin, Stdout: e.stdout, Stderr: e.stderr, Exit: func(status int) { e.status = status }}
}

func newTee(e *env) *cobra.Command { return tapcmd.NewTee(tapEnv(e)) }

func newProxy(e *env) *cobra.Command { return tapcmd.NewProxy(tapEnv(e)) }
