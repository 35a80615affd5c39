package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"mcpdiag/ingest/frame"
)

// IsFolded reports whether path is a folder, as a folder of folded logs is.
func IsFolded(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Folded is a folded log in a folder.
type Folded struct {
	Name  string              // of its content
	Files map[string][]string // by table: one, or one for each bucket of sessions that has rows
}

// FoldedTables are the tables that a folded log is kept in; the row in the last makes it known.
func FoldedTables() []string { return foldedTables[:] }

// FoldedLogs lists the folded logs in the folders. One that lies in two of them counts once.
func FoldedLogs(dirs []string) ([]Folded, error) {
	var logs []Folded
	seen := map[string]bool{}
	for _, dir := range dirs {
		names, err := foldedIn(dir)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			log := Folded{name, map[string][]string{}}
			for _, table := range foldedTables {
				if log.Files[table], err = filesOf(dir, table, name); err != nil {
					return nil, err
				}
			}
			logs = append(logs, log)
		}
	}
	return logs, nil
}

// OpenFolded makes folded logs visible on the connection, as the views logs_here, stretches_here, halves_here and marks_here.
func OpenFolded(ctx context.Context, conn *Conn, logs []Folded) error {
	for _, table := range foldedTables {
		if err := openFolded(ctx, conn, logs, table, func(string) bool { return true }); err != nil {
			return err
		}
	}
	return nil
}

// OpenPart makes only the halves of some buckets of sessions visible, the part-th of so many parts: of these, too, both halves of
// each call.
func OpenPart(ctx context.Context, conn *Conn, logs []Folded, part, parts int) error {
	return openFolded(ctx, conn, logs, "halves", func(file string) bool {
		bucket, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "bucket="))
		return err == nil && bucket%parts == part
	})
}

func openFolded(ctx context.Context, conn *Conn, logs []Folded, table string, wanted func(file string) bool) error {
	var files []string
	for _, l := range logs {
		for _, file := range l.Files[table] {
			if wanted(file) {
				files = append(files, file)
			}
		}
	}
	if err := conn.Exec(ctx, fmt.Sprintf("CREATE OR REPLACE TEMP VIEW %s_here AS %s", table, SelectFolded(table, files))); err != nil {
		return NotFolded(err, filepath.Dir(filepath.Dir(logs[0].Files["logs"][0])))
	}
	return nil
}

// NotFolded is the error for a folder whose files the database cannot read, in the first line of its words: the rest is SQL.
func NotFolded(err error, dir string) error {
	what, _, _ := strings.Cut(err.Error(), "\n")
	if strings.Contains(what, "Out of Memory") {
		return &InputError{Path: dir, What: "is more than the memory limit has room for: " + frame.Escape(what), Hint: "raise --memory-limit"}
	}
	return &InputError{Path: dir, What: "holds folded logs that cannot be read: " + frame.Escape(what), Hint: "fold the logs again, with this version of mcpdiag"}
}

// foldedIn lists the logs of a folder.
func foldedIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "logs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".parquet"); ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, &InputError{Path: dir, What: "is a folder without folded logs", Hint: "mcpdiag fold LOG… --out DIR makes one; a frame log is a file"}
	}
	return names, nil
}

// filesOf lists the files of a log in a table's folder: one, or one for each bucket.
func filesOf(dir, table, name string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(filepath.Join(dir, table), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && e.Name() == name+".parquet" {
			files = append(files, path)
		}
		return ignoreMissing(err)
	})
	sort.Strings(files)
	return files, err
}

// SelectFolded selects the rows of a table from its files. Here as in every store an unknown number reads -1, so that one SQL
// serves all.
func SelectFolded(table string, files []string) string {
	var known, none []string
	for _, c := range FoldedColumns(table) {
		if c.Number {
			known, none = append(known, fmt.Sprintf("coalesce(%s, -1) AS %[1]s", c.Name)), append(none, "-1::BIGINT AS "+c.Name)
		} else {
			known, none = append(known, c.Name+"::VARCHAR AS "+c.Name), append(none, "''::VARCHAR AS "+c.Name)
		}
	}
	if table == "logs" { // a folder is one shard of one
		known, none = append(known, "0 AS shard, 1 AS shards"), append(none, "0 AS shard, 1 AS shards")
	}
	if len(files) == 0 {
		return fmt.Sprintf("SELECT %s WHERE false", strings.Join(none, ", "))
	}
	quoted := make([]string, len(files))
	for k, f := range files {
		quoted[k] = Quote(f)
	}
	return fmt.Sprintf("SELECT %s FROM read_parquet([%s], hive_partitioning = false)", strings.Join(known, ", "), strings.Join(quoted, ", "))
}

// ParseNumbers reads the numbers, which a space or a tab sets apart.
func (r *HalfRow) ParseNumbers(list []byte) bool {
	k, n, negative, digits := 0, int64(0), false, 0
	put := func() bool {
		if digits == 0 || k == len(r.Numbers) {
			return false
		}
		if negative {
			n = -n
		}
		r.Numbers[k] = n
		k, n, negative, digits = k+1, 0, false, 0
		return true
	}
	for _, c := range list {
		switch {
		case c == '-' && digits == 0:
			negative = true
		case c-'0' <= 9:
			n = n*10 + int64(c-'0')
			digits++
		case !put():
			return false
		}
	}
	return put() && k == len(r.Numbers)
}
