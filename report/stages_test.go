package report_test

import (
	"testing"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
	"mcpdiag/report"
	"mcpdiag/samples/logtest"
)

func services(t *testing.T, side frame.Side, script string) []*diagnose.Service {
	t.Helper()
	return []*diagnose.Service{diagnose.NewService(logtest.Read(t, side, script), 2*time.Second)}
}

const served = `
	0 > req 1 name=t
	1 > enter 1
	5 > exit 1
	7 < res 1
	10 > req 2 name=t
	3010 < res 2
	3100 > req 3 name=t
	3101 > enter 3
	4000 > req 4 name=t
	7549 > ntf - method=notifications/x`

func TestStages(t *testing.T) {
	golden(t, told(t, services(t, frame.Server, served), report.Stages), "tools/call", `
tools/call t  2 answered, 1 of them slow, 2 open
  stage     calls   p50       p95       p99       max
  dispatch      1  1 ms      1 ms      1 ms      1 ms
  handler       1  4 ms      4 ms      4 ms      4 ms
  flush         1  2 ms      2 ms      2 ms      2 ms
  total         2  7 ms  3,000 ms  3,000 ms  3,000 ms
  shape    █·······█ total, from 5 ms to 5,000 ms; the tallest is 1 call
  slowest  id 2, 3,000 ms: read to written 3,000 ms, not divided, read server.log:5
  open     ≥ 3.5 s to ≥ 4.4 s, 2 open, neither answered nor cancelled (1 in a handler that never
           left); longest: id 3 (server.log:7)

Percentiles are by nearest rank, each on the clock of its own log: p95 is the shortest time that 95
of 100 calls did not exceed. A stage whose mark is missing is unknown, and not counted. Shapes go up
in steps of 1, 2, 5, 10; a point is an empty step.
`)
}

func TestStagesOfTheWrongLog(t *testing.T) {
	golden(t, told(t, services(t, frame.Client, "0 > req 1 name=t\n7 < res 1"), report.Stages), "The client", `
The client served nothing in its log: no request of the server is there. Stages are the responder's:
give the server's log.
`)
}

func TestStagesJSON(t *testing.T) {
	doc := members(t, told(t, services(t, frame.Server, served), report.StagesJSON))
	tool := doc["services"].([]any)[0].(map[string]any)["tools"].([]any)[0].(map[string]any)
	total := tool["stages_ms"].(map[string]any)["total"].(map[string]any)
	open := tool["open"].(map[string]any)
	if total["count"] != 2.0 || total["max"] != 3000.0 || open["count"] != 2.0 || open["longest_at_least_ms"] != 4449.0 || open["at_least_ms"] != 3549.0 {
		t.Error(tool)
	}
}

// TestStagesUnknown: what no mark tells is null, not 0.
func TestStagesUnknown(t *testing.T) {
	doc := members(t, told(t, services(t, frame.Server, "- > req 1 name=t\n- < res 1"), report.StagesJSON))
	tool := doc["services"].([]any)[0].(map[string]any)["tools"].([]any)[0].(map[string]any)
	if total := tool["stages_ms"].(map[string]any)["total"].(map[string]any); total["p50"] != nil || total["max"] != nil || tool["total_histogram"] != nil {
		t.Error(tool)
	}
}
