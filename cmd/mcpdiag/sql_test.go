package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcpdiag/ingest"
)

func setOf(path string) ingest.Set {
	return ingest.Set{Sources: []ingest.Source{ingest.ParseSource(path)}}
}

func optionsOf(e *env) ingest.Options { return ingest.Options{Stdin: e.stdin} }

// keptDB leaves the database of the sample logs. Its name holds what SQL must not trip over.
func keptDB(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "it's \"100%\".duckdb")
	if got := call(t, "", "join", "--db", path, "../../samples/client.log", "../../samples/server.log"); got.status != 1 {
		t.Fatalf("join: %+v", got)
	}
	return path
}

func TestSQL(t *testing.T) {
	db := keptDB(t)
	for _, test := range []struct{ query, table, ndjson string }{
		{"SELECT id, leaf, q3, response_bytes, wait_ms FROM calls",
			"id  leaf              q3     response_bytes  wait_ms\n47  written_not_read  false           41827\n",
			`{"id":"47","leaf":"written_not_read","q3":false,"response_bytes":41827,"wait_ms":null}` + "\n"},
		{"SELECT 1.5 AS a, 'x' || chr(27) || chr(8238) AS b, [1, NULL] AS c, {'k': 'v'} AS d, 170141183460469231731687303715884105727 AS e, 2.5::DECIMAL(4,2) AS f",
			`  a  b              c         d                                                e    f` + "\n" + `1.5  x\x1b\u{202e}  [1,null]  {"k":"v"}  170141183460469231731687303715884105727  2.5` + "\n",
			`{"a":1.5,"b":"x\u001b\u202e","c":[1,null],"d":{"k":"v"},"e":170141183460469231731687303715884105727,"f":2.5}` + "\n"},
		{"SELECT ts FROM frames WHERE log = 'client' ORDER BY line LIMIT 1", "ts\n2026-03-02 09:41:03.118\n", `{"ts":"2026-03-02T09:41:03.118Z"}` + "\n"},
		{"SELECT 1 AS \"a\x1b\" WHERE false", `a\x1b` + "\n", ""},
	} {
		if got := call(t, "", "sql", db, test.query); got.out != test.table || got.status != 0 {
			t.Errorf("%s: %+v", test.query, got)
		}
		got := call(t, "", "sql", "--format", "ndjson", db, test.query)
		if got.out != test.ndjson || got.status != 0 {
			t.Errorf("%s: %+v", test.query, got)
		}
		for line := range strings.Lines(got.out) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: not JSON: %s", test.query, line)
			}
		}
	}
	if got := call(t, "", "sql", db, "DESCRIBE calls"); !strings.Contains(got.out, "requester_half") {
		t.Errorf("DESCRIBE: %+v", got)
	}
}

// A query reads the database and reaches nothing else.
func TestSQLIsShut(t *testing.T) {
	db := keptDB(t)
	dir := t.TempDir()
	before, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"INSERT INTO calls SELECT * FROM calls", "DELETE FROM frames", "DROP TABLE frames", "CREATE TABLE t (a INTEGER)", "UPDATE calls SET id = '1'",
		"COPY calls TO '" + dir + "/out.csv'", "COPY calls FROM '/etc/passwd'", "EXPORT DATABASE '" + dir + "/out'",
		"ATTACH '" + dir + "/other.duckdb' AS other", "ATTACH '" + dir + "/other.duckdb' AS other (READ_ONLY)", "DETACH kept; ATTACH '" + db + "' AS again",
		"SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM '/etc/passwd'", "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM glob('/etc/*')",
		"SELECT * FROM read_parquet('https://example.com/a.parquet')", "SELECT * FROM read_blob('/etc/passwd')", "SELECT * FROM sniff_csv('/etc/passwd')",
		"INSTALL httpfs", "LOAD httpfs", "LOAD '" + dir + "/x.duckdb_extension'", "INSTALL spatial FROM community",
		"SET enable_external_access = true", "SET lock_configuration = false", "SET temp_directory = '" + dir + "'", "SET profiling_output = '" + dir + "/out.json'", "PRAGMA profiling_output = '" + dir + "/out.json'", "PRAGMA profile_output='" + dir + "/out.json'",
		"RESET enable_external_access",
		"SET log_query_path = '" + dir + "/log'", "SELECT 1; DROP TABLE frames", "IMPORT DATABASE '" + dir + "'", "CREATE SECRET s (TYPE s3)",
	} {
		if got := call(t, "", "sql", db, query); got.status != 2 || got.out != "" || !strings.HasPrefix(got.err, "mcpdiag: ") {
			t.Errorf("%s: %+v", query, got)
		}
	}
	after, err := os.ReadFile(db)
	if err != nil || string(before) != string(after) {
		t.Errorf("the database has changed: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("files were left: %v %v", left, err)
	}
	if left, err := os.ReadDir(filepath.Dir(db)); err != nil || len(left) != 1 {
		t.Errorf("files were left beside the database: %v %v", left, err)
	}
}

func TestSQLRefuses(t *testing.T) {
	db := keptDB(t)
	other := filepath.Join(t.TempDir(), "other.duckdb")
	conn, err := ingest.OpenDB(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(context.Background(), "ATTACH '"+other+"' AS other; CREATE TABLE other.calls (a INTEGER); DETACH other"); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	for _, test := range []struct {
		args []string
		err  string
	}{
		{[]string{db}, "sql takes a database and a query\nhint: "},
		{[]string{"nowhere.duckdb", "SELECT 1"}, "nowhere.duckdb: no such file"},
		{[]string{other, "SELECT 1"}, "other.duckdb: is not a database that mcpdiag wrote\nhint: mcpdiag join --db"},
		{[]string{"../../samples/client.log", "SELECT 1"}, "client.log: is not a database that mcpdiag wrote"},
		{[]string{t.TempDir(), "SELECT 1"}, "is not a database that mcpdiag wrote"},
		{[]string{db, "SELEC 1"}, "Parser Error: syntax error"},
		{[]string{db, "SELECT nothing FROM calls"}, `Binder Error: Referenced column "nothing" not found`},
		{[]string{db, "SELECT (method || chr(27))::INTEGER FROM frames"}, `tools/call\x1b`},
		{[]string{"--format", "xml", db, "SELECT 1"}, `unknown format "xml"`},
	} {
		if got := call(t, "", append([]string{"sql"}, test.args...)...); got.status != 2 || got.out != "" || !strings.Contains(got.err, test.err) {
			t.Errorf("%v: %+v", test.args, got)
		}
	}
}
