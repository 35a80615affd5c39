package join

import (
	"context"
	_ "embed"

	"mcpdiag/ingest"
)

// words.sql teaches DuckDB the aggregates of ClickHouse that the shared SQL is written in.
//
//go:embed words.sql
var wordsSQL string

// Folders is the store of folders of folded logs, which DuckDB reads.
type Folders struct {
	conn *ingest.Conn
	dir  string // the first, to name in errors
}

func told(ctx context.Context, err error, dir string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return ingest.NotFolded(err, dir)
}

// OpenFolders opens folders as a store, on a connection that it has to itself.
func OpenFolders(ctx context.Context, conn *ingest.Conn, dirs []string) (*Folders, error) {
	logs, err := ingest.FoldedLogs(dirs)
	if err != nil {
		return nil, err
	}
	f := &Folders{conn, dirs[0]}
	return f, f.open(ctx, logs)
}

// partLen is how many halves are met at once. All of many would take more memory than the limit on a database holds it to.
const partLen = 1_000_000

// open makes calls_here and whole_here: as tables, since each is read several times; a ClickHouse has views by these names.
func (f *Folders) open(ctx context.Context, logs []ingest.Folded) error {
	if err := ingest.OpenFolded(ctx, f.conn, logs); err != nil {
		return err
	}
	statements := []string{wordsSQL, "CREATE OR REPLACE TEMP VIEW known_here AS SELECT DISTINCT log FROM logs_here",
		"CREATE OR REPLACE TEMP TABLE calls_here AS SELECT * FROM (" + CallsSQL + ") LIMIT 0"}
	for _, statement := range statements {
		if err := f.conn.Exec(ctx, statement); err != nil {
			return told(ctx, err, f.dir)
		}
	}
	halves := 0
	if err := f.conn.Raw().QueryRowContext(ctx, "SELECT coalesce(sum(halves), 0)::BIGINT FROM logs_here").Scan(&halves); err != nil {
		return told(ctx, err, f.dir)
	}
	parts := min(halves/partLen+1, ingest.Buckets)
	for part := range parts {
		if err := ingest.OpenPart(ctx, f.conn, logs, part, parts); err != nil {
			return err
		}
		if err := f.conn.Exec(ctx, "INSERT INTO calls_here "+CallsSQL); err != nil {
			return told(ctx, err, f.dir)
		}
	}
	if err := ingest.OpenFolded(ctx, f.conn, logs); err != nil {
		return err
	}
	if err := f.conn.Exec(ctx, "CREATE OR REPLACE TEMP TABLE whole_here AS "+WholeSQL); err != nil {
		return told(ctx, err, f.dir)
	}
	return nil
}

// Everywhere is the table here: one process has all shards.
func (f *Folders) Everywhere(table string) string { return table + "_here" }

// Query runs a query of this package.
func (f *Folders) Query(ctx context.Context, query string, lists ...List) (Rows, error) {
	for _, l := range lists {
		if err := f.conn.Exec(ctx, "CREATE OR REPLACE TEMP TABLE "+l.Name+" AS SELECT unnest($1::VARCHAR[]) AS value", l.Values); err != nil {
			return nil, err
		}
	}
	rows, err := f.conn.Query(ctx, query)
	if err != nil {
		return nil, told(ctx, err, f.dir)
	}
	return rows, nil
}
