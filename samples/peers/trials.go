package main

import "regexp"

// trial is one pair of peers. It is run twice: directly, and with a recorder on each side.
type trial struct {
	name   string
	dir    string
	server func(port string) []string // a server over HTTP; nil: the client starts its own, on stdio
	path   string                     // of its endpoint
	stdio  []string                   // the server that the client starts, URL standing for the address of the HTTP server
	client []string                   // what is run; SERVER stands for the server's command or address
	flags  []string                   // of the proxies
	said   *regexp.Regexp             // what of its output is compared; nil: all
	want   string                     // what has to be in it
}

// trials is the table of the peers.
func trials(p *parts) []trial {
	node := p.node()
	v1, v2 := []string{node, p.path("client.mjs"), "v1"}, []string{node, p.path("client.mjs"), "v2"}
	stdio := func(client []string) []string {
		return append(append([]string{}, client...), "stdio", "echo", "SERVER")
	}
	web := func(client []string) []string { return append(append([]string{}, client...), "http", "echo", "SERVER") }
	everything := []string{node, p.everything(), "stdio"}
	everythingHTTP := func(port string) []string {
		return []string{"env", "PORT=" + port, node, p.everything(), "streamableHttp"}
	}
	v2HTTP := func(port string) []string { return []string{node, p.path("server.mjs"), "http", port} }
	suite := func(more ...string) []string {
		return append([]string{node, p.module("@modelcontextprotocol/conformance/dist/index.js"), "server", "--url", "SERVER"}, more...)
	}
	conformant := func(stateless string) func(string) []string {
		return func(port string) []string {
			return []string{p.path("everything-server"), "-http", "127.0.0.1:" + port, "-stateless=" + stateless}
		}
	}
	passed := regexp.MustCompile(`(?m)^.*Passed: .*$`)
	summary := regexp.MustCompile(`(?m)^([✓✗] .*|Total: .*)$`)
	open := []string{"--allow-host", "*", "--allow-origin", "*"} // so that it is the server's own check that is asked
	const echoed = "hällo \u2028 you"
	return []trial{
		{name: "TS v1 client, server-everything, stdio", client: stdio(v1), stdio: everything, want: echoed},
		{name: "TS v2 client, server-everything, stdio", client: stdio(v2), stdio: everything, want: echoed},
		{name: "TS v1 client, TS v2 server, stdio", client: stdio(v1), stdio: []string{node, p.path("server.mjs"), "stdio"}, want: echoed},
		{name: "TS v2 client, TS v2 server, stdio (2026-07-28)", client: stdio(v2), stdio: []string{node, p.path("server.mjs"), "stdio"}, want: echoed},
		{name: "TS v1 client, server-everything, HTTP", client: web(v1), server: everythingHTTP, path: "/mcp", want: echoed},
		{name: "TS v2 client, server-everything, HTTP", client: web(v2), server: everythingHTTP, path: "/mcp", want: echoed},
		{name: "TS v1 client, TS v2 server, HTTP", client: web(v1), server: v2HTTP, path: "/", want: echoed},
		{name: "TS v2 client, TS v2 server, HTTP (2026-07-28)", client: web(v2), server: v2HTTP, path: "/", want: echoed},
		{name: "TS v1 client, mcp-remote, server-everything", client: stdio(v1), server: everythingHTTP, path: "/mcp",
			stdio: []string{node, p.module("mcp-remote/dist/proxy.js"), "URL", "--allow-http"}, want: echoed},
		{name: "conformance, stateful go-sdk server", client: suite(), server: conformant("false"), path: "/", said: summary, want: "Total: 73 passed, 0 failed"},
		{name: "conformance 2026-07-28, stateless go-sdk server", client: suite("--spec-version", "2026-07-28"), server: conformant("true"), path: "/", said: summary, want: "Total: 42 passed, 0 failed"},
		{name: "conformance, DNS rebinding, refused by the proxy", client: suite("--scenario", "dns-rebinding-protection"), server: conformant("false"), path: "/",
			said: passed, want: "Passed: 2/2, 0 failed"},
		{name: "conformance, DNS rebinding, refused by the server", client: suite("--scenario", "dns-rebinding-protection"), server: conformant("false"), path: "/",
			flags: open, said: passed, want: "Passed: 2/2, 0 failed"},
	}
}
