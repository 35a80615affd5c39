package tap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpdiag/ingest/frame"
)

// record is what the tests ask of a line.
type record struct {
	Kind, Side, Dir, Method, Phase, Clock, Raw string
	ID, Frame                                  json.RawMessage
	PID, Bytes, Dropped, Seq, MonoNS           *int64
	Trunc                                      bool
	TS                                         time.Time
}

func (r *record) UnmarshalJSON(b []byte) error {
	type plain record
	full := struct {
		*plain
		MonoNS *int64 `json:"mono_ns"`
	}{plain: (*plain)(r)}
	err := json.Unmarshal(b, &full)
	r.MonoNS = full.MonoNS
	return err
}

// parse reads a log; each line has to be a record.
func parse(t testing.TB, text []byte) []record {
	t.Helper()
	var records []record
	for line := range bytes.Lines(text) {
		var r record
		var d frame.Decoder
		var f frame.Frame
		if err := json.Unmarshal(line, &r); err != nil || d.Decode(bytes.TrimSpace(line), &f) != frame.NoReason {
			t.Fatalf("no record: %q", line)
		}
		records = append(records, r)
	}
	return records
}

func readLog(t testing.TB, path string) []record {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, text)
}

func request(id string) *Event {
	return &Event{Frame: frame.Frame{Dir: frame.C2S, Kind: frame.Request, ID: frame.ID(id), Method: []byte("tools/call"), Name: []byte("x"), Bytes: 312, Rows: frame.Unknown},
		Payload: []byte(`{"method":"tools/call","params":{"name":"x","arguments":{"Password":{"a":["}"]},"n":"ü\u0000"}},"jsonrpc":"2.0","id":` + id + `}`)}
}

func answer(id string) *Event {
	return &Event{Frame: frame.Frame{Dir: frame.S2C, Kind: frame.Response, ID: frame.ID(id), Bytes: 20, Rows: frame.Unknown}}
}

func open(t testing.TB, o Options) *Recorder {
	t.Helper()
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.log")
	r := open(t, Options{Side: frame.Server, Log: path, PID: 4711})
	r.Record(request("0"))
	r.Record(answer("0"))
	r.Record(&Event{Frame: frame.Frame{Dir: frame.C2S, Kind: frame.EOF}})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	records := readLog(t, path)
	if len(records) != 3 {
		t.Fatalf("%d records", len(records))
	}
	for i, x := range records {
		if *x.Seq != int64(i+1) || *x.PID != 4711 || x.Clock == "" || x.Clock != records[0].Clock || x.MonoNS == nil || x.TS.IsZero() || x.Side != "server" || x.Frame != nil {
			t.Errorf("record %d: %+v", i, x)
		}
	}
	if x := records[0]; string(x.ID) != "0" || x.Kind != "request" || *x.Bytes != 312 {
		t.Errorf("%+v", x)
	}
	if x := records[2]; x.Kind != "eof" || x.Bytes != nil {
		t.Errorf("%+v", x)
	}
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, o := range []Options{{}, {Side: frame.Server, Log: "a", LogDir: "b"}, {Side: frame.Server, Sample: 2}} {
		if _, err := Open(o); err == nil {
			t.Errorf("%+v", o)
		}
	}
}

func TestLogDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	r := open(t, Options{Side: frame.Client, LogDir: dir, PID: 4711})
	r.Record(request("1"))
	r.Close()
	names, _ := filepath.Glob(filepath.Join(dir, "client-*Z-4711.log"))
	if len(names) != 1 || len(readLog(t, names[0])) != 1 {
		t.Errorf("%v", names)
	}
}

func TestPayload(t *testing.T) {
	whole := `{"method":"tools/call","params":{"name":"x","arguments":{"Password":{"a":["}"]},"n":"ü\u0000"}},"jsonrpc":"2.0","id":1}`
	for _, test := range []struct {
		name  string
		o     Options
		want  string
		trunc bool
	}{
		{"none", Options{}, ``, false},
		{"full", Options{Payload: Full}, strings.ReplaceAll(whole, "ü", `\u00fc`), false},
		{"enough", Options{Payload: 1000}, strings.ReplaceAll(whole, "ü", `\u00fc`), false},
		{"cut", Options{Payload: 15}, `"{\"method\":\"tool"`, true},
		{"redacted", Options{Payload: Full, Redact: []string{"password", "n"}},
			`{"method":"tools/call","params":{"name":"x","arguments":{"Password":"[redacted]","n":"[redacted]"}},"jsonrpc":"2.0","id":1}`, false},
		{"redacted, then cut", Options{Payload: 90, Redact: []string{"arguments"}}, `"{\"method\":\"tools/call\",\"params\":{\"name\":\"x\",\"arguments\":\"[redacted]\"},\"jsonrpc\":\"2.0\",\"id\""`, true},
		{"another session", Options{Payload: Full, OnlySession: "s"}, ``, false},
		{"this process", Options{Payload: Full, PID: 7, OnlySession: "7"}, strings.ReplaceAll(whole, "ü", `\u00fc`), false},
	} {
		path := filepath.Join(t.TempDir(), "log")
		test.o.Side, test.o.Log = frame.Server, path
		r := open(t, test.o)
		r.Record(request("1"))
		r.Close()
		x := readLog(t, path)[0]
		if string(x.Frame) != test.want || x.Trunc != test.trunc || string(x.ID) != "1" {
			t.Errorf("%s: trunc %v %s", test.name, x.Trunc, x.Frame)
		}
	}
}

// TestLargePayload: a payload larger than the queue is recorded while there is room, and else its record stands without it.
func TestLargePayload(t *testing.T) {
	log := &blocked{free: make(chan struct{})}
	r := open(t, Options{Side: frame.Server, Stderr: log, Payload: Full, QueueBytes: 10_000})
	large := answer("1")
	large.Payload = []byte(`"` + strings.Repeat("x", 50_000) + `"`)
	r.Record(large)
	for len(r.wake) > 0 { // until the writer has taken it, and blocks
		time.Sleep(time.Millisecond)
	}
	for range 5 {
		r.Record(large)
	}
	close(log.free)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	with, without := 0, 0
	for _, x := range parse(t, log.Bytes()) {
		switch {
		case x.Frame != nil && !x.Trunc && len(x.Frame) == 50_002:
			with++
		case x.Frame == nil && x.Trunc && string(x.ID) == "1":
			without++
		}
	}
	if with+without != 6 || with < 1 || without < 1 {
		t.Errorf("%d with payload, %d without", with, without)
	}
}

// A payload may be cut, or no JSON: a secret stays out all the same.
func TestRedactionOfAnything(t *testing.T) {
	r := newRedaction([]string{"key"})
	for in, want := range map[string]string{
		`{"key":"sec`:                         `{"key":"[redacted]"`,
		`{"key" : [1,{"a":"]"}], "b":1}`:      `{"key":"[redacted]", "b":1}`,
		`{"a":{"KEY":1}}`:                     `{"a":{"KEY":"[redacted]"}}`,
		`{"a":[{"\u006bey":true,"x":"key"}]}`: `{"a":[{"\u006bey":"[redacted]","x":"key"}]}`,
		`log: {"key":"sec"} {"key":{"x`:       `log: {"key":"[redacted]"} {"key":"[redacted]"`,
		`"key"`:                               `"key"`,
		`{"key":"a\"b","c":"\\","key":"d"}`:   `{"key":"[redacted]","c":"\\","key":"[redacted]"}`,
		"{\"key\"\n:\t\"sec\"}":               `{"key":"[redacted]"}`,
		`{"key":`:                             `{"key":"[redacted]"`,
	} {
		if got := string(r.apply([]byte(in))); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

// A request and its answer are sampled alike.
func TestSample(t *testing.T) {
	s := newSampler(&Options{Sample: 0.5}, nil)
	taken := 0
	for i := range 1000 {
		id := fmt.Sprint(i)
		a, b := s.takes(request(id)), s.takes(answer(id))
		if a != b {
			t.Fatalf("id %s: %v %v", id, a, b)
		}
		if a {
			taken++
		}
	}
	if taken < 400 || taken > 600 {
		t.Errorf("%d of 1000", taken)
	}
}

// blocked is a log that takes nothing until it is let go.
type blocked struct {
	free chan struct{}
	bytes.Buffer
}

func (b *blocked) Write(p []byte) (int, error) {
	<-b.free
	return b.Buffer.Write(p)
}

// TestQueueFull: a log that blocks does not block its callers, and what it could not take is told, where it was lost.
func TestQueueFull(t *testing.T) {
	log := &blocked{free: make(chan struct{})}
	r := open(t, Options{Side: frame.Server, Stderr: log, QueueBytes: 10_000})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 250 {
				r.Record(request("1"))
			}
		})
	}
	all.Wait()
	r.Lose(5)
	close(log.free)
	err := r.Close()
	if err == nil {
		t.Error("Close says that nothing was lost")
	}
	var kept, dropped int64
	for _, x := range parse(t, log.Bytes()) {
		if x.Kind == "gap" {
			dropped += *x.Dropped
			continue
		}
		if kept++; *x.Seq != kept {
			t.Fatalf("seq %d in record %d", *x.Seq, kept)
		}
	}
	if kept+dropped != 1005 || dropped < 5+800 || kept < 20 {
		t.Errorf("%d records and %d dropped", kept, dropped)
	}
}

// A log that never takes anything does not keep the process from ending.
func TestCloseGivesUp(t *testing.T) {
	log := &blocked{free: make(chan struct{})}
	r := open(t, Options{Side: frame.Server, Stderr: log})
	r.Record(request("1"))
	if err := r.Close(); err == nil {
		t.Error("Close says that all is written")
	}
	close(log.free)
}

// complaints is a stderr that a test reads while others write.
type complaints struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (c *complaints) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(p)
}

func (c *complaints) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}

// TestUnwritable: no log, one line.
func TestUnwritable(t *testing.T) {
	for _, path := range []string{"/dev/full", filepath.Join(t.TempDir(), "no", "such", "folder.log"), t.TempDir()} {
		if path == "/dev/full" && runtime.GOOS != "linux" {
			continue
		}
		said := &complaints{}
		r := open(t, Options{Side: frame.Server, Log: path, Stderr: said})
		for i := range 3 {
			r.Record(request(fmt.Sprint(i)))
			time.Sleep(time.Millisecond)
		}
		if err := r.Close(); err == nil || !strings.Contains(err.Error(), "3 records") {
			t.Errorf("%s: %v", path, err)
		}
		if n := strings.Count(said.String(), "\n"); n != 1 || !strings.HasPrefix(said.String(), "mcpdiag: ") || !strings.Contains(said.String(), path) {
			t.Errorf("%s: %d lines: %s", path, n, said)
		}
	}
}

// TestTornWrite: a write that stopped within a record spoils that line only, and recording goes on.
func TestTornWrite(t *testing.T) {
	var log bytes.Buffer
	full := true
	s := sink{stderr: &complaints{}, gap: func(n int64, _ time.Time) []byte { return fmt.Appendf(nil, "gap %d\n", n) }}
	s.out = writer(func(p []byte) (int, error) {
		if full {
			n, _ := log.Write(p[:4])
			return n, os.ErrClosed
		}
		return log.Write(p)
	})
	s.put(batch{bytes: []byte("one\ntwo\n"), records: 2})
	s.put(batch{bytes: []byte("three\n"), records: 1}) // too soon to try again
	full, s.retry = false, time.Time{}
	s.put(batch{bytes: []byte("four\n"), records: 1, lost: 7})
	if got, want := log.String(), "one\n\ngap 3\nfour\ngap 7\n"; got != want || s.total != 10 {
		t.Errorf("%q, %d lost", got, s.total)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestStallAfter(t *testing.T) {
	said := &complaints{}
	r := open(t, Options{Side: frame.Server, Log: filepath.Join(t.TempDir(), "log"), Stderr: said, StallAfter: 20 * time.Millisecond})
	listen := request(`"listen:0"`)
	listen.Method = []byte("subscriptions/listen")
	cancel := &Event{Frame: frame.Frame{Dir: frame.C2S, Kind: frame.Notification, Method: []byte("notifications/cancelled"), RequestID: frame.ID("3")}}
	for _, e := range []*Event{listen, request("1"), request("2"), request("3"), answer("2"), cancel} {
		r.Record(e)
	}
	for said.String() == "" {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	if got := said.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "id 1 tools/call x of the client has waited") {
		t.Error(got)
	}
}
