package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestMeter reads two megabytes in slow steps: nothing shows at a glance, then bytes and a rate, and nothing is left behind.
func TestMeter(t *testing.T) {
	for _, total := range []int64{4 << 20, -1} {
		var b bytes.Buffer
		at := time.Now()
		m := newMeter(&b, func() time.Time { return at }, total)
		m.add(1 << 20)
		time.Sleep(2 * refresh)
		m.add(1)
		if b.Len() > 0 {
			t.Errorf("%q before half a second", b.String())
		}
		at = at.Add(glance + 1)
		time.Sleep(2 * refresh)
		m.add(1 << 20)
		if got := b.String(); !strings.Contains(got, "reading") || !strings.Contains(got, "2.1") || !strings.Contains(got, "MB/s") {
			t.Errorf("of %d: %q does not tell 2.1 MB and a rate", total, got)
		}
		m.done()
		if got := b.String(); strings.Contains(got, "\n") || strings.TrimRight(got, "\r ") == got {
			t.Errorf("of %d: something is left behind: %q", total, got)
		}
	}
}

func TestMeterIsSilent(t *testing.T) {
	var b bytes.Buffer
	at := time.Unix(0, 0)
	e := &env{stderr: &b, now: func() time.Time { return at }}
	m := e.progress(nil)
	at = at.Add(time.Hour)
	m.add(1 << 30)
	m.done()
	if b.Len() > 0 {
		t.Errorf("%q where there is no terminal", b.String())
	}
}
