package diagnose

import (
	"context"
	"database/sql/driver"
	_ "embed"
	"errors"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"mcpdiag/ingest"
)

//go:embed keep.sql
var keepSQL string

//go:embed keep_calls.sql
var keepCallsSQL string

// KeptSchema is the version of the tables that Keep writes.
const KeptSchema = 1

func (d *Diagnosis) fillKept(ctx context.Context, program string, sets []ingest.Set, o ingest.Options) error {
	c := d.join.Conn
	if err := ingest.Keep(ctx, c, d.Logs, sets, o); err != nil {
		return err
	}
	if err := c.Exec(ctx, keepSQL); err != nil {
		return err
	}
	for _, table := range []struct {
		catalog, name string
		rows          func(*appender) error
	}{
		{"temp", "kept_logs", d.appendLogs}, {"temp", "kept_listed", d.appendListed}, {ingest.Kept, "findings", d.appendFindings},
		{ingest.Kept, "mcpdiag_meta", func(a *appender) error { return d.appendMeta(a, program) }},
	} {
		if err := appendTo(ctx, c, table.catalog, table.name, table.rows); err != nil {
			return err
		}
	}
	if err := d.eachTold(ctx); err != nil {
		return err
	}
	return c.Exec(ctx, keepCallsSQL)
}

// appender adds rows to a table.
type appender struct {
	ctx context.Context
	to  *duckdb.Appender
	n   int
}

func (a *appender) row(values ...driver.Value) error {
	if a.n++; a.n%1024 == 0 && a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	for k, v := range values {
		if s, ok := v.(string); ok { // a database takes valid UTF-8 only; what is not told is null
			if values[k] = strings.ToValidUTF8(s, "\uFFFD"); s == "" {
				values[k] = nil
			}
		}
	}
	return a.to.AppendRow(values...)
}

func appendTo(ctx context.Context, c *ingest.Conn, catalog, table string, rows func(*appender) error) error {
	return c.Raw().Raw(func(dc any) error {
		to, err := duckdb.NewAppender(dc.(driver.Conn), catalog, "main", table)
		if err != nil {
			return err
		}
		err = rows(&appender{ctx: ctx, to: to})
		return errors.Join(err, to.Close())
	})
}

func (d *Diagnosis) appendLogs(a *appender) error {
	for _, l := range d.Logs {
		paths, before := l.Files()
		if err := a.row(uint8(l.Side), paths, before); err != nil {
			return err
		}
	}
	return nil
}

// appendListed adds what is known of the listed calls beyond their verdicts.
func (d *Diagnosis) appendListed(a *appender) error {
	number := func(h Half) int64 {
		if !h.OK() {
			return -1
		}
		return int64(h.N)
	}
	for _, c := range d.Calls {
		var cause, status string
		if len(c.Causes) > 0 {
			cause, status = c.Causes[0].Name, c.Causes[0].Status()
		}
		if err := a.row(uint8(c.Requester), number(c.Sent), number(c.Served), c.Stalled, c.Slow, c.Quiet, string(c.Leaf), string(c.Reason),
			cause, status, c.Next()); err != nil {
			return err
		}
	}
	return nil
}

func (d *Diagnosis) appendFindings(a *appender) error {
	for _, f := range d.Findings {
		var side string
		var line driver.Value
		if f.Log != nil {
			side = f.Log.Side.String()
			if f.Line != 0 {
				line = f.Line
			}
		}
		calls := make([]any, 0, len(f.Calls))
		for _, c := range f.Calls {
			calls = append(calls, map[string]any{"requester": c.Requester.String(), "session": nullable(c.Session()), "connection": int64(c.Connection()),
				"id": string(c.ID()), "nth": int64(c.Nth())})
		}
		if err := a.row(f.Kind, f.Severity, side, line, Cite(f.Log, f.Line), f.Text, calls); err != nil {
			return err
		}
	}
	return nil
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func (d *Diagnosis) appendMeta(a *appender, program string) error {
	logs := make([]any, 0, len(d.Logs))
	for _, l := range d.Logs {
		logs = append(logs, map[string]any{"side": l.Side.String(), "path": strings.ToValidUTF8(l.Path, "\uFFFD"), "dialect": l.Dialect.Name,
			"records": int64(l.Records), "unreadable": int64(len(l.BadLines))})
	}
	return a.row(int32(KeptSchema), program, time.Now().UTC(), logs)
}
