//go:build unix

package tap

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcpdiag/ingest/frame"
)

// The test binary plays every part: with TAP_PART it is a tee, or one of the servers behind it.
func TestMain(m *testing.M) {
	part := os.Getenv("TAP_PART")
	if part == "" {
		os.Exit(m.Run())
	}
	if part == "tee" {
		os.Setenv("TAP_PART", os.Getenv("TAP_SERVER"))
		tee := Tee{Command: []string{os.Args[0]}, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Record: Options{Side: frame.Server, Log: os.Getenv("TAP_LOG"), Stderr: os.Stderr}}
		status, err := tee.Run()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 99
		}
		os.Exit(status)
	}
	os.Exit(servers[part]())
}

var servers = map[string]func() int{
	"echo": func() int {
		io.Copy(os.Stdout, os.Stdin)
		return 0
	},
	"seven": func() int { return 7 },
	// It answers after its stdin has ended, and takes its time.
	"drain": func() int {
		b, _ := io.ReadAll(os.Stdin)
		time.Sleep(100 * time.Millisecond)
		fmt.Printf("%d bytes\n", len(b))
		return 0
	},
	// It ignores the end of its stdin.
	"stay": func() int {
		fmt.Println(os.Getpid())
		time.Sleep(time.Minute)
		return 0
	},
	"signal": func() int {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
		fmt.Println("told to end")
		return 3
	},
	"noisy": func() int {
		fmt.Fprint(os.Stderr, "a word on \x1b[1mstderr\n")
		return 0
	},
	"closes stdout": func() int {
		os.Stdout.Close()
		io.Copy(io.Discard, os.Stdin)
		return 0
	},
	"deaf": func() int {
		os.Stdin.Close()
		fmt.Println("deaf")
		time.Sleep(time.Minute)
		return 0
	},
	// It leaves somebody behind who holds its stdout.
	"leaves a child": func() int {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "TAP_PART=stay quietly")
		c.Stdout = os.Stdout
		c.Start()
		fmt.Println(c.Process.Pid)
		return 0
	},
	"stay quietly": func() int {
		time.Sleep(time.Minute)
		return 0
	},
}

// tee starts a tee with a server behind it. It is killed when the test ends.
func tee(t *testing.T, server, log string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, os.Args[0])
	c.Env = append(os.Environ(), "TAP_PART=tee", "TAP_SERVER="+server, "TAP_LOG="+log)
	return c
}

// TestBytesThroughAProcess: random and hostile streams, and one line of 64 MB, there and back.
func TestBytesThroughAProcess(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	var stream []byte
	for range 300 {
		stream = append(stream, randomStream(random)...)
	}
	stream = append(stream, "\n"+`{"result":{"text":"`+strings.Repeat("0123456789abcdef", 4<<20)+`"},"jsonrpc":"2.0","id":"last"}`+"\n"+`{"no final line end":`...)
	log := filepath.Join(t.TempDir(), "log")
	c := tee(t, "echo", log)
	c.Stdin = bytes.NewReader(stream)
	out, err := c.Output()
	if err != nil || !bytes.Equal(out, stream) {
		t.Fatalf("%v: %d bytes of %d", err, len(out), len(stream))
	}
	found := 0
	for _, r := range readLog(t, log) {
		if string(r.ID) == `"last"` && r.Kind == "response" && *r.Bytes == 64<<20+51 {
			found++
		}
		if r.Kind == "gap" {
			t.Logf("the clerk did not keep up: %d", *r.Dropped)
			found = 2
		}
	}
	if found != 2 {
		t.Errorf("the long line is in %d records", found)
	}
}

func TestExitStatus(t *testing.T) {
	c := tee(t, "seven", "")
	if c.Run(); c.ProcessState.ExitCode() != 7 {
		t.Errorf("status %d", c.ProcessState.ExitCode())
	}
}

// TestEndOfInput: it is passed on, and what the server writes after it arrives.
func TestEndOfInput(t *testing.T) {
	c := tee(t, "drain", filepath.Join(t.TempDir(), "log"))
	c.Stdin = strings.NewReader(strings.Repeat("x", 100_000))
	if out, err := c.Output(); err != nil || string(out) != "100000 bytes\n" {
		t.Errorf("%v %s", err, out)
	}
}

// TestEndOfOutput: the client learns that the server writes no more, though it lives on.
func TestEndOfOutput(t *testing.T) {
	c := tee(t, "closes stdout", "")
	in, out := pipes(t, c)
	if b, err := io.ReadAll(out); err != nil || len(b) > 0 {
		t.Errorf("%v %q", err, b)
	}
	in.Close()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// TestServerThatReadsNoMore: the client learns that, as it would from the server's own pipe.
func TestServerThatReadsNoMore(t *testing.T) {
	c := tee(t, "deaf", "")
	in, out := pipes(t, c)
	out.ReadString('\n')
	var err error
	for err == nil {
		_, err = in.Write([]byte("hello\n"))
	}
	c.Process.Kill()
	c.Wait()
}

func pipes(t *testing.T, c *exec.Cmd) (io.WriteCloser, *bufio.Reader) {
	t.Helper()
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
	return in, bufio.NewReader(out)
}

// TestSignal: the server gets it, says what it wants to say, and its status is the tee's.
func TestSignal(t *testing.T) {
	c := tee(t, "signal", "")
	_, out := pipes(t, c)
	out.ReadString('\n')
	c.Process.Signal(syscall.SIGTERM)
	rest, _ := io.ReadAll(out)
	if c.Wait(); string(rest) != "told to end\n" || c.ProcessState.ExitCode() != 3 {
		t.Errorf("%q, status %d", rest, c.ProcessState.ExitCode())
	}
}

// TestDeathBySignal: a server that a signal ends has the status that a shell would give it.
// TestIgnoredSignal: what nohup has made the tee ignore ends neither it nor the server.
func TestIgnoredSignal(t *testing.T) {
	c := tee(t, "echo", "")
	c.Path, c.Args = "/bin/sh", []string{"sh", "-c", `trap "" HUP; exec "$0"`, os.Args[0]}
	in, out := pipes(t, c)
	for range 2 {
		fmt.Fprintln(in, "there")
		if back, err := out.ReadString('\n'); back != "there\n" {
			t.Fatal(back, err)
		}
		c.Process.Signal(syscall.SIGHUP)
	}
	in.Close()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

func TestDeathBySignal(t *testing.T) {
	c := tee(t, "stay", "")
	_, out := pipes(t, c)
	out.ReadString('\n')
	c.Process.Signal(syscall.SIGHUP)
	if c.Wait(); c.ProcessState.ExitCode() != 128+int(syscall.SIGHUP) {
		t.Errorf("status %d", c.ProcessState.ExitCode())
	}
}

func TestStderrPasses(t *testing.T) {
	c := tee(t, "noisy", filepath.Join(t.TempDir(), "log"))
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Run(); err != nil || stderr.String() != "a word on \x1b[1mstderr\n" {
		t.Errorf("%v %q", err, stderr.String())
	}
}

// TestLeftBehind: a process that holds the server's stdout does not hold the tee.
func TestLeftBehind(t *testing.T) {
	c := tee(t, "leaves a child", "")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Start()
	line, _ := bufio.NewReader(out).ReadString('\n')
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestLogTrouble: a full disk and a log that cannot be written cost one line on stderr, and nothing of the traffic.
func TestLogTrouble(t *testing.T) {
	logs := []string{filepath.Join(t.TempDir(), "no", "such", "log"), t.TempDir()}
	if _, err := os.Stat("/dev/full"); err == nil {
		logs = append(logs, "/dev/full")
	}
	for _, log := range logs {
		c := tee(t, "echo", log)
		stream := strings.Repeat(`{"jsonrpc":"2.0","id":1,"result":{}}`+"\n", 1000)
		c.Stdin = strings.NewReader(stream)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil || string(out) != stream || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), log) {
			t.Errorf("%s: %v, %d bytes, %q", log, err, len(out), stderr.String())
		}
	}
}

// TestStartFails: there is nothing to stand in front of.
func TestStartFails(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	tee := Tee{Command: []string{"/no/such/server"}, Record: Options{Side: frame.Server, Log: log}}
	if _, err := tee.Run(); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("there is a log")
	}
}

// TestPasses: the terminal tells the whole group by itself; anybody else tells the tee.
func TestPasses(t *testing.T) {
	for _, test := range []struct {
		signal             os.Signal
		foreground, passes bool
	}{
		{syscall.SIGINT, false, true}, {syscall.SIGINT, true, false}, {syscall.SIGQUIT, true, false},
		{syscall.SIGTERM, false, true}, {syscall.SIGTERM, true, true}, {syscall.SIGHUP, true, true}, {syscall.SIGPIPE, false, false},
	} {
		if got := passes(test.signal, test.foreground); got != test.passes {
			t.Errorf("%v, foreground %v: %v", test.signal, test.foreground, got)
		}
	}
}

// TestPipe: the ends of a pipe are unknown to the poller, block, and are not inherited by whoever is started meanwhile.
func TestPipe(t *testing.T) {
	r, w, err := pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, end := range []*os.File{r, w} {
		if err := end.SetDeadline(time.Now()); !errors.Is(err, os.ErrNoDeadline) {
			t.Errorf("the poller knows it: %v", err)
		}
		raw, _ := end.SyscallConn()
		raw.Control(func(fd uintptr) {
			status, _ := unix.FcntlInt(fd, unix.F_GETFL, 0)
			own, _ := unix.FcntlInt(fd, unix.F_GETFD, 0)
			if status&unix.O_NONBLOCK != 0 || own&unix.FD_CLOEXEC == 0 {
				t.Errorf("flags %#x, of the descriptor %#x", status, own)
			}
		})
	}
}
