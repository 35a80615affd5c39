package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
	"github.com/spf13/cobra"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

const sqlLong = `Runs one query over a database that join --db left. The file is opened for reading only, and a query reaches nothing else: no
other file, no network, no extension.

The tables are frames (every record), halves (what one log knows of one call), calls (every call with its verdict) and findings.
Their columns are explained by  SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'calls'`

const sqlExample = `  mcpdiag sql incident.duckdb 'SELECT leaf, count(*) FROM calls GROUP BY ALL'
  mcpdiag sql incident.duckdb "FROM calls SELECT id, name, cause, request_sent WHERE stalled"
  mcpdiag sql --format ndjson incident.duckdb 'FROM frames'`

func newSQL(e *env) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:     "sql DB QUERY",
		Short:   "Run a query over a database that join --db left",
		Long:    sqlLong,
		Example: sqlExample,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return &usageError{"sql takes a database and a query", "mcpdiag sql incident.duckdb 'SELECT leaf, count(*) FROM calls GROUP BY ALL'"}
			}
			return runSQL(c.Context(), e, format, args[0], args[1])
		},
	}
	c.Flags().StringVar(&format, "format", "table", "`FORMAT`: table or ndjson")
	return c
}

func runSQL(ctx context.Context, e *env, format, path, query string) error {
	write := writeTable
	switch format {
	case "table":
	case "ndjson":
		write = writeRows
	default:
		return &usageError{"unknown format " + quote(format), "the formats are table, ndjson"}
	}
	conn, err := openKept(ctx, e, path)
	if err != nil {
		return err
	}
	defer conn.Close()
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return sqlError(err)
	}
	defer rows.Close()
	out := bufio.NewWriterSize(e.stdout, 64<<10)
	if err := write(out, rows); err != nil {
		return sqlError(err)
	}
	return out.Flush()
}

// sqlError is the database's own message, safe to print: it may quote what a log said.
func sqlError(err error) error {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	for i := range lines {
		lines[i] = frame.Escape(lines[i])
	}
	return errors.New(strings.Join(lines, "\n"))
}

// openKept opens a database that Keep wrote, for reading, and then shuts every way out.
func openKept(ctx context.Context, e *env, path string) (*ingest.Conn, error) {
	conn, err := e.openDB(ctx)
	if err != nil {
		return nil, err
	}
	if err := attachKept(ctx, conn, path); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func attachKept(ctx context.Context, conn *ingest.Conn, path string) error {
	const hint = "mcpdiag join --db FILE CLIENT SERVER writes one"
	info, err := os.Stat(path)
	var pathError *os.PathError
	if errors.As(err, &pathError) {
		return &ingest.InputError{Path: path, What: pathError.Err.Error(), Hint: hint}
	}
	notKept := &ingest.InputError{Path: path, What: "is not a database that mcpdiag wrote", Hint: hint}
	file, err := filepath.Abs(path)
	if err != nil || !info.Mode().IsRegular() {
		return notKept
	}
	quoted := "'" + strings.ReplaceAll(file, "'", "''") + "'" // ATTACH takes no parameters
	if err := conn.Exec(ctx, "ATTACH "+quoted+" AS kept (TYPE duckdb, READ_ONLY)"); err != nil {
		return notKept
	}
	var version int
	if err := conn.Raw().QueryRowContext(ctx, "SELECT schema_version FROM kept.mcpdiag_meta").Scan(&version); err != nil {
		return notKept
	}
	if version != diagnose.KeptSchema {
		return &ingest.InputError{Path: path, What: fmt.Sprintf("has tables of version %d, and this program knows version %d", version, diagnose.KeptSchema),
			Hint: "write it again with this mcpdiag"}
	}
	return conn.Exec(ctx, "USE kept; SET enable_external_access = false; SET lock_configuration = true")
}

// eachRow calls f with each row; the values are good until it returns.
func eachRow(rows *sql.Rows, columns int, f func([]any) error) error {
	values, places := make([]any, columns), make([]any, columns)
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return err
		}
		if err := f(values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// writeTable prints the rows under their heads, numbers to the right. What is null is blank.
func writeTable(w io.Writer, rows *sql.Rows) error {
	types, err := rows.ColumnTypes()
	if err != nil || len(types) == 0 {
		return err
	}
	align := make(tw.Alignment, len(types))
	heads := make([]string, len(types))
	for i, t := range types {
		align[i], heads[i] = tw.AlignLeft, frame.Escape(t.Name())
		if numeric(t.DatabaseTypeName()) {
			align[i] = tw.AlignRight
		}
	}
	cells := tw.CellConfig{Alignment: tw.CellAlignment{PerColumn: align}, Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Padding: tw.CellPadding{Global: tw.Padding{Left: "", Right: "  ", Overwrite: true}}}
	var text bytes.Buffer
	table := tablewriter.NewTable(&text,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{Borders: tw.BorderNone,
			Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone}})),
		tablewriter.WithConfig(tablewriter.Config{Header: cells, Row: cells}))
	table.Header(heads)
	err = eachRow(rows, len(types), func(values []any) error {
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = sqlCell(v)
		}
		return table.Append(row)
	})
	if err == nil {
		err = table.Render()
	}
	for line := range strings.Lines(text.String()) {
		if err == nil {
			_, err = fmt.Fprintln(w, strings.TrimRight(line, " \n"))
		}
	}
	return err
}

func numeric(typ string) bool {
	return strings.HasSuffix(typ, "INT") || strings.HasSuffix(typ, "INTEGER") || typ == "DOUBLE" || typ == "FLOAT" || strings.HasPrefix(typ, "DECIMAL")
}

// sqlCell spells a value for a table.
func sqlCell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return frame.Escape(v)
	case []byte:
		return frame.Escape(string(v))
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05.999999999")
	case []any, map[string]any:
		return string(sqlJSON(v))
	}
	return frame.Escape(fmt.Sprint(v))
}

// writeRows prints each row as one JSON object, its members in the order of the columns.
func writeRows(w io.Writer, rows *sql.Rows) error {
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	var line []byte
	return eachRow(rows, len(names), func(values []any) error {
		line = append(line[:0], '{')
		for i, v := range values {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(append(line, sqlJSON(names[i])...), ':')
			line = append(line, sqlJSON(v)...)
		}
		_, err := w.Write(append(line, '}', '\n'))
		return err
	})
}

// sqlJSON spells a value as JSON in ASCII. A value that JSON has no word for is a string.
func sqlJSON(v any) []byte {
	switch t := v.(type) {
	case []byte:
		v = string(t)
	case *big.Int:
		return []byte(t.String())
	case duckdb.Decimal:
		return []byte(t.String())
	case fmt.Stringer:
		if _, isTime := v.(time.Time); !isTime {
			v = t.String()
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		b.Reset()
		e.Encode(fmt.Sprint(v)) // NaN, or a map whose keys are no strings
	}
	return asciiJSON(bytes.TrimSuffix(b.Bytes(), []byte{'\n'}))
}

// asciiJSON escapes what is not ASCII, which in JSON stands in strings only.
func asciiJSON(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r < 0x7F:
			out = append(out, byte(r))
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		b = b[n:]
	}
	return out
}
