package frame

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseWall(t *testing.T) {
	for _, test := range []struct {
		text, want string // want is UTC; empty when the text is no time
		zoneless   bool
	}{
		{"2026-03-02T09:41:00Z", "2026-03-02T09:41:00Z", false},
		{"2026-03-02T09:41:00.1Z", "2026-03-02T09:41:00.1Z", false},
		{"2026-03-02T09:41:00.123456789Z", "2026-03-02T09:41:00.123456789Z", false},
		{"2026-03-02T09:41:00,123Z", "2026-03-02T09:41:00.123Z", false},
		{"2026-03-02 09:41:00.123", "2026-03-02T09:41:00.123Z", true},
		{"2026-03-02t09:41:00.123z", "2026-03-02T09:41:00.123Z", false},
		{"2026-03-02T23:41:00.123+14:00", "2026-03-02T09:41:00.123Z", false},
		{"2026-03-02T09:41:00-0530", "2026-03-02T15:11:00Z", false},
		{"2026-03-02T00:00:00+00:01", "2026-03-01T23:59:00Z", false},
		{"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z", false},
		{"2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z", false},
		{"0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00Z", false},
		{"9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z", false},
		{"1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z", false},
		{"2026-03-02T09:41:60.000Z", "", false},
		{"2026-03-02T09:60:00Z", "", false},
		{"2026-03-02T24:00:00Z", "", false},
		{"2026-02-30T09:41:00.000Z", "", false},
		{"2025-02-29T00:00:00Z", "", false},
		{"1900-02-29T00:00:00Z", "", false},
		{"2026-13-01T00:00:00Z", "", false},
		{"2026-00-01T00:00:00Z", "", false},
		{"2026-01-00T00:00:00Z", "", false},
		{"0000-01-01T00:00:00Z", "", false},
		{"2026-03-02T09:41:00.Z", "", false},
		{"2026-03-02T09:41:00.1234567890Z", "", false},
		{"2026-03-02T09:41:00+1", "", false},
		{"2026-03-02T09:41:00+24:00", "", false},
		{"2026-03-02T09:41:00+01:60", "", false},
		{"2026-03-02T09:41:00Zx", "", false},
		{"2026-03-02T09:41:00 Z", "", false},
		{"2026-03-02X09:41:00Z", "", false},
		{"2026-3-2T9:41:00Z", "", false},
		{"2026/03/02 09:41:00", "", false},
		{"202a-03-02T09:41:00Z", "", false},
		{"1772444460.123", "", false},
		{"yesterday", "", false},
		{"", "", false},
	} {
		var got Instant
		ok := ParseWall([]byte(test.text), &got)
		if ok != (test.want != "") || ok != got.HasWall() {
			t.Errorf("%s: ok is %v", test.text, ok)
			continue
		}
		if s := got.Time().Format(time.RFC3339Nano); ok && (s != test.want || got.Zoneless() != test.zoneless) {
			t.Errorf("%s: got %s, zoneless %v", test.text, s, got.Zoneless())
		}
	}
}

func wall(t *testing.T, text string) Instant {
	var i Instant
	if !ParseWall([]byte(text), &i) {
		t.Fatalf("%s is no time", text)
	}
	return i
}

func mono(ns int64) Instant {
	var i Instant
	i.Mono(ns)
	return i
}

func TestSub(t *testing.T) {
	a, b := wall(t, "2026-03-02T09:41:00Z"), wall(t, "2026-03-02T09:41:01.5Z")
	both := func(i Instant, ns int64) Instant { i.Mono(ns); return i }
	for _, test := range []struct {
		name string
		t, u Instant
		want time.Duration
		ok   bool
	}{
		{"wall", b, a, 1500 * time.Millisecond, true},
		{"stepped back", a, b, -1500 * time.Millisecond, true},
		{"mono", mono(7), mono(5), 2, true},
		{"mono before wall", both(a, 7), both(b, 5), 2, true},
		{"one has mono only", mono(7), both(a, 5), 2, true},
		{"nothing in common", mono(7), a, 0, false},
		{"one has none", Instant{}, a, 0, false},
		{"none", Instant{}, Instant{}, 0, false},
		{"other log", b.OnClock(1, 0), a.OnClock(2, 0), 0, false},
		{"other log, mono", mono(7).OnClock(1, 3), mono(5).OnClock(2, 3), 0, false},
		{"other monotonic clock", mono(7).OnClock(1, 1), mono(5).OnClock(1, 2), 0, false},
		{"other monotonic clock, same wall", both(b, 7).OnClock(1, 1), both(a, 5).OnClock(1, 2), 1500 * time.Millisecond, true},
		{"zone-less in one log", wall(t, "2026-03-02 09:41:01"), wall(t, "2026-03-02 09:41:00"), time.Second, true},
		{"far years", wall(t, "9999-12-31T23:59:59Z"), wall(t, "0001-01-01T00:00:00Z"), 0, false},
		{"a far year", wall(t, "9999-12-31T23:59:59Z"), a, 0, false},
		{"too far apart", wall(t, "2261-01-01T00:00:00Z"), wall(t, "1700-01-01T00:00:00Z"), 0, false},
		{"mono overflow", mono(math.MaxInt64), mono(-1), 0, false},
		{"mono underflow", mono(math.MinInt64), mono(1), 0, false},
	} {
		if got, ok := test.t.Sub(test.u); got != test.want || ok != test.ok {
			t.Errorf("%s: got %v, %v", test.name, got, ok)
		}
	}
}

func TestInstant(t *testing.T) {
	var none Instant
	if none.Known() || none.HasWall() || none.HasMono() || !none.Time().IsZero() {
		t.Error("the zero Instant knows something")
	}
	m := mono(5)
	if !m.Known() || m.HasWall() || !m.HasMono() || m.MonoNS() != 5 {
		t.Errorf("mono: %+v", m)
	}
	w := wall(t, "1970-01-01T00:00:01.000000002Z")
	if ns, ok := w.WallNS(); !ok || ns != 1_000_000_002 {
		t.Errorf("wall: %d, %v", ns, ok)
	}
}

func FuzzParseWall(f *testing.F) {
	for _, s := range []string{"2026-03-02T09:41:00.123456789Z", "2026-03-02 09:41:00,1", "2026-03-02t23:41:00+14:00", "0001-01-01T00:00:00-0001", "9999-12-31T23:59:59z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got Instant
		if !ParseWall([]byte(text), &got) {
			if got.Known() {
				t.Fatalf("%q is no time, and yet set one", text)
			}
			return
		}
		want, err := time.Parse(time.RFC3339Nano, strict(text, got.Zoneless()))
		if err != nil || !want.Equal(got.Time()) {
			t.Fatalf("%q: got %v, want %v, %v", text, got.Time(), want, err)
		}
	})
}

// strict spells a time that ParseWall took as RFC 3339 wants it.
func strict(text string, zoneless bool) string {
	text = strings.Replace(strings.ToUpper(text), ",", ".", 1)
	text = text[:10] + "T" + text[11:]
	if zoneless {
		text += "Z"
	}
	if n := len(text); text[n-5] == '+' || text[n-5] == '-' {
		text = text[:n-2] + ":" + text[n-2:]
	}
	return text
}
