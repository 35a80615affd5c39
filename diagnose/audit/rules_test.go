package audit

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

// Transcripts are written one message a line: > is the client's, < the server's, a | before it says that a recorder saw it on a
// line of a pipe, * that it is an element of a batch, + that it shares its line, and #N that it is part of the HTTP exchange N. There a head may stand in
// front of the message: "POST name=value…", "200 name=value…", or "event id=7" for an event on the exchange's stream. A line
// "!client" or "!server" says whose log it is, "!meta" that the log has no payloads. The words below stand for longer texts.
var words = strings.NewReplacer(
	"$JSON", "200 content-type=application/json",
	"$J", `"jsonrpc":"2.0"`,
	"$META", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}`,
	"$ASKS", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`,
	"$OK", `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}`,
	"$P/", "io.modelcontextprotocol/",
	"$POST", "POST accept=application/json,text/event-stream",
	"$MODERN", "POST accept=application/json,text/event-stream mcp-protocol-version=2026-07-28",
	"$SSE", "200 content-type=text/event-stream",
	"$CUT", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":`,
)

// handshake are the messages of a legacy opening; caps says whether everything is declared.
func openingLines(version string, caps bool) string {
	client, server := `{}`, `{}`
	if caps {
		client = `{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}`
		server = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"logging":{},"completions":{}}`
	}
	return `> {$J,"id":"init","method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":` + client + `,"clientInfo":{"name":"c","version":"1"}}}
< {$J,"id":"init","result":{"protocolVersion":"` + version + `","capabilities":` + server + `,"serverInfo":{"name":"s","version":"1"}}}
> {$J,"method":"notifications/initialized"}
`
}

// audit runs a transcript.
func runTranscript(t *testing.T, script string) *Report {
	t.Helper()
	text := ""
	for line := range strings.Lines(script) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "@init "); ok {
			version, none, _ := strings.Cut(v, " ")
			line = openingLines(version, none == "")
		}
		text += line
	}
	tr := transcript{heads: map[string]*dialect.HTTP{}, a: New("log", frame.Proxy)}
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(words.Replace(line)); line != "" {
			tr.line(t, uint32(i+1), line)
		}
	}
	return tr.a.Report()
}

type transcript struct {
	a     *Auditor
	side  frame.Side
	bare  bool
	heads map[string]*dialect.HTTP
}

func (tr *transcript) line(t *testing.T, n uint32, line string) {
	switch line {
	case "!client":
		tr.side = frame.Client
		return
	case "!server":
		tr.side = frame.Server
		return
	case "!meta":
		tr.bare = true
		return
	}
	mark, text, _ := strings.Cut(line, " ")
	f := frame.Frame{Line: n, Side: tr.side, Bytes: int64(len(text)), Rows: frame.Unknown, Dir: map[byte]frame.Dir{'>': frame.C2S, '<': frame.S2C}[mark[len(mark)-1]]}
	var body dialect.Body
	body.Stdio, body.Batch, body.Guess = strings.Contains(mark, "|"), strings.Contains(mark, "*"), strings.Contains(mark, "?")
	if strings.Contains(mark, "+") {
		body.Part, body.Parts = 1, 2
	}
	if strings.HasPrefix(mark, "#") {
		text = tr.head(mark[:len(mark)-1], text, &f, &body)
		if text == "" {
			return
		}
	}
	if f.Dir == frame.NoDir {
		t.Fatalf("line %d: %s", n, line)
	}
	tr.add(f, body, text)
}

func (tr *transcript) add(f frame.Frame, body dialect.Body, text string) {
	body.Text = []byte(strings.ReplaceAll(text, `\xff`, "\xff"))
	if frame.DecodeMessage(body.Text, &f) != frame.NoReason {
		if f.Kind = frame.Invalid; frame.DecodeCut(body.Text, &f) {
			body.Cut = true
		}
	}
	if tr.bare {
		body.Text = nil
	}
	tr.a.Add(&f, &body)
}

// head reads what stands in front of a message of HTTP, and adds the head to the transcript. It returns the message.
func (tr *transcript) head(exchange, text string, f *frame.Frame, body *dialect.Body) string {
	head, text, _ := strings.Cut(text, "{")
	if text != "" {
		text = "{" + text
	}
	h := &dialect.HTTP{Exchange: exchange, Header: map[string]string{}, Empty: text == ""}
	for i, word := range strings.Fields(head) {
		name, value, ok := strings.Cut(word, "=")
		status, err := strconv.Atoi(word)
		switch {
		case ok:
			h.Header[name] = value
		case i == 0 && word == "event":
			answer := *tr.heads[exchange+"<"]
			h = &answer
			h.Event = &frame.Event{ID: "", HasID: false}
		case err == nil:
			h.Status, h.Of = status, tr.heads[exchange+">"]
		default:
			h.Verb = word
		}
	}
	if h.Event != nil {
		e := *h.Event
		e.ID, e.HasID = h.Header["id"], h.Header["id"] != ""
		h.Event = &e
	} else {
		tr.heads[exchange+map[frame.Dir]string{frame.C2S: ">", frame.S2C: "<"}[f.Dir]] = h
		h.Empty = h.Empty && !h.Stream()
	}
	f.Extra().Exchange = []byte(exchange)
	if h.Status != 0 {
		f.More.Status, f.More.HasStatus = int64(h.Status), true
	}
	body.HTTP = h
	if h.Event == nil || text == "" {
		open := *f
		open.Kind = frame.Open
		tr.a.Add(&open, &dialect.Body{HTTP: h})
	}
	return text
}

// TestRules: every rule has a transcript that it finds nothing wrong with and one that breaks it.
func TestRules(t *testing.T) {
	files, err := filepath.Glob("testdata/rules/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	scripts := map[string]string{}
	for _, path := range files {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			scripts[f.Name] = string(f.Data)
		}
	}
	for _, r := range Rules() {
		t.Run(r.ID, func(t *testing.T) {
			good, bad := tallyOf(t, scripts, r.ID, "good"), tallyOf(t, scripts, r.ID, "bad")
			if good.Kept == 0 && !neverKept[r.ID] || good.Broken > 0 || len(good.Unjudged) > 0 {
				t.Errorf("good: kept %d, broken %d, not judged %v %+v", good.Kept, good.Broken, good.Unjudged, good.Violations)
			}
			if bad.Broken == 0 {
				t.Errorf("bad: kept %d, not judged %v", bad.Kept, bad.Unjudged)
			}
		})
		delete(scripts, r.ID+"/good")
		delete(scripts, r.ID+"/bad")
	}
	for name := range scripts {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("the transcript %s is of no rule", name)
		}
	}
}

// neverKept are rules that concern only what breaks them: what keeps them is not there to be seen.
var neverKept = map[string]bool{"server-request": true, "client-response": true, "cancelled-not-answered": true, "cancelled-not-answered-legacy": true,
	"release-candidate": true, "deprecated": true, "notification-over-http": true, "success-has-id": true}

func tallyOf(t *testing.T, scripts map[string]string, rule, kind string) *Tally {
	t.Helper()
	script, ok := scripts[rule+"/"+kind]
	if !ok {
		t.Fatalf("no transcript %s/%s", rule, kind)
	}
	r := runTranscript(t, script)
	for i := range r.Tallies {
		if r.Tallies[i].Rule.ID == rule {
			return &r.Tallies[i]
		}
	}
	t.Fatalf("no rule %s", rule)
	return nil
}
