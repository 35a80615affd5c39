package audit

import (
	"encoding/json"
	"strings"
	"testing"

	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

// The lines of messages, to the letter.
func TestLines(t *testing.T) {
	r := runTranscript(t, `> {$J,"id":7,"method":"tools/list","params":{$META}}
< {$J,"id":7,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}
> {$J,"id":"a b","method":"tools/list","params":{"_meta":{"$P/protocolVersion":"2026-07-28"}}}
< {$J,"id":"a b","error":{"code":-32602,"message":"no"}}
> {$J,"id":8,"method":"tools/list","params":{$META}}
< {$J,"id":8,"result":{"tools":[]}}
@init 2025-11-25
> {$J,"id":9,"method":"vendor/thing"}
< {$J,"id":9,"result":{}}
|< hello
`)
	want := `[request/modern/tools] id=7 tools/list metadata=valid
[response/modern/tools] id=7 tools/list resultType=complete serverInfo=absent(warning) ttlMs=valid cacheScope=valid
[request/modern/tools] id="a b" tools/list metadata=invalid(error) clientInfo=absent(warning)
[error/modern/tools] id="a b" tools/list code=-32602
[request/modern/tools] id=8 tools/list metadata=valid
[response/modern/tools] id=8 tools/list resultType=absent(error) legacy-shaped-answer(info) serverInfo=absent(warning) ttlMs=absent(error) cacheScope=absent(error)
[request/legacy/lifecycle] id="init" initialize
[response/legacy/lifecycle] id="init" initialize
[notification/legacy/lifecycle] notifications/initialized
[request/legacy/extension] id=9 vendor/thing
[response/legacy/extension] id=9 vendor/thing
[invalid/invalid/unknown] stdio-messages-only(error)`
	var got []string
	for i := range r.Entries {
		got = append(got, r.Entries[i].String())
	}
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if c := r.Counts; c != (Counts{Messages: 12, Modern: 4, Legacy: 5, Invalid: 3, InvalidModern: 2}) {
		t.Errorf("%+v", c)
	}
	if r.First == nil || r.First.Rule.ID != "client-capabilities" || r.First.Line != 3 {
		t.Errorf("first: %+v", r.First)
	}
}

// Modern traffic has no handshake, and none is missed; legacy traffic without one in the log is ambiguous, not legacy.
func TestEras(t *testing.T) {
	for _, tt := range []struct{ name, script, want string }{
		{"modern without a handshake", `> {$J,"id":1,"method":"tools/list","params":{$META}}`, "modern"},
		{"no mark", `> {$J,"id":1,"method":"tools/list"}`, "ambiguous"},
		{"its answer", "> {$J,\"id\":1,\"method\":\"tools/list\"}\n< {$J,\"id\":1,\"result\":{\"tools\":[]}}", "ambiguous"},
		{"an answer with resultType", `< {$J,"id":1,"result":{"resultType":"complete"}}`, "modern"},
		{"an error of modern servers", `< {$J,"id":1,"error":{"code":-32022,"message":"m"}}`, "modern"},
		{"removed methods", `> {$J,"id":1,"method":"logging/setLevel"}`, "legacy"},
		{"new methods", `> {$J,"id":1,"method":"server/discover"}`, "modern"},
		{"both on one connection", "@init 2025-11-25\n> {$J,\"id\":1,\"method\":\"tools/list\",\"params\":{$META}}", "modern"},
		{"after a handshake", "@init 2025-11-25\n> {$J,\"id\":1,\"method\":\"tools/list\"}", "legacy"},
		{"headers", `#1> $MODERN mcp-method=tools/list {$J,"id":1,"method":"tools/list"}`, "modern"},
		{"a session header of a modern request is no state", `#1> $MODERN mcp-session-id=S mcp-method=tools/list {$J,"id":1,"method":"tools/list","params":{$META}}`, "modern"},
		{"a session header", `#1> $POST mcp-session-id=S {$J,"id":1,"method":"tools/list"}`, "legacy"},
		{"a notification with metadata", `> {$J,"method":"notifications/cancelled","params":{"requestId":1,$META}}`, "modern"},
		{"a notification without", `> {$J,"method":"notifications/cancelled","params":{"requestId":1}}`, "ambiguous"},
		{"half the metadata", `> {$J,"id":1,"method":"tools/list","params":{"_meta":{"$P/clientCapabilities":{}}}}`, "modern"},
	} {
		r := runTranscript(t, tt.script)
		if got := r.Entries[len(r.Entries)-1].Era.String(); got != tt.want {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

func TestStops(t *testing.T) {
	for in, want := range map[string]string{
		`> {"id":1,"method":"x","params":[]}`:          `JSON-RPC 1.0, or a message without "jsonrpc"`,
		`> {"jsonrpc":"2.1","id":1,"method":"x"}`:      `JSON-RPC with the version "2.1"`,
		`> {"seq":1,"type":"request","command":"x"}`:   "Debug Adapter Protocol (members seq and type)",
		`> {"method":"window/logMessage","params":{}}`: `a notification without "jsonrpc"`,
	} {
		r := runTranscript(t, "> {$J,\"id\":1,\"method\":\"ping\"}\n"+in+"\n> {$J,\"id\":2,\"method\":\"ping\"}")
		if r.Stopped == nil || r.Stopped.Line != 2 || r.Stopped.Envelope != want || len(r.Entries) != 2 {
			t.Errorf("%s: %+v, %d entries", in, r.Stopped, len(r.Entries))
		}
	}
	if r := runTranscript(t, `|< {"level":"info","msg":"started"}`); r.Stopped != nil {
		t.Errorf("a log line on a pipe is no envelope: %+v", r.Stopped)
	}
}

// Rules that need what a log lacks say so, and are not kept.
func TestNotJudged(t *testing.T) {
	r := runTranscript(t, "!meta\n> {$J,\"id\":1,\"method\":\"tools/list\",\"params\":{$META}}\n< {$J,\"id\":1,\"result\":{\"tools\":[],$OK}}")
	for i := range r.Tallies {
		tally := &r.Tallies[i]
		if tally.Rule.Needs&Payload == 0 {
			continue
		}
		if tally.Kept+tally.Broken > 0 || tally.Status() == "kept" {
			t.Errorf("%s is judged without a payload: %+v", tally.Rule.ID, tally)
		}
	}
	for _, id := range []string{"protocol-version", "ttl-ms", "server-info"} {
		if s := statusOf(r, id); s != "not judged" {
			t.Errorf("%s: %s", id, s)
		}
	}
	if r.Counts.NoPayload != 2 {
		t.Errorf("%+v", r.Counts)
	}
	r = runTranscript(t, `> $CUT`)
	if statusOf(r, "params-object") != "not judged" || r.Counts.NoPayload != 1 {
		t.Errorf("cut: %s, %+v", statusOf(r, "params-object"), r.Counts)
	}
}

func statusOf(r *Report, id string) string {
	for i := range r.Tallies {
		if r.Tallies[i].Rule.ID == id {
			return r.Tallies[i].Status()
		}
	}
	return ""
}

// A capability of an earlier request counts for nothing, however near it is.
func TestCapabilityOfThisRequestOnly(t *testing.T) {
	r := runTranscript(t, `> {$J,"id":1,"method":"tools/call","params":{"name":"a",$ASKS}}
< {$J,"id":1,"result":{"content":[],$OK}}
> {$J,"id":2,"method":"tools/call","params":{"name":"a",$META}}
< {$J,"id":2,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{}}}}}`)
	if s := statusOf(r, "input-capability"); s != "broken" {
		t.Error(s)
	}
}

// Requests whose ids a log does not tell are not taken for one another.
func TestNoIDs(t *testing.T) {
	a := New("log", frame.Client)
	for range 2 {
		a.Add(&frame.Frame{Dir: frame.C2S, Kind: frame.Request, Method: []byte("tools/call"), Trunc: true}, &dialect.Body{})
	}
	if s := statusOf(a.Report(), "id-in-flight"); s != "not judged" {
		t.Error(s)
	}
}

// The records of a tee say the read and the write of one frame, in one record or in two; it is judged once.
func TestPhases(t *testing.T) {
	for _, tt := range []struct {
		phases []frame.Phase
		want   int
	}{
		{[]frame.Phase{frame.Read, frame.Written, frame.Read, frame.Written}, 2},
		{[]frame.Phase{frame.NoPhase, frame.NoPhase, frame.Read, frame.Written, frame.NoPhase}, 4},
		{[]frame.Phase{frame.NoPhase, frame.Queued, frame.Written}, 1},
		{[]frame.Phase{frame.Read, frame.Read, frame.Written, frame.Written}, 2},
		{[]frame.Phase{frame.NoPhase, frame.NoPhase}, 2},
	} {
		a := New("log", frame.Proxy)
		for _, phase := range tt.phases {
			f := frame.Frame{Dir: frame.S2C, Kind: frame.Notification, Method: []byte("notifications/message"), Phase: phase}
			a.Add(&f, &dialect.Body{})
		}
		if n := a.Report().Counts.Messages; n != tt.want {
			t.Errorf("%v: %d messages, want %d", tt.phases, n, tt.want)
		}
	}
}

func TestBaseline(t *testing.T) {
	script := "> {$J,\"id\":1,\"method\":\"tools/list\",\"params\":{$META}}\n< {$J,\"id\":1,\"result\":{\"tools\":[],\"resultType\":\"complete\",\"cacheScope\":\"public\"}}"
	first := []*Report{runTranscript(t, script)}
	b := NewBaseline(first)
	if len(b.Accepted) != 2 || b.Accepted[0] != (Accepted{"server-info", "tools/list", "serverInfo is absent"}) || b.Accepted[1].Rule != "ttl-ms" {
		t.Fatalf("%+v", b.Accepted)
	}
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = ParseBaseline(text); err != nil {
		t.Fatal(err)
	}
	again := []*Report{runTranscript(t, "> {$J,\"id\":9,\"method\":\"ping\",\"params\":{$META}}\n"+script)}
	if stale := b.Apply(again); len(stale) > 0 {
		t.Errorf("stale: %v", stale)
	}
	if w, broken := again[0].Worst(); !broken || w != Error || again[0].First.Rule.ID != "method-of-version" {
		t.Errorf("what is new counts: %v, %t, %+v", w, broken, again[0].First)
	}
	if stale := b.Apply([]*Report{runTranscript(t, strings.Replace(script, `"resultType"`, `"ttlMs":1,"resultType"`, 1))}); len(stale) != 1 || stale[0].Rule != "ttl-ms" {
		t.Errorf("stale: %v", stale)
	}
	for _, in := range []string{`{}`, `[`, `{"schema":"other"}`} {
		if _, err := ParseBaseline([]byte(in)); err == nil {
			t.Errorf("%s is a baseline", in)
		}
	}
}

// A corrected example breaks none of the rules that it says it keeps.
func TestCorrect(t *testing.T) {
	r := runTranscript(t, "> {$J,\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"$P/protocolVersion\":\"2026-07-28\"}}}\n< {$J,\"id\":1,\"result\":{\"tools\":[]}}")
	doc := Correct([]*Report{r})
	if len(doc.Examples) != 2 || doc.Schema != CorrectedSchema || !strings.Contains(doc.Note, "not part of any transcript") {
		t.Fatalf("%+v", doc)
	}
	var script []string
	for i, e := range doc.Examples {
		if string(e.Corrected) == "null" || string(e.Original) == string(e.Corrected) {
			t.Errorf("%+v", e)
		}
		script = append(script, string("><"[i])+" "+string(e.Corrected))
	}
	again := runTranscript(t, strings.Join(script, "\n"))
	for _, e := range doc.Examples {
		for _, id := range e.Rules {
			if s := statusOf(again, id); s != "kept" {
				t.Errorf("%s of the corrected example: %s", id, s)
			}
		}
	}
}

func TestRuleTable(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if r.ID == "" || seen[r.ID] || r.Text == "" || r.Spec == "" || r.On == 0 || r.Check == nil {
			t.Errorf("%+v", r)
		}
		if seen[r.ID] = true; r.Until != "" && r.Since > r.Until {
			t.Errorf("%s holds for no version", r.ID)
		}
	}
}

func TestMetaKey(t *testing.T) {
	for key, want := range map[string]bool{"a": true, "a.b/c": true, "io.modelcontextprotocol/clientInfo": true, "progressToken": true, "a/": true, "": true,
		"-a": false, "a-": false, "1a/b": false, "a-/b": false, "a..b/c": false, "/b": false, "a b": false, "a-b.c1/x_y.z-1": true} {
		if metaKey(key) != want {
			t.Errorf("%q: %t", key, !want)
		}
	}
}

// FuzzAdd: total over any text in any direction, and no rule both kept and broken by one message.
func FuzzAdd(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":7}}`, `{"jsonrpc":"2.0","id":1,"result":{"tools":[1],"resultType":"input_required","inputRequests":[]}}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`)
	f.Add(`{"id":null}`, `[]`)
	f.Fuzz(func(t *testing.T, request, answer string) {
		a := New("log", frame.Server)
		for i, text := range []string{request, answer, request, answer, answer, request} {
			fr := frame.Frame{Line: uint32(i + 1), Dir: frame.Dir(1 + i%2), Bytes: int64(len(text))}
			if frame.DecodeMessage([]byte(text), &fr) != frame.NoReason {
				fr.Kind = frame.Invalid
			}
			a.Add(&fr, &dialect.Body{Text: []byte(text), Stdio: i%3 == 0})
		}
		r := a.Report()
		if c := r.Counts; c.Messages != c.Modern+c.Legacy+c.Invalid+c.Ambiguous {
			t.Errorf("%+v", c)
		}
		Correct([]*Report{r})
		NewBaseline([]*Report{r}).Apply([]*Report{r})
		if _, broken := r.Worst(); broken {
			t.Error("what a baseline was made of is not accepted by it")
		}
	})
}

// Of several culprits in one object the same is named at each run.
func TestSameCulprit(t *testing.T) {
	var first string
	for range 32 {
		r := runTranscript(t, `> {$J,"id":1,"method":"tools/call","params":{"name":"t","_meta":{"$P/protocolVersion":"2026-07-28","$P/clientCapabilities":{},"a b":1,"c d":2,"-e":3,"f!":4}}}
< {$J,"id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage"},"b":{"method":"roots/list"},"c":{"method":"x"},"d":4}}}
> {$J,"id":2,"method":"subscriptions/listen","params":{$META,"notifications":{"toolsListChanged":1,"promptsListChanged":1,"taskIds":1}}}
`)
		var got []string
		for _, tally := range r.Tallies {
			for _, v := range tally.Violations {
				got = append(got, v.Rule.ID+": "+v.Detail)
			}
		}
		all := strings.Join(got, "\n")
		if first == "" {
			first = all
		}
		if all != first {
			t.Fatalf("once\n%s\nthen\n%s", first, all)
		}
	}
}

// Where nothing tells who sent a ping, its id may be the other side's, and accuses nobody.
func TestGuessedSender(t *testing.T) {
	for mark, want := range map[string]int{"?>": 0, ">": 2} {
		r := runTranscript(t, `@init 2025-06-18
> {$J,"id":1,"method":"tools/list"}
`+mark+` {$J,"id":1,"method":"ping"}
< {$J,"id":1,"result":{}}
< {$J,"id":1,"result":{"tools":[]}}
`+mark+` {$J,"id":2,"method":"ping"}
< {$J,"id":2,"result":{}}
> {$J,"id":3,"method":"tools/list"}
`+mark+` {$J,"id":4,"method":"tasks/get"}
`)
		n := 0
		for _, tally := range r.Tallies {
			if strings.HasPrefix(tally.Rule.ID, "id-") || tally.Rule.ID == "capability-negotiated" && mark == "?>" {
				n += tally.Broken
			}
		}
		if n != want {
			t.Errorf("%s: %d violations, want %d", mark, n, want)
		}
	}
}
