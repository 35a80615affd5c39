package main

import (
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// BenchmarkJoin is the main job on generated logs. Its profile is what the compiler is told of where time goes: make pgo.
func BenchmarkJoin(b *testing.B) {
	for _, kind := range []struct {
		name, keys, ids string
		calls, payload  int
	}{{"native", "native", "int", 300_000, 0}, {"shuffled", "shuffled", "opaque", 300_000, 0}, {"payload", "native", "int", 10_000, 12_000}} {
		b.Run(kind.name, func(b *testing.B) {
			dir := b.TempDir()
			gen := exec.Command("go", "run", "mcpdiag/samples/bench/gen", "-calls", strconv.Itoa(kind.calls), "-keys", kind.keys, "-ids", kind.ids, "-payload", strconv.Itoa(kind.payload), dir)
			if out, err := gen.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			args := []string{"join", filepath.Join(dir, "client.jsonl"), filepath.Join(dir, "server.jsonl")}
			for b.Loop() {
				e := &env{stdout: io.Discard, stderr: io.Discard, getenv: func(string) string { return "" }, now: time.Now}
				if status := run(b.Context(), e, args); status != exitStalled {
					b.Fatalf("exit status %d", status)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*kind.calls), "ns/call")
		})
	}
}
