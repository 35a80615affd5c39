package diagnose

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mcpdiag/ingest"
)

// Keep writes the diagnosis, and every record of the logs, to the DuckDB file at path: the tables frames, halves, calls,
// findings and mcpdiag_meta. Every call is there, not only those that d lists. program is the version that mcpdiag_meta
// names; sets and o are what d.Logs were read from and how, since the records are read again.
//
// The file is written beside path, readable by its owner alone, and renamed when it is whole. A file that is there already
// is replaced only if it is one of these. An InputError says what stands in the way.
func (d *Diagnosis) Keep(ctx context.Context, path, program string, sets []ingest.Set, o ingest.Options) error {
	if err := d.keepable(ctx, path, sets); err != nil {
		return err
	}
	scratch, err := ingest.NewScratch(filepath.Dir(path), ".mcpdiag-")
	if err != nil {
		return cannotKeep(path, err)
	}
	defer scratch.Remove() // a folder of its own, so that nothing that the database puts beside its file stays
	file, err := filepath.Abs(filepath.Join(scratch.Dir, "kept.duckdb"))
	if err != nil {
		return cannotKeep(path, err)
	}
	if err := d.write(ctx, file, program, sets, o); err != nil {
		return keepError(ctx, path, err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		return cannotKeep(path, err)
	}
	if err := os.Rename(file, path); err != nil {
		return cannotKeep(path, err)
	}
	return nil
}

func cannotKeep(path string, err error) error {
	var in *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &in):
		err = in.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return &ingest.InputError{Path: path, What: "cannot be written: " + err.Error()}
}

// keepError names the file in an error of the database; errors about the logs name theirs, and an interrupt is one.
func keepError(ctx context.Context, path string, err error) error {
	var input *ingest.InputError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &input):
		return err
	}
	return cannotKeep(path, err)
}

// keepable refuses, before anything is written, what Keep cannot do or should not.
func (d *Diagnosis) keepable(ctx context.Context, path string, sets []ingest.Set) error {
	for _, set := range sets {
		for _, s := range set.Sources {
			if err := keepableFrom(path, s); err != nil {
				return err
			}
		}
	}
	if abs, err := filepath.Abs(path); err != nil || strings.Contains(abs, "?") { // it would put its log in another place
		return &ingest.InputError{Path: path, What: "DuckDB takes no path with a question mark in it", Hint: "name another file"}
	}
	if _, err := os.Lstat(path + ".wal"); err == nil {
		return &ingest.InputError{Path: path, What: path + ".wal is there: the file is open in another program, or was left so", Hint: "close it there, or name another file"}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return cannotKeep(path, err)
	case info.IsDir():
		return &ingest.InputError{Path: path, What: "is a directory", Hint: "name the file to write"}
	case !info.Mode().IsRegular():
		return notOurs(path)
	}
	return d.ours(ctx, path)
}

// keepableFrom refuses a source that is the output, and one that gives its lines only once.
func keepableFrom(path string, s ingest.Source) error {
	once := &ingest.InputError{Path: s.Label, What: "can be read only once, and its records are needed again to keep them", Hint: "save it to a file first"}
	if s.Path == "-" {
		return once
	}
	in, err := os.Stat(s.Path)
	if err != nil {
		return nil // reading it again will say why
	}
	if !in.Mode().IsRegular() {
		return once
	}
	if out, err := os.Stat(path); err == nil && os.SameFile(in, out) {
		return &ingest.InputError{Path: path, What: "is an input", Hint: "evidence is never rewritten: name another file"}
	}
	return nil
}

func notOurs(path string) error {
	return &ingest.InputError{Path: path, What: "exists and is not a database that mcpdiag wrote", Hint: "name another file, or remove it first"}
}

// ours refuses a file that is not one of Keep's.
func (d *Diagnosis) ours(ctx context.Context, path string) error {
	file, err := filepath.Abs(path)
	if err != nil {
		return cannotKeep(path, err)
	}
	c := d.join.Conn
	if err := c.Exec(ctx, "ATTACH "+sqlText(file)+" AS kept_before (TYPE duckdb, READ_ONLY)"); err != nil {
		if strings.Contains(err.Error(), "lock") {
			return &ingest.InputError{Path: path, What: "is open in another program", Hint: "close it there, or name another file"}
		}
		return notOurs(path)
	}
	defer c.Exec(context.WithoutCancel(ctx), "DETACH kept_before")
	rows, err := c.Query(ctx, "SELECT 1 FROM duckdb_tables() WHERE database_name = 'kept_before' AND table_name = 'mcpdiag_meta'")
	if err != nil {
		return cannotKeep(path, err)
	}
	defer rows.Close()
	if !rows.Next() {
		return notOurs(path)
	}
	return nil
}

// sqlText quotes a path as SQL text, for ATTACH, which takes no parameters. It is the user's own, never a log's.
func sqlText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// write makes the database in a new file.
func (d *Diagnosis) write(ctx context.Context, file, program string, sets []ingest.Set, o ingest.Options) error {
	c := d.join.Conn
	if err := c.Exec(ctx, "ATTACH "+sqlText(file)+" AS "+ingest.Kept+" (TYPE duckdb)"); err != nil {
		return err
	}
	err := d.fillKept(ctx, program, sets, o)
	if err == nil {
		err = c.Exec(ctx, "CHECKPOINT "+ingest.Kept)
	}
	return errors.Join(err, c.Exec(context.WithoutCancel(ctx), "DETACH "+ingest.Kept))
}
