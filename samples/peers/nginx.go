package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// nginxConfig is a proxy that gives up on a server that is silent for a second, in front of an address.
const nginxConfig = `
daemon off; pid nginx.pid; error_log error.log; worker_processes 1;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen 127.0.0.1:%s;
    location / {
      proxy_pass %s; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;
      proxy_buffering off; proxy_read_timeout 1s;
    }
  }
}
`

// nginx finds nginx, or unpacks Debian's package into the folder of the parts.
func (p *parts) nginx(ctx context.Context) (string, error) {
	if path, err := exec.LookPath("nginx"); err == nil {
		return path, nil
	}
	path := p.path("usr/sbin/nginx")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := p.command(ctx, p.dir, "apt-get", "download", "nginx"); err != nil {
		return "", fmt.Errorf("nginx is not installed and cannot be had from Debian (apt-get update may help): %w", err)
	}
	packages, err := filepath.Glob(p.path("nginx_*.deb"))
	if err != nil || len(packages) == 0 {
		return "", errors.New("apt-get download left no nginx package")
	}
	return path, p.command(ctx, p.dir, "dpkg", "-x", packages[0], p.dir)
}

// idleCut puts nginx between a recorded client and a recorded server, whose call is silent for longer than nginx waits.
func idleCut(ctx context.Context, p *parts) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dir := p.path("logs-nginx")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return result{}, err
	}
	if err := p.command(ctx, "", "go", "build", "-o", p.dir+string(filepath.Separator), "./samples/faultserver", "./samples/faultclient"); err != nil {
		return result{}, err
	}
	nginx, err := p.nginx(ctx)
	if err != nil {
		return result{}, err
	}
	server, stop, err := listen(ctx, func(port string) []string {
		return []string{p.path("faultserver"), "--http", "127.0.0.1:" + port, "--log", filepath.Join(dir, "server.log")}
	})
	if err != nil {
		return result{}, err
	}
	defer stop()
	config := filepath.Join(dir, "nginx.conf")
	between, stop, err := listen(ctx, func(port string) []string {
		err = os.WriteFile(config, fmt.Appendf(nil, nginxConfig, port, server), 0o600)
		return []string{nginx, "-p", dir, "-c", config, "-e", "error.log"}
	})
	if err != nil {
		return result{}, err
	}
	defer stop()
	front, address, err := proxy(ctx, p, between, "client", filepath.Join(dir, "client.log"))
	if err != nil {
		return result{}, err
	}
	defer front.Wait()
	defer front.Process.Signal(syscall.SIGTERM)
	client := command(ctx, []string{p.path("faultclient"), "--http", address + "/mcp", "--protocol", "2025-11-25", "--script", "echo; work ms=2500; pause 2500ms; echo", "--timeout", "20s"})
	if out, err := client.CombinedOutput(); err != nil {
		return result{}, fmt.Errorf("%w: %s", err, out)
	}
	return cutDiagnosed(ctx, p, dir)
}

// listen starts a server at a free port and waits until it is there.
func listen(ctx context.Context, args func(port string) []string) (address string, stop func(), err error) {
	port, err := freePort()
	if err != nil {
		return "", nil, err
	}
	c := command(ctx, args(port))
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		c.Process.Signal(syscall.SIGTERM)
		c.Wait()
	}
	if err := reachable(ctx, "127.0.0.1:"+port); err != nil {
		stop()
		return "", nil, err
	}
	return "http://127.0.0.1:" + port, stop, nil
}

// cutDiagnosed checks what join says of the one call that was cut.
func cutDiagnosed(ctx context.Context, p *parts, dir string) (result, error) {
	out, err := exec.CommandContext(ctx, p.path("mcpdiag"), "join", "--format", "json", filepath.Join(dir, "client.log"), filepath.Join(dir, "server.log")).Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return result{}, fmt.Errorf("join: %w", err)
	}
	var report struct {
		Calls []struct {
			Name, Leaf string
			Stalled    bool
			Causes     []struct{ Cause, Status, Evidence string }
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return result{}, err
	}
	for _, c := range report.Calls {
		if c.Stalled && c.Name == "work" && len(c.Causes) > 0 {
			cause := c.Causes[0]
			return result{c.Leaf == "written_not_read" && cause.Cause == "sse_dropped" && cause.Status == "found", c.Leaf + ", " + cause.Cause + " " + cause.Status}, nil
		}
	}
	return result{false, "the call that was cut is not stalled"}, nil
}
