package tap

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"mcpdiag/ingest/frame"
)

// TestProxyFlushes checks that an event is at the client before the next one exists.
func TestProxyFlushes(t *testing.T) {
	next := make(chan struct{})
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		write(200, media("text/event-stream"), "data: "+tick+"\n\n")(w, r)
		<-next
		io.WriteString(w, "data: "+reply+"\n\n")
	}))
	defer backend.Close()
	upstream, _ := url.Parse(backend.URL)
	l := newLogged(t, frame.Server)
	front := httptest.NewServer((&HTTP{Recorder: l.Recorder}).Proxy(upstream, Guard{}))
	defer front.Close()
	c := exchangeCase{body: ask}
	response, err := client().Do(c.request(front.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	r := bufio.NewReader(response.Body)
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, "progress") {
		t.Fatal(line, err)
	}
	close(next)
	if rest, err := io.ReadAll(r); err != nil || !strings.Contains(string(rest), `"id":1`) {
		t.Fatal(string(rest), err)
	}
}

// TestProxyPassesHeads compares what the upstream sees, directly and through the proxy.
func TestProxyPassesHeads(t *testing.T) {
	var seen []string
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		r.Header.Del("Connection")
		seen = append(seen, fmt.Sprint(r.Method, r.Host, r.URL.String(), r.Header, r.ContentLength, r.TransferEncoding))
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("Location", "http://elsewhere.test/")
		w.Header()["X-Two"] = []string{"a", "b"}
		w.WriteHeader(http.StatusFound)
		io.WriteString(w, "moved")
		w.Header().Set("X-Sum", "7")
	}))
	defer backend.Close()
	upstream, _ := url.Parse(backend.URL)
	l := newLogged(t, frame.Server)
	front := httptest.NewServer((&HTTP{Recorder: l.Recorder}).Proxy(upstream, Guard{Hosts: []string{"mcp.example"}}))
	defer front.Close()
	var heads []string
	for _, base := range []string{backend.URL, front.URL} {
		r, _ := http.NewRequest("POST", base+"/mcp?a=1;b&%zz", strings.NewReader(ask))
		r.Host = "mcp.example"
		r.Header["X-Custom"] = []string{"1", "2"}
		r.Header.Set("X-Forwarded-For", "10.0.0.1")
		r.Header.Set("Forwarded", "for=10.0.0.1")
		r.Header.Set("User-Agent", "t/1")
		response, err := client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Header.Del("Date")
		heads = append(heads, fmt.Sprint(response.StatusCode, response.Header, response.Trailer))
	}
	if seen[0] != seen[1] {
		t.Errorf("the upstream sees\n%s\nand through the proxy\n%s", seen[0], seen[1])
	}
	if heads[0] != heads[1] || !strings.Contains(heads[0], "X-Sum:[7]") {
		t.Errorf("the client sees\n%s\nand through the proxy\n%s", heads[0], heads[1])
	}
}

func TestProxyPaths(t *testing.T) {
	var path string
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { path = r.URL.EscapedPath() }))
	defer backend.Close()
	for _, c := range []struct{ upstream, sent, want string }{
		{"", "/mcp", "/mcp"}, {"/", "/", "/"}, {"/mcp", "/", "/mcp"}, {"/mcp", "/mcp", "/mcp"}, {"/mcp", "/mcp/x", "/mcp/x"},
		{"/mcp/", "/x%2Fy", "/mcp/x%2Fy"}, {"/api", "/mcp", "/api/mcp"},
	} {
		upstream, _ := url.Parse(backend.URL + c.upstream)
		l := newLogged(t, frame.Server)
		front := httptest.NewServer((&HTTP{Recorder: l.Recorder}).Proxy(upstream, Guard{}))
		if _, _, err := fetch(t, client(), (&exchangeCase{body: ask}).request(front.URL+c.sent)); err != nil || path != c.want {
			t.Errorf("%s through %s reaches %s, want %s (%v)", c.sent, c.upstream, path, c.want, err)
		}
		front.Close()
	}
}

func TestGuard(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) })
	for _, c := range []struct {
		host, origin string
		guard        Guard
		status       int
	}{
		{"127.0.0.1:8080", "", Guard{}, 200}, {"localhost", "", Guard{}, 200}, {"[::1]:80", "", Guard{}, 200}, {"LOCALHOST:1", "http://localhost:3000", Guard{}, 200},
		{"evil.example", "", Guard{}, 403}, {"evil.example:8080", "http://localhost", Guard{}, 403}, {"127.0.0.1.evil.example", "", Guard{}, 403}, {"", "", Guard{}, 403},
		{"localhost", "http://evil.example", Guard{}, 403}, {"localhost", "null", Guard{}, 403}, {"localhost", "file://localhost", Guard{}, 403},
		{"mcp.example:80", "", Guard{Hosts: []string{"mcp.example"}}, 200}, {"mcp.example:81", "", Guard{Hosts: []string{"mcp.example:80"}}, 403},
		{"localhost", "https://app.example", Guard{Origins: []string{"https://app.example"}}, 200}, {"x.example", "https://y.example", Guard{Hosts: []string{"*"}, Origins: []string{"*"}}, 200},
		{"x.example", "", Guard{Hosts: []string{"*"}}, 200}, {"localhost", "https://evil.example", Guard{Hosts: []string{"*"}}, 403}, {"x.example", "http://localhost:5173", Guard{Hosts: []string{"*"}}, 200},
		{"[2001:db8::1]:80", "", Guard{Hosts: []string{"[2001:db8::1]"}}, 200}, {"[2001:db8::1]:80", "", Guard{Hosts: []string{"2001:db8::1"}}, 200},
		{"[2001:db8::1]:81", "", Guard{Hosts: []string{"[2001:db8::1]:80"}}, 403},
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		c.guard.Handler(ok).ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("Host %q, Origin %q, %+v: %d, want %d", c.host, c.origin, c.guard, w.Code, c.status)
		}
	}
}

func TestUnreachable(t *testing.T) {
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	upstream, _ := url.Parse("http://" + dead.Addr().String())
	dead.Close()
	l := newLogged(t, frame.Server)
	front := httptest.NewServer((&HTTP{Recorder: l.Recorder}).Proxy(upstream, Guard{}))
	c := exchangeCase{body: ask, log: []string{asked, "s2c invalid status=502 bytes=43"}}
	if status, _, err := fetch(t, client(), c.request(front.URL)); err != nil || status != 502 {
		t.Errorf("%d, %v", status, err)
	}
	front.Close()
	c.check(t, l)
}

func TestServeProxyEnds(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(write(200, media("application/json"), reply)))
	defer backend.Close()
	upstream, _ := url.Parse(backend.URL)
	l := newLogged(t, frame.Server)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	ended := make(chan error)
	go func() { ended <- (&HTTP{Recorder: l.Recorder}).ServeProxy(ctx, listener, upstream, Guard{}) }()
	c := exchangeCase{body: ask, log: []string{asked, "s2c response 1 status=200 bytes=36"}}
	if _, _, err := fetch(t, client(), c.request("http://"+listener.Addr().String())); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	c.check(t, l)
}

func TestParseUpstream(t *testing.T) {
	for s, ok := range map[string]bool{"http://h:1/mcp": true, "https://h": true, "h:1": false, "ftp://h": false, "http://": false, "http://u:p@h": false, "http://h/mcp?key=u:p": false, "://": false} {
		_, err := ParseUpstream(s)
		if (err == nil) != ok || err != nil && strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// TestProxyEarlyAnswer: an upstream that begins to answer before it has read the request gets all of it, and the log has the
// request first.
func TestProxyEarlyAnswer(t *testing.T) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":{"x":"` + strings.Repeat("x", 8<<20) + `"}}}`
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		c.EnableFullDuplex()
		w.Header().Set("Content-Type", "text/event-stream")
		c.Flush()
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "data: "+reply+"\n\n: %d %v\n\n", n, err)
	}))
	defer backend.Close()
	upstream, _ := url.Parse(backend.URL)
	l := newLogged(t, frame.Server)
	front := httptest.NewServer((&HTTP{Recorder: l.Recorder}).Proxy(upstream, Guard{}))
	c := exchangeCase{body: body, log: []string{fmt.Sprintf("c2s request 1 tools/call f bytes=%d", len(body)), "s2c response 1 status=200 bytes=36"}}
	_, got, err := fetch(t, client(), c.request(front.URL))
	if want := fmt.Sprintf(": %d <nil>\n\n", len(body)); err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	front.Close()
	c.check(t, l)
}

// TestProxyEarlyRefusal: a refusal is at the client while it still sends.
func TestProxyEarlyRefusal(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) }))
	defer backend.Close()
	upstream, _ := url.Parse(backend.URL)
	l := newLogged(t, frame.Server)
	front := httptest.NewServer((&HTTP{Recorder: l.Recorder}).Proxy(upstream, Guard{}))
	conn, err := net.Dial("tcp", front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n%s", strings.Repeat(" ", 10_000))
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, " 413 ") {
		t.Error(line, err)
	}
	conn.Close()
	front.Close()
}

func TestProxyRequestTrailer(t *testing.T) {
	var sum string
	backend := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		sum = r.Trailer.Get("X-Sum")
	}))
	defer backend.Close()
	upstream, _ := url.Parse(backend.URL)
	l := newLogged(t, frame.Server)
	front := httptest.NewServer((&HTTP{Recorder: l.Recorder}).Proxy(upstream, Guard{}))
	r, _ := http.NewRequest("POST", front.URL, io.MultiReader(strings.NewReader(ask))) // of no length that is known: chunked
	r.Trailer = http.Header{"X-Sum": {"7"}}
	if _, _, err := fetch(t, client(), r); err != nil || sum != "7" {
		t.Errorf("%q, %v", sum, err)
	}
	front.Close()
}
