// Package cluster runs a ClickHouse of two shards on this machine: two servers on loopback, each with a folder and ports of its own,
// which know each other as one cluster. It is a real cluster, as small as one can be: tests kill a shard of it and start it again.
package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"text/template"
	"time"

	_ "embed"
)

// Name is what the servers call the cluster.
const Name = "fleet"

// User and Password are an account that both servers have, beside the one without a password.
const (
	User     = "reporter"
	Password = "s3cret/:@ü"
)

//go:embed config.xml
var config string

//go:embed users.xml
var users string

// Cluster is the running servers.
type Cluster struct {
	Shards []*Shard
}

// Shard is one of them.
type Shard struct {
	HTTP, TCP, Interserver int // ports
	Dir                    string
	server                 *exec.Cmd
	ended                  chan struct{}
}

// startTime bounds how long a server may take to answer.
const startTime = 60 * time.Second

// Start starts the servers, with their folders below dir, and waits until each answers.
func Start(ctx context.Context, dir string) (*Cluster, error) {
	if _, err := exec.LookPath("clickhouse-server"); err != nil {
		return nil, errors.New("clickhouse-server is not on the PATH: Debian has it in the package of that name")
	}
	c := &Cluster{}
	for k := range 2 {
		ports, err := freePorts(3)
		if err != nil {
			return nil, err
		}
		c.Shards = append(c.Shards, &Shard{HTTP: ports[0], TCP: ports[1], Interserver: ports[2], Dir: filepath.Join(dir, fmt.Sprintf("shard%d", k+1))})
	}
	for _, s := range c.Shards {
		if err := errors.Join(s.configure(c), s.Start(ctx)); err != nil {
			c.Stop()
			return nil, err
		}
	}
	return c, nil
}

// Stop ends the servers.
func (c *Cluster) Stop() {
	for _, s := range c.Shards {
		s.Kill()
	}
}

// Address is where mcpdiag finds a database of the cluster, by way of this shard.
func (s *Shard) Address(database string) string {
	return fmt.Sprintf("clickhouse://127.0.0.1:%d/%s?cluster=%s", s.HTTP, database, Name)
}

func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // all at once, or the next might get the same
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// configure writes the files that the server reads.
func (s *Shard) configure(c *Cluster) error {
	if err := os.MkdirAll(filepath.Join(s.Dir, "data"), 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{"config.xml": config, "users.xml": users} {
		t, err := template.New(name).Parse(text)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, map[string]any{"Shard": s, "Shards": c.Shards, "Name": Name, "User": User, "Password": Password}); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.Dir, name), b.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Start starts the server, again after Kill, and waits until it answers.
func (s *Shard) Start(ctx context.Context) error {
	s.server = exec.Command("clickhouse-server", "--config-file="+filepath.Join(s.Dir, "config.xml"))
	s.server.Dir = s.Dir
	output, err := os.OpenFile(filepath.Join(s.Dir, "output"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer output.Close()
	s.server.Stdout, s.server.Stderr = output, output
	if err := s.server.Start(); err != nil {
		return err
	}
	s.ended = make(chan struct{})
	go func() { s.server.Wait(); close(s.ended) }()
	return s.answers(ctx)
}

func (s *Shard) answers(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, startTime)
	defer stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/ping", s.HTTP), nil)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(r); err == nil {
			answer.Body.Close()
			return nil
		}
		select {
		case <-s.ended:
			text, _ := os.ReadFile(filepath.Join(s.Dir, "output"))
			return fmt.Errorf("clickhouse-server ended: %.2000s", text)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Kill ends the server at once, as a crash does.
func (s *Shard) Kill() {
	if s.server != nil && s.server.Process != nil {
		s.server.Process.Kill()
		<-s.ended
	}
}
