package dialect

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"mcpdiag/ingest/frame"
)

// mcpGo reads the slog lines of mcp-go's client LoggingTransport, as slog's text handler writes them. An error without a code
// did not come from the server: the client gave up.
//
//	time=2026-12-05T12:00:00.598Z level=DEBUG msg="→ request" method=server/discover id=int64:1 params="map[…]"
func mcpGo() *Dialect {
	return &Dialect{
		Name: "mcp-go", Writer: "mcp-go, client LoggingTransport with slog's text handler", Vantage: "the client, both directions", Moment: "before the send; after SendRequest returned",
		Sees: Everything &^ (Handlers | BadLines | Sizes | Ends), Side: frame.Client, Ordered: true, Carried: true,
		Match: func(line []byte) bool {
			return bytes.Contains(line, []byte("msg=")) && arrowWord(logfmt(line).text("msg")) != noWay
		},
		Weight: func([]byte) int { return 10 },
		New:    text(func() grammar { return slogLog{fields: func(line []byte) fields { return logfmt(line) }} }),
	}
}

// mcpGoJSON is the same with slog's JSON handler.
//
//	{"time":"2026-12-05T12:00:00.598Z","level":"DEBUG","msg":"→ request","method":"server/discover","id":1}
func mcpGoJSON() *Dialect {
	d := mcpGo()
	d.Name, d.Writer, d.Source = "mcp-go-json", "mcp-go, client LoggingTransport with slog's JSON handler", fromDescription
	d.Match = func(line []byte) bool {
		return has(line, `"msg"`) && (has(line, "→") || has(line, "←")) && arrowWord(jsonFields(line).text("msg")) != noWay
	}
	d.New = text(func() grammar { return slogLog{fields: jsonFields} })
	return d
}

// arrowWord reads which way a message went, from `→ request` and its like.
func arrowWord(msg string) way {
	word, what, _ := bytes.Cut([]byte(msg), []byte{' '})
	switch string(what) {
	case "request", "response", "response error", "notification":
	default:
		return noWay
	}
	switch string(word) {
	case "→":
		return outward
	case "←":
		return inward
	}
	return noWay
}

type slogLog struct{ fields func([]byte) fields }

func (s slogLog) line(r *textReader, line []byte) {
	rec := s.fields(line)
	msg := rec.text("msg")
	way := arrowWord(msg)
	if way == noWay {
		return
	}
	f := r.blank()
	frame.ParseWall([]byte(rec.text("time")), &f.At)
	f.ID, f.Dir = slogID(rec["id"]), way.dir(frame.Client)
	_, what, _ := bytes.Cut([]byte(msg), []byte{' '})
	switch string(what) {
	case "request":
		f.Kind, f.Method = frame.Request, []byte(rec.text("method"))
		if takesName(f.Method) {
			f.Name = mapName(rec["params"])
		}
	case "notification":
		f.Kind, f.Method = frame.Notification, []byte(rec.text("method"))
		f.ID = nil
	case "response":
		f.Kind = frame.Response
	case "response error":
		code, err := strconv.ParseInt(rec.text("code"), 10, 64)
		if err != nil {
			r.gaveUp(f, "local-error "+f.ID.Bare()+" "+rec.text("error"))
			return
		}
		f.Kind = frame.Error
		f.Extra().Code, f.More.HasCode = code, true
	}
	f.Trunc = f.ID == nil && f.Kind != frame.Notification
	r.add(f)
}

// slogID reads `int64:1`, `string:x`, or an id as JSON writes it.
func slogID(b []byte) frame.ID {
	if s, ok := bytes.CutPrefix(b, []byte("string:")); ok {
		return frame.StringID(string(s))
	}
	if i := bytes.IndexByte(b, ':'); i > 0 && b[0] != '"' {
		b = b[i+1:]
	}
	return bareID(b)
}

// mapName finds the name in Go's spelling of a map, or in JSON.
func mapName(b []byte) []byte {
	if name, _, ok := between(b, `"name":"`, `"`); ok {
		return name
	}
	for _, before := range [...]string{" name:", "[name:"} {
		if _, rest, ok := bytes.Cut(b, []byte(before)); ok {
			if i := bytes.IndexAny(rest, " ]"); i >= 0 {
				return rest[:i]
			}
		}
	}
	return nil
}

// fields are a record's members by name: a string without its quotes, anything else as it is written.
type fields map[string][]byte

func (f fields) text(name string) string { return string(f[name]) }

// any is the first of the members that is there.
func (f fields) any(names ...string) []byte {
	for _, n := range names {
		if v := f[n]; len(v) > 0 && string(v) != "-" && string(v) != "null" {
			return v
		}
	}
	return nil
}

// duration is a member in ms, s or with a unit, as Go, a gateway or nginx writes it. unit is that of a bare number.
func (f fields) duration(unit time.Duration, names ...string) (time.Duration, bool) {
	v := f.any(names...)
	if d, ok := duration(v); ok && len(v) > 0 && v[len(v)-1] > '9' {
		return d, true
	}
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil || n < 0 || n > 1e9 {
		return 0, false
	}
	return time.Duration(n * float64(unit)), true
}

// logfmt reads `key=value key="quoted value"`; words without "=" are passed over.
func logfmt(line []byte) fields {
	out := fields{}
	for len(line) > 0 {
		line = bytes.TrimLeft(line, " \t")
		n := 0
		for n < len(line) && line[n] != '=' && line[n] != ' ' && line[n] != '\t' {
			n++
		}
		if n == len(line) || line[n] != '=' {
			line = line[min(n, len(line)):]
			continue
		}
		key := string(line[:n])
		var value []byte
		value, line = logfmtValue(line[n+1:])
		out[key] = value
	}
	return out
}

func logfmtValue(b []byte) (value, rest []byte) {
	if len(b) == 0 || b[0] != '"' {
		n := 0
		for n < len(b) && b[n] != ' ' && b[n] != '\t' {
			n++
		}
		return b[:n], b[n:]
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			if s, err := strconv.Unquote(string(b[:i+1])); err == nil {
				return []byte(s), b[i+1:]
			}
			return b[1:i], b[i+1:]
		}
	}
	return b[1:], nil
}

// jsonFields reads a flat JSON object; nil when the line is none.
func jsonFields(line []byte) fields {
	rec := parseRecord(line)
	if rec == nil {
		return nil
	}
	out := fields{}
	for k, v := range rec {
		var s string
		if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
			out[k] = []byte(s)
		} else {
			out[k] = v
		}
	}
	return out
}
