package dialect

import (
	"bytes"
	"strconv"
	"time"

	"mcpdiag/ingest/frame"
)

// dockerGateway reads the standard error of the Docker MCP gateway: calls of tools, without ids and times. On an error it logs
// no end, so a call without one may have ended.
//
//   - Calling tool sail with arguments: {"port":"Ness"}
//     > Calling tool sail took: 1.204113s
func dockerGateway() *Dialect {
	return &Dialect{
		Name: "docker-gateway", Writer: "Docker MCP gateway", Vantage: "a gateway's calls of tools; ids are its own", Moment: "handler entered; handler returned, on success only",
		Sees: Requests | Large | Flying, Ordered: true, Carried: true, Side: frame.Server,
		Match: func(line []byte) bool {
			return bytes.Contains(line, []byte("Calling tool ")) && (line[0] == '-' || line[0] == '>')
		},
		Weight: func([]byte) int { return 4 },
		New:    text(func() grammar { return dockerLog{} }),
	}
}

type dockerLog struct{}

func (dockerLog) line(r *textReader, line []byte) {
	line = bytes.TrimLeft(line, " ")
	f := r.blank()
	if tool, _, ok := between(line, "- Calling tool ", " with arguments: "); ok {
		r.began(f, nil, tool, "call start "+string(tool))
	} else if tool, took, ok := between(line, "> Calling tool ", " took: "); ok {
		f.Kind = frame.Response
		d, known := duration(took)
		if !known {
			d = -1
		}
		r.over(f, nil, tool, d, "call ok "+string(tool)+" "+string(took))
	}
}

// agentGateway reads agentgateway's request log: one record an exchange, when it has ended.
//
//	2026-10-14T13:50:00.839649Z info request gateway=ops/agw … http.status=200 … mcp.method.name=tools/call mcp.session.id=s-71 duration=118ms
func agentGateway() *Dialect {
	return &Dialect{
		Name: "agentgateway", Writer: "agentgateway, request log", Vantage: "a gateway, one record an HTTP exchange; no ids", Moment: "the exchange ended",
		Sees: atEnds, Ordered: true, Carried: true, Side: frame.Proxy,
		Match: prose(func(line []byte) bool {
			_, rest, ok := agentRecord(line)
			return ok && bytes.HasPrefix(rest, []byte("gateway=")) && bytes.Contains(rest, []byte(" http.status="))
		}),
		Weight: func([]byte) int { return 10 },
		New:    text(func() grammar { return agentLog{} }),
	}
}

type agentLog struct{}

func (agentLog) line(r *textReader, line []byte) {
	at, rest, ok := agentRecord(line)
	if !ok {
		return
	}
	rec := logfmt(rest)
	status, err := strconv.ParseInt(rec.text("http.status"), 10, 32)
	if err != nil {
		return
	}
	f := r.blank()
	f.Side = frame.Proxy
	if session := rec.any("mcp.session.id"); session != nil {
		f.Extra().Conn = session
	}
	f.Method, f.Name = rec.any("mcp.method.name"), rec.any("gen_ai.tool.name", "mcp.tool.name")
	begin := at
	if d, ok := rec.duration(time.Millisecond, "duration"); ok {
		begin = at.Back(d)
	}
	r.exchange(f, begin, at, status, exchangeWord(f.Method, status))
}

// agentRecord finds the members behind `TIME level request `, with tabs or spaces between.
func agentRecord(line []byte) (at frame.Instant, rest []byte, ok bool) {
	w := words{line}
	if !frame.ParseWall(w.next(), &at) {
		return at, nil, false
	}
	if !isLevel(w.next()) || string(w.next()) != "request" {
		return at, nil, false
	}
	return at, w.rest(), true
}

func exchangeWord(method []byte, status int64) string {
	if len(method) == 0 {
		method = []byte("?")
	}
	return "exch " + string(method) + " " + strconv.FormatInt(status, 10)
}

// envoyGateway reads the access log of Envoy AI Gateway, one JSON object an exchange. mcp_request_id is the gateway's own.
func envoyGateway() *Dialect {
	return &Dialect{
		Name: "envoy-ai-gateway", Writer: "Envoy AI Gateway, JSON access log", Vantage: "a gateway, one record an HTTP exchange; ids are its own", Moment: "the exchange ended",
		Sees: atEnds, Ordered: true, Carried: true, Side: frame.Proxy,
		Match: func(line []byte) bool {
			return has(line, `"mcp_method"`, `"response_code"`)
		},
		Whole:  func(head []byte) bool { return pretty(head, `"mcp_method"`, `"response_code"`) },
		Weight: func([]byte) int { return 10 },
		New:    text(func() grammar { return &accessLog{} }),
	}
}

// nginxJSON reads JSON access logs of nginx, and of Envoy without the gateway, where they log the MCP headers:
// log_format … "$http_mcp_method" "$http_mcp_name" "$http_mcp_session_id" $request_time $status. Without those headers only
// the exchange is known. 499 says that the client went away, 504 that the server was silent.
func nginxJSON() *Dialect {
	return &Dialect{
		Name: "nginx-json", Writer: "nginx (or Envoy), access log as JSON", Vantage: "a web server, one record an HTTP exchange; no ids", Moment: "the exchange ended", Source: fromDescription,
		Knob: "log $http_mcp_method, $http_mcp_name, $http_mcp_session_id, $request_time and $status: without them an access log shows no calls",
		Sees: atEnds, Ordered: true, Carried: true, Side: frame.Proxy,
		Match: func(line []byte) bool {
			if !has(line, "time") || !has(line, "status") && !has(line, "response_code") {
				return false
			}
			rec := jsonFields(line)
			return rec.any(statusNames...) != nil && rec.any("request_time", "duration", "upstream_response_time") != nil &&
				(rec.any(mcpMethodNames...) != nil || bytes.Contains(rec.any(uriNames...), []byte("/mcp")))
		},
		Weight: func([]byte) int { return 5 },
		New:    text(func() grammar { return &accessLog{} }),
	}
}

// The names of an access log's members.
var (
	statusNames    = []string{"response_code", "status", "http_status"}
	mcpMethodNames = []string{"mcp_method", "http_mcp_method", "mcp-method", "Mcp-Method", "mcp.method.name"}
	mcpToolNames   = []string{"mcp_tool", "mcp_name", "http_mcp_name", "mcp-name", "Mcp-Name", "gen_ai.tool.name"}
	mcpSessions    = []string{"mcp_session_id", "http_mcp_session_id", "mcp-session-id", "mcp.session.id"}
	uriNames       = []string{"request_uri", "uri", "request", "path"}
	endTimes       = []string{"time_iso8601", "time", "@timestamp", "timestamp", "msec", "ts"}
)

type accessLog struct{ pretty object }

func (a *accessLog) line(r *textReader, line []byte) {
	rec := jsonFields(a.pretty.feed(line))
	status, err := strconv.ParseInt(string(rec.any(statusNames...)), 10, 32)
	if err != nil {
		return
	}
	f := r.blank()
	f.Side = frame.Proxy
	f.Method, f.Name = rec.any(mcpMethodNames...), rec.any(mcpToolNames...)
	if session := rec.any(mcpSessions...); session != nil {
		f.Extra().Conn = session
	}
	begin, end := accessTimes(rec)
	r.exchange(f, begin, end, status, exchangeWord(f.Method, status))
}

// accessTimes finds when the exchange began and ended: a start and a duration in ms, as Envoy writes them, or an end and a
// duration in s, as nginx does.
func accessTimes(rec fields) (begin, end frame.Instant) {
	if d, ok := rec.duration(time.Millisecond, "duration"); ok && frame.ParseWall(rec["start_time"], &begin) {
		return begin, begin.Back(-d)
	}
	for _, n := range endTimes {
		if v := rec[n]; len(v) > 0 && (frame.ParseWall(v, &end) || v[0]-'0' <= 9 && wallTime(v, &end)) {
			break
		}
	}
	begin = end
	if d, ok := rec.duration(time.Second, "request_time"); ok {
		begin = end.Back(d)
	}
	return begin, end
}
