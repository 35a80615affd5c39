package tap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"mcpdiag/ingest/frame"
)

// hostile are pieces of streams that nobody should have to forward.
var hostile = []string{
	"\n", "\r\n", "\x00", "\xff\xfe", "\xef\xbb\xbf", "\u2028", "Content-Length: 12\r\n\r\n", "starting server...\n", "\x1b[2J", "{", "}", "[", "]\n",
	`{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"x"}}` + "\n",
	`{"result":{"content":[]},"jsonrpc":"2.0","id":0}` + "\n",
	`{"jsonrpc":"2.0","method":"notifications/progress"}` + "\r\n",
	`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b"}]` + "\n",
	"{\n  \"jsonrpc\": \"2.0\"\n}\n", `{"jsonrpc":"2.0","id":1,"resu`, `"`, `\`, strings.Repeat("[", 2000),
}

func randomStream(random *rand.Rand) []byte {
	var b []byte
	for range random.IntN(12) {
		if random.IntN(4) > 0 {
			b = append(b, hostile[random.IntN(len(hostile))]...)
			continue
		}
		for range random.IntN(60) {
			b = append(b, byte(random.Uint32()))
		}
	}
	return b
}

// pieceReader reads in random pieces.
type pieceReader struct {
	random *rand.Rand
	rest   []byte
}

func (r *pieceReader) Read(b []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.rest[:1+r.random.IntN(len(r.rest))])
	r.rest = r.rest[n:]
	return n, nil
}

// TestIdentity: whatever the bytes are and however they come, they are forwarded as they are, and recorded as a Framer that saw
// the whole stream at once would have it.
func TestIdentity(t *testing.T) {
	for i := range 10_000 {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		var log bytes.Buffer
		rec := open(t, Options{Side: frame.Server, Stderr: &log})
		copies := newCopies(copyRoom)
		clerk := newClerk(copies, rec, time.Hour)
		stream := [3][]byte{frame.C2S: randomStream(random), frame.S2C: randomStream(random)}
		var out [3]bytes.Buffer
		for _, dir := range []frame.Dir{frame.C2S, frame.S2C} {
			go newPump(dir, &pieceReader{rand.New(rand.NewPCG(uint64(i), uint64(dir))), stream[dir]}, &out[dir], copies).run()
		}
		ended := &endWatch{clerk: clerk}
		ended.work()
		rec.Close()
		want := map[string][]string{}
		for _, dir := range []frame.Dir{frame.C2S, frame.S2C} {
			if !bytes.Equal(out[dir].Bytes(), stream[dir]) {
				t.Fatalf("stream %d %s:\ngot  %q\nwant %q", i, dir, out[dir].Bytes(), stream[dir])
			}
			f := NewFramer(dir, DefaultRoom, func(e *Event) {
				want[dir.String()] = append(want[dir.String()], fmt.Sprint(e.Kind, string(e.ID), e.Bytes))
			})
			f.Write(stream[dir], time.Now())
			f.Close(time.Now())
			want[dir.String()] = append(want[dir.String()], "eof")
		}
		got := map[string][]string{}
		for _, r := range parse(t, log.Bytes()) {
			text := r.Kind
			if r.Kind != "eof" {
				bytes := int64(frame.Unknown)
				if r.Bytes != nil {
					bytes = *r.Bytes
				}
				text = fmt.Sprint(r.Kind, string(r.ID), bytes)
			}
			got[r.Dir] = append(got[r.Dir], text)
		}
		for dir := range want {
			if !slices.Equal(got[dir], want[dir]) {
				t.Fatalf("stream %d %s:\ngot  %q\nwant %q", i, dir, got[dir], want[dir])
			}
		}
	}
}

// endWatch is a clerk that stops by itself when both directions have ended.
type endWatch struct{ clerk *clerk }

func (w *endWatch) work() {
	ends := 0
	var taken pieces
	for range w.clerk.copies.wake {
		taken, _ = w.clerk.copies.take(taken)
		w.clerk.enter(taken)
		for _, p := range taken.list {
			if p.what == streamEnded {
				ends++
			}
		}
		if ends == 2 {
			return
		}
	}
}

// TestCopiesOverflow: traffic that the clerk does not keep up with is counted, never held.
func TestCopiesOverflow(t *testing.T) {
	var log bytes.Buffer
	rec := open(t, Options{Side: frame.Server, Stderr: &log})
	copies := newCopies(1000)
	clerk := newClerk(copies, rec, time.Hour)
	line := []byte(`{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("x", 50) + `"}}` + "\n")
	step := func(n int, more string) {
		for range n {
			copies.read(frame.S2C, line)
			copies.written(frame.S2C)
		}
		if more != "" {
			copies.read(frame.S2C, []byte(more))
			copies.written(frame.S2C)
		}
		if held := copies.queue.size; held > 1000 {
			t.Errorf("%d bytes held", held)
		}
		taken, _ := copies.take(pieces{})
		clerk.enter(taken)
	}
	step(500, string(line[:20])) // 10 fit
	step(0, string(line[20:]))   // the rest of a line whose head is lost
	step(5, "")
	copies.end(frame.S2C)
	step(0, "")
	rec.Close()
	var kinds []string
	var dropped int64
	for _, r := range parse(t, log.Bytes()) {
		kinds = append(kinds, r.Kind)
		if r.Kind == "gap" {
			dropped += *r.Dropped
		}
	}
	want := strings.Repeat("response ", 500-int(dropped)+1) + "gap " + strings.Repeat("response ", 5) + "eof"
	if got := strings.Join(kinds, " "); got != want || dropped < 480 {
		t.Errorf("%d dropped: %s", dropped, got)
	}
}

// slowly is a receiver that takes nothing until it is let go.
type slowly struct {
	free chan struct{}
	bytes.Buffer
}

func (s *slowly) Write(b []byte) (int, error) {
	<-s.free
	return s.Buffer.Write(b)
}

// TestPeerThatDoesNotDrain: what was read and is not written says so while it lasts, and what came of it.
func TestPeerThatDoesNotDrain(t *testing.T) {
	for _, side := range []frame.Side{frame.Server, frame.Client} {
		path := filepath.Join(t.TempDir(), "log")
		rec := open(t, Options{Side: side, Log: path})
		copies := newCopies(copyRoom)
		clerk := newClerk(copies, rec, 10*time.Millisecond)
		to := &slowly{free: make(chan struct{})}
		line := `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
		p := newPump(frame.S2C, strings.NewReader(line), to, copies)
		go p.run()
		worked := make(chan struct{})
		go func() { clerk.work(); close(worked) }()
		var records []record
		for len(records) == 0 {
			time.Sleep(time.Millisecond)
			if text, err := os.ReadFile(path); err == nil {
				records = parse(t, text)
			}
		}
		if len(records) != 1 || records[0].Phase != "read" {
			t.Fatalf("%s: while it waits: %+v", side, records)
		}
		close(to.free)
		<-p.done
		copies.close()
		<-worked
		rec.Close()
		records = readLog(t, path)
		if len(records) != 3 || records[1].Phase != "written" || records[2].Kind != "eof" || *records[1].MonoNS-*records[0].MonoNS < int64(10*time.Millisecond) {
			t.Errorf("%s: %+v", side, records)
		}
	}
}

// TestPeerThatIsGone: what could not be written is recorded as read, and no more.
func TestPeerThatIsGone(t *testing.T) {
	var log bytes.Buffer
	rec := open(t, Options{Side: frame.Server, Stderr: &log})
	copies := newCopies(copyRoom)
	clerk := newClerk(copies, rec, time.Hour)
	line := `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
	gone := writer(func([]byte) (int, error) { return 0, errors.New("gone") })
	from := &closing{Reader: iotest.OneByteReader(strings.NewReader("x"))}
	from.Reader = strings.NewReader(line + line)
	newPump(frame.S2C, from, gone, copies).run()
	copies.close()
	clerk.work()
	rec.Close()
	records := parse(t, log.Bytes())
	if len(records) != 3 || records[0].Phase != "read" || records[1].Phase != "read" || records[2].Kind != "eof" || !from.closed {
		t.Errorf("closed %v %s", from.closed, log.Bytes())
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

// TestAnswerBeforeItsRequestIsWritten: an answer proves that the request was written, though the pump has not said so yet.
func TestAnswerBeforeItsRequestIsWritten(t *testing.T) {
	for _, slow := range []bool{false, true} {
		var log bytes.Buffer
		rec := open(t, Options{Side: frame.Server, Stderr: &log})
		copies := newCopies(copyRoom)
		clerk := newClerk(copies, rec, time.Hour)
		step := func() {
			taken, _ := copies.take(pieces{})
			clerk.enter(taken)
		}
		copies.read(frame.C2S, []byte(`{"jsonrpc":"2.0","id":0,"method":"m"}`+"\n"+`{"jsonrpc":"2.0","id":1,"method":"m"}`+"\n"))
		step()
		if slow {
			clerk.apart = 0
			clerk.overdue(time.Now().Add(time.Hour), false)
		}
		copies.read(frame.S2C, []byte(`{"jsonrpc":"2.0","id":0,"result":{}}`+"\n"))
		copies.written(frame.S2C)
		step()
		copies.written(frame.C2S)
		step()
		rec.Close()
		var got []string
		for _, r := range parse(t, log.Bytes()) {
			got = append(got, strings.TrimSpace(string(r.ID)+" "+r.Kind+" "+r.Phase))
		}
		want := "0 request, 0 response, 1 request"
		if slow {
			want = "0 request read, 1 request read, 0 request written, 0 response read, 0 response written, 1 request written"
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("got %s, want %s", s, want)
		}
	}
}
