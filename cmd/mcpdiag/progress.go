package main

import (
	"fmt"
	"sync"
	"time"
)

// meter shows on a terminal how much has been read, once reading takes longer than a glance.
type meter struct {
	mu      sync.Mutex
	e       *env
	on      bool
	started time.Time
	shown   time.Time
	bytes   int
}

const (
	glance  = 500 * time.Millisecond
	refresh = 100 * time.Millisecond
)

func (e *env) progress() *meter {
	_, on := e.terminal(e.stderr)
	return &meter{e: e, on: on, started: e.now()}
}

func (m *meter) add(n int) {
	if !m.on {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes += n
	now := m.e.now()
	if spent := now.Sub(m.started); spent > glance && now.Sub(m.shown) > refresh {
		m.shown = now
		fmt.Fprintf(m.e.stderr, "\rread %d MB, %.0f MB/s\x1b[K", m.bytes>>20, float64(m.bytes)/1e6/spent.Seconds())
	}
}

func (m *meter) done() {
	if !m.shown.IsZero() {
		fmt.Fprint(m.e.stderr, "\r\x1b[K")
	}
}
