package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
)

// group is a set of rows that are measured together, on the same logs and in turns.
type group struct {
	name string
	run  func(*bench) ([]row, error)
}

// groups are the bars: about native logs, and about the recorder.
var groups = []group{
	{"native", (*bench).native},
	{"shuffled", (*bench).shuffled},
	{"growth", (*bench).growth},
	{"payload", (*bench).payload},
	{"folded", (*bench).folded},
	{"samples", (*bench).samples},
	{"tee", (*bench).tee},
}

func groupNames() []string {
	var names []string
	for _, g := range groups {
		names = append(names, g.name)
	}
	return names
}

// size is how many calls a log has: full, or with -quick fewer.
func (b *bench) size(full, quick int) int {
	if b.quick {
		return quick
	}
	return full
}

// native is the main row: a million calls against DuckDB alone, a script, and the floor that counting lines is.
func (b *bench) native() ([]row, error) {
	p, err := b.pair("native", b.size(1_000_000, 100_000))
	if err != nil {
		return nil, err
	}
	if err := b.warm("native", p); err != nil {
		return nil, err
	}
	s, err := b.measure(b.n, b.mcpdiag(p), b.duckdb(p), wc(p))
	if err != nil {
		return nil, err
	}
	script, err := b.measure(1, b.naive(p)) // takes long: once
	if err != nil {
		return nil, err
	}
	what := short(p.calls) + " calls, native, "
	return []row{
		faster(what+"against DuckDB alone", s[0], s[1], 5),
		faster(what+"against naive.py", s[0], script[0], 40),
		slower(what+"against wc -l", s[0], s[2], 8),
		peak(what+"peak RSS", s[0], s[1], 500),
	}, nil
}

// shuffled is the same where no guess about the order of the members or the form of the ids helps.
func (b *bench) shuffled() ([]row, error) {
	p, err := b.pair("shuffled", b.size(1_000_000, 100_000), "-keys", "shuffled", "-ids", "opaque")
	if err != nil {
		return nil, err
	}
	if err := b.warm("shuffled", p); err != nil {
		return nil, err
	}
	s, err := b.measure(b.n, b.mcpdiag(p), b.duckdb(p))
	if err != nil {
		return nil, err
	}
	return []row{faster(short(p.calls)+" calls, other key order, opaque ids, against DuckDB alone", s[0], s[1], 3)}, nil
}

// growth tells whether a call costs more in a long log than in a short one.
func (b *bench) growth() ([]row, error) {
	few, err := b.pair("native", b.size(100_000, 20_000))
	if err != nil {
		return nil, err
	}
	many, err := b.pair("native", b.size(3_000_000, 100_000))
	if err != nil {
		return nil, err
	}
	if err := b.warm("growth", few, many); err != nil {
		return nil, err
	}
	s, err := b.measure(b.n, b.mcpdiag(few), b.mcpdiag(many), b.joined(many, "--memory-limit", "1GB", many.client, many.server))
	if err != nil {
		return nil, err
	}
	perCall := func(s sample, p pair) float64 { return s.median().Seconds() / float64(p.calls) }
	r := row{
		what:   fmt.Sprintf("growth, time per call, %s → %s calls", short(few.calls), short(many.calls)),
		ours:   fmt.Sprintf("%.3g µs", perCall(s[1], many)*1e6),
		theirs: fmt.Sprintf("%.3g µs", perCall(s[0], few)*1e6),
		ratio:  perCall(s[1], many) / perCall(s[0], few), limit: 1.3, unit: "x",
	}
	limited := short(many.calls) + " calls under --memory-limit 1GB, against none: "
	return []row{r, peak(limited+"peak RSS", s[2], s[1], 1000), slower(limited+"time", s[2], s[1], 2)}, nil
}

// folded is what it takes to fold logs where they are, what then travels, and the join of that against the join of the logs.
func (b *bench) folded() ([]row, error) {
	p, err := b.pair("native", b.size(1_000_000, 100_000))
	if err != nil {
		return nil, err
	}
	if err := b.warm("folded", p); err != nil {
		return nil, err
	}
	dir := filepath.Join(b.tmp, "folded")
	fold := command{name: "fold " + p.name, argv: []string{b.program("mcpdiag"), "fold", "--out", dir, p.client, p.server}}
	f, err := b.measure(1, fold) // what is there already is not folded again
	if err != nil {
		return nil, err
	}
	s, err := b.measure(b.n, b.joined(p, dir), b.mcpdiag(p))
	if err != nil {
		return nil, err
	}
	bytes, err := size(dir)
	what := short(p.calls) + " calls, "
	return []row{
		slower(what+"folded once, against joined", f[0], s[1], 5),
		slower(what+"joined folded, against the logs", s[0], s[1], 3),
		{what: "a folded call, as Parquet", ours: fmt.Sprintf("%.0f B", float64(bytes)/float64(p.calls)), ratio: float64(bytes) / float64(p.calls), limit: 100, unit: " B"},
	}, err
}

// size adds up the files below a folder.
func size(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// payload is a log that carries 12 KB of payload with each request and answer, which nobody asked mcpdiag to read.
func (b *bench) payload() ([]row, error) {
	p, err := b.pair("payload", b.size(25_000, 5_000), "-payload", "12288")
	if err != nil {
		return nil, err
	}
	if err := b.warm("payload", p); err != nil {
		return nil, err
	}
	s, err := b.measure(b.n, b.mcpdiag(p), wc(p))
	if err != nil {
		return nil, err
	}
	return []row{slower(short(p.calls)+" calls with 12 KB payloads, against wc -l", s[0], s[1], 4)}, nil
}

// samples is what a first user sees: the whole process, on two logs of six lines in all.
func (b *bench) samples() ([]row, error) {
	dir := filepath.Join(b.root, "samples")
	p := pair{name: "samples", client: filepath.Join(dir, "client.log"), server: filepath.Join(dir, "server.log"), truth: counts{WrittenNotRead: 1}}
	if err := b.warm("samples", p); err != nil {
		return nil, err
	}
	s, err := b.measure(max(b.n, 11), b.mcpdiag(p))
	if err != nil {
		return nil, err
	}
	return []row{{what: "the samples, whole process", ours: s[0].String(), ratio: s[0].median().Seconds(), limit: 0.15, unit: " s"}}, nil
}

// short writes a number of calls: 100k, 3M.
func short(n int) string {
	if n%1_000_000 == 0 {
		return fmt.Sprintf("%dM", n/1_000_000)
	}
	return fmt.Sprintf("%dk", n/1000)
}
