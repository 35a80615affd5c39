package main

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"mcpdiag/ingest"
)

// meter shows on a terminal how much has been read and how fast, once reading takes longer than a glance. It is silent elsewhere,
// and with --no-progress.
type meter struct {
	bar *progressbar.ProgressBar // nil where there is nothing to show it on
}

const (
	glance  = 500 * time.Millisecond
	refresh = 100 * time.Millisecond
)

func (e *env) progress(sets []ingest.Set) *meter {
	if _, on := e.terminal(e.stderr); !on || e.noProgress {
		return &meter{}
	}
	return newMeter(e.stderr, e.now, totalBytes(sets))
}

func newMeter(w io.Writer, now func() time.Time, total int64) *meter {
	return &meter{progressbar.NewOptions64(total, progressbar.OptionSetWriter(&curtain{w: w, now: now, started: now()}), progressbar.OptionSetDescription("reading"),
		progressbar.OptionShowBytes(true), progressbar.OptionShowCount(), progressbar.OptionThrottle(refresh), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(24), progressbar.OptionSpinnerType(14), progressbar.OptionSetSpinnerChangeInterval(0))}
}

// add counts bytes that were read; the readers of several logs call it at once.
func (m *meter) add(n int) {
	if m.bar != nil {
		m.bar.Add(n) // more than the total: a log grew meanwhile, which is no error of anybody's
	}
}

// done takes the bar away: what follows is the report.
func (m *meter) done() {
	if m.bar != nil {
		m.bar.Exit()
		m.bar.Clear()
	}
}

// curtain keeps what is written to itself until a glance has passed.
type curtain struct {
	w       io.Writer
	now     func() time.Time
	started time.Time
}

func (c *curtain) Write(b []byte) (int, error) {
	if c.now().Sub(c.started) <= glance {
		return len(b), nil
	}
	return c.w.Write(b)
}

// totalBytes is how much there is to read; -1 where no file's size tells, as for a stream or what is compressed.
func totalBytes(sets []ingest.Set) int64 {
	total := int64(0)
	for _, set := range sets {
		for _, s := range set.Sources {
			info, err := os.Stat(s.Path)
			if err != nil || !info.Mode().IsRegular() || strings.HasSuffix(s.Path, ".gz") || strings.HasSuffix(s.Path, ".zst") {
				return -1
			}
			total += info.Size()
		}
	}
	return total
}
