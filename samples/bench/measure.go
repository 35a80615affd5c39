package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// command is one program to be measured.
type command struct {
	name   string
	argv   []string
	report string // file with the counts; empty: they are on stdout
	truth  *counts
	status []int // exit statuses that are findings, not failures
}

// finished tells an exit status that is an answer from a failure.
func (c command) finished(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && slices.Contains(c.status, exit.ExitCode())
}

// sample is what was measured of a command.
type sample struct {
	times []time.Duration // sorted
	rss   int64           // bytes, the highest of all runs; 0: not known here
}

func (s sample) median() time.Duration { return s.times[len(s.times)/2] }

func (s sample) String() string {
	if len(s.times) == 1 {
		return fmt.Sprintf("%.3g s (one run)", s.median().Seconds())
	}
	return fmt.Sprintf("%.3g s (%.3g–%.3g)", s.median().Seconds(), s.times[0].Seconds(), s.times[len(s.times)-1].Seconds())
}

// mcpdiag is the command under test, as a person runs it: the text report. Exit status 1 says that something stalled, which
// was planted; 3 that a call has no leaf.
func (b *bench) mcpdiag(p pair) command { return b.joined(p, p.client, p.server) }

// joined is mcpdiag join with arguments of its own, about the same calls.
func (b *bench) joined(p pair, args ...string) command {
	out := filepath.Join(b.tmp, "report.txt")
	argv := append([]string{b.program("mcpdiag"), "join", "-o", out}, args...)
	return command{name: "mcpdiag " + p.name, argv: argv, report: out, truth: &p.truth, status: []int{1, 3}}
}

func (b *bench) duckdb(p pair) command {
	sql := filepath.Join(b.root, "samples", "bench", "duckdb_only.sql")
	return command{name: "duckdb " + p.name, argv: []string{b.program("baseline"), "-sql", sql, p.client, p.server}, truth: &p.truth}
}

func (b *bench) naive(p pair) command {
	script := filepath.Join(b.root, "samples", "bench", "naive.py")
	return command{name: "naive " + p.name, argv: []string{"python3", script, p.client, p.server}, truth: &p.truth}
}

func wc(p pair) command {
	return command{name: "wc " + p.name, argv: []string{"wc", "-l", p.client, p.server}}
}

// measure runs the commands in turns, n times each.
func (b *bench) measure(n int, commands ...command) ([]sample, error) {
	samples := make([]sample, len(commands))
	for range n {
		for i, c := range commands {
			took, rss, err := b.once(c)
			if err != nil {
				return nil, err
			}
			samples[i].times = append(samples[i].times, took)
			samples[i].rss = max(samples[i].rss, rss)
		}
	}
	for _, s := range samples {
		slices.Sort(s.times)
	}
	return samples, nil
}

// once runs a command and checks what it counted.
func (b *bench) once(c command) (time.Duration, int64, error) {
	var stdout, stderr bytes.Buffer
	if c.report != "" {
		os.Remove(c.report) // an old report must not pass for a new one
	}
	cmd := exec.CommandContext(b.ctx, c.argv[0], c.argv[1:]...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil && !c.finished(err) {
		return 0, 0, fmt.Errorf("%s: %w\n%s", c.name, err, tail(stderr.Bytes()))
	}
	if err := b.check(c, &stdout); err != nil {
		return 0, 0, fmt.Errorf("%s: %w\n%s", c.name, err, tail(stderr.Bytes()))
	}
	return took, maxRSS(cmd.ProcessState), nil
}

// check compares the counts that a command printed with what was planted.
func (b *bench) check(c command, stdout io.Reader) error {
	if c.truth == nil {
		return nil
	}
	if c.report != "" {
		f, err := os.Open(c.report)
		if err != nil {
			return err
		}
		defer f.Close()
		stdout = f
	}
	read := summary
	if strings.HasSuffix(c.report, ".txt") {
		read = textSummary
	}
	got, err := read(stdout)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if got == *c.truth {
		b.right++
		return nil
	}
	b.wrong++
	why := fmt.Sprintf("%s: never_arrived / never_written / written_not_read / agent_level: got %v, planted %v", c.name, got, *c.truth)
	if !slices.Contains(b.why, why) {
		b.why = append(b.why, why)
	}
	return nil
}

// tail is the end of a program's complaints.
func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }
