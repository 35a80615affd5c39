package ingest

import (
	"context"
	"testing"
	"time"

	"mcpdiag/ingest/frame"
)

func TestScratch(t *testing.T) {
	ctx := context.Background()
	sets := []Set{{Sources: []Source{{"/tmp/big/client.jsonl", "client.jsonl"}}, Side: frame.Client}, {Sources: []Source{{"/tmp/big/server.jsonl", "server.jsonl"}}, Side: frame.Server}}
	var logs []*Log
	for _, s := range sets {
		l, err := Read(ctx, s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l...)
	}
	c, err := OpenDB(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	lap := func(s string) { t.Log(s, time.Since(at)); at = time.Now() }
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.Exec(ctx, "ATTACH '"+t.TempDir()+"/x' AS kept (TYPE duckdb)"))
	must(c.Exec(ctx, keepSQL))
	feeds := &frameFeeds{ctx: ctx, stop: func() {}, logs: logs, sets: sets}
	must(feeds.register(c))
	var n int
	for k := range sets[0:1] {
		must(c.c.QueryRowContext(ctx, "SELECT count(COLUMNS(*)) FROM kept_frames($1::UINTEGER)", uint32(k)).Err())
		_ = n
	}
	lap("fill client")
	must(c.Exec(ctx, insertFrames, []string{"client"}, uint32(0)))
	lap("insert client")
	must(c.Exec(ctx, "CREATE TABLE kept.other AS SELECT * FROM kept.frames"))
	lap("copy client")
	must(c.Exec(ctx, "CREATE TABLE kept.other2 AS SELECT * FROM kept.frames WHERE line % 100 < 200 ORDER BY line"))
	lap("copy client ordered")
	must(c.Exec(ctx, "CREATE TABLE kept.other3 AS SELECT  id, method, name, session FROM kept.frames"))
	lap("copy client 4")
	must(keepHalves(ctx, c, logs))
	lap("halves")
}
