package tapcmd

import (
	"fmt"
	"io"
)

// Env is the world as a command sees it.
type Env struct {
	Program        string // that complains
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Exit           func(status int) // is told what a command that worked wants to exit with
}

// UsageError is a command line that cannot be followed, and what to do about it.
type UsageError struct{ What, Tip string }

func (u *UsageError) Error() string { return u.What }

// Hint is what follows the error on a line of its own.
func (u *UsageError) Hint() string { return u.Tip }

// StartError says that the server could not be started. Its exit status is the one that shells have for that.
type StartError struct{ err error }

func (s *StartError) Error() string { return s.err.Error() }

func (s *StartError) Unwrap() error { return s.err }

// ExitStatus is what to exit with.
func (s *StartError) ExitStatus() int { return 127 }

// examples puts the program's name into them.
func examples(format string, e *Env) string { return fmt.Sprintf(format, e.Program) }
