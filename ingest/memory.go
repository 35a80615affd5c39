package ingest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Memory bounds what the logs and the database of this process take. What the halves of the logs need beyond their share lies in
// a temporary file that is mapped: what nobody has looked at for a moment is let go of, and comes back when somebody does. The
// database gets a share of its own, and beyond it spills to a temporary folder. What stays in memory whatever the length of a log
// is what is outstanding in it, and a few bytes for each id that a session has used, since the k-th use of an id and a second
// answer have to be known.
//
// A nil Memory bounds nothing.
type Memory struct {
	Limit   int64 // bytes; of which halves take a sixth, the database a quarter
	scratch *Scratch
	mu      sync.Mutex
	kept    int64 // bytes of slabs in memory
	file    *spillFile
	err     atomic.Pointer[error]
	stop    chan struct{}
}

// scratchPrefix is what the names of temporary folders begin with.
const scratchPrefix = "mcpdiag-tmp-"

// NewMemory makes the temporary folder and holds the program to the limit.
func NewMemory(limit int64) (*Memory, error) {
	s, err := NewScratch("", scratchPrefix)
	if err != nil {
		return nil, err
	}
	return &Memory{Limit: limit, scratch: s, stop: make(chan struct{})}, nil
}

// Close removes the temporary folder. Logs that were read within this memory are gone with it.
func (m *Memory) Close() error {
	if m == nil {
		return nil
	}
	close(m.stop)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.file.close()
	return m.scratch.Remove()
}

// Folder is the temporary folder: 0700, and gone when the program ends.
func (m *Memory) Folder() string { return m.scratch.Dir }

// Err says that the temporary file could not grow: what was read since is not within the limit.
func (m *Memory) Err() error {
	if m == nil {
		return nil
	}
	if err := m.err.Load(); err != nil {
		return *err
	}
	return nil
}

// OpenDB opens a database in memory that keeps to its share.
func (m *Memory) OpenDB(ctx context.Context) (*Conn, error) { return m.open(ctx, 4) }

// OpenStore opens a database that is alone while it works, since the halves that it joins are in files: it may take half.
func (m *Memory) OpenStore(ctx context.Context) (*Conn, error) { return m.open(ctx, 2) }

func (m *Memory) open(ctx context.Context, part int64) (*Conn, error) {
	c, err := OpenDB(ctx)
	if err != nil || m == nil {
		return c, err
	}
	err = c.Exec(ctx, fmt.Sprintf("SET memory_limit = '%dB'; SET temp_directory = %s", m.Limit/part, Quote(m.scratch.Dir)))
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// breath is how often it is looked at how much of the file is in memory: a walk all over it brings it in at gigabytes a second.
const breath = 2 * time.Millisecond

// slab is room for n values without pointers.
func slab[T any](m *Memory, n int) []T {
	var one T
	if room := m.room(int64(n) * int64(unsafe.Sizeof(one))); room != nil {
		return unsafe.Slice((*T)(unsafe.Pointer(&room[0])), n)
	}
	return make([]T, n)
}

// room maps bytes of the temporary file; nil while memory itself has room, or where there is no file.
func (m *Memory) room(size int64) []byte {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept+size <= m.Limit/6 {
		m.kept += size
		return nil
	}
	if m.file == nil {
		file, err := newSpillFile(m.scratch.Dir)
		if err != nil {
			m.fail(err)
			return nil
		}
		if m.file = file; file != nil {
			go m.breathe()
		}
	}
	room, err := m.file.grow(size)
	if err != nil {
		m.fail(err)
	}
	return room
}

func (m *Memory) fail(err error) {
	err = &InputError{Path: m.scratch.Dir, What: "the temporary file cannot grow: " + err.Error(), Hint: "make room there, name another place in TMPDIR, or raise --memory-limit"}
	m.err.CompareAndSwap(nil, &err)
}

// letGo takes what lies in the file out of memory's account.
func (m *Memory) letGo() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file != nil {
		m.file.letGo()
	}
}

// breathe lets go of the file's pages when they have become too many.
func (m *Memory) breathe() {
	tick := time.NewTicker(breath)
	defer tick.Stop()
	for {
		select {
		case <-m.stop:
			return
		case <-tick.C:
			if m.file.resident() > m.Limit/8 {
				m.letGo()
			}
		}
	}
}
