package ingest_test

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

var flagNames = []struct {
	flag ingest.Flags
	name string
}{
	{ingest.Ambiguous, "ambiguous"}, {ingest.IsError, "error"}, {ingest.ToolError, "toolerror"}, {ingest.Refused, "refused"},
	{ingest.InputAsked, "inputasked"}, {ingest.QueuedOnly, "queued"}, {ingest.LostAnswer, "lostanswer"}, {ingest.Late, "late"},
	{ingest.Closed, "closed"}, {ingest.Modern, "modern"},
}

// sayHalf spells a half: its connection, id and use of it, the lines of its points, its flags.
func sayHalf(l *ingest.Log, i uint32) string {
	h := l.Half(i)
	s := fmt.Sprintf("%s#%d", l.ID(i), h.Nth)
	if len(l.Stretches) > 1 {
		s = fmt.Sprintf("%d/%s", h.Stretch+1, s)
	}
	if h.By == frame.Server {
		s = "server " + s
	}
	for p, name := range []string{"request", "answer", "cancel", "enter", "exit"} {
		if line := l.Line(i, ingest.Point(p)); line != 0 {
			s += fmt.Sprintf(" %s:%d", name, line)
		}
	}
	for _, f := range flagNames {
		if h.Flags&f.flag != 0 {
			s += " " + f.name
		}
	}
	return s
}

func sayHalves(l *ingest.Log) string {
	var out []string
	for i := range uint32(l.Halves()) {
		out = append(out, sayHalf(l, i))
	}
	return strings.Join(out, "; ")
}

// sayNotes spells what was odd, and how often.
func sayNotes(l *ingest.Log) string {
	var out []string
	for k, n := range l.Notes {
		out = append(out, fmt.Sprintf("%s:%d", k, n.Count))
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}

// foldCase is a log, and what a fold makes of it.
type foldCase struct {
	name   string
	side   frame.Side
	script string
	halves string
	notes  string
}

func testFolds(t *testing.T, cases []foldCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := logtest.Read(t, c.side, c.script)
			if len(l.BadLines) > 0 {
				t.Fatalf("bad lines %v: %v", l.BadLines, l.Reasons)
			}
			if got := sayHalves(l); got != c.halves {
				t.Errorf("halves\n%s\nwant\n%s", got, c.halves)
			}
			if got := sayNotes(l); got != c.notes {
				t.Errorf("notes %q, want %q", got, c.notes)
			}
		})
	}
}

// TestAnswers: which answer closes which request.
func TestAnswers(t *testing.T) {
	testFolds(t, []foldCase{
		{"the request's id in the other direction is another call", frame.Client,
			"0 > req 1\n5 < req 1 method=roots/list\n6 > res 1\n9 < res 1",
			"1#1 request:1 answer:4; server 1#1 request:2 answer:3", ""},
		{"ids keep their type and digits", frame.Client,
			"0 > req 1\n0 > req \"1\"\n0 > req 9007199254740993\n0 > req 9007199254740992\n0 > req 0\n0 > req \"\"\n9 < res 9007199254740992\n9 < res \"1\"\n9 < res \"\"",
			`1#1 request:1; "1"#1 request:2 answer:8; 9007199254740993#1 request:3; 9007199254740992#1 request:4 answer:7; 0#1 request:5; ""#1 request:6 answer:9`, ""},
		{"a number that is no integer is another id, and odd", frame.Client,
			"0 > req 1.0\n1 > req 1\n9 < res 1", "1.0#1 request:1; 1#1 request:2 answer:3", "id_not_integer:1"},
		{"errors answer too", frame.Client, "0 > req 1\n5 < err 1 code=-32602", "1#1 request:1 answer:2 error", ""},
		{"a tool's error is a result", frame.Client, "0 > req 1\n5 < res 1 tool_error=true", "1#1 request:1 answer:2 toolerror", ""},
		{"asking for input is an answer", frame.Client, "0 > req 1\n5 < res 1 result_type=input_required", "1#1 request:1 answer:2 inputasked", ""},
		{"a complete result asks for nothing", frame.Client, "0 > req 1\n5 < res 1 result_type=complete", "1#1 request:1 answer:2", ""},
		{"a second answer is a finding, figures use the first", frame.Client,
			"0 > req 1\n5 < res 1 bytes=10\n900 < res 1 bytes=20", "1#1 request:1 answer:2", "duplicate_answer:1"},
		{"replayed answers stay with the calls that they answered", frame.Client,
			"0 > req 11\n1 > req 12\n400 < res 11\n4800 < res 11\n4810 < res 12",
			"11#1 request:1 answer:3; 12#1 request:2 answer:5", "duplicate_answer:1"},
		{"a replay long before the id's next use is no early answer", frame.Client,
			"0 > req 1 era=2026-07-28\n400 < res 1\n4800 < res 1\n9000 > req 1 era=2026-07-28",
			"1#1 request:1 answer:2 modern; 1#2 request:4 modern", "duplicate_answer:1"},
		{"two writers race: the answer stands before its request", frame.Server,
			"10 < res 1\n10.2 > req 1", "1#1 request:2 answer:1", ""},
		{"so does the answer to the id's next use", frame.Server,
			"0 > req 1 era=2026-07-28\n5 < res 1\n50 < res 1\n50.3 > req 1 era=2026-07-28",
			"1#1 request:1 answer:2 modern; 1#2 request:4 answer:3 modern", ""},
		{"an answer without a request is an orphan", frame.Client, "0 > req 1\n5 < res 2", "1#1 request:1; 2#1 answer:2", ""},
		{"progress and other notifications take no part", frame.Client,
			"0 > req 1 token=7\n5 < ntf method=notifications/progress token=7\n6 < ntf method=notifications/message", "1#1 request:1", ""},
	})
}

// TestAnswerLongBeforeRequest: writers race by microseconds; an answer seconds before the request answers something else.
func TestAnswerLongBeforeRequest(t *testing.T) {
	l := logtest.Read(t, frame.Server, "10 < res 1\n2010 > req 1")
	for i := range uint32(l.Halves()) {
		if l.Line(i, ingest.Request) == 2 && l.Line(i, ingest.Answer) == 1 {
			t.Errorf("%s: answered two seconds before it was asked", sayHalf(l, i))
		}
	}
}

// TestPhases: several moments of one frame are one frame.
func TestPhases(t *testing.T) {
	testFolds(t, []foldCase{
		{"an answer that was only queued", frame.Server, "0 > req 1\n5 < res 1 phase=queued", "1#1 request:1 answer:2 queued", ""},
		{"queued, then written: the stronger word stands", frame.Server,
			"0 > req 1\n5 < res 1 phase=queued\n15 < res 1 phase=written", "1#1 request:1 answer:3", ""},
		{"read, then parsed: the first stands", frame.Client, "0 > req 1\n5 < res 1 phase=read\n6 < res 1 phase=parsed", "1#1 request:1 answer:2", ""},
		{"a request read, then parsed", frame.Server, "0 > req 1 phase=read\n1 > req 1 phase=parsed\n5 < res 1", "1#1 request:1 answer:3", ""},
		{"a request queued, then written", frame.Client, "0 > req 1 phase=queued\n1 > req 1 phase=written\n5 < res 1", "1#1 request:1 answer:3", ""},
		{"twice in the same phase is twice", frame.Server, "0 > req 1\n5 < res 1 phase=written\n6 < res 1 phase=written", "1#1 request:1 answer:2", "duplicate_answer:1"},
	})
}

// TestIDReuse: the k-th use of an id.
func TestIDReuse(t *testing.T) {
	testFolds(t, []foldCase{
		{"legacy, after the answer: a breach", frame.Client, "0 > req 1\n5 < res 1\n9 > req 1\n12 < res 1",
			"1#1 request:1 answer:2; 1#2 request:3 answer:4", "id_reused:1"},
		{"modern, after the answer: legal", frame.Client, "0 > req 1 era=2026-07-28\n5 < res 1\n9 > req 1 era=2026-07-28\n12 < res 1",
			"1#1 request:1 answer:2 modern; 1#2 request:3 answer:4 modern", ""},
		{"in flight: cannot be told apart", frame.Client, "0 > req 1 name=a\n1 > req 1 name=b\n5 < res 1",
			"1#1 request:1 ambiguous; 1#2 request:2 ambiguous", "id_reused_in_flight:1"},
		{"in flight, modern: forbidden too", frame.Client, "0 > req 1 era=2026-07-28\n1 > req 1 era=2026-07-28",
			"1#1 request:1 ambiguous modern; 1#2 request:2 ambiguous modern", "id_reused_in_flight:1"},
		{"when all are answered the id is free again", frame.Client, "0 > req 1\n1 > req 1\n5 < res 1\n6 < res 1\n9 > req 1\n12 < res 1",
			"1#1 request:1 ambiguous closed; 1#2 request:2 ambiguous closed; 1#3 request:5 answer:6", "id_reused:1 id_reused_in_flight:1"},
		{"a cancel dissolves the group", frame.Client, "0 > req 1\n1 > req 1\n5 > ntf method=notifications/cancelled request_id=1\n9 > req 1\n12 < res 1",
			"1#1 request:1 ambiguous closed; 1#2 request:2 ambiguous closed; 1#3 request:4 answer:5", "id_reused:1 id_reused_in_flight:1"},
		{"an id that was given up is no longer in flight", frame.Client, "0 > req 1\n5 > ntf method=notifications/cancelled request_id=1\n9 > req 1\n12 < res 1",
			"1#1 request:1 cancel:2; 1#2 request:3 answer:4", "id_reused:1"},
		{"in other HTTP exchanges they can be told apart", frame.Client,
			"0 > req 1 exchange=a era=2026-07-28\n10 > req 1 exchange=b era=2026-07-28\n50 < res 1 exchange=b\n60 < res 1 exchange=a",
			"1#1 request:1 answer:4 modern; 1#2 request:2 answer:3 modern", ""},
	})
}

// TestCancels: what a cancel refers to.
func TestCancels(t *testing.T) {
	cancel := " ntf method=notifications/cancelled"
	testFolds(t, []foldCase{
		{"by id", frame.Client, "0 > req 1\n0 > req 2\n5 >" + cancel + " request_id=1", "1#1 request:1 cancel:3; 2#1 request:2", ""},
		{"by id with its type", frame.Client, "0 > req 1\n5 >" + cancel + ` request_id="1"`, "1#1 request:1", "cancel_of_unknown:1"},
		{"without an id: the only outstanding one", frame.Client, "0 > req 1\n1 < res 1\n2 > req 2\n5 >" + cancel, "1#1 request:1 answer:2; 2#1 request:3 cancel:4", ""},
		{"without an id, of two: none", frame.Client, "0 > req 1\n0 > req 2\n5 >" + cancel, "1#1 request:1; 2#1 request:2", "cancel_of_unknown:1"},
		{"the other side's request is another", frame.Client, "0 > req 1\n5 <" + cancel + " request_id=1", "1#1 request:1", "cancel_of_unknown:1"},
		{"of an answered one", frame.Client, "0 > req 1\n5 < res 1\n6 >" + cancel + " request_id=1", "1#1 request:1 answer:2", "cancel_after_answer:1"},
		{"an answer after it is late", frame.Client, "0 > req 1\n5 >" + cancel + " request_id=1\n6 < res 1", "1#1 request:1 answer:3 cancel:2 late", ""},
	})
}

// TestRefusals: answers of the transport, which name no request.
func TestRefusals(t *testing.T) {
	testFolds(t, []foldCase{
		{"the sole outstanding request", frame.Client, "0 > req 1\n5 < err null status=404 code=-32600", "1#1 request:1 refused", ""},
		{"of two: none", frame.Client, "0 > req 1\n0 > req 2\n5 < err null status=404", "1#1 request:1; 2#1 request:2", ""},
		{"a cancelled one is no longer outstanding", frame.Client,
			"0 > req 1\n1 > ntf method=notifications/cancelled request_id=1\n2 > req 2\n5 < err null status=404", "1#1 request:1 cancel:2; 2#1 request:3 refused", ""},
		{"a refusal closes its request", frame.Client, "0 > req 1\n5 < err null status=404\n6 > req 2\n9 < err null status=404",
			"1#1 request:1 refused; 2#1 request:3 refused", ""},
		{"of two, the one of the same exchange", frame.Client, "0 > req 1 exchange=a\n0 > req 2 exchange=b\n5 < err null status=413 exchange=a",
			"1#1 request:1 refused; 2#1 request:2", ""},
		{"a body that is no JSON-RPC, with a status", frame.Client, "0 > req 1\n5 < bad - status=502 raw=Bad_Gateway bytes=11", "1#1 request:1 refused", ""},
		{"a stray line without a status is none", frame.Client, "0 > req 1\n5 < bad - raw=hello bytes=6", "1#1 request:1", ""},
		{"the responder's own log pairs nothing", frame.Server, "0 > req 1\n5 < err null code=-32700", "1#1 request:1", ""},
	})
}

// TestHandlers: which handler event belongs to which request.
func TestHandlers(t *testing.T) {
	testFolds(t, []foldCase{
		{"by id", frame.Server, "0 > req 1\n0 > req 2\n1 > enter 2\n2 > enter 1\n3 > exit 1\n4 > exit 2",
			"1#1 request:1 enter:4 exit:5; 2#1 request:2 enter:3 exit:6", ""},
		{"without ids, one outstanding", frame.Server, "0 > req 1 name=a\n1 > enter - name=a\n2 > exit - name=a\n3 < res 1",
			"1#1 request:1 answer:4 enter:2 exit:3", ""},
		{"without ids, two of different tools", frame.Server, "0 > req 1 name=a\n0 > req 2 name=b\n1 > enter - name=b\n2 > enter - name=a",
			"1#1 request:1 enter:4; 2#1 request:2 enter:3", ""},
		{"without ids, two of one tool: neither", frame.Server, "0 > req 1 name=a\n0 > req 2 name=a\n1 > enter - name=a\n2 > exit - name=a\n3 < res 1",
			"1#1 request:1 answer:5; 2#1 request:2", "handler_without_request:1"},
		{"the event stands before its request", frame.Server, "0 > enter 1\n0.1 > req 1\n5 > exit 1\n6 < res 1", "1#1 request:2 answer:4 enter:1 exit:3", ""},
		{"with nothing outstanding", frame.Server, "0 > enter - name=a", "", "handler_without_request:1"},
		{"two with one id and different tools", frame.Server, "0 > req 1 name=a\n1 > req 1 name=b\n2 > enter 1 name=b\n3 > enter 1 name=a\n4 > exit 1 name=b",
			"1#1 request:1 enter:4 ambiguous; 1#2 request:2 enter:3 exit:5 ambiguous", "id_reused_in_flight:1"},
	})
	l := logtest.Read(t, frame.Server, "0 > req 1 name=a\n0 > req 2 name=a\n1 > enter - name=a")
	if !l.Fact(0).HandlerAmbiguous || !l.Fact(1).HandlerAmbiguous {
		t.Error("two calls of one tool and an event without an id: not said to be ambiguous")
	}
}

// TestLostIDs: frames whose id was cut off with the line.
func TestLostIDs(t *testing.T) {
	testFolds(t, []foldCase{
		{"an answer, one outstanding", frame.Client, "0 > req 1\n5 < res - trunc=true bytes=900", "1#1 request:1 answer:2", ""},
		{"an answer, two outstanding: either may be answered", frame.Client, "0 > req 1\n0 > req 2\n5 < res - trunc=true",
			"1#1 request:1 lostanswer; 2#1 request:2 lostanswer", "answer_id_lost:1"},
		{"a request", frame.Server, "0 > req - trunc=true\n1 > req 2", "2#1 request:2", "request_id_lost:1"},
	})
}
