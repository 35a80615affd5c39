package clickhouse

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/join"
)

// Grown says that a log which begins with the same record is there already: rows of both would count its calls twice.
type Grown struct {
	Name, There string
}

func (g *Grown) Error() string {
	return fmt.Sprintf("%s begins as %s does, which is there already: one has grown since, and its calls would count twice", frame.Escape(g.Name), frame.Escape(g.There))
}

// Shipped is a log that Ship has dealt with.
type Shipped struct {
	Log   string
	Name  string // its path
	Calls uint64
	Sent  bool // false: it was there
}

// Server is a ClickHouse that takes rows: a DB, or one that runs in this process.
type Server interface {
	join.Store
	// Insert adds rows to a table, over all shards, from CSV without a header.
	Insert(ctx context.Context, table string, columns []string, csv io.Reader) error
	// Shards is how many rows of `logs` it takes, numbered from 0, for every shard to get one.
	Shards(ctx context.Context) (int64, error)
}

// Ship sends folded logs, a batch at a time by way of the folder scratch. A log that is there whole is not sent; one that is there in part is sent whole again, which changes
// nothing of what is there. With beside a log that begins as another does is sent too.
func Ship(ctx context.Context, server Server, conn *ingest.Conn, logs []ingest.Folded, scratch string, beside bool) ([]Shipped, error) {
	shards, err := server.Shards(ctx)
	if err != nil {
		return nil, err
	}
	s := &shipment{server: server, ctx: ctx, conn: conn, csv: filepath.Join(scratch, "batch.csv"), beside: beside, shards: shards}
	defer os.Remove(s.csv)
	var out []Shipped
	for _, l := range logs {
		shipped, err := s.log(l)
		if err != nil {
			return out, err
		}
		out = append(out, *shipped)
	}
	return out, nil
}

type shipment struct {
	server Server
	ctx    context.Context
	conn   *ingest.Conn
	csv    string
	beside bool
	shards int64
}

// Shards adds up the weights of the cluster's shards: a row of `logs` goes to the shard in whose share its number falls.
func (d *DB) Shards(ctx context.Context) (n int64, err error) {
	if d.cluster == "" {
		return 1, nil
	}
	// The cluster's name is of letters and digits: see Open.
	err = one(d.Query(ctx, "SELECT sum(weight) FROM (SELECT shard_num, max(shard_weight) AS weight FROM system.clusters WHERE cluster = '"+d.cluster+"' GROUP BY shard_num)"))(&n)
	if err == nil && n == 0 {
		err = d.failed("it knows no cluster " + d.cluster)
	}
	return n, err
}

// one reads the only row of a result.
func one(rows join.Rows, err error) func(...any) error {
	return func(dest ...any) error {
		if err != nil {
			return err
		}
		defer rows.Close()
		if rows.Next() {
			if err := rows.Scan(dest...); err != nil {
				return err
			}
		}
		for rows.Next() { // to its end: an error may stand there
		}
		return rows.Err()
	}
}

func (s *shipment) log(l ingest.Folded) (*Shipped, error) {
	out := &Shipped{Log: l.Name}
	var head string
	row, err := s.conn.Query(s.ctx, "SELECT name, head, halves FROM ("+ingest.SelectFolded("logs", l.Files["logs"])+")")
	if err := one(row, err)(&out.Name, &head, &out.Calls); err != nil {
		return nil, err
	}
	there, err := s.there(l.Name)
	if err != nil || there {
		return out, err
	}
	if err := s.grown(l.Name, out.Name, head); err != nil {
		return nil, err
	}
	for _, table := range ingest.FoldedTables() {
		for _, file := range l.Files[table] {
			if err := s.batch(table, file); err != nil {
				return nil, err
			}
		}
	}
	out.Sent = true
	return out, nil
}

// there reports whether every shard knows the log.
func (s *shipment) there(log string) (bool, error) {
	var shards int64
	err := one(s.server.Query(s.ctx, "SELECT uniqExact(shard) FROM "+s.server.Everywhere("logs")+" WHERE log IN (SELECT value FROM asked_log)", join.List{Name: "asked_log", Values: []string{log}}))(&shards)
	return shards >= s.shards, err
}

func (s *shipment) grown(log, path, head string) error {
	if s.beside {
		return nil
	}
	there := ""
	err := one(s.server.Query(s.ctx, "SELECT name FROM "+s.server.Everywhere("logs")+" WHERE head IN (SELECT value FROM asked_head) AND log NOT IN (SELECT value FROM asked_log) LIMIT 1",
		join.List{Name: "asked_head", Values: []string{head}}, join.List{Name: "asked_log", Values: []string{log}}))(&there)
	if err == nil && there != "" {
		err = &Grown{path, there}
	}
	return err
}

// batch sends the rows of one file: those of one bucket of sessions.
func (s *shipment) batch(table, file string) error {
	var columns, texts []string
	for _, c := range ingest.FoldedColumns(table) {
		columns = append(columns, c.Name)
		if !c.Number {
			texts = append(texts, c.Name)
		}
	}
	rows := ingest.SelectFolded(table, []string{file})
	if table == "logs" {
		columns = append(columns, "shard", "shards")
		rows = fmt.Sprintf("SELECT l.* EXCLUDE (shard, shards), r.range AS shard, %d AS shards FROM (%s) AS l, range(%[1]d) AS r", s.shards, rows)
	}
	// Every text stands in quotes: spaces around a bare one would be taken off.
	copied := fmt.Sprintf("COPY (%s) TO %s (FORMAT csv, HEADER false, FORCE_QUOTE (%s))", rows, ingest.Quote(s.csv), strings.Join(texts, ", "))
	if err := s.conn.Exec(s.ctx, copied); err != nil {
		return err
	}
	f, err := os.Open(s.csv)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.server.Insert(s.ctx, table, columns, f)
}
