package frame

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// stringBodies are what may stand between two quotes, right and wrong.
var stringBodies = []string{
	``, `a`, `abcdefg`, `abcdefgh`, `abcdefghi`, `\"`, `\\`, `\\\"`, `\/`, `\b\f\n\r\t`, `\u0000`, `\u00e9`, `\u00E9`, `\uD83D\uDE00`, `\ud83d`, `\ude00`,
	`\ud83d\ud83d\ude00`, `\ud83dx`, `\ud83d\n`, `\ud83d\u0041`, `\ud83d\ufffd`, `\ude00\ud83d`, `\`, `\u`, `\u1`, `\u12`, `\u123`, `\u123g`, `\uG000`, `\x41`,
	`\'`, `\a`, `\0`, "\x00", "\x01", "\x1f", "\x7f", "\t", "\n", "é", "\u2028", "😀", "\xff", "\xc3", "\x80", "\xed\xa0\x80", "\xf8", `"`, `a"b`,
}

func TestStrings(t *testing.T) {
	for _, body := range stringBodies {
		for pad := range 18 { // the scanner reads eight bytes at a time
			checkString(t, strings.Repeat("x", pad)+body)
			checkString(t, body+strings.Repeat("y", pad))
		}
	}
}

// checkString holds the scanner and unescape against encoding/json.
func checkString(t *testing.T, body string) {
	text := `"` + body + `"`
	s := scanner{b: []byte(text + ` "`)}
	got, escaped, ok := s.str()
	ok = ok && s.i == len(text)
	if ok != json.Valid([]byte(text)) {
		t.Fatalf("%q: ok is %v", text, ok)
	}
	if !ok {
		return
	}
	if escaped != strings.Contains(body, `\`) {
		t.Fatalf("%q: escaped is %v", text, escaped)
	}
	if escaped {
		got = unescape(got)
	}
	var want string
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if utf8.ValidString(body) && string(got) != want {
		t.Fatalf("%q: got %q, want %q", text, got, want)
	}
}

var values = []string{
	`0`, `-0`, `-`, `+1`, `01`, `-01`, `1.`, `.5`, `1.5`, `1e5`, `1E+5`, `1e-5`, `1e`, `1e+`, `1.e5`, `0x1`, `1_0`, `NaN`, `Infinity`, `-1.0e400`, `1 2`,
	`true`, `false`, `null`, `tru`, `truex`, `True`, `nul`, `[]`, `[1]`, `[1,2]`, `[,]`, `[1,]`, `[1 2]`, `[`, `]`, `[}`, `{}`, `{`, `{]`, `{"a"}`, `{"a":}`,
	`{"a":1}`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`, `{a:1}`, `{"a":1,"a":2}`, `{1:1}`, `[[],{},[{}]]`, `{"a":[{"b":[]}]}`, `{"a":[}`, ` [ 1 , 2 ] `, "\f1", "\u00a01",
	`"a" "b"`, `[1]]`, `{"a":"}"}`, `[[1],[2]]`, `[{"a":1},{"b":2}]`, `{"a":{},"b":[]}`, `[]1`, "\xef\xbb\xbf1", `/**/1`, `[1,//
2]`, `'a'`, ``, ` `,
}

func TestValues(t *testing.T) {
	for _, v := range values {
		checkValue(t, []byte(v))
	}
}

// checkValue holds skip against encoding/json.
func checkValue(t *testing.T, b []byte) {
	s := scanner{b: b}
	f := s.skip()
	if f == tooDeep {
		return
	}
	s.space()
	if ok := f == fine && s.i == len(b); ok != json.Valid(b) {
		t.Fatalf("%q: ok is %v", b, ok)
	}
}

func FuzzSkip(f *testing.F) {
	for _, v := range values {
		f.Add([]byte(v))
	}
	for _, body := range stringBodies {
		f.Add([]byte(`["` + body + `"]`))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		checkValue(t, b)
		checkString(t, string(b))
	})
}

// The brackets are counted in words of 64 bits: objects and arrays must not be mixed up where one word ends.
func TestNestingKinds(t *testing.T) {
	for depth := 1; depth <= MaxNesting; depth++ {
		open, shut := "", ""
		for i := range depth {
			if i%3 == 0 {
				open, shut = open+"[", "]"+shut
			} else {
				open, shut = open+`{"a":`, "}"+shut
			}
		}
		s := scanner{b: []byte(open + "1" + shut)}
		if f := s.skip(); f != fine || s.i != len(s.b) {
			t.Fatalf("depth %d: fault %d at %d", depth, f, s.i)
		}
		wrong := []byte(open + "1" + shut)
		wrong[len(wrong)-1] ^= ']' ^ '}'
		if s = (scanner{b: wrong}); s.skip() != badJSON {
			t.Fatalf("depth %d: the wrong bracket closes it", depth)
		}
		if depth > 130 && depth < MaxNesting-2 {
			depth += 50
		}
	}
}

func TestIDs(t *testing.T) {
	for _, test := range []struct {
		token                          string
		null, isString, integer, known bool
		bare, json                     string
	}{
		{``, false, false, false, false, ``, `null`},
		{`null`, true, false, false, false, `null`, `null`},
		{`0`, false, false, true, true, `0`, `0`},
		{`-0`, false, false, true, true, `-0`, `-0`},
		{`18446744073709551616`, false, false, true, true, `18446744073709551616`, `18446744073709551616`},
		{`1.0`, false, false, false, true, `1.0`, `1.0`},
		{`1e3`, false, false, false, true, `1e3`, `1e3`},
		{`""`, false, true, false, true, ``, `""`},
		{`"1"`, false, true, false, true, `1`, `"1"`},
		{`"null"`, false, true, false, true, `null`, `"null"`},
		{`"a\"\\\u0001"`, false, true, false, true, "a\"\\\x01", `"a\"\\\u0001"`},
		{`"\xff"`, false, true, false, true, `\xff`, `"\\xff"`},
	} {
		id := ID(test.token)
		if id.IsNull() != test.null || id.IsString() != test.isString || id.IsInteger() != test.integer || id.Known() != test.known {
			t.Errorf("%s: null %v, string %v, integer %v, known %v", id, id.IsNull(), id.IsString(), id.IsInteger(), id.Known())
		}
		if id.Bare() != test.bare || string(id.JSON()) != test.json {
			t.Errorf("%s: bare %q, JSON %s", id, id.Bare(), id.JSON())
		}
	}
}

// One string is one token however it is spelled, and two strings are two.
func TestCanonicalStrings(t *testing.T) {
	token := func(text string) string {
		id, _, ok := ParseID([]byte(text))
		if !ok {
			t.Fatalf("%s is no id", text)
		}
		return string(id)
	}
	for _, same := range [][]string{
		{`"a/b"`, `"a\/b"`, `"\u0061\u002fb"`}, {`"é"`, `"\u00e9"`, `"\u00E9"`}, {`"😀"`, `"\ud83d\ude00"`}, {`"\n"`, `"\u000a"`, `"\u000A"`},
		{`"\""`, `"\u0022"`}, {`"\\"`, `"\u005c"`},
	} {
		for _, s := range same[1:] {
			if token(s) != token(same[0]) {
				t.Errorf("%s and %s: %s and %s", same[0], s, token(same[0]), token(s))
			}
		}
	}
	different := []string{`"1"`, `1`, `1.0`, `1e0`, `"a"`, `"A"`, `"é"`, `"e\u0301"`, "\"\xff\"", "\"\xfe\"", `"\\xff"`, `"\u00ff"`, `""`, `0`, `-0`, `"0"`, "\"\xc3\"", "\"\xc3\xc3\""}
	seen := map[string]string{}
	for _, d := range different {
		if other, ok := seen[token(d)]; ok {
			t.Errorf("%q and %q are one token, %s", d, other, token(d))
		}
		seen[token(d)] = d
	}
	if got := string(StringID("a\"\x01é\xff")); got != `"a\"\u0001é\xff"` {
		t.Errorf("StringID: %s", got)
	}
}
