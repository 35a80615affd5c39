// Faultlab provokes every fault of faultserver and faultclient, records each through a tee or a proxy on both sides, joins the logs
// with mcpdiag, and prints what was injected against what was diagnosed. Its exit status is 1 when the two differ.
//
//	go run ./samples/faultlab [-run WORD] [-keep DIR]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/olekukonko/tablewriter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	only := flag.String("run", "", "only the faults with `WORD` in their name or cause")
	keep := flag.String("keep", "", "keep the logs in `DIR`")
	flag.Parse()
	failed, err := run(ctx, *only, *keep)
	if err != nil {
		fmt.Fprintf(os.Stderr, "faultlab: %s\n", err)
		os.Exit(2)
	}
	if failed > 0 {
		fmt.Printf("%d differ\n", failed)
		os.Exit(1)
	}
	fmt.Println("all as injected")
}

func run(ctx context.Context, only, keep string) (failed int, err error) {
	dir := keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "faultlab"); err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
	}
	l := &lab{bin: filepath.Join(dir, "bin"), recorder: "mcpdiag", patience: time.Minute}
	l.join = l.runJoin
	if err := l.build(ctx); err != nil {
		return 0, err
	}
	table := tablewriter.NewWriter(os.Stdout)
	table.Header("injected", "transport", "logs", "leaf", "cause", "diagnosed", "")
	for i, t := range trials() {
		if !strings.Contains(t.fault+" "+t.cause, only) {
			continue
		}
		got, err := l.try(ctx, &t, filepath.Join(dir, fmt.Sprintf("%02d", i)))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", t.fault, err)
		}
		verdict := "ok"
		if !t.agrees(got) {
			verdict = "DIFFERS"
			failed++
		}
		table.Append(t.fault, t.transport(), t.client+" + "+t.server, t.leaf, t.want(), got.String(), verdict)
	}
	return failed, table.Render()
}

// build builds the programs of the lab.
func (l *lab) build(ctx context.Context) error {
	if err := os.MkdirAll(l.bin, 0o700); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", l.bin+string(filepath.Separator), "./cmd/"+l.recorder, "./samples/faultserver", "./samples/faultclient")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	return nil
}
