package main

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// process is a server that the client has started.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	once   sync.Once
}

func start(command []string) (*process, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{cmd: cmd, stdin: stdin, stdout: stdout}, cmd.Start()
}

// Write writes to the server.
func (p *process) Write(b []byte) (int, error) { return p.stdin.Write(b) }

// patience is how long the server may take to end by itself (spec, stdio shutdown).
const patience = 2 * time.Second

// Close ends the server as clients do: its input first.
func (p *process) Close() error {
	p.once.Do(func() {
		p.stdin.Close()
		kill := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
		defer kill.Stop()
		p.cmd.Process.Wait() // cmd.Wait would close stdout while it is read
	})
	return nil
}
