package tap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

// Proxy is a reverse proxy for Streamable HTTP that records what passes. It is noticed by nothing but its log: bodies pass as
// they come and are flushed at once, the Host stays the client's, so that the upstream's own check against DNS rebinding
// still sees it, redirects and unknown headers pass, and nothing is compressed or decompressed.
//
// The path of upstream is where "/" leads; a request that has that path already keeps it.
func (h *HTTP) Proxy(upstream *url.URL, guard Guard) http.Handler {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // it would ask for gzip, and undo it
	transport.MaxIdleConnsPerHost = 256
	transport.IdleConnTimeout = idleConn
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { rewrite(r, upstream) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorHandler:  unreachable,
		ErrorLog:      log.New(io.Discard, "", 0), // a stream that was cut is in the log
	}
	return h.Handler(guard.Handler(duplex(proxy)))
}

// duplex lets next go on reading a request when its response has begun. Some upstreams answer before they have read all of it,
// and net/http would keep the rest from them.
func duplex(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex() // fails where it is so anyway: in HTTP/2
		next.ServeHTTP(w, r)
	})
}

// idleConn is how long a connection to the upstream is kept for the next request. Servers close theirs after as little as 5 s,
// and a POST that meets the close cannot be repeated: the client would see an error that it does not see without the proxy.
const idleConn = 2 * time.Second

func rewrite(r *httputil.ProxyRequest, upstream *url.URL) {
	out := r.Out
	out.URL.Scheme, out.URL.Host = upstream.Scheme, upstream.Host
	out.URL.RawQuery = r.In.URL.RawQuery // ReverseProxy has dropped what it cannot parse
	if base := strings.TrimSuffix(upstream.Path, "/"); base != "" && out.URL.Path != base && !strings.HasPrefix(out.URL.Path, base+"/") {
		to := *upstream
		to.RawQuery = ""
		joined := to.JoinPath(out.URL.EscapedPath())
		if out.URL.Path == "/" {
			joined = &to
		}
		out.URL.Path, out.URL.RawPath = joined.Path, joined.RawPath
	}
	out.Host = r.In.Host
	out.Trailer = r.In.Trailer // the server fills it in at the end of the body, which the copy would not see
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := r.In.Header[name]; ok {
			out.Header[name] = v
		}
	}
}

// unreachable answers for an upstream that does not. To a client that has gone away there is nothing to say. The error is not
// repeated: it may hold an address that the client should not know.
func unreachable(w http.ResponseWriter, r *http.Request, _ error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	if out, ok := w.(*response); ok {
		out.duplex = false // nobody reads the request now, and the log has to show it
	}
	http.Error(w, "mcpdiag proxy: the upstream did not answer", http.StatusBadGateway)
}

// ParseUpstream reads the address of a server: http or https, and a host.
func ParseUpstream(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the upstream is no URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("the upstream %s is not http://HOST… or https://HOST…", u.Redacted())
	case u.User != nil:
		return nil, fmt.Errorf("the upstream has a user in its URL: credentials pass in headers, from the client")
	case u.RawQuery != "":
		return nil, fmt.Errorf("the upstream has a query in its URL: queries pass, from the client")
	}
	return u, nil
}

// ServeProxy serves the proxy on l until ctx is done; then it lets what is running end, for a moment.
func (h *HTTP) ServeProxy(ctx context.Context, l net.Listener, upstream *url.URL, guard Guard) error {
	server := &http.Server{Handler: h.Proxy(upstream, guard), ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		last, cancel := context.WithTimeout(context.Background(), lastMoment)
		defer cancel()
		if server.Shutdown(last) != nil {
			server.Close() // streams end only with their clients
		}
	})
	err := server.Serve(l)
	if !stop() {
		<-ended // Serve returns when Shutdown begins
	}
	last, cancel := context.WithTimeout(context.Background(), lastMoment)
	defer cancel()
	h.Wait(last) // what has not ended by then has no end to be recorded
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// lastMoment is how long exchanges may go on when the proxy is told to end.
const lastMoment = time.Second
