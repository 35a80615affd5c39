package tap

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNoOrphan: kill -9 of the tee takes the server along, even one that ignores the end of its stdin.
func TestNoOrphan(t *testing.T) {
	c := tee(t, "stay", "")
	_, out := pipes(t, c)
	line, err := out.ReadString('\n')
	pid, convErr := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || convErr != nil {
		t.Fatal(err, convErr)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the server does not run: %v", err)
	}
	time.Sleep(200 * time.Millisecond) // long enough for a thread that was let go to end
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the server died with a thread: %v", err)
	}
	c.Process.Kill()
	c.Wait()
	for deadline := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(5 * time.Millisecond) {
		if zombie(pid) {
			break
		}
		if time.Now().After(deadline) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("the server lives on")
		}
	}
}

// zombie reports whether a process has ended and nobody has asked how.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(stat), ") ")
	return err == nil && strings.HasPrefix(rest, "Z")
}
