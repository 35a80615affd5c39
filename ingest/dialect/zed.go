package dialect

import (
	"bytes"
	"time"

	"mcpdiag/ingest/frame"
)

// zed reads the one line of Zed.log that tells of a call: that it took too long. It names no server.
//
//	2025-01-16T21:25:39-05:00 ERROR [context_server::client] cancelled csp request task for "initialize" id 0 which took over 60s
func zed() *Dialect {
	return &Dialect{
		Name: "zed", Writer: "Zed, Zed.log", Vantage: "the client; only calls that it gave up",
		Knob: "Zed.log shows no frames at its usual level, only calls that timed out: record with mcpdiag tee",
		Sees: IDs | Times, Side: frame.Client, Ordered: true, Carried: true,
		Match: prose(func(line []byte) bool {
			return bytes.Contains(line, []byte("[context_server::")) || bytes.Contains(line, []byte("[project::context_server_store]"))
		}),
		Weight: func([]byte) int { return 2 },
		New:    text(func() grammar { return zedLog{} }),
	}
}

type zedLog struct{}

func (zedLog) line(r *textReader, line []byte) {
	method, rest, ok := between(line, `request task for "`, `" id `)
	id, rest, ok2 := bytes.Cut(rest, []byte(" which took over "))
	if !ok || !ok2 || !bareID(id).Known() {
		return
	}
	f := r.blank()
	f.At, _, _ = stamp(line)
	f.ID, f.Method = bareID(id), method
	if d, err := time.ParseDuration(string(bytes.TrimSpace(rest))); err == nil {
		f.Extra().Waited = d
	}
	r.gaveUp(f, "timeout "+f.ID.Bare()+" "+string(method)+" "+string(rest))
}
