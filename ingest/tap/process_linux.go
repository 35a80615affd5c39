package tap

import (
	"os"
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel kill the server when the thread that starts it ends, however that comes.
func dieWithParent(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// watchOver has nothing to do here.
func watchOver(*os.Process) (stop func()) { return func() {} }

// yield lets other threads have the processor, those of other processes too: runtime.Gosched knows only the program's own.
func yield() { syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
