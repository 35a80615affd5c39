package frame

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", `tools/call "x" \x1b ~`, `tools/call "x" \x1b ~`},
		{"other scripts", "über 価格 🙂 a\u3000b", "über 価格 🙂 a\u3000b"},
		{"C0", "a\x00b\tc\r\n\x1b[31m", `a\x00b\tc\r\n\x1b[31m`},
		{"DEL", "a\x7f", `a\x7f`},
		{"C1", "a\u0085\u009b31m", `a\u{85}\u{9b}31m`},
		{"raw C1 byte", "a\x9b31m", `a\x9b31m`},
		{"bidi", "a\u202etxt\u202c\u2066\u2069\u200e\u200f\u061c", `a\u{202e}txt\u{202c}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}`},
		{"zero width", "a\u200b\u200c\u200d\ufeffb", `a\u{200b}\u{200c}\u{200d}\u{feff}b`},
		{"line separators", "a\u2028b\u2029c", `a\u{2028}b\u{2029}c`},
		{"tags", "a\U000e0041", `a\u{e0041}`},
		{"no UTF-8", "a\xffb\xc3", `a\xffb\xc3`},
		{"surrogate", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"U+FFFD itself", "\ufffd", "\ufffd"},
	} {
		if got := Escape(test.in); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// Each of these must never reach a terminal as it is.
func TestEscapeRanges(t *testing.T) {
	for _, span := range [][2]rune{{0, 0x1F}, {0x7F, 0x9F}, {0x202A, 0x202E}, {0x2066, 0x2069}, {0x200B, 0x200F}, {0x061C, 0x061C}, {0xFEFF, 0xFEFF}, {0x2028, 0x2029}} {
		for r := span[0]; r <= span[1]; r++ {
			if got := Escape("a" + string(r) + "b"); strings.ContainsRune(got, r) || !plainText(got) {
				t.Errorf("%U: %q", r, got)
			}
		}
	}
}

func TestEscapeAllocates(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Escape("search_invoices") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("a\x1b[31m\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Escape(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < 0x20 || r == 0x7F || r == 0x202E }) {
			t.Fatalf("%q: %q", s, got)
		}
		if Escape(got) != got {
			t.Fatalf("%q: %q, and then %q", s, got, Escape(got))
		}
	})
}
