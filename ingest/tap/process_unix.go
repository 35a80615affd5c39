//go:build unix

package tap

import (
	"os"
	"syscall"
)

// caught are the signals that are passed on to the server, and SIGPIPE: a client that is gone is learnt from the write.
var caught = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGWINCH, syscall.SIGPIPE}

func passedOn(s os.Signal) bool { return s != syscall.SIGPIPE }

// exitStatus is what a shell would say of a process that has ended.
func exitStatus(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
