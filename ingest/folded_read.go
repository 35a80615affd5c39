package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"mcpdiag/ingest/frame"
)

// IsFolded reports whether path is a folder, as a folder of folded logs is.
func IsFolded(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// OpenFolded makes the folded logs in the folders visible on the connection, as the views logs_here, stretches_here,
// halves_here and marks_here. A log that lies in two of them counts once.
func OpenFolded(ctx context.Context, conn *Conn, dirs []string) error {
	files := map[string][]string{} // by table
	seen := map[string]bool{}
	for _, dir := range dirs {
		names, err := foldedIn(dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			for _, table := range foldedTables {
				found, err := filesOf(dir, table, name)
				if err != nil {
					return err
				}
				files[table] = append(files[table], found...)
			}
		}
	}
	for _, table := range foldedTables {
		if err := conn.Exec(ctx, foldedView(table, files[table])); err != nil {
			return notFolded(err, dirs)
		}
	}
	return nil
}

func notFolded(err error, dirs []string) error {
	return &InputError{Path: dirs[0], What: "holds folded logs that cannot be read: " + frame.Escape(err.Error()), Hint: "fold the logs again, with this version of mcpdiag"}
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

// foldedView makes a view of a table's files. Here as in every store an unknown number reads -1, so that one SQL serves all.
func foldedView(table string, files []string) string {
	var known, none []string
	for _, c := range foldedColumns(table) {
		if c.typ == duckdb.TYPE_BIGINT {
			known, none = append(known, fmt.Sprintf("coalesce(%s, -1) AS %[1]s", c.name)), append(none, "-1::BIGINT AS "+c.name)
		} else {
			known, none = append(known, c.name), append(none, "''::VARCHAR AS "+c.name)
		}
	}
	view := foldedViews[table]
	if len(files) == 0 {
		return fmt.Sprintf("CREATE OR REPLACE TEMP VIEW %s AS SELECT %s WHERE false", view, strings.Join(none, ", "))
	}
	quoted := make([]string, len(files))
	for k, f := range files {
		quoted[k] = Quote(f)
	}
	return fmt.Sprintf("CREATE OR REPLACE TEMP VIEW %s AS SELECT %s FROM read_parquet([%s], hive_partitioning = false)", view, strings.Join(known, ", "), strings.Join(quoted, ", "))
}

// foldedViews are what the tables are called where SQL reads them.
var foldedViews = map[string]string{"logs": "logs_here", "stretches": "stretches_here", "halves": "halves_here", "marks": "marks_here"}

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
