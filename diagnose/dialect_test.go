//go:build chdb

package diagnose_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chdb-io/chdb-go/chdb"

	"mcpdiag/ingest"
	"mcpdiag/join"
	"mcpdiag/join/clickhouse"
	"mcpdiag/samples/logtest"
)

// inProcess is a ClickHouse of today's dialect that runs in this process: a store, as the cluster of old servers is.
type inProcess struct {
	session *chdb.Session
	dir     string
}

func newInProcess(t *testing.T) *inProcess {
	t.Helper()
	session, err := chdb.NewSession(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &inProcess{session, t.TempDir()}
}

func (s *inProcess) Everywhere(table string) string { return table + "_here" }

func (s *inProcess) Shards(context.Context) (int64, error) { return 1, nil }

func (s *inProcess) run(query string) ([]byte, error) {
	result, err := s.session.Query(query, "TabSeparated")
	if err != nil {
		return nil, err
	}
	defer result.Free()
	return bytes.Clone(result.Buf()), result.Error()
}

// file writes what a statement reads, and names it as the statement does.
func (s *inProcess) file(name string, text []byte) (string, error) {
	path := filepath.Join(s.dir, name)
	return "'" + path + "'", os.WriteFile(path, text, 0o600)
}

// Query runs a query; its lists are tables read from files, so that no value stands in SQL here either.
func (s *inProcess) Query(_ context.Context, query string, lists ...join.List) (join.Rows, error) {
	for _, l := range lists {
		if !strings.Contains(query, l.Name) {
			continue
		}
		path, err := s.file(l.Name, clickhouse.Values(l.Values))
		if err != nil {
			return nil, err
		}
		for _, statement := range []string{"DROP TABLE IF EXISTS " + l.Name, "CREATE TABLE " + l.Name + " (value String) ENGINE = Memory",
			"INSERT INTO " + l.Name + " SELECT * FROM file(" + path + ", 'TabSeparated', 'value String')"} {
			if _, err := s.run(statement); err != nil {
				return nil, err
			}
		}
	}
	text, err := s.run(query)
	return clickhouse.NewRows(io.NopCloser(bytes.NewReader(text))), err
}

func (s *inProcess) Insert(_ context.Context, table string, columns []string, csv io.Reader) error {
	text, err := io.ReadAll(csv)
	if err != nil {
		return err
	}
	path, err := s.file("batch", text)
	if err != nil {
		return err
	}
	_, err = s.run(fmt.Sprintf("INSERT INTO %s_here (%s) FROM INFILE %s FORMAT CSV", table, strings.Join(columns, ", "), path))
	return err
}

// database makes the tables in a database of their own and goes there.
func (s *inProcess) database(t *testing.T, name string) {
	t.Helper()
	for _, statement := range append([]string{"CREATE DATABASE " + name, "USE " + name}, clickhouse.Schema(name, "")...) {
		if _, err := s.run(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestDialect: the SQL that the cluster of old servers runs means the same in today's dialect.
func TestDialect(t *testing.T) {
	s := newInProcess(t)
	version, err := s.run("SELECT version()")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ClickHouse %s", version)
	entries, err := os.ReadDir("testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	for k, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			client, server := sides(t, filepath.Join("testdata/cases", e.Name()))
			want := said(t, logtest.Diagnose(t, client, server))
			s.database(t, fmt.Sprintf("case_%d", k))
			shipTo(t, s, fold(t, server, client))
			for _, wanted := range []join.Want{join.Each, join.Odd} {
				if got := said(t, broughtFrom(t, s, logtest.Options(), wanted)); got != want {
					t.Errorf("wanted %d: %s", wanted, firstDifference(got, want))
				}
			}
		})
	}
	t.Run("many", func(t *testing.T) {
		client, server := many(t)
		s.database(t, "many")
		shipTo(t, s, fold(t, client, server))
		for _, session := range []string{"", "s7", "'); DROP TABLE halves_here; --"} {
			o := logtest.Options()
			o.All, o.Session = false, session
			want := inJSON(t, logtest.DiagnoseWith(t, o, client, server))
			if got := inJSON(t, broughtFrom(t, s, o, join.Few)); got != want {
				t.Errorf("session %q: %s", session, firstDifference(got, want))
			}
		}
	})
}

// TestDialectHostile: names and ids are data here too.
func TestDialectHostile(t *testing.T) {
	s := newInProcess(t)
	client, server, names := hostile(t)
	s.database(t, "hostile")
	shipTo(t, s, fold(t, client, server))
	askHostile(t, s, client, server, names)
}

// TestDialectMillion: a million calls, to the last byte of the JSON.
func TestDialectMillion(t *testing.T) {
	s := newInProcess(t)
	client, server := million(t)
	folded := fold(t, client, server)
	s.database(t, "million")
	shipTo(t, s, folded)
	d := sameMillion(t, s, client, server, folded)
	t.Logf("%d calls, %d stalled: the same from the logs, the folder and ClickHouse", d.Summary.Calls, d.Summary.Stalled)
}

func shipTo(t *testing.T, server clickhouse.Server, dir string) {
	t.Helper()
	logs, err := ingest.FoldedLogs([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := clickhouse.Ship(context.Background(), server, openDB(t), logs, t.TempDir(), false); err != nil {
			t.Fatal(err)
		}
	}
}
