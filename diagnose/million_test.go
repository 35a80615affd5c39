//go:build cluster || chdb

package diagnose_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/join"
	"mcpdiag/samples/logtest"
)

// million reads a million generated calls.
func million(t *testing.T) (client, server *ingest.Log) {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "../samples/bench/gen", "-calls", "1000000", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	read := func(side frame.Side) *ingest.Log {
		logs, err := ingest.Read(context.Background(), ingest.Set{Sources: []ingest.Source{ingest.ParseSource(filepath.Join(dir, side.String()+".jsonl"))}, Side: side}, ingest.Options{Quiet: logtest.Quiet})
		if err != nil {
			t.Fatal(err)
		}
		return logs[0]
	}
	return read(frame.Client), read(frame.Server)
}

// sameMillion compares what is said of them by the logs, by the folder and by a store.
func sameMillion(t *testing.T, store join.Store, client, server *ingest.Log, folded string) *diagnose.Diagnosis {
	t.Helper()
	o := logtest.Options()
	o.All = false
	want := inJSON(t, logtest.DiagnoseWith(t, o, client, server))
	if got := inJSON(t, unfolded(t, o, join.Few, folded)); got != want {
		t.Errorf("folded: %s", firstDifference(got, want))
	}
	d := broughtFrom(t, store, o, join.Few)
	if got := inJSON(t, d); got != want {
		t.Error(firstDifference(got, want))
	}
	return d
}
