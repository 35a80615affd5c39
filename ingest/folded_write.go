package ingest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// FoldedTables are the tables of a folder of folded logs, each a folder in it; the last makes a log known, and is written last.
var foldedTables = [...]string{"marks", "halves", "stretches", "logs"}

// Fold writes the logs into the folder dir, as Parquet: one file for each log in logs and stretches, and one for each bucket of
// sessions in halves and marks. They are written beside and renamed, that of logs last, so that a log is there whole or not at
// all; one that is there is left as it is. Fold returns the names that the logs have there. It has the connection to itself.
func Fold(ctx context.Context, conn *Conn, logs []*Log, dir string) ([]string, error) {
	if err := foldedFolder(dir); err != nil {
		return nil, err
	}
	staging, err := NewScratch(dir, stagingPrefix)
	if err != nil {
		return nil, err
	}
	defer staging.Remove()
	// Else two runs could order rows differently, and the same log must give the same bytes.
	if err := conn.Exec(ctx, "SET preserve_insertion_order = true; SET partitioned_write_flush_threshold = 65536"); err != nil {
		return nil, err
	}
	names := make([]string, len(logs))
	var tasks []task
	for k, l := range logs {
		names[k] = l.contentID()
		if _, err := os.Lstat(filepath.Join(dir, "logs", names[k]+".parquet")); err == nil {
			continue
		}
		tasks = append(tasks, func(ctx context.Context, c *sql.Conn) error {
			own := filepath.Join(staging.Dir, fmt.Sprint(k))
			if err := os.Mkdir(own, 0o700); err != nil {
				return err
			}
			if err := l.copyTo(ctx, c, own, names[k]); err != nil {
				return err
			}
			return settle(own, dir, names[k])
		})
	}
	return names, conn.atOnce(ctx, tasks)
}

const stagingPrefix = ".folding-"

// foldedFolder makes the folder, or makes sure that it is one of folded logs: nothing else is written into.
func foldedFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !ours(e.Name()) {
			return &InputError{Path: dir, What: "holds " + e.Name() + ", which is nothing of folded logs", Hint: "name a folder of their own"}
		}
	}
	return nil
}

func ours(name string) bool {
	for _, table := range foldedTables {
		if name == table {
			return true
		}
	}
	return strings.HasPrefix(name, stagingPrefix)
}

// copyTo writes the four tables of the log into the folder.
func (l *Log) copyTo(ctx context.Context, c *sql.Conn, dir, id string) error {
	v, ok := newVectors()
	if !ok {
		return errors.New("this version of the DuckDB driver keeps its chunks elsewhere")
	}
	cited, stretches := l.cited(), l.foldedStretches()
	halves := &feed[foldedHalf]{vectors: v, columns: foldedHalves(), count: l.Halves(), row: func(i int) foldedHalf {
		return foldedHalf{l.arena.at(uint32(i)), l, uint32(i), cited[uint32(i)]}
	}}
	marks := &feed[foldedMark]{vectors: v, columns: foldedMarks(), count: len(l.Marks), row: func(i int) foldedMark { return foldedMark{&l.Marks[i], l} }}
	for _, table := range []struct {
		source duckdb.ChunkTableSource
		name   string
		more   string
	}{
		{halves, "halves", ", PARTITION_BY (bucket), FILENAME_PATTERN 'part_{i}'"},
		{marks, "marks", ", PARTITION_BY (bucket), FILENAME_PATTERN 'part_{i}'"},
		{&feed[foldedStretch]{vectors: v, columns: foldedStretches(), count: len(stretches), row: func(i int) foldedStretch { return stretches[i] }}, "stretches/part_0.parquet", ""},
		{&feed[*Log]{vectors: v, columns: foldedLogs(), count: 1, row: func(int) *Log { return l }}, "logs/part_0.parquet", ""},
	} {
		path := filepath.Join(dir, table.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := copyFrom(ctx, c, table.source, fmt.Sprintf("%s AS log, %s::ENUM('client', 'server') AS side", Quote(id), Quote(l.Side.String())), path, table.more); err != nil {
			return err
		}
	}
	return nil
}

// copyFrom writes the rows of a source to a path, as Parquet; which log they are of stands before each.
func copyFrom(ctx context.Context, c *sql.Conn, source duckdb.ChunkTableSource, which, path, more string) error {
	name := fmt.Sprintf("folded_%016x", rand.Uint64())
	err := duckdb.RegisterTableUDF(c, name, duckdb.ChunkTableFunction{
		BindArguments: func(map[string]any, ...any) (duckdb.ChunkTableSource, error) { return source, nil },
	})
	if err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, fmt.Sprintf("COPY (SELECT %s, * FROM %s()) TO %s (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE 30720%s)", which, name, Quote(path), more))
	return err
}

// Quote writes a string as a SQL literal of DuckDB.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// settle moves what was written for a log to where it is read from.
func settle(from, to, name string) error {
	for _, table := range foldedTables {
		err := filepath.WalkDir(filepath.Join(from, table), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return ignoreMissing(err)
			}
			below, err := filepath.Rel(from, filepath.Dir(path))
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Join(to, below), 0o700); err != nil {
				return err
			}
			if err := os.Chmod(path, 0o600); err != nil {
				return err
			}
			return os.Rename(path, filepath.Join(to, below, name+".parquet"))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ignoreMissing passes over a table without rows, of which nothing was written.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
