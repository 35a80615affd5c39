package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// counts is calls by leaf: what was planted, or what a program found.
type counts struct {
	NeverArrived   int `json:"never_arrived"`
	NeverWritten   int `json:"never_written"`
	WrittenNotRead int `json:"written_not_read"`
	AgentLevel     int `json:"agent_level"`
}

func (c counts) String() string {
	return fmt.Sprintf("%d / %d / %d / %d", c.NeverArrived, c.NeverWritten, c.WrittenNotRead, c.AgentLevel)
}

// pair is a pair of logs and what was planted in it.
type pair struct {
	name           string
	calls          int
	client, server string
	truth          counts
}

// pair generates logs, unless they are there: truth.json is written last.
func (b *bench) pair(name string, calls int, flags ...string) (pair, error) {
	dir := filepath.Join(b.dir, fmt.Sprintf("%s-%d", name, calls))
	p := pair{name: name, calls: calls, client: filepath.Join(dir, "client.jsonl"), server: filepath.Join(dir, "server.jsonl")}
	truth := filepath.Join(dir, "truth.json")
	if _, err := os.Stat(truth); err != nil {
		args := append([]string{"-calls", strconv.Itoa(calls)}, flags...)
		out, err := exec.CommandContext(b.ctx, b.program("gen"), append(args, dir)...).CombinedOutput()
		if err != nil {
			return p, fmt.Errorf("gen: %w\n%s", err, out)
		}
	}
	text, err := os.ReadFile(truth)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(text, &p.truth)
}

// warm reads files twice and says how fast the second time was, which tells whether they are in the page cache.
func (b *bench) warm(group string, pairs ...pair) error {
	files := []string{b.program("mcpdiag"), b.program("baseline")}
	for _, p := range pairs {
		files = append(files, p.client, p.server)
	}
	var size int64
	var took time.Duration
	for range 2 {
		start := time.Now()
		n, err := readThrough(files)
		if err != nil {
			return err
		}
		size, took = n, time.Since(start)
	}
	_, err := fmt.Fprintf(b.say, "%s: page cache warm: %.2f GB read through at %.1f GB/s just before\n", group, float64(size)/1e9, float64(size)/1e9/took.Seconds())
	return err
}

func readThrough(files []string) (int64, error) {
	var size int64
	room := make([]byte, 1<<20)
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			return 0, err
		}
		n, err := io.CopyBuffer(io.Discard, onlyReader{f}, room)
		f.Close()
		if err != nil {
			return 0, err
		}
		size += n
	}
	return size, nil
}

// onlyReader hides what else a file can do; io.CopyBuffer would not use its buffer then.
type onlyReader struct{ io.Reader }

// summary finds the counts in a report without holding the report: with a million calls it is large, and the size of this
// process counts as the peak of the children that it starts.
func summary(r io.Reader) (counts, error) {
	d := json.NewDecoder(r)
	if _, err := d.Token(); err != nil {
		return counts{}, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return counts{}, err
		}
		if key == "summary" {
			var c counts
			return c, d.Decode(&c)
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return counts{}, err
		}
	}
	return counts{}, fmt.Errorf("no summary")
}

// textSummary finds the counts in a text report: the table of leaves.
func textSummary(r io.Reader) (counts, error) {
	var c counts
	rows := map[string]*int{"never arrived": &c.NeverArrived, "never written": &c.NeverWritten, "written, not read": &c.WrittenNotRead,
		"delivered (agent level)": &c.AgentLevel}
	lines := bufio.NewScanner(r)
	for lines.Scan() && len(rows) > 0 {
		for words, n := range rows {
			rest, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), words)
			fields := strings.Fields(rest)
			if !ok || len(fields) == 0 {
				continue
			}
			var err error
			if *n, err = strconv.Atoi(strings.ReplaceAll(fields[0], ",", "")); err == nil {
				delete(rows, words)
			}
		}
	}
	if len(rows) > 0 {
		return counts{}, errors.New("no table of leaves")
	}
	return c, lines.Err()
}
