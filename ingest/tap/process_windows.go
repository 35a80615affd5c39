package tap

import (
	"os"
	"os/exec"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

// caught: here the console tells every process by itself.
var caught = []os.Signal{os.Interrupt}

func heeded() []os.Signal { return caught }

func passedOn(os.Signal) bool { return false }

// pipe makes a pipe whose ends block, as they all do here.
func pipe() (r, w *os.File, err error) { return os.Pipe() }

func exitStatus(s *os.ProcessState) int { return s.ExitCode() }

// dieWithParent: see watchOver.
func dieWithParent(*exec.Cmd) {}

// watchOver puts the server into a job that ends when the recorder's last handle to it goes, which is when the recorder does.
func watchOver(p *os.Process) (stop func()) {
	none := func() {}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return none
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	p.WithHandle(func(handle uintptr) { windows.AssignProcessToJobObject(job, windows.Handle(handle)) })
	return none
}

// yield lets others have the processor.
func yield() { runtime.Gosched() }
