//go:build unix && !linux

package tap

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// dieWithParent: this kernel cannot. See watchOver.
func dieWithParent(*exec.Cmd) {}

// watchOver ends the server when the recorder's own parent goes: nobody is there to talk to it.
func watchOver(p *os.Process) (stop func()) {
	done := make(chan struct{})
	parent := os.Getppid()
	go func() {
		for os.Getppid() == parent {
			select {
			case <-done:
				return
			case <-time.After(time.Second):
			}
		}
		p.Signal(syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(2 * time.Second):
			p.Kill()
		}
	}()
	return func() { close(done) }
}

// yield lets others have the processor.
func yield() { runtime.Gosched() }
