//go:build unix

package ingest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"mcpdiag/ingest"
)

// scratchIn has this test program be one that makes a temporary folder, says so and waits.
const scratchIn = "MCPDIAG_TEST_SCRATCH_IN"

func TestMain(m *testing.M) {
	if parent := os.Getenv(scratchIn); parent != "" {
		s, err := ingest.NewScratch(parent, "tmp-")
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(s.Dir)
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process starts one, which has a folder until it is killed.
func process(t *testing.T, parent string) (dir string, kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), scratchIn+"="+parent)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() { c.Process.Kill(); c.Wait(); in.Close() }
	t.Cleanup(kill)
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("it made no folder")
	}
	return lines.Text(), kill
}

// TestScratchAfterKill: what a killed process leaves is removed by the next; what a living one has, and what is not ours, is not.
func TestScratchAfterKill(t *testing.T) {
	parent := t.TempDir()
	dead, kill := process(t, parent)
	if info, err := os.Stat(dead); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("%v, %v", info, err)
	}
	if err := os.WriteFile(filepath.Join(dead, "spilled"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	kill()
	living, _ := process(t, parent)
	other := filepath.Join(parent, "tmp-of-somebody") // without a lock, and new: it may be about to have one
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(parent, "tmp-link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	own, err := ingest.NewScratch(parent, "tmp-")
	if err != nil {
		t.Fatal(err)
	}
	if there(dead) || !there(living) || !there(other) || !there(link) || !there(own.Dir) {
		t.Errorf("dead one there: %t; living %t, other %t, link %t, own %t", there(dead), there(living), there(other), there(link), there(own.Dir))
	}
	if err := own.Remove(); err != nil || there(own.Dir) {
		t.Errorf("%v; still there: %t", err, there(own.Dir))
	}
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestReadIsInterrupted: standard input that stays open and silent does not keep a program that was told to stop.
func TestReadIsInterrupted(t *testing.T) {
	silent, open := io.Pipe()
	defer open.Close()
	ctx, stop := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, stop)
	_, err := ingest.Read(ctx, ingest.Set{Sources: []ingest.Source{ingest.ParseSource("-")}}, ingest.Options{Stdin: silent})
	if ctx.Err() == nil || err == nil {
		t.Errorf("error %v", err)
	}
}
