package tap

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync/atomic"
	"time"

	"mcpdiag/ingest/frame"
)

// Tee stands between a client and the stdio server that it starts in the server's place. Chunks are forwarded as they come,
// in both directions and independently; a copy of them is recorded.
type Tee struct {
	Command []string  // the server
	Stdin   io.Reader // from the client; closed when the server reads no more, if it can be
	Stdout  io.Writer // to the client; closed when the server writes no more, if it can be
	Stderr  io.Writer // the server's own
	Record  Options   // PID is the server's

	Apart time.Duration // read and written further apart than this are two records; 0: 100 ms
}

const (
	defaultApart = 100 * time.Millisecond
	chunkSize    = 64 << 10 // what a pipe holds
)

// Run starts the server, carries the traffic until the server has ended and what it wrote is forwarded, and returns its exit
// status: 128 and the signal's number when a signal ended it. An error says that the server could not be started.
func (t *Tee) Run() (status int, err error) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, heeded()...)
	defer signal.Stop(signals)
	child, err := t.start()
	if err != nil {
		return 0, err
	}
	t.Record.PID = child.cmd.Process.Pid
	rec, err := Open(t.Record)
	if err != nil {
		child.cmd.Process.Kill()
		<-child.exited
		return 0, err
	}
	rec.Record(&Event{Frame: frame.Frame{Kind: frame.Open}})
	go child.forward(signals)
	t.carry(child, rec)
	rec.Close() // the complaint is out
	return child.status, nil
}

// carry moves the traffic until the server has ended.
func (t *Tee) carry(child *child, rec *Recorder) {
	if t.Apart == 0 {
		t.Apart = defaultApart
	}
	copies := newCopies(copyRoom)
	clerk := newClerk(copies, rec, t.Apart)
	worked := make(chan struct{})
	go func() {
		clerk.work()
		close(worked)
	}()
	in := newPump(frame.C2S, t.Stdin, child.stdin, copies)
	out := newPump(frame.S2C, child.stdout, t.Stdout, copies)
	go in.run() // when the server has gone it may wait for the client for ever, and is left to do so
	go out.run()
	<-child.exited
	out.drain()
	copies.close()
	select {
	case <-worked:
	case <-time.After(clerkPatience):
		rec.Lose(1) // at least
	}
}

// clerkPatience is how long the end waits for the clerk, which works on what is left and never waits for long itself.
const clerkPatience = 10 * time.Second

// child is the server's process.
type child struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	exited chan struct{}
	status int // once it has exited
}

// start starts the server, and keeps the operating system's thread that did: on Linux the server dies with that thread.
func (t *Tee) start() (*child, error) {
	if len(t.Command) == 0 {
		return nil, errors.New("no command to run")
	}
	c := &child{cmd: exec.Command(t.Command[0], t.Command[1:]...), exited: make(chan struct{})}
	stdin, toChild, err := pipe()
	if err != nil {
		return nil, err
	}
	fromChild, stdout, err := pipe()
	if err != nil {
		return nil, err
	}
	c.stdin, c.stdout = toChild, fromChild
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = stdin, stdout, t.Stderr
	dieWithParent(c.cmd)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		started <- c.cmd.Start()
		if c.cmd.Process != nil {
			c.wait()
		}
	}()
	err = <-started
	stdin.Close()
	stdout.Close()
	return c, err
}

func (c *child) wait() {
	stop := watchOver(c.cmd.Process)
	c.cmd.Wait() // the state says more than the error
	stop()
	c.status = exitStatus(c.cmd.ProcessState)
	close(c.exited)
}

// forward passes signals on.
func (c *child) forward(signals <-chan os.Signal) {
	for s := range signals {
		if passedOn(s) {
			c.cmd.Process.Signal(s) // it may be gone
		}
	}
}

// pump carries one direction.
type pump struct {
	dir    frame.Dir
	from   io.Reader
	to     io.Writer
	copies *copies
	moved  atomic.Int64  // reads and writes that ended
	writes atomic.Bool   // it is writing
	done   chan struct{} // it has ended
}

func newPump(dir frame.Dir, from io.Reader, to io.Writer, copies *copies) *pump {
	return &pump{dir: dir, from: from, to: to, copies: copies, done: make(chan struct{})}
}

// run carries chunks until the sender ends or the receiver is gone, and passes on which it was.
func (p *pump) run() {
	defer close(p.done)
	var block []byte
	for {
		block = p.copies.roomIn(block)
		begin := len(block)
		n, err := p.from.Read(block[begin:min(begin+chunkSize, cap(block))])
		p.moved.Add(1)
		if n > 0 {
			chunk := block[begin : begin+n]
			if p.copies.read(p.dir, chunk) {
				block = block[:begin+n]
			}
			if !p.forward(chunk) {
				break
			}
		}
		if err != nil {
			break
		}
	}
	shut(p.to)
	shut(p.from) // the sender is to learn that nobody reads
	p.copies.end(p.dir)
}

func (p *pump) forward(chunk []byte) bool {
	p.writes.Store(true)
	_, err := p.to.Write(chunk)
	p.writes.Store(false)
	p.moved.Add(1)
	if err != nil {
		return false
	}
	p.copies.written(p.dir)
	return true
}

// shut closes one end of a stream, if it can be.
func shut(stream any) {
	if c, ok := stream.(io.Closer); ok {
		c.Close()
	}
}

// lingering is how long a process that the server left behind, and that holds its stdout, may be silent before it is given up.
const lingering = time.Second

// drain waits until what the server wrote is forwarded. A client that reads slowly is waited for; a process that the server left
// behind is, while it has something to say.
func (p *pump) drain() {
	for {
		moved := p.moved.Load()
		select {
		case <-p.done:
			return
		case <-time.After(lingering):
			if !p.writes.Load() && p.moved.Load() == moved {
				return
			}
		}
	}
}
