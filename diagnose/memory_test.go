package diagnose_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// within reads a log with a memory of which halves get next to nothing, so that all of them lie in the file.
func within(t *testing.T, m *ingest.Memory, side frame.Side, path string) *ingest.Log {
	t.Helper()
	logs, err := ingest.Read(context.Background(), ingest.Set{Sources: []ingest.Source{ingest.ParseSource(path)}, Side: side}, ingest.Options{Quiet: logtest.Quiet, Memory: m})
	if err != nil {
		t.Fatal(err)
	}
	return logs[0]
}

// TestSpilled: what is said of logs whose halves do not fit is what is said of them where they do, and nothing stays behind.
func TestSpilled(t *testing.T) {
	entries, err := os.ReadDir("testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			dir := filepath.Join("testdata/cases", e.Name())
			m, err := ingest.NewMemory(1 << 10)
			if err != nil {
				t.Fatal(err)
			}
			said := func(m *ingest.Memory) string {
				var logs []*ingest.Log
				for _, side := range []frame.Side{frame.Client, frame.Server} {
					paths, err := filepath.Glob(filepath.Join(dir, side.String()+".*"))
					if err != nil || len(paths) != 1 {
						t.Fatalf("%s: %v", side, paths)
					}
					logs = append(logs, within(t, m, side, paths[0]))
				}
				for _, l := range logs {
					l.LetGo()
				}
				d, err := diagnose.Diagnose(context.Background(), openDB(t), logs, logtest.Options())
				if err != nil {
					t.Fatal(err)
				}
				return inJSON(t, d)
			}
			if got, want := said(m), said(nil); got != want {
				t.Error(firstDifference(got, want))
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(m.Folder()); !os.IsNotExist(err) {
				t.Errorf("%s is still there: %v", m.Folder(), err)
			}
		})
	}
}
