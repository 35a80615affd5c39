package tap

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpdiag/ingest/frame"
)

// BenchmarkStream is what the tee does for each message of 2 KB, without the pipes.
func BenchmarkStream(b *testing.B) {
	line := []byte(`{"method":"tools/call","params":{"name":"search","arguments":{"q":"` + strings.Repeat("x", 1950) + `"}},"jsonrpc":"2.0","id":1}` + "\n")
	chunk := bytes.Repeat(line, 32)
	b.Run("copies", func(b *testing.B) {
		c := newCopies(copyRoom)
		b.SetBytes(int64(len(chunk)))
		var taken pieces
		for b.Loop() {
			c.read(frame.C2S, chunk)
			c.written(frame.C2S)
			taken, _ = c.take(taken)
		}
	})
	b.Run("framer", func(b *testing.B) {
		f := NewFramer(frame.C2S, DefaultRoom, func(*Event) {})
		b.SetBytes(int64(len(chunk)))
		for b.Loop() {
			f.Write(chunk, time.Time{})
		}
	})
	b.Run("record", func(b *testing.B) {
		r, err := Open(Options{Side: frame.Server, Log: filepath.Join(b.TempDir(), "log"), QueueBytes: 1 << 30})
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		e := &Event{Frame: frame.Frame{Dir: frame.C2S, Kind: frame.Request, ID: frame.ID("1"), Method: []byte("tools/call"), Name: []byte("search"), Bytes: 2048, Rows: frame.Unknown}}
		for i := 0; b.Loop(); i++ {
			if i%32 == 0 { // as many messages have a chunk, and its time
				e.Time = time.Now()
			}
			r.Record(e)
		}
	})
	b.Run("clerk", func(b *testing.B) {
		r, err := Open(Options{Side: frame.Server, Log: filepath.Join(b.TempDir(), "log")})
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		k := newClerk(newCopies(copyRoom), r, time.Hour)
		stream := bytes.Repeat(chunk, 64) // more than the processor's cache holds
		b.SetBytes(int64(len(chunk)))
		for i := 0; b.Loop(); i++ {
			now, begin := time.Now(), i%64*len(chunk)
			k.enter(pieces{list: []piece{{what: chunkRead, dir: frame.C2S, at: now, chunk: stream[begin : begin+len(chunk)]}, {what: chunkWritten, dir: frame.C2S, at: now}}})
		}
	})
}
