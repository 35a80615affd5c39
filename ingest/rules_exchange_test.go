package ingest_test

import (
	"testing"

	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// TestExchangeRefusals: an answer without an id is about the request of its exchange, and about no other.
func TestExchangeRefusals(t *testing.T) {
	testFolds(t, []foldCase{
		{"of two outstanding, the one in its exchange", frame.Client, "0 > req 1 exchange=e1\n1 > req 2 exchange=e2\n9 < err null exchange=e1 status=404",
			"1#1 request:1 refused; 2#1 request:2", ""},
		{"a notification was refused, and the sole request was not", frame.Client, "0 > req 1 exchange=e1\n1 > ntf method=notifications/progress exchange=e2\n9 < err null exchange=e2 status=404",
			"1#1 request:1", ""},
		{"requests that name no exchange: the sole one", frame.Client, "0 > req 1\n9 < err null exchange=e2 status=404", "1#1 request:1 refused", ""},
	})
}

// TestExchangeEnds: the end of an exchange's stream is the business of its call, and does not end the session.
func TestExchangeEnds(t *testing.T) {
	l := logtest.Read(t, frame.Client, `
		0  > req 1 exchange=e1
		1  > req 2 exchange=e2
		5  < eof exchange=e1
		6  < eof exchange=e9
		7  < res 2 exchange=e2
		8  < eof exchange=e2`)
	if got := l.Fact(0).Ended; got != [2]uint32{0, 3} {
		t.Errorf("the first call's stream ended at %v", got)
	}
	if got := l.Fact(1).Ended; got != [2]uint32{} {
		t.Errorf("the answered call's stream ended at %v", got)
	}
	if got := l.Stretches[0].EOF; got != [2]uint32{} {
		t.Errorf("the session ended at %v", got)
	}
}
