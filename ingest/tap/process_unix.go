//go:build unix

package tap

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// caught are the signals that are passed on to the server, and SIGPIPE: a client that is gone is learnt from the write.
var caught = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGWINCH, syscall.SIGPIPE}

// passedOn reports whether the server is to get a signal from us. What a terminal sends goes to all of its foreground group, so
// the server has it already: with a second SIGINT some give up their orderly end.
func passedOn(s os.Signal) bool { return passes(s, inForeground()) }

func passes(s os.Signal, foreground bool) bool {
	switch s {
	case syscall.SIGPIPE:
		return false
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGWINCH:
		return !foreground
	}
	return true
}

// inForeground reports whether there is a terminal and this process is in its foreground group.
func inForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// heeded are the signals to be caught. One that is ignored stays so, for the server too, which inherits that: nohup means it.
func heeded() (heed []os.Signal) {
	for _, s := range caught {
		if s == syscall.SIGPIPE || !signal.Ignored(s) {
			heed = append(heed, s)
		}
	}
	return heed
}

// pipe makes a pipe whose ends block and are unknown to Go's poller. With one from os.Pipe each chunk would wake the thread that
// waits in the poller, though nobody waits for the pipe there.
func pipe() (r, w *os.File, err error) {
	var ends [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock() // no process may be started that has the ends open
	if err := syscall.Pipe(ends[:]); err != nil {
		return nil, nil, os.NewSyscallError("pipe", err)
	}
	syscall.CloseOnExec(ends[0])
	syscall.CloseOnExec(ends[1])
	return os.NewFile(uintptr(ends[0]), "pipe"), os.NewFile(uintptr(ends[1]), "pipe"), nil
}

// exitStatus is what a shell would say of a process that has ended.
func exitStatus(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
