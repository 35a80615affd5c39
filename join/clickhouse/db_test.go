package clickhouse_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mcpdiag/join"
	"mcpdiag/join/clickhouse"
)

// server answers as a ClickHouse may, and opens a database there.
func server(t *testing.T, answer http.HandlerFunc) *clickhouse.DB {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	db, err := clickhouse.Open(clickhouse.Scheme+"me:secret@"+strings.TrimPrefix(s.URL, "http://")+"/db", func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// read reads a result of two columns to its end.
func read(db *clickhouse.DB) (out []string, err error) {
	rows, err := db.Query(context.Background(), "SELECT")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		var n int64
		if err := rows.Scan(&s, &n); err != nil {
			return out, err
		}
		out = append(out, fmt.Sprintf("%q %d", s, n))
	}
	return out, rows.Err()
}

// TestQuery: a result is whole, or an error that says where, why, and no password.
func TestQuery(t *testing.T) {
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   string // the rows
		err    string // what the error has; "" for none
	}{
		"rows": {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "a\\tb\\\\\\n\\'\\0\t-7\n\t0\n") }, `"a\tb\\\n'\x00" -7; "" 0`, ""},
		"none": {func(w http.ResponseWriter, r *http.Request) {}, "", ""},
		"a row that is cut off": {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "a\t1\nb") },
			`"a" 1`, "cut off"},
		"a connection that breaks": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "a\t1\n")
		}, `"a" 1`, "cut off"},
		"a row too short":    {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "a\n") }, "", "has not 2 fields"},
		"a row too long":     {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "a\t1\t2\n") }, "", "has not 2 fields"},
		"a word for a count": {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "a\tb\n") }, "", "invalid syntax"},
		"an exception": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			io.WriteString(w, "Code: 210, Connection refused (10.0.0.2:9000)\x1b[2J, Stack trace: 0. here\n1. there")
		}, "", `Connection refused (10.0.0.2:9000)\x1b[2J`},
		"another server": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "http://127.0.0.1:1/", 302) }, "", "302"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := read(server(t, tt.answer))
			if got := strings.Join(rows, "; "); got != tt.want {
				t.Errorf("rows %s, want %s", got, tt.want)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "Stack trace")) {
				t.Errorf("it says too much: %v", err)
			}
		})
	}
}

// TestLists: values travel as tables beside the query, with the account in headers, and settings that keep a result whole.
func TestLists(t *testing.T) {
	value := "'); DROP TABLE x; --\t\\"
	db := server(t, func(w http.ResponseWriter, r *http.Request) {
		f, _, err := r.FormFile("asked_id")
		if err != nil {
			t.Errorf("no table: %v", err)
			return
		}
		text, _ := io.ReadAll(f)
		q := r.URL.Query()
		if string(text) != string(clickhouse.Values([]string{value})) || strings.Contains(q.Get("query"), "DROP") || q.Get("asked_id_structure") != "value String" {
			t.Errorf("table %q, query %q", text, q.Get("query"))
		}
		if q.Get("wait_end_of_query") != "1" || q.Get("skip_unavailable_shards") != "0" || q.Get("query") != "SELECT 1 FROM `db`.calls_here WHERE id IN (SELECT value FROM asked_id) FORMAT TabSeparated" {
			t.Errorf("settings %v", q)
		}
		if r.Header.Get("X-ClickHouse-User") != "me" || r.Header.Get("X-ClickHouse-Key") != "secret" || strings.Contains(r.URL.String(), "secret") {
			t.Errorf("headers %v", r.Header)
		}
	})
	rows, err := db.Query(context.Background(), "SELECT 1 FROM calls_here WHERE id IN (SELECT value FROM asked_id)", join.List{Name: "asked_id", Values: []string{value}}, join.List{Name: "not_asked"})
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
}

// TestInsert: rows go as they are, packed; an input that breaks off is an error, not a shorter insert.
func TestInsert(t *testing.T) {
	got := ""
	db := server(t, func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err == nil {
			var text []byte
			if text, err = io.ReadAll(z); err == nil {
				got = r.URL.Query().Get("query") + "|" + string(text)
			}
		}
		if err != nil {
			w.WriteHeader(500)
		}
	})
	if err := db.Insert(context.Background(), "halves", []string{"log", "half"}, strings.NewReader("\"a\",1\n")); err != nil || got != "INSERT INTO halves_here (log, half) FORMAT CSV|\"a\",1\n" {
		t.Errorf("%v, got %q", err, got)
	}
	got = ""
	broken := io.MultiReader(strings.NewReader("\"a\",1\n"), brokenReader{})
	if err := db.Insert(context.Background(), "halves", []string{"log", "half"}, broken); err == nil || got != "" {
		t.Errorf("%v, got %q", err, got)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestOpen: what is an address.
func TestOpen(t *testing.T) {
	for address, want := range map[string]string{
		"clickhouse://host/db":                              "clickhouse://host:8123/db",
		"clickhouse://host:1234/db?cluster=c":               "clickhouse://host:1234/db",
		"clickhouse://u:secret@[::1]/db?secure=true":        "clickhouse://[::1]:8443/db",
		"clickhouse://host":                                 "",
		"clickhouse://host/db`; DROP":                       "",
		"clickhouse://host/db?cluster=a'b":                  "",
		"clickhouse://host/db?skip_unavailable_shards=1":    "",
		"https://u:secret@host/db":                          "",
		"clickhouse:///db":                                  "",
		"clickhouse://u:secret@host:port/db?secure=perhaps": "",
	} {
		db, err := clickhouse.Open(address, func(string) string { return "" })
		if got := fmt.Sprint(db); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%s: %v, %v; want %q", address, got, err, want)
		}
		if strings.Contains(fmt.Sprint(err, db), "secret") {
			t.Errorf("%s: it shows the password", address)
		}
	}
}
