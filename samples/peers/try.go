package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// result is what the two runs of a trial came to.
type result struct {
	same bool
	what string
}

// patience is how long one run may take.
const patience = 5 * time.Minute

// try runs the trial both ways and joins what was recorded.
func (t *trial) try(ctx context.Context, p *parts) (result, error) {
	if err := errors.Join(os.RemoveAll(t.dir), os.MkdirAll(t.dir, 0o700)); err != nil {
		return result{}, err
	}
	plain, err := t.run(ctx, p, false)
	if err != nil {
		return result{}, err
	}
	recorded, err := t.run(ctx, p, true)
	if err != nil {
		return result{}, err
	}
	for name, out := range map[string]string{"direct.out": plain, "recorded.out": recorded} {
		if err := os.WriteFile(filepath.Join(t.dir, name), []byte(out), 0o600); err != nil {
			return result{}, err
		}
	}
	switch {
	case !strings.Contains(plain, t.want):
		return result{false, "directly it does not say " + t.want}, nil
	case plain != recorded:
		return result{false, "see direct.out and recorded.out"}, nil
	}
	calls, stalled, err := t.join(ctx, p)
	if err != nil {
		return result{}, err
	}
	lines := strings.Split(strings.TrimSpace(plain), "\n")
	what := fmt.Sprintf("%d lines alike; %d calls recorded, %d stalled", len(lines), calls, stalled)
	if t.said != nil {
		what = lines[len(lines)-1] + "; " + what
	}
	return result{stalled == 0 && calls > 0, what}, nil
}

// run is one run of the trial, with or without recorders.
func (t *trial) run(ctx context.Context, p *parts, record bool) (said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var running []*exec.Cmd
	defer func() {
		for _, c := range running {
			c.Process.Signal(syscall.SIGTERM)
		}
		for _, c := range running {
			c.Wait()
		}
	}()
	address := ""
	if t.server != nil {
		at, stop, err := listen(ctx, t.server)
		if err != nil {
			return "", err
		}
		defer stop()
		address = at
	}
	if record && t.server != nil {
		for _, side := range []string{"server", "client"} {
			if side == "client" && t.stdio != nil {
				continue // that side is at a gateway, and is recorded on stdio
			}
			c, at, err := proxy(ctx, p, address, side, filepath.Join(t.dir, side+".log"), t.flags...)
			if err != nil {
				return "", err
			}
			running, address = append(running, c), at
		}
	}
	client := command(ctx, t.commandLine(p, address+t.path, record))
	client.Dir = p.dir
	out, err := client.Output()
	if err != nil && t.said == nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return "", err
	}
	if t.said != nil {
		out = bytes.Join(t.said.FindAll(out, -1), []byte("\n"))
	}
	return string(out), nil
}

// commandLine is the client's command line, with the server's address, or its command and the tees in front of it.
func (t *trial) commandLine(p *parts, url string, record bool) (args []string) {
	for _, a := range t.client {
		switch {
		case a != "SERVER":
			args = append(args, a)
		case t.stdio == nil:
			args = append(args, url)
		default:
			args = append(args, t.serverCommand(p, url, record)...)
		}
	}
	return args
}

func (t *trial) serverCommand(p *parts, url string, record bool) (args []string) {
	if record {
		sides := []string{"client", "server"}
		if t.server != nil {
			sides = sides[:1] // the server's is at the other end of the gateway
		}
		for _, side := range sides { // a client may start a server twice, to probe it: each has its own file
			args = append(args, p.path("mcpdiag"), "tee", "--side", side, "--log-dir", t.dir, "--")
		}
	}
	for _, a := range t.stdio {
		args = append(args, strings.ReplaceAll(a, "URL", url))
	}
	return args
}

func command(ctx context.Context, args []string) *exec.Cmd {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 5 * time.Second
	return c
}

var listening = regexp.MustCompile(`listening on (http://\S+)`)

// proxy starts a recording proxy in front of an address.
func proxy(ctx context.Context, p *parts, upstream, side, log string, flags ...string) (*exec.Cmd, string, error) {
	c := command(ctx, append([]string{p.path("mcpdiag"), "proxy", "--upstream", upstream, "--side", side, "--log", log}, flags...))
	stderr, err := c.StderrPipe()
	if err != nil {
		return nil, "", err
	}
	if err := c.Start(); err != nil {
		return nil, "", err
	}
	r := bufio.NewReader(stderr)
	line, err := r.ReadString('\n')
	m := listening.FindStringSubmatch(line)
	if m == nil {
		return nil, "", fmt.Errorf("the proxy did not start: %s%w", line, err)
	}
	go io.Copy(io.Discard, r)
	return c, m[1], nil
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// reachable waits until a server listens.
func reachable(ctx context.Context, address string) error {
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server does not listen: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// join joins the logs of the recorded run and counts.
func (t *trial) join(ctx context.Context, p *parts) (calls, stalled int, err error) {
	args := []string{"join", "--format", "json"}
	for _, side := range []string{"client", "server"} {
		logs, err := filepath.Glob(filepath.Join(t.dir, side+"*.log"))
		if err != nil || len(logs) == 0 {
			return 0, 0, fmt.Errorf("the %s's side was not recorded", side)
		}
		for _, l := range logs {
			args = append(args, "--"+side, l)
		}
	}
	out, err := exec.CommandContext(ctx, p.path("mcpdiag"), args...).Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() != 2) {
		return 0, 0, fmt.Errorf("join: %w", err)
	}
	var report struct {
		Summary struct{ Calls int }
		Calls   []struct {
			Stalled bool
			Outcome string
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return 0, 0, err
	}
	for _, c := range report.Calls {
		if c.Stalled && c.Outcome != "refused" { // the suite asks for refusals
			stalled++
		}
	}
	return report.Summary.Calls, stalled, os.WriteFile(filepath.Join(t.dir, "join.json"), out, 0o600)
}
