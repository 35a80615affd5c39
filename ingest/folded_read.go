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

	"mcpdiag/ingest/frame"
)

// IsFolded reports whether path is a folder, as a folder of folded logs is.
func IsFolded(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// OpenFolded makes the folded logs in the folders visible on the connection, as the views folded_logs, folded_stretches,
// folded_halves and folded_marks. A log that lies in two of them counts once.
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

// foldedView makes a view of a table's files; of a table without rows, none of them.
func foldedView(table string, files []string) string {
	if len(files) == 0 {
		return fmt.Sprintf("CREATE OR REPLACE TEMP VIEW folded_%s AS SELECT NULL::VARCHAR AS log, NULL::VARCHAR AS session, NULL::BIGINT AS line, NULL::VARCHAR AS body WHERE false", table)
	}
	quoted := make([]string, len(files))
	for k, f := range files {
		quoted[k] = Quote(f)
	}
	return fmt.Sprintf("CREATE OR REPLACE TEMP VIEW folded_%s AS SELECT * FROM read_parquet([%s], hive_partitioning = false)", table, strings.Join(quoted, ", "))
}

// Unfold brings in the folded logs that are open on the connection, whole.
func Unfold(ctx context.Context, conn *Conn) ([]*Log, error) {
	u := NewUnfolding()
	if err := u.heads(ctx, conn); err != nil {
		return nil, err
	}
	if err := u.halves(ctx, conn, "true"); err != nil {
		return nil, err
	}
	return u.Logs(), nil
}

// heads brings in all but the halves. The logs of the clients come first, as on a command line.
func (u *Unfolding) heads(ctx context.Context, conn *Conn) error {
	err := conn.each(ctx, "SELECT log, side::VARCHAR, name, body FROM folded_logs ORDER BY side::VARCHAR, name, log", func(scan func(...any) error) error {
		var log, side, name string
		var body []byte
		if err := scan(&log, &side, &name, &body); err != nil {
			return err
		}
		of, _ := frame.ParseSide([]byte(side))
		return u.AddLog(log, of, name, body)
	})
	if err != nil {
		return err
	}
	err = conn.each(ctx, "SELECT log, stretch, body FROM folded_stretches ORDER BY log, stretch", func(scan func(...any) error) error {
		var log string
		var n uint32
		var body []byte
		if err := scan(&log, &n, &body); err != nil {
			return err
		}
		return u.AddStretch(log, n, body)
	})
	if err != nil {
		return err
	}
	return conn.each(ctx, "SELECT log, body FROM folded_marks ORDER BY log, line", func(scan func(...any) error) error {
		var log string
		var body []byte
		if err := scan(&log, &body); err != nil {
			return err
		}
		return u.AddMark(log, body)
	})
}

// halves brings in the halves that a condition selects. Their numbers come in one column: each column costs as much as all else.
func (u *Unfolding) halves(ctx context.Context, conn *Conn, where string) error {
	numbers := make([]string, len(HalfNumbers))
	for k, name := range HalfNumbers {
		numbers[k] = fmt.Sprintf("coalesce(%s, -1)", name)
	}
	numbers[colRequester] = "CASE requester WHEN 'client' THEN 1 ELSE 2 END"
	query := fmt.Sprintf("SELECT log, id, method, name, more, concat_ws(' ', %s) FROM folded_halves AS h WHERE %s ORDER BY log, half", strings.Join(numbers, ", "), where)
	var r HalfRow
	var list []byte
	return conn.each(ctx, query, func(scan func(...any) error) error {
		if err := scan(&r.Log, &r.ID, &r.Method, &r.Name, &r.More, &list); err != nil {
			return err
		}
		if !r.ParseNumbers(list) {
			return fmt.Errorf("log %s: a half's numbers are %q", r.Log, list)
		}
		return u.AddHalf(&r)
	})
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
