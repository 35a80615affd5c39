package tap

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Guard refuses requests that a web page may have made a browser send to a server on its own machine (DNS rebinding): the
// Host has to be a name of this machine or one that is allowed, and so has the Origin, when there is one.
type Guard struct {
	Hosts   []string // allowed beside localhost and the loopback addresses: a host, with its port or for every port; "*" is all
	Origins []string // allowed beside those of the hosts that are named, as scheme://host[:port]; "*" is all
}

// Handler is next behind the guard.
func (g Guard) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		what := ""
		switch {
		case !g.host(r.Host) && !slices.Contains(g.Hosts, "*"):
			what = "Host"
		case !g.origin(r.Header.Values("Origin")):
			what = "Origin"
		default:
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		w.Write([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"` + what + ` is not allowed here"}}`))
	})
}

// host reports whether a host is one of this machine or named. Any host is not any origin: a server may not know by what name it is
// reached, and still no web page has anything to ask of it.
func (g Guard) host(hostport string) bool {
	name := hostname(hostport)
	if loopback(name) {
		return true
	}
	for _, h := range g.Hosts {
		if strings.EqualFold(h, hostport) || strings.EqualFold(strings.Trim(h, "[]"), name) {
			return true
		}
	}
	return false
}

func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func loopback(name string) bool {
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

func (g Guard) origin(origins []string) bool {
	if len(origins) == 0 {
		return true
	}
	if len(origins) > 1 {
		return false
	}
	for _, o := range g.Origins {
		if o == "*" || strings.EqualFold(o, origins[0]) {
			return true
		}
	}
	u, err := url.Parse(origins[0])
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && g.host(u.Host) // "null" has no host
}
