package ingest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"

	_ "github.com/duckdb/duckdb-go/v2" // the driver
)

// Conn is one connection to a DuckDB of this process.
type Conn struct {
	db *sql.DB
	c  *sql.Conn
}

// OpenDB opens a database in memory that can reach nothing outside: no network, no extensions.
func OpenDB(ctx context.Context) (*Conn, error) {
	db, err := sql.Open("duckdb", "?autoinstall_known_extensions=false&autoload_known_extensions=false&allow_community_extensions=false")
	if err != nil {
		return nil, fmt.Errorf("duckdb: %w", err)
	}
	c, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("duckdb: %w", err)
	}
	if _, err := c.ExecContext(ctx, "SET preserve_insertion_order = false"); err != nil { // every query here names its order
		c.Close()
		db.Close()
		return nil, fmt.Errorf("duckdb: %w", err)
	}
	return &Conn{db, c}, nil
}

// Close closes the connection and its database.
func (c *Conn) Close() error {
	c.c.Close()
	return c.db.Close()
}

// Exec runs statements.
func (c *Conn) Exec(ctx context.Context, query string, args ...any) error {
	_, err := c.c.ExecContext(ctx, query, args...)
	return err
}

// Query runs one query.
func (c *Conn) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return c.c.QueryContext(ctx, query, args...)
}

// Pairs runs a query whose rows are two BIGINTs, and calls f with each. It asks the driver itself: database/sql takes longer over a row
// than the query did.
func (c *Conn) Pairs(ctx context.Context, f func(a, b int64), query string, args ...driver.NamedValue) error {
	return c.c.Raw(func(conn any) error {
		rows, err := conn.(driver.QueryerContext).QueryContext(ctx, query, args)
		if err != nil {
			return err
		}
		defer rows.Close()
		for row := make([]driver.Value, 2); ; {
			if err := rows.Next(row); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			f(row[0].(int64), row[1].(int64))
		}
	})
}

// Raw is the connection itself, for what only the driver can do.
func (c *Conn) Raw() *sql.Conn { return c.c }

// each runs a query and calls f with each row's scan.
func (c *Conn) each(ctx context.Context, query string, f func(scan func(...any) error) error, args ...any) error {
	rows, err := c.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
