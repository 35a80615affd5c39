package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
	"mcpdiag/report"
	"mcpdiag/samples/logtest"
)

// shape is what a member may be: the names of JSON types, "|" between; a trailing "[]" is an array of them.
type shape = map[string]string

// The members that design.md §6 documents, by the object that has them.
var (
	documentShape = shape{"schema": "string", "logs": "object[]", "summary": "object", "calls": "object[]", "findings": "object[]"}
	logShape      = shape{"path": "string", "side": "string", "dialect": "string", "records": "number", "unreadable": "number", "warnings": "string[]", "coverage": "object"}
	coverageShape = shape{"first_line": "number|null", "last_line": "number|null", "cut_tail": "bool", "gaps": "number"}
	summaryShape  = shape{"calls": "number", "never_arrived": "number", "never_written": "number", "written_not_read": "number", "agent_level": "number", "no_leaf": "number", "stalled": "number", "slow": "number"}
	callShape     = shape{"requester": "string", "session": "string|null", "connection": "number", "id": "string|number", "nth": "number", "method": "string|null", "name": "string|null",
		"leaf": "string|null", "no_leaf_reason": "string|null", "outcome": "string", "stalled": "bool", "slow": "bool", "quiet": "bool", "follows": "object|null",
		"candidates": "object[]", "hints": "object[]", "q": "bool|null[]", "request_bytes": "number|null", "response_bytes": "number|null", "rows": "number|null",
		"responder_ms": "object", "requester_ms": "object", "causes": "object[]", "lines": "object", "next": "string|null"}
	responderShape = shape{"dispatch": "number|null", "handler": "number|null", "flush": "number|null", "total": "number|null", "residual": "number|null"}
	requesterShape = shape{"wait": "number|null", "cancel": "number|null"}
	causeShape     = shape{"cause": "string", "status": "string", "evidence": "string"}
	linesShape     = shape{"request_sent": "string|null", "request_read": "string|null", "handler_enter": "string|null", "handler_exit": "string|null", "response_written": "string|null", "response_read": "string|null", "cancel": "string|null"}
	findingShape   = shape{"kind": "string", "severity": "string", "log": "string|null", "line": "number|null", "text": "string", "calls": "object[]"}
)

type object = map[string]any

func jsonType(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	default:
		_ = v
		return "object"
	}
}

// check compares an object with its shape: no member is absent, none has another type. Members that are not documented are allowed to come.
func (c *checker) check(where string, v any, want shape) object {
	o, ok := v.(object)
	if !ok {
		c.t.Errorf("%s is a %s, want an object", where, jsonType(v))
		return object{}
	}
	for name, types := range want {
		member, present := o[name]
		if !present {
			c.t.Errorf("%s.%s is absent", where, name)
			continue
		}
		items, isArray := strings.CutSuffix(types, "[]")
		if !isArray {
			c.is(where+"."+name, member, types)
			continue
		}
		list, ok := member.([]any)
		if !ok {
			c.t.Errorf("%s.%s is a %s, want an array", where, name, jsonType(member))
		}
		for i, item := range list {
			c.is(fmt.Sprintf("%s.%s[%d]", where, name, i), item, items)
		}
	}
	return o
}

type checker struct{ t *testing.T }

func (c *checker) is(where string, v any, types string) {
	if !slices.Contains(strings.Split(types, "|"), jsonType(v)) {
		c.t.Errorf("%s is a %s, want %s", where, jsonType(v), types)
	}
}

func (c *checker) document(text []byte) object {
	c.t.Helper()
	doc := c.check("document", parse(c.t, text), documentShape)
	c.check("summary", doc["summary"], summaryShape)
	for i, l := range doc["logs"].([]any) {
		where := fmt.Sprintf("logs[%d]", i)
		c.check(where+".coverage", c.check(where, l, logShape)["coverage"], coverageShape)
	}
	for i, call := range doc["calls"].([]any) {
		c.call(fmt.Sprintf("calls[%d]", i), call)
	}
	for i, f := range doc["findings"].([]any) {
		c.check(fmt.Sprintf("findings[%d]", i), f, findingShape)
	}
	return doc
}

func (c *checker) call(where string, v any) {
	o := c.check(where, v, callShape)
	c.check(where+".responder_ms", o["responder_ms"], responderShape)
	c.check(where+".requester_ms", o["requester_ms"], requesterShape)
	c.check(where+".lines", o["lines"], linesShape)
	for _, cause := range o["causes"].([]any) {
		status := c.check(where+".causes", cause, causeShape)["status"]
		if status != "found" && status != "candidate" {
			c.t.Errorf("%s: status %v", where, status)
		}
	}
	if q := o["q"].([]any); len(q) != 3 {
		c.t.Errorf("%s: q has %d answers", where, len(q))
	}
	if (o["leaf"] == nil) == (o["no_leaf_reason"] == nil) {
		c.t.Errorf("%s: leaf %v and no_leaf_reason %v", where, o["leaf"], o["no_leaf_reason"])
	}
	if reason := o["no_leaf_reason"]; reason != nil && reason != "log_incomplete" && reason != "cannot_tell" {
		c.t.Errorf("%s: no_leaf_reason %v", where, reason)
	}
	if !slices.Contains([]any{"answered", "late", "cancelled", "refused", "open"}, o["outcome"]) {
		c.t.Errorf("%s: outcome %v", where, o["outcome"])
	}
}

func parse(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return v
}

func write(t *testing.T, d *diagnose.Diagnosis, f func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// everything is a pair of logs with a call of every leaf, of every outcome and without a leaf, with findings of every kind that is easily had.
func everything(t *testing.T) *diagnose.Diagnosis {
	t.Helper()
	client := `
0 > req 0 method=initialize
9 < res 0
10 > req 1 name=a bytes=312
12 > req 2 name=a
13 > req 3 name=a
14 > req 4 name=a
15 > req "5" name=b
16 > req 5 name=b
17 > req 5 name=b
20 < res 4 bytes=77
25 < req 1 method=roots/list
26 > res 1
30 > ntf method=notifications/cancelled request_id=1
31 < bad - raw=noise bytes=6
40 < res 99
2900 < res 3
3000 > ntf method=notifications/cancelled request_id=2
!unreadable
4000 < res 2`
	server := `
0 > req 0 method=initialize
5 < res 0
10 > req 2 name=a
11 > enter 2
12 > exit 2 rows=418
13 < res 2 bytes=41827
14 > req 3 name=a
15 < res 3
16 > req 4 name=a
20 < req 1 method=roots/list
30 > res 1
31 > req 5 name=b
32 > req 5 name=b
3990 < ntf method=notifications/message
!unrea\`
	return logtest.Pair(t, client, server)
}

// TestJSONShape: every documented member is there in every object, of its type.
func TestJSONShape(t *testing.T) {
	d := everything(t)
	doc := (&checker{t}).document(write(t, d, func(b *bytes.Buffer) error { return report.JSON(b, d, report.Style{}) }))
	if doc["schema"] != report.Schema || len(doc["calls"].([]any)) != d.Summary.Calls || d.Summary.Calls < 8 {
		t.Errorf("schema %v, %d of %d calls", doc["schema"], len(doc["calls"].([]any)), d.Summary.Calls)
	}
	if len(doc["findings"].([]any)) == 0 {
		t.Error("no findings")
	}
	nd := write(t, d, func(b *bytes.Buffer) error { return report.NDJSON(b, d, report.Style{}) })
	lines := bytes.Split(bytes.TrimSuffix(nd, []byte("\n")), []byte("\n"))
	if len(lines) != d.Summary.Calls {
		t.Errorf("%d lines of NDJSON for %d calls", len(lines), d.Summary.Calls)
	}
	for i, line := range lines {
		(&checker{t}).call(fmt.Sprintf("line %d", i+1), parse(t, line))
	}
}

// TestJSONOfLittle: the members are there when there is next to nothing to say.
func TestJSONOfLittle(t *testing.T) {
	for name, d := range map[string]*diagnose.Diagnosis{
		"empty logs": logtest.Pair(t, "", ""),
		"one log":    logtest.Diagnose(t, logtest.Read(t, frame.Client, "- > req 1")),
		"bad lines":  logtest.Pair(t, "!x", "!y"),
	} {
		t.Run(name, func(t *testing.T) {
			doc := (&checker{t}).document(write(t, d, func(b *bytes.Buffer) error { return report.JSON(b, d, report.Style{}) }))
			if got := len(doc["logs"].([]any)); got != len(d.Logs) {
				t.Errorf("%d logs", got)
			}
		})
	}
}

// TestJSONFounding: the figures of the founding scenario, member by member.
func TestJSONFounding(t *testing.T) {
	d := logtest.Pair(t, "118 > req 47 name=search_invoices bytes=312 session=s1\n4550 > ntf method=notifications/cancelled request_id=47 session=s1 bytes=110",
		"121 > req 47 name=search_invoices bytes=312 session=s1\n124 > enter 47 name=search_invoices session=s1\n196 > exit 47 rows=418 session=s1\n204 < res 47 bytes=41827 session=s1")
	doc := parse(t, write(t, d, func(b *bytes.Buffer) error { return report.JSON(b, d, report.Style{}) })).(object)
	call := doc["calls"].([]any)[0].(object)
	for path, want := range map[string]string{
		"requester": "client", "session": "s1", "connection": "1", "id": "47", "nth": "1", "method": "tools/call", "name": "search_invoices",
		"leaf": "written_not_read", "no_leaf_reason": "<nil>", "outcome": "cancelled", "stalled": "true", "slow": "false", "quiet": "false", "follows": "<nil>",
		"candidates": "[]", "q": "[true true false]", "request_bytes": "312", "response_bytes": "41827", "rows": "418",
		"responder_ms.dispatch": "3", "responder_ms.handler": "72", "responder_ms.flush": "8", "responder_ms.total": "83", "responder_ms.residual": "0",
		"requester_ms.wait": "<nil>", "requester_ms.cancel": "4432",
		"lines.request_sent": "client.log:1", "lines.request_read": "server.log:1", "lines.handler_enter": "server.log:2", "lines.handler_exit": "server.log:3",
		"lines.response_written": "server.log:4", "lines.response_read": "<nil>", "lines.cancel": "client.log:2",
	} {
		var v any = call
		for name := range strings.SplitSeq(path, ".") {
			v = v.(object)[name]
		}
		if got := fmt.Sprint(v); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	causes := call["causes"].([]any)
	if first := causes[0].(object); first["cause"] != "none_can_be_told" || first["status"] != "found" {
		t.Errorf("the first cause is %v", first)
	}
}

// TestJSONID: an id keeps its type and its digits.
func TestJSONID(t *testing.T) {
	for token, want := range map[string]string{
		"9007199254740993": "9007199254740993", "1.0": "1.0", "-0": "-0", "0": "0", "1e400": "1e400", `"1"`: `"1"`, "1": "1", `""`: `""`,
		"18446744073709551616": "18446744073709551616", `"\u0041\""`: `"A\""`, `"<&>"`: `"<&>"`,
	} {
		d := logtest.Diagnose(t, logtest.Read(t, frame.Client, "0 > req "+token))
		text := write(t, d, func(b *bytes.Buffer) error { return report.NDJSON(b, d, report.Style{}) })
		var call struct{ ID json.RawMessage }
		if err := json.Unmarshal(text, &call); err != nil {
			t.Fatalf("%s: %v", token, err)
		}
		var a, b any // strings may be spelled in several ways
		if string(call.ID) != want && (want[0] != '"' || json.Unmarshal(call.ID, &a) != nil || json.Unmarshal([]byte(want), &b) != nil || a != b) {
			t.Errorf("%s became %s", token, call.ID)
		}
	}
}

// TestJSONNull: what is not known is null, and zero is not null.
func TestJSONNull(t *testing.T) {
	call := func(client, server string) object {
		d := logtest.Pair(t, client, server)
		return parse(t, write(t, d, func(b *bytes.Buffer) error { return report.NDJSON(b, d, report.Style{}) })).(object)
	}
	unknown := call("- > req 1\n- < res 1", "- > req 1\n- < res 1")
	for _, m := range []string{"session", "name", "request_bytes", "response_bytes", "rows", "follows"} {
		if unknown[m] != nil {
			t.Errorf("%s is %v, want null", m, unknown[m])
		}
	}
	for _, m := range []string{"dispatch", "handler", "flush", "total", "residual"} {
		if v := unknown["responder_ms"].(object)[m]; v != nil {
			t.Errorf("%s is %v, want null", m, v)
		}
	}
	zero := call("0 > req 1 bytes=0\n0 < res 1 bytes=0", "0 > req 1 bytes=0\n0 > enter 1\n0 > exit 1 rows=0\n0 < res 1 bytes=0")
	for _, m := range []string{"request_bytes", "response_bytes", "rows"} {
		if fmt.Sprint(zero[m]) != "0" {
			t.Errorf("%s is %v, want 0", m, zero[m])
		}
	}
	for m, v := range zero["responder_ms"].(object) {
		if fmt.Sprint(v) != "0" {
			t.Errorf("%s is %v, want 0", m, v)
		}
	}
	partial := call("0 > req 1\n90 < res 1", "1 > req 1\n4 > enter 1\n70 < res 1")["responder_ms"].(object)
	if got := fmt.Sprint(partial); got != "map[dispatch:3 flush:<nil> handler:<nil> residual:<nil> total:69]" {
		t.Errorf("a missing mark: %s", got)
	}
	stepped := call("0 > req 1\n90 < res 1", "500 > req 1\n70 < res 1")["responder_ms"].(object)
	if stepped["total"] != nil {
		t.Errorf("a clock that stepped back tells %v", stepped["total"])
	}
}

// TestJSONEscapes: nothing that a terminal would act on reaches JSON as it is, and what is no UTF-8 leaves valid JSON.
func TestJSONEscapes(t *testing.T) {
	text := `{"side":"client","dir":"c2s","kind":"request","id":"a\u0000b","method":"tools/call","name":"\u001b[31mred\u202e` + "\xff\xfe" + `","session":"s\n1"}` + "\n"
	d := logtest.Diagnose(t, logtest.ReadText(t, frame.Client, text))
	out := write(t, d, func(b *bytes.Buffer) error { return report.JSON(b, d, report.Style{}) })
	parse(t, out)
	for _, c := range []string{"\x1b", "\x00", "\u202e", "\xff"} {
		if bytes.Contains(out, []byte(c)) {
			t.Errorf("%q stands in the JSON", c)
		}
	}
}
