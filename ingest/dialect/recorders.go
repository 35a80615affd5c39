package dialect

import (
	"bytes"
	"encoding/json"

	"mcpdiag/ingest/frame"
)

// recorders write a log for the purpose: JSON lines, most of which the generic reader knows.
func recorders() []*Dialect {
	return []*Dialect{mcpsnoop(), mcpspy(), mcptap(), mcpTrace()}
}

// mcpsnoop numbers its records, so that a lost one shows.
//
//	{"session_id":"ferry-4410-9f","server_label":"ferry","seq":2,"ts":"…","direction":"c2s","transport":"stdio","raw":{…}}
func mcpsnoop() *Dialect {
	return &Dialect{
		Name: "mcpsnoop", Writer: "mcpsnoop", Vantage: "a proxy between the sides",
		Sees: Everything &^ Handlers, Side: frame.Server, Ordered: true,
		Match: func(line []byte) bool {
			return has(line, `"session_id"`, `"seq"`, `"direction"`, `"transport"`)
		},
		Weight: func([]byte) int { return 10 },
		New: func() Reader {
			r := newJSONL()
			r.counts = true
			return r
		},
	}
}

// mcptap is a recorder on stdio, and mcptail and others write the same: a time, a direction and the message, as an object or as
// text. It is not the recorder of this project, which writes native records.
//
//	{"ts": 1772000000.204, "dir": "c2s", "data": {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}}
func mcptap() *Dialect {
	return &Dialect{
		Name: "mcptap", Writer: "mcptap and its like: ts, dir, data", Vantage: "a proxy on stdio, below the parser",
		Sees: Everything &^ (Handlers | Sizes), Side: frame.Server, Ordered: true,
		Match:  matchTap,
		Weight: func([]byte) int { return 10 },
		New:    func() Reader { return newJSONL() },
	}
}

// matchTap wants a direction, spelled, and a message or the raw text of what was none; no event, which is another dialect's, and
// no native record.
func matchTap(line []byte) bool {
	if !has(line, `"dir`) && !has(line, `"channel"`) {
		return false
	}
	rec := parseRecord(line)
	var d frame.Decoder
	var f frame.Frame
	if rec == nil || d.Decode(line, &f) == frame.NoReason {
		return false
	}
	_, event := eventOf(rec)
	if dir, _ := dirOf(rec); event || dir == frame.NoDir {
		return false
	}
	text, _ := rec.payload()
	_, raw := rawText(text)
	return raw || batchOf(text) != nil || text != nil && frame.DecodeMessage(text, &f) == frame.NoReason
}

// has reports whether a line is an object and holds all the words.
func has(line []byte, words ...string) bool {
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	for _, w := range words {
		if !bytes.Contains(line, []byte(w)) {
			return false
		}
	}
	return true
}

// mcpspy reads what MCPSpy saw in the kernel. Every record has an "error", empty or not, and frames over 16 KB or in several
// writes are missing. Which process is the client shows when one sends what only a client may.
func mcpspy() *Dialect {
	return &Dialect{
		Name: "mcpspy", Writer: "MCPSpy (eBPF)", Vantage: "the kernel of one host; no frames over 16 KB, none in several writes",
		Sees: Everything &^ (Handlers | BadLines | Ends | Large), Side: frame.Server, Ordered: true, Carried: true,
		Match:  func(line []byte) bool { return has(line, `"transport_type"`, `"timestamp"`, `"type"`) },
		Weight: func([]byte) int { return 10 },
		New:    text(func() grammar { return &spy{clients: map[string]bool{}} }),
	}
}

type spyRecord struct {
	Timestamp      string
	StdioTransport struct {
		FromPID json.Number `json:"from_pid"`
		ToPID   json.Number `json:"to_pid"`
	} `json:"stdio_transport"`
	Type, Method, Raw string
	ID                json.RawMessage
	Params            struct{ Name string }
}

type spy struct{ clients map[string]bool } // "from to" pairs of processes that go from client to server

func (s *spy) line(r *textReader, line []byte) {
	var rec spyRecord
	if !has(line, `"transport_type"`) {
		return
	}
	if json.Unmarshal(line, &rec) != nil {
		r.bad(line, frame.NotJSON)
		return
	}
	f := r.blank()
	frame.ParseWall([]byte(rec.Timestamp), &f.At)
	if frame.DecodeMessage([]byte(rec.Raw), &f) == frame.NoReason {
		f.Bytes = int64(len(rec.Raw)) + 1
	} else if !s.told(&rec, &f) {
		r.bad(line, frame.NotMessage)
		return
	}
	from, to := rec.StdioTransport.FromPID.String(), rec.StdioTransport.ToPID.String()
	if sure := methodDirections[string(f.Method)]; !f.Kind.Answer() && from != to {
		s.clients[from+" "+to] = s.clients[from+" "+to] || sure == frame.C2S
		s.clients[to+" "+from] = s.clients[to+" "+from] || sure == frame.S2C
	}
	dir := frame.NoDir
	switch {
	case s.clients[from+" "+to]:
		dir = frame.C2S
	case s.clients[to+" "+from]:
		dir = frame.S2C
	}
	if low, high := min(from, to), max(from, to); from != to {
		f.Extra().Conn = []byte(low + "-" + high)
	}
	r.directed(&f, dir)
}

// told reads what the record says of a frame whose bytes it lacks.
func (s *spy) told(rec *spyRecord, f *frame.Frame) bool {
	f.Kind = kindWords[rec.Type]
	if f.Method = []byte(rec.Method); rec.Method == "" {
		f.Method = nil
	}
	if id, rest, ok := frame.ParseID(rec.ID); ok && len(rest) == 0 && f.Kind != frame.Notification {
		f.ID = id
	}
	if takesName(f.Method) && rec.Params.Name != "" {
		f.Name = []byte(rec.Params.Name)
	}
	f.Trunc = f.ID == nil && f.Kind != frame.Notification
	return f.Kind.Message()
}

// mcpTrace reads mcp-trace, which writes a line when an exchange has ended.
//
//	{"schemaVersion":1,"startedAt":"…","completedAt":"…","durationMs":12,"request":{"metadata":{"method":"tools/call","name":"sail","id":3},"bytes":120},"response":{"status":"ok","bytes":800}}
func mcpTrace() *Dialect {
	return &Dialect{
		Name: "mcp-trace", Writer: "mcp-trace", Vantage: "a proxy, one record an exchange", Moment: "the exchange ended", Source: fromDescription,
		Sees: atEnds | IDs | Sizes, Side: frame.Server, Ordered: true, Carried: true,
		Match:  func(line []byte) bool { return has(line, `"schemaVersion"`, `"startedAt"`, `"request"`, `"metadata"`) },
		Weight: func([]byte) int { return 10 },
		New:    text(func() grammar { return traces{} }),
	}
}

type traces struct{}

func (traces) line(r *textReader, line []byte) {
	var rec struct {
		StartedAt, CompletedAt string
		Request                struct {
			Metadata struct {
				Method, Name string
				ID           json.RawMessage
			}
			Bytes *int64
		}
		Response *struct {
			Status json.RawMessage
			Bytes  *int64
		}
	}
	if !has(line, `"schemaVersion"`) {
		return
	}
	if json.Unmarshal(line, &rec) != nil || rec.Request.Metadata.Method == "" {
		r.bad(line, frame.NotJSON)
		return
	}
	f := r.blank()
	g := f
	frame.ParseWall([]byte(rec.StartedAt), &f.At)
	f.Method = []byte(rec.Request.Metadata.Method)
	if rec.Request.Metadata.Name != "" {
		f.Name = []byte(rec.Request.Metadata.Name)
	}
	f.Kind = frame.Notification
	if id, rest, ok := frame.ParseID(rec.Request.Metadata.ID); ok && len(rest) == 0 {
		f.Kind, f.ID = frame.Request, id
	}
	if rec.Request.Bytes != nil {
		f.Bytes = *rec.Request.Bytes
	}
	r.directed(&f, frame.C2S)
	if rec.Response == nil || f.Kind != frame.Request || rec.CompletedAt == "" {
		return
	}
	frame.ParseWall([]byte(rec.CompletedAt), &g.At)
	g.Kind, g.ID = frame.Response, f.ID
	if s := string(rec.Response.Status); s == `"error"` || len(s) == 3 && s[0] >= '4' {
		g.Kind = frame.Error
	}
	if rec.Response.Bytes != nil {
		g.Bytes = *rec.Response.Bytes
	}
	r.directed(&g, opposite(f.Dir))
}
