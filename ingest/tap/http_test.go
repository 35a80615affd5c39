package tap

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpdiag/ingest/frame"
)

// logged is a recorder whose log can be read once it is closed.
type logged struct {
	*Recorder
	t    *testing.T
	path string
}

func newLogged(t *testing.T, side frame.Side) *logged {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	r, err := Open(Options{Side: side, Log: path})
	if err != nil {
		t.Fatal(err)
	}
	return &logged{r, t, path}
}

// lines closes the recorder and spells each record: dir kind id method name, and other members as name=value.
func (l *logged) lines() []string {
	l.t.Helper()
	if err := l.Close(); err != nil {
		l.t.Fatal(err)
	}
	text, err := os.ReadFile(l.path)
	if err != nil && !os.IsNotExist(err) {
		l.t.Fatal(err)
	}
	var out []string
	for line := range bytes.Lines(text) {
		out = append(out, spelled(l.t, line))
	}
	return out
}

func spelled(t *testing.T, line []byte) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	text := func(key string) string { return strings.Trim(string(m[key]), `"`) }
	words := []string{text("dir"), text("kind")}
	for _, key := range []string{"id", "method", "name"} {
		if m[key] != nil {
			words = append(words, text(key))
		}
	}
	for _, key := range []string{"session", "status", "bytes", "trunc", "result_bytes", "result_tokens", "dropped"} {
		if m[key] != nil {
			words = append(words, key+"="+text(key))
		}
	}
	return strings.Join(words, " ")
}

const (
	ask    = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f"}}`
	ask2   = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	reply  = `{"jsonrpc":"2.0","id":1,"result":{}}`
	reply2 = `{"jsonrpc":"2.0","id":2,"result":{}}`
	tick   = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`
	asked  = "c2s request 1 tools/call f bytes=68"
)

// exchangeCase is one exchange: what is sent, what the server does, and what must stand in the log.
type exchangeCase struct {
	name   string
	verb   string // POST
	header map[string]string
	body   string
	serve  func(w http.ResponseWriter, r *http.Request)
	log    []string
}

func write(status int, header map[string]string, parts ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for k, v := range header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(status)
		for _, p := range parts {
			io.WriteString(w, p)
			http.NewResponseController(w).Flush()
		}
	}
}

func media(m string) map[string]string { return map[string]string{"Content-Type": m} }

func packed(encoding string, b string) string {
	var out bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "deflate":
		w = zlib.NewWriter(&out)
	default:
		w, _ = flate.NewWriter(&out, 9)
	}
	io.WriteString(w, b)
	w.Close()
	return out.String()
}

func exchangeCases() []exchangeCase {
	sse, js := media("text/event-stream"), media("application/json; charset=utf-8")
	encoded := func(e string) map[string]string {
		return map[string]string{"Content-Type": "application/json", "Content-Encoding": e}
	}
	return []exchangeCase{
		{name: "JSON", body: ask, serve: write(200, js, reply), log: []string{asked, "s2c response 1 status=200 bytes=36"}},
		{name: "one event", body: ask, serve: write(200, sse, "event: message\ndata: "+reply+"\n\n"), log: []string{asked, "s2c response 1 status=200 bytes=36"}},
		{name: "priming event, comment, id, interleaved messages", body: ask,
			serve: write(200, sse, "id: 1\ndata:\n\n", ": keep-alive\n\n", "id: 2\ndata: "+tick+"\n\n", "data: "+reply, "\n\n"),
			log:   []string{asked, "s2c notification notifications/progress status=200 bytes=93", "s2c response 1 status=200 bytes=36"}},
		{name: "CR, CRLF and data over several lines", body: ask,
			serve: write(200, sse, "data: {\"jsonrpc\":\"2.0\",\rdata: \"id\":1,\r\ndata:\"result\":{}}\r", "\n\r\n"),
			log:   []string{asked, "s2c response 1 status=200 bytes=38"}},
		{name: "batch", body: "[" + ask + "," + ask2 + "]", serve: write(200, js, "["+reply2+","+reply+"]"),
			log: []string{"c2s request 1 tools/call f", "c2s request 2 ping", "s2c response 2 status=200", "s2c response 1 status=200"}},
		{name: "gzip", body: ask, serve: write(200, encoded("gzip"), packed("gzip", reply)), log: []string{asked, "s2c response 1 status=200 bytes=36"}},
		{name: "gzip of events", body: ask, serve: write(200, map[string]string{"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}, packed("gzip", "data: "+reply+"\n\n")),
			log: []string{asked, "s2c response 1 status=200 bytes=36"}},
		{name: "deflate", body: ask, serve: write(200, encoded("deflate"), packed("deflate", reply)), log: []string{asked, "s2c response 1 status=200 bytes=36"}},
		{name: "bare deflate", body: ask, serve: write(200, encoded("deflate"), packed("", reply)), log: []string{asked, "s2c response 1 status=200 bytes=36"}},
		{name: "a coding that nobody knows", body: ask, serve: write(200, encoded("x-secret"), "???"), log: []string{asked, "s2c gap dropped=1"}},
		{name: "gzip in the request", header: map[string]string{"Content-Encoding": "gzip"}, body: packed("gzip", ask), serve: write(200, js, reply),
			log: []string{asked, "s2c response 1 status=200 bytes=36"}},
		{name: "notification", body: tick, serve: write(202, nil), log: []string{"c2s notification notifications/progress bytes=93"}},
		{name: "response to the server", body: reply, serve: write(202, nil), log: []string{"c2s response 1 bytes=36"}},
		{name: "session", header: map[string]string{"Mcp-Session-Id": "s1"}, body: ask, serve: write(200, map[string]string{"Content-Type": "application/json", "Mcp-Session-Id": "s1"}, reply),
			log: []string{"c2s request 1 tools/call f session=s1 bytes=68", "s2c response 1 session=s1 status=200 bytes=36"}},
		{name: "a session begins", body: `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, serve: write(200, map[string]string{"Content-Type": "application/json", "Mcp-Session-Id": "s1"}, reply),
			log: []string{"c2s request 1 initialize session=s1 bytes=46", "s2c response 1 session=s1 status=200 bytes=36"}},
		{name: "a session is refused", body: `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, serve: write(503, nil), log: []string{"c2s request 1 initialize bytes=46", "s2c error null status=503 bytes=0"}},
		{name: "a session in the answer to another call", body: ask, serve: write(200, map[string]string{"Content-Type": "application/json", "Mcp-Session-Id": "s1"}, reply),
			log: []string{asked, "s2c response 1 status=200 bytes=36"}},
		{name: "refused, id null", header: map[string]string{"Mcp-Session-Id": "s1"}, body: ask, serve: write(404, js, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"no"},"id":null}`),
			log: []string{"c2s request 1 tools/call f session=s1 bytes=68", "s2c error null session=s1 status=404 bytes=66"}},
		{name: "refused, no id", body: ask, serve: write(400, js, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"no"}}`), log: []string{asked, "s2c error null status=400 bytes=56"}},
		{name: "an error with its id, in HTTP 400", body: ask, serve: write(400, js, `{"jsonrpc":"2.0","error":{"code":-32602,"message":"no"},"id":1}`), log: []string{asked, "s2c error 1 status=400 bytes=63"}},
		{name: "refused with a page", body: ask, serve: write(504, media("text/html"), "<html>"), log: []string{asked, "s2c invalid status=504 bytes=6"}},
		{name: "refused with nothing", body: ask, serve: write(502, nil), log: []string{asked, "s2c error null status=502 bytes=0"}},
		{name: "a redirect", body: ask, serve: write(307, map[string]string{"Location": "http://elsewhere.test/top-secret"}), log: []string{asked, "s2c error null status=307 bytes=0"}},
		{name: "a GET that is no stream", verb: "GET", serve: write(200, js, `{"issuer":"http://elsewhere.test"}`)},
		{name: "no GET stream", verb: "GET", serve: write(405, nil)},
		{name: "GET stream", verb: "GET", header: map[string]string{"Mcp-Session-Id": "s1", "Last-Event-ID": "7"}, serve: write(200, sse, "data: "+tick+"\n\n"),
			log: []string{"s2c notification notifications/progress session=s1 status=200 bytes=93", "s2c eof session=s1 status=200"}},
		{name: "DELETE", verb: "DELETE", header: map[string]string{"Mcp-Session-Id": "s1"}, serve: write(204, nil), log: []string{"c2s eof session=s1 status=204"}},
		{name: "the stream ends without the answer", body: ask, serve: write(200, sse, "data: "+tick+"\n\n"),
			log: []string{asked, "s2c notification notifications/progress status=200 bytes=93", "s2c eof status=200"}},
		{name: "the stream is cut", body: ask, serve: func(w http.ResponseWriter, r *http.Request) {
			write(200, sse, "data: "+tick+"\n\n", "data: {\"jso")(w, r)
			panic(http.ErrAbortHandler)
		}, log: []string{asked, "s2c notification notifications/progress status=200 bytes=93", "s2c eof status=200 trunc=true"}},
		{name: "a form for another endpoint", header: media("application/x-www-form-urlencoded"), body: "client_secret=top-secret", serve: write(200, js, `{"access_token":"top-secret"}`),
			log: []string{"c2s invalid bytes=24"}},
		{name: "JSON for another endpoint", header: media("application/json"), body: `{"client_secret":"top-secret"}`, serve: write(200, js, `[{"access_token":"top-secret"}]`),
			log: []string{"c2s invalid bytes=30"}},
		{name: "nothing that is a message", body: "hello", serve: write(200, js, "{}"), log: []string{"c2s invalid bytes=5"}},
	}
}

func (c *exchangeCase) request(url string) *http.Request {
	verb := c.verb
	if verb == "" {
		verb = http.MethodPost
	}
	r, err := http.NewRequest(verb, url, strings.NewReader(c.body))
	if err != nil {
		panic(err)
	}
	if c.body == "" {
		r.Body = http.NoBody
	}
	for k, v := range c.header {
		r.Header.Set(k, v)
	}
	r.Header.Set("Authorization", "Bearer top-secret")
	r.Header.Set("Cookie", "top-secret")
	return r
}

func (c *exchangeCase) check(t *testing.T, l *logged) {
	t.Helper()
	got := l.lines()
	if fmt.Sprint(got) != fmt.Sprint(c.log) {
		t.Errorf("log:\n %s\nwant:\n %s", strings.Join(got, "\n "), strings.Join(c.log, "\n "))
	}
	if text, _ := os.ReadFile(l.path); bytes.Contains(text, []byte("top-secret")) {
		t.Errorf("a credential is in the log: %s", text)
	}
}

// client is one that does not add to what it sends or undo what it gets.
func client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableCompression: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func fetch(t *testing.T, c *http.Client, r *http.Request) (status int, body string, err error) {
	t.Helper()
	response, err := c.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	return response.StatusCode, string(b), err
}

func TestProxyRecords(t *testing.T) {
	for _, c := range exchangeCases() {
		t.Run(c.name, func(t *testing.T) {
			backend := httptest.NewServer(http.HandlerFunc(c.serve))
			defer backend.Close()
			upstream, _ := url.Parse(backend.URL)
			l := newLogged(t, frame.Server)
			h := &HTTP{Recorder: l.Recorder}
			front := httptest.NewServer(h.Proxy(upstream, Guard{}))
			status, body, err := fetch(t, client(), c.request(backend.URL+"/mcp?token=top-secret"))
			status2, body2, err2 := fetch(t, client(), c.request(front.URL+"/mcp?token=top-secret"))
			if status != status2 || body != body2 || (err == nil) != (err2 == nil) {
				t.Errorf("direct %d %q %v, through the proxy %d %q %v", status, body, err, status2, body2, err2)
			}
			front.Close()
			c.check(t, l)
		})
	}
}

func TestTransportRecords(t *testing.T) {
	for _, c := range exchangeCases() {
		t.Run(c.name, func(t *testing.T) {
			backend := httptest.NewServer(http.HandlerFunc(c.serve))
			defer backend.Close()
			l := newLogged(t, frame.Client)
			h := &HTTP{Recorder: l.Recorder}
			plain := client()
			recorded := &http.Client{Transport: h.Transport(plain.Transport), CheckRedirect: plain.CheckRedirect}
			status, body, err := fetch(t, plain, c.request(backend.URL))
			status2, body2, err2 := fetch(t, recorded, c.request(backend.URL))
			if status != status2 || body != body2 || (err == nil) != (err2 == nil) {
				t.Errorf("plain %d %q %v, recorded %d %q %v", status, body, err, status2, body2, err2)
			}
			h.Wait(context.Background())
			c.check(t, l)
		})
	}
}

// TestTransportStreams sends a body whose length nobody knows.
func TestTransportStreams(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(write(200, media("application/json"), reply)))
	defer backend.Close()
	l := newLogged(t, frame.Client)
	h := &HTTP{Recorder: l.Recorder}
	c := exchangeCase{log: []string{asked, "s2c response 1 status=200 bytes=36"}}
	r := (&exchangeCase{body: ask}).request(backend.URL)
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(io.MultiReader(strings.NewReader(ask[:9]), strings.NewReader(ask[9:]))), 0, nil
	if _, body, err := fetch(t, &http.Client{Transport: h.Transport(nil)}, r); err != nil || body != reply {
		t.Errorf("%q %v", body, err)
	}
	h.Wait(context.Background())
	c.check(t, l)
}

// TestClientGoesAway closes the response of a call before its answer.
func TestClientGoesAway(t *testing.T) {
	gone := make(chan struct{})
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		write(200, media("text/event-stream"), "data: "+tick+"\n\n")(w, r)
		<-r.Context().Done()
		close(gone)
	}))
	defer backend.Close()
	upstream, _ := url.Parse(backend.URL)
	near, far := newLogged(t, frame.Client), newLogged(t, frame.Server)
	nearHTTP, farHTTP := &HTTP{Recorder: near.Recorder}, &HTTP{Recorder: far.Recorder}
	front := httptest.NewServer(farHTTP.Proxy(upstream, Guard{}))
	c := exchangeCase{body: ask}
	response, err := (&http.Client{Transport: nearHTTP.Transport(nil)}).Do(c.request(front.URL))
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(response.Body).ReadString('\n'); err != nil || !strings.Contains(line, "progress") {
		t.Fatal(line, err)
	}
	response.Body.Close()
	<-gone // the proxy passed it on
	nearHTTP.Wait(context.Background())
	front.Close()
	c.log = []string{asked, "s2c notification notifications/progress status=200 bytes=93", "c2s eof status=200 trunc=true"}
	c.check(t, near)
	c.check(t, far)
}

// TestBodyCap checks that a body beyond the copy's room passes whole and is still known by its id.
func TestBodyCap(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":1,"result":{"text":"` + strings.Repeat("x", 1<<20) + `"}}`
	backend := httptest.NewServer(http.HandlerFunc(write(200, media("application/json"), long)))
	defer backend.Close()
	upstream, _ := url.Parse(backend.URL)
	l := newLogged(t, frame.Server)
	h := &HTTP{Recorder: l.Recorder, MaxBody: 4096}
	front := httptest.NewServer(h.Proxy(upstream, Guard{}))
	_, body, err := fetch(t, client(), (&exchangeCase{body: ask}).request(front.URL))
	if err != nil || body != long {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	front.Close()
	h.Wait(context.Background())
	got := l.lines()
	if len(got) != 2 || !strings.HasPrefix(got[1], "s2c response 1 status=200") || !strings.Contains(got[1], "trunc=true") {
		t.Errorf("%q", got)
	}
}

func TestHashedSessionsAndMeasure(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(write(200, media("application/json"), `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"f","inputSchema":{}}]}}`)))
	defer backend.Close()
	upstream, _ := url.Parse(backend.URL)
	l := newLogged(t, frame.Server)
	h := &HTTP{Recorder: l.Recorder, HashSessions: true, Measure: MeasureAnswers}
	front := httptest.NewServer(h.Proxy(upstream, Guard{}))
	c := exchangeCase{body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, header: map[string]string{"Mcp-Session-Id": "abc"},
		log: []string{"c2s request 1 tools/list session=ba7816bf8f01cfea bytes=46",
			"s2c response 1 session=ba7816bf8f01cfea status=200 bytes=75 result_bytes=41 result_tokens=11"}} // SHA-256 of abc, FIPS 180-2
	if _, _, err := fetch(t, client(), c.request(front.URL)); err != nil {
		t.Fatal(err)
	}
	front.Close()
	c.check(t, l)
	text, _ := os.ReadFile(l.path)
	print, err := frame.Fingerprint([]byte(`{"inputSchema":{},"name":"f"}`))
	if err != nil || !bytes.Contains(text, []byte(`"tools":{"f":"`+print+`"}`)) {
		t.Errorf("%v: no fingerprint %s in %s", err, print, text)
	}
}

// TestChunksMakeNoDifference cuts a stream of events at random places: the log is the same.
func TestChunksMakeNoDifference(t *testing.T) {
	stream := ": hello\n\nid: 1\r\ndata:\r\n\r\nevent: message\rdata: " + tick + "\r\rdata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}\n\ndata: nonsense\n\n"
	want := []string{asked, "s2c notification notifications/progress status=200 bytes=93", "s2c response 1 status=200 bytes=37", "s2c invalid status=200 bytes=8"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var parts []string
		for rest := stream; rest != ""; {
			n := 1 + random.IntN(min(len(rest), 40))
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		l := newLogged(t, frame.Server)
		h := &HTTP{Recorder: l.Recorder}
		r := httptest.NewRequest("POST", "/", strings.NewReader(ask))
		h.Handler(http.HandlerFunc(write(200, media("text/event-stream"), parts...))).ServeHTTP(httptest.NewRecorder(), r)
		(&exchangeCase{log: want}).check(t, l)
	}
}

// TestLongAnswerEndsAtOnce checks that a handler returns before a long answer is understood: the reader of the copy is held up.
func TestLongAnswerEndsAtOnce(t *testing.T) {
	l := newLogged(t, frame.Server)
	release := make(chan struct{})
	h := &HTTP{Recorder: l.Recorder, Measure: func(*Event, string, []byte) { <-release }}
	long := `{"jsonrpc":"2.0","id":1,"result":{"text":"` + strings.Repeat("x", 1<<20) + `"}}`
	r := httptest.NewRequest("POST", "/", strings.NewReader(ask))
	h.Handler(http.HandlerFunc(write(200, media("application/json"), long))).ServeHTTP(httptest.NewRecorder(), r)
	close(release) // not before the handler has returned
	h.Wait(context.Background())
	if got := l.lines(); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// TestPackedBodyCap: of a body that unpacks to far more than the cap, the copy is unpacked as far as the cap.
func TestPackedBodyCap(t *testing.T) {
	l := newLogged(t, frame.Server)
	h := &HTTP{Recorder: l.Recorder, MaxBody: 64 << 10}
	front := httptest.NewServer(h.Handler(http.HandlerFunc(write(202, nil))))
	long := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":{"x":"` + strings.Repeat("x", 16<<20) + `"}}}`
	c := exchangeCase{header: map[string]string{"Content-Encoding": "gzip"}, body: packed("gzip", long),
		log: []string{"c2s request 1 tools/call f trunc=true", "s2c eof status=202"}}
	if _, _, err := fetch(t, client(), c.request(front.URL)); err != nil {
		t.Fatal(err)
	}
	front.Close()
	c.check(t, l)
	unpacked := strings.NewReader(strings.Repeat(" ", 1<<20))
	if rest(unpacked, "gzip"); unpacked.Len() < 1<<20-1 {
		t.Errorf("%d bytes of the rest were unpacked", 1<<20-unpacked.Len())
	}
}

// TestClientTimeout: a client that waits no longer for a response has ended the exchange, not the server.
func TestClientTimeout(t *testing.T) {
	release := make(chan struct{})
	backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-release
	}))
	defer backend.Close()
	defer close(release)
	l := newLogged(t, frame.Client)
	h := &HTTP{Recorder: l.Recorder}
	c := exchangeCase{body: ask, log: []string{asked, "c2s eof trunc=true"}}
	impatient := &http.Client{Transport: h.Transport(&http.Transport{}), Timeout: 500 * time.Millisecond}
	if _, _, err := fetch(t, impatient, c.request(backend.URL)); err == nil {
		t.Error("the server answered")
	}
	c.check(t, l)
}
