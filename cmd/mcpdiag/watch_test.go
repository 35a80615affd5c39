package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// screen is an output that is read while it is written.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// waitFor waits until the output says something.
func (s *screen) waitFor(t *testing.T, want string) {
	t.Helper()
	for range 3000 {
		if strings.Contains(s.String(), want) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%q never came in\n%s", want, s)
}

func TestWatchCommand(t *testing.T) {
	dir := t.TempDir()
	put := func(side frame.Side, script string) {
		f, err := os.OpenFile(filepath.Join(dir, side.String()+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		f.WriteString(logtest.Text(side, script))
	}
	put(frame.Client, "0 > req 1\n5 < res 1")
	put(frame.Server, "0 > req 1\n5 < res 1")
	var out, complaints screen
	ctx, interrupt := context.WithCancel(context.Background())
	done := make(chan int)
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &complaints, getenv: func(string) string { return "" }, now: time.Now}
	go func() {
		done <- run(ctx, e, []string{"watch", "--every", "10ms", filepath.Join(dir, "client.log"), filepath.Join(dir, "server.log")})
	}()
	out.waitFor(t, ": 1 call, 0 under way, 0 stalled\n")
	put(frame.Client, "10 > req 47 name=search_invoices\n4000 > ntf method=notifications/cancelled request_id=47")
	put(frame.Server, "11 > req 47 name=search_invoices\n94 < res 47 bytes=41827")
	out.waitFor(t, "STALLED  id 47 tools/call search_invoices")
	out.waitFor(t, "1 stalled\n")
	put(frame.Client, "5000 < res 47 bytes=41827")
	out.waitFor(t, "ANSWERED id 47 tools/call search_invoices")
	put(frame.Client, "6000 > req 48\n7000 > ntf method=notifications/cancelled request_id=48")
	out.waitFor(t, "STALLED  id 48")
	interrupt()
	if status := <-done; status != exitStalled || complaints.String() != "" {
		t.Errorf("status %d, complaints %q", status, complaints.String())
	}
}

func TestWatchRefuses(t *testing.T) {
	for _, args := range [][]string{{"watch"}, {"watch", "-"}, {"watch", "--client", "a", "--client", "b"}, {"watch", "--every", "0s", "a"}, {"watch", "."}} {
		var out, complaints screen
		e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &complaints, getenv: func(string) string { return "" }, now: time.Now}
		if status := run(context.Background(), e, args); status != exitUsage || complaints.String() == "" {
			t.Errorf("%v: status %d, %q", args, status, complaints.String())
		}
	}
}

// A log that does not exist is waited for, and not in silence.
func TestWatchAwaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "later\x1b.log")
	var out, complaints screen
	ctx, interrupt := context.WithCancel(context.Background())
	done := make(chan int)
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &complaints, getenv: func(string) string { return "" }, now: time.Now}
	go func() { done <- run(ctx, e, []string{"watch", path}) }()
	complaints.waitFor(t, `later\x1b.log is not there yet: waiting for it`)
	interrupt()
	if status := <-done; status != exitFine {
		t.Errorf("status %d", status)
	}
}
