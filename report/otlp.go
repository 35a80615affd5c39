package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// The OTLP JSON of a span, as far as it is written here. 64-bit numbers are strings and ids are hexadecimal, as OTLP has them.
type otlpSpan struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []otlpAttr  `json:"attributes"`
	Events     []otlpEvent `json:"events,omitempty"`
	Links      []otlpLink  `json:"links,omitempty"`
	Status     *otlpStatus `json:"status,omitempty"`
}

type otlpAttr struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

type otlpEvent struct {
	Time       string     `json:"timeUnixNano"`
	Name       string     `json:"name"`
	Attributes []otlpAttr `json:"attributes,omitempty"`
}

type otlpLink struct {
	TraceID string `json:"traceId"`
	SpanID  string `json:"spanId"`
}

type otlpStatus struct {
	Code int `json:"code"`
}

const (
	otlpServer = 2 // SPAN_KIND_SERVER
	otlpClient = 3 // SPAN_KIND_CLIENT
	otlpError  = 2 // STATUS_CODE_ERROR
)

// OTLP writes one span for each side of a call, with the attributes of the semantic conventions for MCP. The two spans are
// linked and not parent and child: they stand in traces of their own, since viewers draw one trace on one axis and the two
// sides have a clock each. Status is unset unless the answer is an error; a cancel is no error.
func OTLP(w io.Writer, d *diagnose.Diagnosis, program string) error {
	b := bufio.NewWriter(w)
	o := &otlp{w: b, d: d}
	b.WriteString(`{"resourceSpans":[`)
	for i, l := range d.Logs {
		if i > 0 {
			b.WriteByte(',')
		}
		o.log(l, program)
	}
	b.WriteString("]}\n")
	return cmp.Or(o.err, b.Flush())
}

type otlp struct {
	w   *bufio.Writer
	d   *diagnose.Diagnosis
	err error
}

func (o *otlp) json(v any) {
	text, err := json.Marshal(v)
	if err == nil {
		_, err = ascii{o.w}.Write(text)
	}
	o.err = cmp.Or(o.err, err)
}

func (o *otlp) log(l *ingest.Log, program string) {
	o.w.WriteString(`{"resource":{"attributes":`)
	o.json([]otlpAttr{word("service.name", "mcp-"+l.Side.String()), word("mcpdiag.log.path", l.Path), word("mcpdiag.log.dialect", l.Dialect.Name), flag("mcpdiag.clock.wall", hasWall(l))})
	o.w.WriteString(`},"scopeSpans":[{"scope":`)
	o.json(map[string]string{"name": "mcpdiag", "version": program})
	o.w.WriteString(`,"spans":[`)
	first := true
	for _, c := range o.d.Calls {
		for _, h := range sides(c) {
			span, ok := newSpan(c, h)
			if h.Log != l || !ok {
				continue
			}
			if !first {
				o.w.WriteByte(',')
			}
			first = false
			o.w.WriteByte('\n')
			o.json(span)
		}
	}
	o.w.WriteString("]}]}")
}

func hasWall(l *ingest.Log) bool {
	first, _ := l.Span()
	return first.HasWall()
}

// unix is a moment in ns since 1970: the wall time of the log's first record, and the time since then on the log's clock. A log
// without wall times starts at 1 s, since 0 means "not told".
func unix(l *ingest.Log, at frame.Instant) (int64, bool) {
	d, ok := sinceStart(l, at)
	first, _ := l.Span()
	base, wall := first.WallNS()
	if !wall {
		base = int64(time.Second)
	}
	return base + int64(d), ok && base+int64(d) > 0
}

func newSpan(c *diagnose.Call, h diagnose.Half) (*otlpSpan, bool) {
	from, to, ended := stay(c, h)
	start, ok1 := unix(h.Log, from)
	end, ok2 := unix(h.Log, to)
	if !ok1 || !ok2 {
		return nil, false
	}
	id := newOTLPID(c, h)
	s := &otlpSpan{TraceID: id.TraceID, SpanID: id.SpanID, Name: frame.Escape(spanName(c)), Kind: otlpServer, Start: strconv.FormatInt(start, 10), End: strconv.FormatInt(max(start, end), 10), Attributes: attributes(c, ended)}
	if h == c.Sent {
		s.Kind = otlpClient
	}
	for _, other := range sides(c) {
		if other != h {
			s.Links = append(s.Links, newOTLPID(c, other))
		}
	}
	for _, e := range []struct {
		point ingest.Point
		name  string
	}{{ingest.Enter, "handler_enter"}, {ingest.Exit, "handler_exit"}, {ingest.Cancel, "notifications/cancelled"}} {
		if at, ok := unix(h.Log, h.At(e.point)); ok && h.Line(e.point) != 0 {
			s.Events = append(s.Events, otlpEvent{strconv.FormatInt(at, 10), e.name, []otlpAttr{word("mcpdiag.line", diagnose.Cite(h.Log, h.Line(e.point)))}})
		}
	}
	s.fail(h)
	return s, true
}

// fail sets the status of a span whose answer is an error. Nothing else is one: a cancelled call has no status.
func (s *otlpSpan) fail(h diagnose.Half) {
	switch {
	case h.Has(ingest.IsError):
		code := strconv.Itoa(h.Log.Code(h.N))
		s.Attributes = append(s.Attributes, word("error.type", code), word("rpc.response.status_code", code))
	case h.Has(ingest.ToolError):
		s.Attributes = append(s.Attributes, word("error.type", "tool_error"))
	default:
		return
	}
	s.Status = &otlpStatus{otlpError}
}

// spanName is the method and its target.
func spanName(c *diagnose.Call) string { return cmp.Or(toolOf(c), "request") }

func attributes(c *diagnose.Call, ended bool) []otlpAttr {
	list := []otlpAttr{word("mcp.method.name", c.Method()), word("jsonrpc.request.id", string(c.ID().Bare())), word("mcp.session.id", c.Session())}
	switch c.Method() {
	case "tools/call":
		list = append(list, word("gen_ai.tool.name", c.Name()), word("gen_ai.operation.name", "execute_tool"))
	case "prompts/get":
		list = append(list, word("gen_ai.prompt.name", c.Name()))
	case "resources/read":
		list = append(list, word("mcp.resource.uri", c.Name()))
	}
	list = append(list, word("mcpdiag.leaf", string(c.Leaf)), word("mcpdiag.outcome", c.Outcome().String()), flag("mcpdiag.stalled", c.Stalled), flag("mcpdiag.ended", ended), word("mcpdiag.line", c.FirstLine()))
	for _, n := range []struct {
		key   string
		value int64
	}{{"mcpdiag.request.bytes", c.Bytes(ingest.Request)}, {"mcpdiag.response.bytes", c.Bytes(ingest.Answer)}, {"mcpdiag.response.rows", c.Rows()}} {
		if n.value != frame.Unknown {
			list = append(list, otlpAttr{n.key, map[string]any{"intValue": strconv.FormatInt(n.value, 10)}})
		}
	}
	if len(c.Causes) > 0 {
		list = append(list, word("mcpdiag.cause", c.Causes[0].Name), word("mcpdiag.cause.status", c.Causes[0].Status()))
	}
	return whatIsTold(list)
}

// whatIsTold leaves out what is not told.
func whatIsTold(list []otlpAttr) []otlpAttr {
	out := list[:0]
	for _, a := range list {
		if a.Value["stringValue"] != "" {
			out = append(out, a)
		}
	}
	return out
}

func word(key, value string) otlpAttr {
	return otlpAttr{key, map[string]any{"stringValue": frame.Escape(value)}}
}

func flag(key string, value bool) otlpAttr { return otlpAttr{key, map[string]any{"boolValue": value}} }

// newOTLPID names one side of a call, the same each time that the same logs are read.
func newOTLPID(c *diagnose.Call, h diagnose.Half) otlpLink {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d\x00%s\x00%d", h.Log.Path, h.Log.Side, c.Session(), c.Connection(), c.ID(), h.N))
	return otlpLink{hex.EncodeToString(sum[:16]), hex.EncodeToString(sum[16:24])}
}
