package tap

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpdiag/ingest/frame"
)

// BenchmarkPump is one direction of a tee with real pipes: 20,000 messages of 2 KB.
func BenchmarkPump(b *testing.B) {
	line := []byte(`{"method":"tools/call","params":{"name":"search","arguments":{"q":"` + strings.Repeat("x", 1950) + `"}},"jsonrpc":"2.0","id":1}` + "\n")
	stream := bytes.Repeat(line, 20_000)
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		rec, err := Open(Options{Side: frame.Server, Log: filepath.Join(b.TempDir(), "log")})
		if err != nil {
			b.Fatal(err)
		}
		copies := newCopies(copyRoom)
		clerk := newClerk(copies, rec, time.Hour)
		go clerk.work()
		from, client, _ := os.Pipe()
		server, to, _ := os.Pipe()
		for _, f := range []*os.File{from, client, server, to} {
			f.Fd()
		}
		go func() {
			client.Write(stream)
			client.Close()
		}()
		go newPump(frame.C2S, from, to, copies).run()
		io.Copy(io.Discard, server)
		b.StopTimer()
		copies.close()
		rec.Close()
		b.StartTimer()
	}
}
