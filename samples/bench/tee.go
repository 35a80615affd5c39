package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tee measures the recorder where a client would notice it: what it adds to one exchange, what it does to a stream, and what it
// takes while nothing happens.
func (b *bench) tee() ([]row, error) {
	var rows []row
	for _, r := range []struct {
		name  string
		size  int
		limit float64
	}{{"300 B", 300, 60}, {"42 KB", 42_000, 250}} {
		added, err := b.latency(r.size, b.size(5000, 1000))
		if err != nil {
			return nil, err
		}
		added.what, added.limit = "tee, an answer of "+r.name+", p50 added to a plain pump", r.limit
		rows = append(rows, added)
	}
	stream, err := b.stream()
	if err != nil {
		return nil, err
	}
	size, err := b.binarySize()
	if err != nil {
		return nil, err
	}
	idle, err := b.idle()
	return append(rows, stream, size, idle), err
}

// talker is a server, or something in front of one.
type talker struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (b *bench) talk(argv ...string) (*talker, error) {
	c := exec.CommandContext(b.ctx, argv[0], argv[1:]...)
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.Stderr = os.Stderr
	return &talker{c, in, bufio.NewReaderSize(out, 1<<17)}, c.Start()
}

// exchange sends a line and reads one.
func (t *talker) exchange(line []byte) (time.Duration, error) {
	start := time.Now()
	if _, err := t.in.Write(line); err != nil {
		return 0, err
	}
	_, err := t.out.ReadSlice('\n')
	return time.Since(start), err
}

func (t *talker) end() error {
	t.in.Close()
	return t.cmd.Wait()
}

// latency sends a request of 300 B and waits for the answer, through a plain pump and through the tee in turns.
func (b *bench) latency(size, n int) (row, error) {
	log := filepath.Join(b.tmp, fmt.Sprintf("latency-%d.log", size))
	server := []string{b.program("pipe"), "answer", strconv.Itoa(size)}
	pump, err := b.talk(append([]string{b.program("pipe"), "pump"}, server...)...)
	if err != nil {
		return row{}, err
	}
	tee, err := b.talk(append([]string{b.program("mcptap"), "tee", "--log", log, "--"}, server...)...)
	if err != nil {
		return row{}, err
	}
	line := message(300)
	var times [2][]time.Duration
	for range n {
		for i, t := range []*talker{pump, tee} {
			took, err := t.exchange(line)
			if err != nil {
				return row{}, err
			}
			times[i] = append(times[i], took)
		}
	}
	if err := errors.Join(pump.end(), tee.end()); err != nil {
		return row{}, err
	}
	b.countRecords(log, 2*n)
	theirs, ours := median(times[0]), median(times[1])
	return row{ours: micros(ours), theirs: micros(theirs), ratio: float64(ours-theirs) / 1e3, unit: " µs"}, nil
}

// message is a request of that many bytes, its line end included.
func message(size int) []byte {
	const front, back = `{"method":"tools/call","params":{"name":"search","arguments":{"q":"`, `"}},"jsonrpc":"2.0","id":1}` + "\n"
	return []byte(front + strings.Repeat("x", size-len(front)-len(back)) + back)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func micros(d time.Duration) string { return fmt.Sprintf("%.1f µs", float64(d)/1e3) }

// stream sends 20,000 messages of 2 KB one way, through cat and through the tee in turns. The clock runs from the first byte sent
// to the server's word that it has the last.
func (b *bench) stream() (row, error) {
	const frames, size = 20_000, 2048
	text := bytes.Repeat(message(size), frames)
	sink := []string{b.program("pipe"), "sink", strconv.Itoa(len(text))}
	var s [2]sample
	for i := range max(b.n, 121) { // each takes 50 ms, and the spread is wide
		log := filepath.Join(b.tmp, fmt.Sprintf("stream-%d.log", i))
		for k, argv := range [][]string{
			{"sh", "-c", `cat | "$0" "$@"`, sink[0], sink[1], sink[2]},
			append([]string{b.program("mcptap"), "tee", "--log", log, "--"}, sink...),
		} {
			took, err := b.pour(text, argv)
			if err != nil {
				return row{}, err
			}
			s[k].times = append(s[k].times, took)
		}
		b.countRecords(log, frames)
		os.Remove(log)
	}
	slices.Sort(s[0].times)
	slices.Sort(s[1].times)
	return slower("tee, 20k × 2 KB one way, against cat", s[1], s[0], 1.5), nil
}

func (b *bench) pour(text []byte, argv []string) (time.Duration, error) {
	t, err := b.talk(argv...)
	if err != nil {
		return 0, err
	}
	if line, err := t.out.ReadString('\n'); err != nil || line != "ready\n" {
		return 0, fmt.Errorf("%s: %q %w", argv[0], line, err)
	}
	start := time.Now()
	if _, err := t.in.Write(text); err != nil {
		return 0, err
	}
	line, err := t.out.ReadString('\n')
	took := time.Since(start)
	if err == nil && line != "done\n" {
		err = fmt.Errorf("%s: %q", argv[0], line)
	}
	return took, errors.Join(err, t.end())
}

// countRecords checks that a log holds a record of each message: a tee that forgets is fast.
func (b *bench) countRecords(log string, want int) {
	text, err := os.ReadFile(log)
	got := bytes.Count(text, []byte(`"kind":"request"`)) + bytes.Count(text, []byte(`"kind":"response"`))
	got -= bytes.Count(text, []byte(`"phase":"written"`)) // the second record of a message that was not drained at once
	if err == nil && got == want {
		b.right++
		return
	}
	b.wrong++
	b.why = append(b.why, fmt.Sprintf("%s: %d records of %d messages (%v)", filepath.Base(log), got, want, err))
}

func (b *bench) binarySize() (row, error) {
	info, err := os.Stat(b.program("mcptap"))
	if err != nil {
		return row{}, err
	}
	mb := float64(info.Size()) / 1e6
	return row{what: "mcptap, size of the binary", ours: fmt.Sprintf("%.2f MB", mb), ratio: mb, limit: 10, unit: " MB"}, nil
}

// idle is the memory of a tee that has forwarded a little and has nothing to do.
func (b *bench) idle() (row, error) {
	t, err := b.talk(b.program("mcptap"), "tee", "--log", filepath.Join(b.tmp, "idle.log"), "--", b.program("pipe"), "answer", "300")
	if err != nil {
		return row{}, err
	}
	for range 100 {
		if _, err := t.exchange(message(300)); err != nil {
			return row{}, err
		}
	}
	time.Sleep(time.Second)
	mb, known := residentMB(t.cmd.Process.Pid)
	return row{what: "mcptap tee, resident while idle", ours: fmt.Sprintf("%.1f MB", mb), ratio: mb, limit: 15, unit: " MB", unknown: !known}, t.end()
}

// residentMB reads the resident memory of a process, where there is a /proc.
func residentMB(pid int) (float64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	_, rest, ok := strings.Cut(string(text), "VmRSS:")
	var kib float64
	n, _ := fmt.Sscan(rest, &kib)
	return kib * 1024 / 1e6, ok && n == 1
}
