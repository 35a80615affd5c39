package frame

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A string ends where the scanner says that it does, whatever escapes it has and wherever they stand.
func TestStringEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{`\"`, `\\`, `\n`, `\/`, `\u00e9`, `\uD83D\uDE00`, `a`, `invoice`, `é`, ` `, `:`, `{`, `0123456789abcdef`, strings.Repeat("in plain words, ", 14)}
	wrong := []string{"\x1f", "\n", "\x00", `\x`, `\u12`, `\u12G4`, `"`, `\`}
	for range 100_000 {
		var text strings.Builder
		text.WriteByte('"')
		for range r.IntN(40) {
			text.WriteString(pieces[r.IntN(len(pieces))])
			if r.IntN(60) == 0 {
				text.WriteString(wrong[r.IntN(len(wrong))])
			}
		}
		if r.IntN(20) > 0 {
			text.WriteByte('"')
		}
		text.WriteString([]string{"", ",", `"more\\`, "}\n"}[r.IntN(4)])
		b := []byte(text.String())
		s := scanner{b: b}
		want := 0
		if _, _, ok := s.str(); ok {
			want = s.i
		}
		if got := stringEnd(b, 1); got != want {
			t.Fatalf("%q: end %d, want %d", b, got, want)
		}
		if got := escapedEnd(b, 1); got != want { // which is all that there is on some processors
			t.Fatalf("%q: a word at a time: end %d, want %d", b, got, want)
		}
	}
}
