package dialect

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"

	"mcpdiag/ingest/frame"
)

// neighbours are formats of other trades that hold the same kind of call.
func neighbours() []*Dialect { return []*Dialect{lspTrace(), lspJSON(), har()} }

// lspTrace reads the trace of vscode-languageclient: another table of methods, the same calls. The time of day counts seconds
// and has no date; how long an answer took the client measured itself, so its time is the request's and that.
//
//	[Trace - 3:58:03 PM] Sending request 'textDocument/hover - (2)'.
//	[Trace - 15:58:41] Received response 'shutdown - (4)' in 2ms. Request failed: closing (-32099).
func lspTrace() *Dialect {
	return &Dialect{
		Name: "lsp-trace", Writer: "vscode-languageclient and its like, trace", Vantage: "the client (LSP), both directions",
		Sees: Everything &^ (Handlers | BadLines | Sizes | Ends), Side: frame.Client, Clock: true, Ordered: true, Carried: true,
		Match:  func(line []byte) bool { _, _, ok := lspLine(line); return ok },
		Weight: func([]byte) int { return 10 },
		New:    text(func() grammar { return &lsp{sent: map[string]frame.Instant{}} }),
	}
}

// lspLine reads `[Trace - TIME] `.
func lspLine(line []byte) (clock, rest []byte, ok bool) {
	inside, rest, ok := bracket(line)
	if !ok {
		return nil, nil, false
	}
	clock, ok = bytes.CutPrefix(inside, []byte("Trace - "))
	return clock, rest, ok && (bytes.HasPrefix(rest, []byte("Sending ")) || bytes.HasPrefix(rest, []byte("Received ")))
}

type lsp struct {
	sent      map[string]frame.Instant
	days, day int64 // midnight shows only as a fall
}

func (l *lsp) line(r *textReader, line []byte) {
	clock, rest, ok := lspLine(line)
	if !ok {
		return
	}
	f := r.blank()
	l.time(clock, &f.At)
	dir := frame.C2S
	if bytes.HasPrefix(rest, []byte("Received ")) {
		dir = frame.S2C
	}
	_, rest, _ = bytes.Cut(rest, []byte{' '})
	kind, rest, _ := bytes.Cut(rest, []byte(" '"))
	quoted, after, ok := bytes.Cut(rest, []byte("'"))
	if !ok {
		return
	}
	f.Method = quoted
	if i := bytes.LastIndex(quoted, []byte(" - (")); i >= 0 {
		f.Method, f.ID = quoted[:i], bareID(bytes.TrimSuffix(quoted[i+len(" - ("):], []byte{')'}))
	}
	switch string(kind) {
	case "request":
		f.Kind = frame.Request
		l.remember(&f)
	case "notification":
		f.Kind = frame.Notification
	case "response":
		f.Kind = frame.Response
		l.answer(after, &f)
	default:
		return
	}
	f.Trunc = f.ID == nil && f.Kind != frame.Notification
	f.Dir = dir
	r.add(f)
}

func (l *lsp) remember(f *frame.Frame) {
	if len(l.sent) >= maxSent {
		clear(l.sent)
	}
	l.sent[string(f.ID)] = f.At
}

// answer reads `in 39ms. Request failed: closing (-32099).`
func (l *lsp) answer(after []byte, f *frame.Frame) {
	if took, _, ok := between(after, "in ", "ms"); ok {
		if n, ok := decimal(took); ok && n < 1e9 {
			if at, known := l.sent[string(f.ID)]; known {
				f.At = at.Back(-time.Duration(n) * time.Millisecond)
			}
		}
	}
	if _, why, ok := bytes.Cut(after, []byte("Request failed: ")); ok {
		f.Kind, f.Method = frame.Error, nil
		why = bytes.TrimRight(why, ".) ")
		if i := bytes.LastIndexByte(why, '('); i >= 0 {
			f.Extra().Code, f.More.HasCode = integer(why[i+1:])
		}
	}
	delete(l.sent, string(f.ID))
}

// time reads 3:58:03 PM or 15:58:41 as a zone-less time of 1970-01-01, or of a day after when it falls by half a day.
func (l *lsp) time(clock []byte, at *frame.Instant) {
	for _, form := range [...]string{"3:04:05 PM", "15:04:05", "3:04:05.000 PM", "15:04:05.000"} {
		t, err := time.Parse(form, string(bytes.ReplaceAll(clock, []byte("\u202f"), []byte(" "))))
		if err != nil {
			continue
		}
		sec := int64(t.Hour()*3600 + t.Minute()*60 + t.Second())
		if sec < l.day-43_200 {
			l.days++
		}
		l.day = sec
		at.Wall(l.days*86_400+sec, int32(t.Nanosecond()), false)
		return
	}
}

// lspJSON reads the trace in its JSON form.
//
//	{"isLSPMessage":true,"type":"send-request","message":{"jsonrpc":"2.0","id":2,"method":"textDocument/hover",…},"timestamp":1767000000000}
func lspJSON() *Dialect {
	return &Dialect{
		Name: "lsp-json", Writer: "vscode-languageclient, trace as JSON", Vantage: "the client (LSP), both directions", Source: fromDescription,
		Sees: Everything &^ (Handlers | BadLines | Ends), Side: frame.Client, Ordered: true, Carried: true,
		Match:  func(line []byte) bool { return has(line, `"isLSPMessage"`, `"message"`) },
		Weight: func([]byte) int { return 10 },
		New:    text(func() grammar { return lspObjects{} }),
	}
}

type lspObjects struct{}

func (lspObjects) line(r *textReader, line []byte) {
	var rec struct {
		IsLSPMessage       bool
		Type               string
		Message, Timestamp json.RawMessage
	}
	if json.Unmarshal(line, &rec) != nil || !rec.IsLSPMessage {
		return
	}
	f := r.blank()
	if len(rec.Timestamp) > 0 {
		wallTime(rec.Timestamp, &f.At)
	}
	if frame.DecodeMessage(rec.Message, &f) != frame.NoReason {
		r.bad(line, frame.NotMessage)
		return
	}
	f.Bytes = int64(len(rec.Message)) + 1
	if f.Dir = frame.C2S; bytes.HasPrefix([]byte(rec.Type), []byte("receive")) {
		f.Dir = frame.S2C
	}
	r.add(f)
}

// har reads an HTTP archive, version 1.2: each POST is an exchange. The body of an event stream is one blob at its end, so
// its messages have that end's time at best.
func har() *Dialect {
	return &Dialect{
		Name: "har", Writer: "browsers and HTTP proxies, HAR 1.2", Vantage: "the client's HTTP exchanges", Moment: "answers: the end of the exchange", Source: fromDescription,
		Sees: Everything &^ (Handlers | BadLines | Ends | Flying), Side: frame.Client, Ordered: true,
		Match: func([]byte) bool { return false },
		Whole: func(head []byte) bool {
			head = bytes.Map(dropSpace, head[:min(len(head), 4096)])
			return bytes.HasPrefix(head, []byte(`{"log":{`)) && (bytes.Contains(head, []byte(`"entries":[`)) || bytes.Contains(head, []byte(`"version":"1.`)))
		},
		New: newDocument(readHAR),
	}
}

func dropSpace(r rune) rune {
	if r == ' ' || r == '\t' || r == '\r' || r == '\n' {
		return -1
	}
	return r
}

type harEntry struct {
	StartedDateTime string
	Time            float64 // ms
	Request         struct {
		Headers  []harHeader
		PostData struct{ Text string }
	}
	Response struct {
		Status  int64
		Content struct{ Text, Encoding string }
	}
}

type harHeader struct{ Name, Value string }

func readHAR(text []byte, d *document, b *Batch) frame.Reason {
	dec := json.NewDecoder(bytes.NewReader(text))
	if !seek(dec, "log") || !seek(dec, "entries") {
		return badDocument
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return badDocument
	}
	var late later
	for dec.More() {
		var e harEntry
		if dec.Decode(&e) != nil {
			late.rest(b)
			return badDocument
		}
		d.harEntry(&e, d.line(int(dec.InputOffset())), &late, b)
	}
	late.rest(b)
	return frame.NoReason
}

// seek goes into an object up to the value of the member.
func seek(dec *json.Decoder, member string) bool {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return false
		}
		if key == member {
			return true
		}
		var skip json.RawMessage
		if dec.Decode(&skip) != nil {
			return false
		}
	}
	return false
}

// harEntry adds the messages of one exchange: what was posted at its start, what came back at its end.
func (d *document) harEntry(e *harEntry, line uint32, late *later, b *Batch) {
	f := frame.Frame{Line: line, Rows: frame.Unknown, Bytes: frame.Unknown}
	frame.ParseWall([]byte(e.StartedDateTime), &f.At)
	late.until(f.At, b)
	d.calls++
	f.Extra().Exchange = strconv.AppendUint([]byte("har "), uint64(d.calls), 10)
	for _, h := range e.Request.Headers {
		if bytes.EqualFold([]byte(h.Name), []byte("Mcp-Session-Id")) {
			f.Session = []byte(h.Value)
		}
	}
	posted := d.message([]byte(e.Request.PostData.Text), f, frame.C2S, b)
	if e.Time > 0 && e.Time < 1e12 {
		f.At = f.At.Back(-time.Duration(e.Time * 1e6))
	}
	f.More.Status, f.More.HasStatus = e.Response.Status, e.Response.Status > 0
	body := []byte(e.Response.Content.Text)
	if e.Response.Content.Encoding == "base64" {
		body, _ = base64.StdEncoding.DecodeString(e.Response.Content.Text)
	}
	answers := new(Batch)
	for _, text := range eventTexts(body) {
		d.message(text, f, frame.S2C, answers)
	}
	if len(answers.Frames) == 0 && posted && e.Response.Status >= 400 {
		g := f
		g.More = moreOf(&f)
		g.Kind, g.Dir = frame.Invalid, frame.S2C
		g.More.Raw = body[:min(len(body), teeRaw)]
		answers.Frames = append(answers.Frames, g)
	}
	late.add(answers.Frames)
}

// eventTexts are the data of the events of an event stream; a body that is none is one text.
func eventTexts(body []byte) [][]byte {
	if !bytes.Contains(body, []byte("data:")) || len(bytes.TrimSpace(body)) > 0 && bytes.TrimSpace(body)[0] == '{' {
		return [][]byte{body}
	}
	var texts [][]byte
	for line := range bytes.Lines(body) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			texts = append(texts, bytes.TrimSpace(data))
		}
	}
	return texts
}
