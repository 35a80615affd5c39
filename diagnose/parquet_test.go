package diagnose_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// TestParquet reads the file back in a database of its own.
func TestParquet(t *testing.T) {
	ctx := context.Background()
	var sets []ingest.Set
	var logs []*ingest.Log
	for side, script := range map[frame.Side]string{
		frame.Client: "0 > req 1\n5 < res 1\n10 > req 47 name=search\n70000 > ntf method=notifications/cancelled request_id=47",
		frame.Server: "0 > req 1\n5 < res 1\n10 > req 47 name=search\n90 < res 47 bytes=41827",
	} {
		set := ingest.Set{Sources: []ingest.Source{ingest.ParseSource(logtest.File(t, side.String()+".log", logtest.Text(side, script)))}, Side: side}
		read, err := ingest.Read(ctx, set, ingest.Options{Quiet: logtest.Quiet})
		if err != nil {
			t.Fatal(err)
		}
		sets, logs = append(sets, set), append(logs, read...)
	}
	d := logtest.Diagnose(t, logs...)
	path := filepath.Join(t.TempDir(), "calls.parquet")
	if err := d.Parquet(ctx, path, "test", sets, ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	conn, err := ingest.OpenDB(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	rows, err := conn.Query(ctx, "SELECT count(*), count(*) FILTER (stalled), max(response_bytes), max(name) FROM read_parquet($1)", path)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var calls, stalled int
		var bytes int64
		var name string
		if err := rows.Scan(&calls, &stalled, &bytes, &name); err != nil {
			t.Fatal(err)
		}
		if calls != 2 || stalled != 1 || bytes != 41827 || name != "search" {
			t.Errorf("%d calls, %d stalled, %d B, %q", calls, stalled, bytes, name)
		}
	}
}
