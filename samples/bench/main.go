// Bench measures mcpdiag against the bars that the project set itself, side by side with what it is compared to:
//
//	go run ./samples/bench [-quick] [-n 3] [-only native,growth] [-dir DIR]
//
// It builds mcpdiag, mcptap, the generator and the baselines, generates logs, and runs the programs of a group in turns (A B A B …), so
// that a busy machine is busy for all of them. Medians are compared; only the ratios mean anything, and only within one run.
// Every run that counts calls is checked against what the generator planted: a fast wrong answer is no result.
//
// The logs take about 7 GB in all (-quick: 0.6 GB), under DIR or in a temporary folder. DIR is kept and used again, so delete it when
// the generator changes. Exit status: 1 when a program failed or counted wrongly, else 0, also when a bar was missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
)

var errWrong = errors.New("some counts are wrong")

// bench is one run of everything.
type bench struct {
	ctx   context.Context
	n     int      // runs of each command
	quick bool     // small logs
	only  []string // groups to run; empty: all
	root  string   // of the module
	tmp   string   // programs and outputs
	dir   string   // logs
	say   io.Writer
	right int      // runs whose counts were right
	wrong int      // runs whose counts were not
	why   []string // what those said, once each
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	b := &bench{say: os.Stdout}
	only := ""
	flag.IntVar(&b.n, "n", 3, "runs of each command; the median counts")
	flag.BoolVar(&b.quick, "quick", false, "100k calls everywhere: says whether it works, not how fast it is")
	flag.StringVar(&only, "only", "", "comma-separated `groups` to run: "+strings.Join(groupNames(), ", "))
	flag.StringVar(&b.dir, "dir", "", "folder for the logs, kept and used again")
	flag.Parse()
	b.only = strings.FieldsFunc(only, func(r rune) bool { return r == ',' })
	for _, name := range b.only {
		if !slices.Contains(groupNames(), name) {
			log.Fatalf("no group %q", name)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	b.ctx = ctx
	err := b.main()
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// main returns instead of exiting, so that the temporary folder goes away whatever happens.
func (b *bench) main() error {
	tmp, err := os.MkdirTemp("", "mcpdiag-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	b.tmp = tmp
	if b.dir == "" {
		b.dir = filepath.Join(tmp, "logs")
	}
	if err := b.build(); err != nil {
		return err
	}
	fmt.Fprintf(b.say, "%s/%s, %d cores, %s; medians, %d runs of each in turns\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), b.n)
	var rows []row
	for _, g := range groups {
		if len(b.only) > 0 && !slices.Contains(b.only, g.name) {
			continue
		}
		more, err := g.run(b)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		rows = append(rows, more...)
	}
	return b.report(rows)
}

// build makes the programs with the go command that is in the path.
func (b *bench) build() error {
	out, err := exec.CommandContext(b.ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("run me inside the module: %w", err)
	}
	b.root = strings.TrimSpace(string(out))
	for program, pkg := range map[string]string{"mcpdiag": "./cmd/mcpdiag", "mcptap": "./cmd/mcptap", "gen": "./samples/bench/gen",
		"baseline": "./samples/bench/baseline", "pipe": "./samples/bench/pipe"} {
		c := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-o", b.program(program), pkg)
		if program == "mcptap" { // as it is shipped
			c.Args = slices.Insert(c.Args, 2, "-ldflags", "-s -w")
			c.Env = append(os.Environ(), "CGO_ENABLED=0")
		}
		c.Dir = b.root
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	return nil
}

func (b *bench) program(name string) string { return filepath.Join(b.tmp, name) }

// report prints the table, and whether the numbers in it are those of right answers.
func (b *bench) report(rows []row) error {
	w := tabwriter.NewWriter(b.say, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nwhat\tours\ttheirs\tratio\tbar\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.what, r.ours, r.theirs, r.shown(), r.bar(), r.verdict())
	}
	w.Flush()
	if b.wrong > 0 {
		fmt.Fprintf(b.say, "\ncounts: right in %d runs, WRONG in %d:\n  %s\n", b.right, b.wrong, strings.Join(b.why, "\n  "))
		return errWrong
	}
	fmt.Fprintf(b.say, "\ncounts: right in all %d runs that count calls\n", b.right)
	return nil
}
