package main

import (
	"context"
	"math"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"mcpdiag/ingest"
)

// memory is what the program may take, made when a command first needs it: a recorder needs no temporary folder.
type memory struct {
	limit string // the flag
	once  sync.Once
	made  *ingest.Memory
	err   error
}

// within is the memory of the command.
func (e *env) within() (*ingest.Memory, error) {
	m := &e.memory
	m.once.Do(func() {
		limit := int64(0)
		if limit, m.err = parseSize(m.limit); m.err == nil {
			m.made, m.err = ingest.NewMemory(limit)
			debug.SetMemoryLimit(limit / 2) // near it the collector works harder; what halves have in the file is none of its business
		}
	})
	return m.made, m.err
}

// openDB opens a database that keeps to the memory of the command.
func (e *env) openDB(ctx context.Context) (*ingest.Conn, error) {
	m, err := e.within()
	if err != nil {
		return nil, err
	}
	return m.OpenDB(ctx)
}

// units are what a size may end in; the longer ones first.
var units = []struct {
	name  string
	bytes float64
}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12}, {"b", 1}, {"", 1}}

// leastMemory is less than which a database cannot even open in.
const leastMemory = 64 << 20

// parseSize reads a size: 1GB, 512MiB, a number of bytes; "" is half of the machine's memory.
func parseSize(s string) (int64, error) {
	if s == "" {
		return ingest.MachineMemory() / 2, nil
	}
	text := strings.ToLower(strings.TrimSpace(s))
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || math.IsNaN(n) || n*u.bytes < leastMemory || n*u.bytes > math.MaxInt64/2 {
			break
		}
		return int64(n * u.bytes), nil
	}
	return 0, &usageError{"--memory-limit " + quote(s) + " is no size, or less than 64MiB", "write 1GB, 512MiB or a number of bytes"}
}
