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
	if err := ingest.OpenFolded(ctx, conn, logs); err != nil {
		return nil, err
	}
	// As tables, since each is read several times: a ClickHouse has views by these names.
	for _, statement := range []string{wordsSQL, "CREATE OR REPLACE TEMP VIEW known_here AS SELECT DISTINCT log FROM logs_here", "CREATE OR REPLACE TEMP TABLE calls_here AS " + CallsSQL, "CREATE OR REPLACE TEMP TABLE whole_here AS " + WholeSQL} {
		if err := conn.Exec(ctx, statement); err != nil {
			return nil, told(ctx, err, dirs[0])
		}
	}
	return &Folders{conn, dirs[0]}, nil
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
