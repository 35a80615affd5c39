package clickhouse

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"mcpdiag/ingest/frame"
	"mcpdiag/join"
)

// DB is a ClickHouse database, on one server or over the shards of a cluster.
type DB struct {
	server   string // scheme, host and port
	host     string // as errors name it
	database string
	cluster  string
	user     string
	password string
	client   *http.Client
}

// Scheme is what the addresses of a ClickHouse begin with.
const Scheme = "clickhouse://"

// name is what a database or a cluster may be called, so that it can stand in SQL.
var name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,99}$`)

// Open understands the address clickhouse://[user[:password]@]host[:port]/database[?cluster=NAME][&secure=true]; the port is that
// of HTTP, 8123 or with secure 8443 when none is told. A user and password that it lacks are those of CLICKHOUSE_USER and
// CLICKHOUSE_PASSWORD. Nothing is contacted yet. No error shows a password.
func Open(address string, getenv func(string) string) (*DB, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme+"://" != Scheme || u.Hostname() == "" {
		return nil, errors.New("the address is not clickhouse://host:port/database")
	}
	d := &DB{database: strings.TrimPrefix(u.Path, "/"), cluster: u.Query().Get("cluster"), user: u.User.Username(), client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}} // credentials go where the user said, and nowhere else
	d.password, _ = u.User.Password()
	if d.user == "" {
		d.user, d.password = getenv("CLICKHOUSE_USER"), getenv("CLICKHOUSE_PASSWORD")
	}
	for key := range u.Query() {
		if key != "cluster" && key != "secure" {
			return nil, fmt.Errorf("the address has an unknown setting %q: it takes cluster and secure", key)
		}
	}
	if !name.MatchString(d.database) || d.cluster != "" && !name.MatchString(d.cluster) {
		return nil, errors.New("the address names no database, or a database or cluster with characters other than letters, digits, _ . -")
	}
	scheme, port := "http", "8123"
	if u.Query().Get("secure") == "true" {
		scheme, port = "https", "8443"
	}
	if u.Port() != "" {
		port = u.Port()
	}
	d.host = net.JoinHostPort(u.Hostname(), port)
	d.server = scheme + "://" + d.host + "/"
	return d, nil
}

// String names the database without its credentials.
func (d *DB) String() string { return Scheme + d.host + "/" + d.database }

// Everywhere names a table over all shards.
func (d *DB) Everywhere(table string) string {
	if d.cluster == "" {
		return table + "_here"
	}
	return table
}

var here = regexp.MustCompile(`\b[a-z]+_here\b`)

// qualify names the database of each table of a shard: another server that runs a part of the query would look in its own.
func qualify(query, database string) string { return here.ReplaceAllString(query, "`"+database+"`.$0") }

// settings keep a result whole: a shard that does not answer fails the query, an insert has reached its shard when it returns.
var settings = url.Values{
	"skip_unavailable_shards": {"0"}, "insert_distributed_sync": {"1"}, "wait_end_of_query": {"1"}, "fallback_to_stale_replicas_for_distributed_queries": {"0"},
}

// Query runs a query of package join.
func (d *DB) Query(ctx context.Context, query string, lists ...join.List) (join.Rows, error) {
	values := url.Values{"database": {d.database}, "query": {qualify(query, d.database) + " FORMAT TabSeparated"}}
	var body bytes.Buffer
	form, parts := multipart.NewWriter(&body), 0
	for _, l := range lists {
		if !strings.Contains(query, l.Name) {
			continue
		}
		parts++
		values.Set(l.Name+"_structure", "value String")
		part, err := form.CreateFormFile(l.Name, l.Name)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(Values(l.Values)); err != nil {
			return nil, err
		}
	}
	if err := form.Close(); err != nil {
		return nil, err
	}
	kind := form.FormDataContentType()
	if parts == 0 { // a form without parts is an error to it
		kind = "text/plain"
		body.Reset()
	}
	result, err := d.post(ctx, values, kind, "", &body)
	if err != nil {
		return nil, err
	}
	return NewRows(result), nil
}

// Exec runs a statement that has no rows.
func (d *DB) Exec(ctx context.Context, statement string) error {
	return d.exec(ctx, d.database, statement)
}

func (d *DB) exec(ctx context.Context, database, statement string) error {
	result, err := d.post(ctx, url.Values{"database": {database}}, "text/plain", "", strings.NewReader(statement))
	if err != nil {
		return err
	}
	return result.Close()
}

// Insert adds rows to a table, from CSV without a header.
func (d *DB) Insert(ctx context.Context, table string, columns []string, csv io.Reader) error {
	values := url.Values{"database": {d.database}, "query": {fmt.Sprintf("INSERT INTO %s (%s) FORMAT CSV", d.Everywhere(table), strings.Join(columns, ", "))}}
	packed, pack := io.Pipe()
	go func() {
		z, _ := gzip.NewWriterLevel(pack, gzip.BestSpeed)
		_, err := io.Copy(z, csv)
		pack.CloseWithError(errors.Join(err, z.Close()))
	}()
	defer packed.Close()
	result, err := d.post(ctx, values, "text/csv", "gzip", packed)
	if err != nil {
		return err
	}
	return result.Close()
}

func (d *DB) post(ctx context.Context, values url.Values, kind, encoding string, body io.Reader) (io.ReadCloser, error) {
	for key, value := range settings {
		values[key] = value
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.server+"?"+values.Encode(), body)
	if err != nil {
		return nil, d.failed(err.Error())
	}
	r.Header.Set("Content-Type", kind)
	if encoding != "" {
		r.Header.Set("Content-Encoding", encoding)
	}
	if d.user != "" {
		r.Header.Set("X-ClickHouse-User", d.user)
		r.Header.Set("X-ClickHouse-Key", d.password)
	}
	answer, err := d.client.Do(r)
	if err != nil {
		var inside *url.Error
		if errors.As(err, &inside) { // its text has the whole query
			err = inside.Err
		}
		return nil, d.failed(err.Error())
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
		return nil, d.failed(reason(answer.Status, string(text)))
	}
	return answer.Body, nil
}

// failed is an error of this database.
func (d *DB) failed(what string) error {
	return fmt.Errorf("clickhouse at %s: %s", d.host, frame.Escape(what))
}

// longReason bounds what is repeated of a server's words.
const longReason = 600

// reason picks what matters out of an exception: what went wrong, and on which server when it was another one.
func reason(status, text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return status
	}
	if at := strings.Index(text, "Stack trace:"); at > 0 {
		text = strings.TrimRight(text[:at], " ,\n")
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > longReason {
		text = strings.ToValidUTF8(text[:longReason], "") + " …"
	}
	return text
}
