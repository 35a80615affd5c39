package diagnose

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"mcpdiag/ingest"
)

// Parquet writes the table `calls` of Keep, every call with its verdict, to a Parquet file: beside path, readable by its owner
// alone, and renamed when it is whole. program, sets and o are as for Keep.
func (d *Diagnosis) Parquet(ctx context.Context, path, program string, sets []ingest.Set, o ingest.Options) error {
	for _, set := range sets {
		for _, s := range set.Sources {
			if err := keepableFrom(path, s); err != nil {
				return err
			}
		}
	}
	scratch, err := ingest.NewScratch(filepath.Dir(path), ".mcpdiag-")
	if err != nil {
		return cannotKeep(path, err)
	}
	defer scratch.Remove()
	dir, err := filepath.Abs(scratch.Dir)
	if err != nil {
		return cannotKeep(path, err)
	}
	file := filepath.Join(dir, "calls.parquet")
	if err := d.writeParquet(ctx, filepath.Join(dir, "kept.duckdb"), file, program, sets, o); err != nil {
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

func (d *Diagnosis) writeParquet(ctx context.Context, database, file, program string, sets []ingest.Set, o ingest.Options) error {
	c := d.join.Conn
	if err := c.Exec(ctx, "ATTACH "+sqlText(database)+" AS "+ingest.Kept+" (TYPE duckdb)"); err != nil {
		return err
	}
	err := d.fillKept(ctx, program, sets, o)
	if err == nil {
		err = c.Exec(ctx, "COPY (FROM "+ingest.Kept+".calls) TO "+sqlText(file)+" (FORMAT parquet, COMPRESSION zstd)")
	}
	return errors.Join(err, c.Exec(context.WithoutCancel(ctx), "DETACH "+ingest.Kept))
}
