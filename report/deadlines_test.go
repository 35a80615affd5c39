package report_test

import (
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
	"mcpdiag/report"
	"mcpdiag/samples/logtest"
)

func patience(t *testing.T, side frame.Side, script string) []*diagnose.Patience {
	t.Helper()
	return []*diagnose.Patience{diagnose.NewPatience(logtest.Read(t, side, script))}
}

const waited = `
	0 > req 1 name=t
	60000 > ntf - method=notifications/cancelled request_id=1
	66000 < res 1
	70000 > req 2 name=u
	130003 > ntf - method=notifications/cancelled request_id=2
	140000 > req 3 name=v
	170000 < ntf - method=notifications/progress request_id=3
	215000 < res 3
	216000 > req 4 name=w
	220449 > ntf - method=notifications/x`

func TestDeadlines(t *testing.T) {
	golden(t, told(t, patience(t, frame.Client, waited), report.Deadlines), "60.0 s", `
60.0 s  2 cancels after about that: 60 s is the default of the TypeScript and Kotlin SDKs and many
        hosts
  spread   median 60,000 ms, from 60,000 ms to 60,003 ms, from request to cancel
  tools    t, u
  lines    client.log:2 (id 1), client.log:5 (id 2)
  late     1 answered all the same, the longest 66,000 ms after the request: id 1 t (client.log:3)
  outlived 1 answered call by progress, never silent for that long, up to 75,000 ms: id 3 v
           (client.log:8); so progress resets it, or it counts silence

  longest  75,000 ms is the longest wait that was answered before any cancel: id 3 v (client.log:8),
           with progress
  waiting  ≥ 4.4 s, 1 neither answered nor cancelled when the log or the stream ends; longest: id 4
           (client.log:9); some clients give up and send nothing (Python v1, Java), so no cancel
           does not mean no deadline
`)
}

func TestDeadlinesOfTheWrongLog(t *testing.T) {
	golden(t, told(t, patience(t, frame.Server, "0 > req 1 name=t\n7 < res 1"), report.Deadlines), "The server", `
The server asked nothing in its log. Deadlines are the requester's: give the client's log.
`)
}

func TestDeadlinesJSON(t *testing.T) {
	doc := members(t, told(t, patience(t, frame.Client, waited), report.DeadlinesJSON))
	p := doc["requesters"].([]any)[0].(map[string]any)
	c := p["deadlines"].([]any)[0].(map[string]any)
	if c["count"] != 2.0 || c["median_ms"] != 60000.0 || c["outlived_by_progress"].(map[string]any)["count"] != 1.0 || p["longest_answered_ms"] != 75000.0 {
		t.Error(p)
	}
}
