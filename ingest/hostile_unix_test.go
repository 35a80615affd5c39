//go:build unix

package ingest_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// TestFIFO reads from a pipe that is fed a few bytes at a time: a short read is no end.
func TestFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	text := logtest.Text(frame.Client, "0 > req 1\n5 < res 1\n6 > req 2\n!half\n9 < res 2")
	fed := make(chan error, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		for b := []byte(text); err == nil && len(b) > 0; b = b[min(len(b), 37):] {
			_, err = f.Write(b[:min(len(b), 37)])
			time.Sleep(2 * time.Millisecond)
		}
		f.Close()
		fed <- err
	}()
	logs, err := readPath(t, path, ingest.Set{Side: frame.Client}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-fed; err != nil {
		t.Fatal(err)
	}
	if l := logs[0]; l.Records != 4 || len(l.BadLines) != 1 || sayHalves(l) != "1#1 request:1 answer:2; 2#1 request:3 answer:5" {
		t.Errorf("%d records, bad lines %v, %s", l.Records, l.BadLines, sayHalves(l))
	}
}
