package diagnose

import (
	"context"
	"testing"
	"time"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

func TestScratch(t *testing.T) {
	ctx := context.Background()
	sets := []ingest.Set{{Sources: []ingest.Source{{"/tmp/big/client.jsonl", "client.jsonl"}}, Side: frame.Client}, {Sources: []ingest.Source{{"/tmp/big/server.jsonl", "server.jsonl"}}, Side: frame.Server}}
	var logs []*ingest.Log
	for _, s := range sets {
		l, err := ingest.Read(ctx, s, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l...)
	}
	conn, err := ingest.OpenDB(ctx)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Diagnose(ctx, conn, logs, Options{Limits: ingest.Limits{Slow: 2 * time.Second, Patience: 30 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	lap := func(s string) { t.Log(s, time.Since(at)); at = time.Now() }
	c := conn
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.Exec(ctx, "ATTACH '"+t.TempDir()+"/x' AS kept (TYPE duckdb)"))
	must(ingest.Keep(ctx, c, d.Logs, sets, ingest.Options{}))
	lap("ingest.Keep")
	must(c.Exec(ctx, keepSQL))
	must(appendTo(ctx, c, "temp", "kept_logs", d.appendLogs))
	must(appendTo(ctx, c, "temp", "kept_listed", d.appendListed))
	lap("listed")
	must(c.Exec(ctx, keepCallsSQL))
	lap("calls")
	must(c.Exec(ctx, "CHECKPOINT kept"))
	must(c.Exec(ctx, "DETACH kept"))
	lap("detach")
}
