package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// lab knows where its programs are.
type lab struct {
	bin      string
	recorder string        // the program that is tee and proxy
	patience time.Duration // that a trial gets
	join     func(ctx context.Context, t *trial, dir string) (verdict, error)
}

func (l *lab) program(name string) string { return filepath.Join(l.bin, name) }

// The logs of a trial: inside both processes, and at the wire in front of both.
const (
	clientLog, clientWire = "client.log", "client-wire.log"
	serverLog, serverWire = "server.log", "server-wire.log"
)

func logOf(side, where string) string {
	if where == wire {
		return side + "-wire.log"
	}
	return side + ".log"
}

// try provokes the fault, joins the logs and says what was diagnosed.
func (l *lab) try(ctx context.Context, t *trial, dir string) (verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)) // recorders append
	if err != nil {
		return verdict{}, err
	}
	if t.http == "" {
		err = l.overStdio(ctx, t, dir)
	} else {
		err = l.overHTTP(ctx, t, dir)
	}
	if err != nil {
		return verdict{}, err
	}
	return l.join(ctx, t, dir)
}

// faults are the --fault flags of a side.
func (t *trial) faults(client bool) (flags []string) {
	for _, f := range append([]string{t.fault}, t.with...) {
		name, isClient := strings.CutPrefix(f, "client:")
		if isClient == client && !strings.Contains(name, " ") { // a fault of several words is in the script alone
			flags = append(flags, "--fault", name)
		}
	}
	return flags
}

func (l *lab) client(t *trial, dir string) []string {
	timeout := t.timeout
	if timeout == "" {
		timeout = "500ms"
	}
	args := append([]string{"--log", filepath.Join(dir, clientLog), "--script", t.script, "--timeout", timeout}, t.faults(true)...)
	if t.legacy {
		args = append(args, "--protocol", "2025-11-25")
	}
	return args
}

// overStdio runs client, tee, tee and server in a row.
func (l *lab) overStdio(ctx context.Context, t *trial, dir string) error {
	args := append(l.client(t, dir), "--",
		l.program(l.recorder), "tee", "--side", "client", "--log", filepath.Join(dir, clientWire), "--",
		l.program(l.recorder), "tee", "--log", filepath.Join(dir, serverWire), "--",
		l.program("faultserver"), "--log", filepath.Join(dir, serverLog))
	return l.run(ctx, dir, append(args, t.faults(false)...))
}

// overHTTP runs the client against a proxy in front of a proxy in front of the server.
func (l *lab) overHTTP(ctx context.Context, t *trial, dir string) error {
	ctx, cancel := context.WithCancel(ctx)
	var running []*exec.Cmd
	defer func() {
		for _, c := range running {
			c.Process.Signal(syscall.SIGTERM)
		}
		for _, c := range running {
			c.Wait()
		}
		cancel()
	}()
	address := ""
	for _, args := range [][]string{
		append([]string{"faultserver", "--http", "127.0.0.1:0", "--log", filepath.Join(dir, serverLog)}, t.faults(false)...),
		{l.recorder, "proxy", "--log", filepath.Join(dir, serverWire)},
		{l.recorder, "proxy", "--side", "client", "--log", filepath.Join(dir, clientWire)},
	} {
		if address != "" {
			args = append(args, "--upstream", address)
		}
		c, at, err := l.serve(ctx, args)
		if err != nil {
			return err
		}
		running, address = append(running, c), at
	}
	return l.run(ctx, dir, append(l.client(t, dir), "--http", address+t.http))
}

// listening is how a program says where it can be reached.
var listening = regexp.MustCompile(`listening on (http://[^/\s]+)`)

// serve starts a program and waits until it says where it listens.
func (l *lab) serve(ctx context.Context, args []string) (*exec.Cmd, string, error) {
	c := exec.CommandContext(ctx, l.program(args[0]), args[1:]...)
	stderr, err := c.StderrPipe()
	if err != nil {
		return nil, "", err
	}
	if err := c.Start(); err != nil {
		return nil, "", err
	}
	r := bufio.NewReader(stderr)
	for {
		line, err := r.ReadString('\n')
		if m := listening.FindStringSubmatch(line); m != nil {
			go io.Copy(io.Discard, r)
			return c, m[1], nil
		}
		if err != nil {
			return nil, "", fmt.Errorf("%s did not start: %s", args[0], line)
		}
	}
}

// run runs the client to its end. That it fails is the point of some faults; what it says is kept.
func (l *lab) run(ctx context.Context, dir string, args []string) error {
	out, err := exec.CommandContext(ctx, l.program("faultclient"), args...).CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("the client did not end: %s", out)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "client.out"), out, 0o600)
}

// verdict is what was diagnosed of the call that is judged.
type verdict struct {
	Leaf, NoLeaf string
	Causes       []cause
}

type cause struct{ Cause, Status string }

func (v verdict) String() string {
	var causes []string
	for _, c := range v.Causes {
		s := c.Cause
		if c.Status != "found" {
			s += "?"
		}
		causes = append(causes, s)
	}
	if v.place() == "" {
		return "no such call has a problem"
	}
	return v.place() + " " + strings.Join(causes, " ")
}

func (v verdict) place() string {
	if v.Leaf != "" {
		return v.Leaf
	}
	return v.NoLeaf
}

// agrees reports whether the diagnosis is what was injected: the leaf, and the cause as the first that is found or, where the
// logs cannot prove it, among the candidates.
func (t *trial) agrees(v verdict) bool {
	if v.place() != t.leaf {
		return false
	}
	for i, c := range v.Causes {
		if c.Cause == t.cause {
			return t.candidate || i == 0 && c.Status == "found"
		}
	}
	return false
}

func (t *trial) want() string {
	if t.candidate {
		return t.cause + "?"
	}
	return t.cause
}

func (t *trial) transport() string {
	if t.http == "" {
		return "stdio"
	}
	return "HTTP " + t.http
}

// runJoin runs mcpdiag join on the logs.
func (l *lab) runJoin(ctx context.Context, t *trial, dir string) (verdict, error) {
	args := append([]string{"join", "--format", "json"}, t.join...)
	c := exec.CommandContext(ctx, l.program("mcpdiag"), append(args, logOf("client", t.client), logOf("server", t.server))...)
	c.Dir = dir
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() != 2) {
		return verdict{}, fmt.Errorf("join: %w: %s", err, complaint.String())
	}
	if err := os.WriteFile(filepath.Join(dir, "join.json"), out, 0o600); err != nil {
		return verdict{}, err
	}
	return judged(t, out)
}

// judged finds the call that is judged: the first of its tool, or method, that has a problem.
func judged(t *trial, report []byte) (verdict, error) {
	var r struct {
		Calls []struct {
			Method, Name, Leaf   string
			NoLeafReason         string `json:"no_leaf_reason"`
			Stalled, Slow, Quiet bool
			Causes               []cause
		}
	}
	if err := json.Unmarshal(report, &r); err != nil {
		return verdict{}, err
	}
	name := t.judged
	if name == "" {
		name = "work"
	}
	for _, c := range r.Calls {
		if (c.Name == name || c.Method == name) && (c.Stalled || c.Slow || c.Quiet || c.Leaf == "") {
			return verdict{c.Leaf, c.NoLeafReason, c.Causes}, nil
		}
	}
	return verdict{}, nil
}
