package frame

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// The examples of RFC 8785, 3.2.2 to 3.2.4.
func TestCanonicalRFC(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"3.2.2 primitive types", `{
  "numbers": [333333333.33333329, 1E30, 4.50,
              2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`, `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{"3.2.3 sorting", `{
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face",
  "\u0080": "Control",
  "\u00f6": "Latin Small Letter O With Diaeresis"
}`, "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"},
		{"at every level", `{"b":[{"d":1,"c":{"z":0,"a":0}}],"a":{}}`, `{"a":{},"b":[{"c":{"a":0,"z":0},"d":1}]}`},
		{"arrays keep their order", "[ 3,\t1 ,\r\n2 ]", `[3,1,2]`},
		{"a lone value", " true\n", `true`},
	} {
		got, err := Canonical([]byte(tt.in))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\n got %s\nwant %s", tt.name, err, got, tt.want)
		}
	}
}

// The octets that RFC 8785, 3.2.4, prints for its example.
func TestCanonicalOctets(t *testing.T) {
	const want = `7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72 75 65 2c 66 61 6c 73 65 5d 2c 22 6e
75 6d 62 65 72 73 22 3a 5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31 65 2b 33 30
2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37 5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24
5c 75 30 30 30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d`
	got, err := Canonical([]byte(`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`))
	if text := fmt.Sprintf("% x", got); err != nil || text != strings.ReplaceAll(want, "\n", " ") {
		t.Errorf("%v\n got %s\nwant %s", err, text, want)
	}
}

// The numbers of RFC 8785, appendix B, as IEEE 754 bits and their text.
func TestCanonicalNumbers(t *testing.T) {
	for _, tt := range []struct{ bits, want string }{
		{"0000000000000000", "0"}, {"8000000000000000", "0"}, {"0000000000000001", "5e-324"}, {"8000000000000001", "-5e-324"},
		{"7fefffffffffffff", "1.7976931348623157e+308"}, {"ffefffffffffffff", "-1.7976931348623157e+308"},
		{"4340000000000000", "9007199254740992"}, {"c340000000000000", "-9007199254740992"}, {"4430000000000000", "295147905179352830000"},
		{"44b52d02c7e14af5", "9.999999999999997e+22"}, {"44b52d02c7e14af6", "1e+23"}, {"44b52d02c7e14af7", "1.0000000000000001e+23"},
		{"444b1ae4d6e2ef4e", "999999999999999700000"}, {"444b1ae4d6e2ef4f", "999999999999999900000"}, {"444b1ae4d6e2ef50", "1e+21"},
		{"3eb0c6f7a0b5ed8c", "9.999999999999997e-7"}, {"3eb0c6f7a0b5ed8d", "0.000001"},
		{"41b3de4355555553", "333333333.3333332"}, {"41b3de4355555554", "333333333.33333325"}, {"41b3de4355555555", "333333333.3333333"},
		{"41b3de4355555556", "333333333.3333334"}, {"41b3de4355555557", "333333333.33333343"},
		{"becbf647612f3696", "-0.0000033333333333333333"}, {"43143ff3c1cb0959", "1424953923781206.2"},
	} {
		bits, err := strconv.ParseUint(tt.bits, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		in := strconv.FormatFloat(math.Float64frombits(bits), 'e', 20, 64)
		if got, err := Canonical([]byte(in)); err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.bits, got, err, tt.want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"nothing": "", "two values": "1 2", "a name twice": `{"a":1,"a":2}`, "a name twice, spelled differently": `{"a":1,"\u0061":2}`,
		"a lone surrogate": `"\ud800"`, "bytes that are no UTF-8": "\"\xff\"", "beyond a double": `[1e400]`, "cut": `{"a":[1`,
		"too deep": strings.Repeat("[", MaxNesting+1) + strings.Repeat("]", MaxNesting+1), "no JSON": `{a:1}`, "leading zero": "01",
	} {
		if got, err := Canonical([]byte(in)); err == nil {
			t.Errorf("%s: %s", name, got)
		}
		if got, err := Fingerprint([]byte(in)); err == nil || got != "" {
			t.Errorf("%s: fingerprint %q, %v", name, got, err)
		}
	}
}

const definition = `{"name":"search","description":"Finds invoices.","inputSchema":{"type":"object","properties":{"q":{"type":"string"},"n":{"type":"integer","default":10}},"required":["q"]},"annotations":{"readOnlyHint":true}}`

// A fingerprint does not depend on key order, space or the spelling of strings and numbers.
func TestFingerprintStable(t *testing.T) {
	want, err := Fingerprint([]byte(definition))
	if err != nil || len(want) != 64 || strings.ToLower(want) != want {
		t.Fatalf("%q, %v", want, err)
	}
	for range 200 {
		if got, err := Fingerprint(respell([]byte(definition))); err != nil || got != want {
			t.Fatalf("%s gives %s, %v; want %s", respell([]byte(definition)), got, err, want)
		}
	}
}

// respell writes a JSON text anew: members in any order, space anywhere, strings in escapes.
func respell(b []byte) []byte {
	var out []byte
	space := func() { out = append(out, " \n\t"[:rand.IntN(4)]...) }
	space()
	switch {
	case b[0] == '{':
		var names []string
		values := map[string][]byte{}
		Members(b, func(n string, v []byte) { names, values[n] = append(names, n), v })
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		out = append(out, '{')
		for i, n := range names {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, spell(n)...)
			out = append(out, ':')
			out = append(out, respell(values[n])...)
		}
		out = append(out, '}')
	case b[0] == '[':
		out = append(out, '[')
		Elements(b, func(v []byte) {
			if len(out) > 0 && out[len(out)-1] != '[' {
				out = append(out, ',')
			}
			out = append(out, bytes.TrimSpace(respell(v))...)
		})
		out = append(out, ']')
	case b[0] == '"':
		s, _ := Text(b)
		out = append(out, spell(s)...)
	case string(b) == "10":
		out = append(out, []string{"10", "10.0", "1e1", "100E-1"}[rand.IntN(4)]...)
	default:
		out = append(out, b...)
	}
	space()
	return out
}

func spell(s string) string {
	out := `"`
	for _, r := range s {
		if r < 0x20 || r == '"' || r == '\\' || r <= 0xFFFF && rand.IntN(2) == 0 {
			out += fmt.Sprintf(`\u%04x`, r)
		} else {
			out += string(r)
		}
	}
	return out + `"`
}

// Any change of a definition, in any of its members, changes the fingerprint.
func TestFingerprintChanges(t *testing.T) {
	seen := map[string]string{}
	for _, in := range []string{definition,
		strings.Replace(definition, "Finds invoices.", "Finds invoices!", 1), strings.Replace(definition, "true", "false", 1),
		strings.Replace(definition, `"string"`, `"number"`, 1), strings.Replace(definition, `"default":10`, `"default":11`, 1),
		strings.Replace(definition, `["q"]`, `["q","n"]`, 1), strings.Replace(definition, `"search"`, `"Search"`, 1),
		strings.Replace(definition, `{"name"`, `{"title":"","name"`, 1), strings.Replace(definition, `,"annotations":{"readOnlyHint":true}`, "", 1),
		strings.Replace(definition, "10", `"10"`, 1), strings.Replace(definition, "10", "null", 1),
	} {
		got, err := Fingerprint([]byte(in))
		if other, ok := seen[got]; ok || err != nil {
			t.Errorf("%s and %s: %s, %v", in, other, got, err)
		}
		seen[got] = in
	}
}

func TestMeasureAnswer(t *testing.T) {
	for in, want := range map[string]Measure{
		`{"jsonrpc":"2.0","id":1,"result":{ "b": 1, "a": [ ] }}`:         {14, 4},
		`{"jsonrpc":"2.0","id":1,"error":{"message":"x","code":-32601}}`: {29, 8},
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                           {2, 1},
	} {
		if got, ok := MeasureAnswer([]byte(in)); !ok || got != want {
			t.Errorf("%s: %+v, %t; want %+v", in, got, ok, want)
		}
	}
	for _, in := range []string{``, `{}`, `{"method":"ping"}`, `{"result":{"a":1,"a":2}}`, `{"result":`} {
		if got, ok := MeasureAnswer([]byte(in)); ok {
			t.Errorf("%s: %+v", in, got)
		}
	}
}

func TestTools(t *testing.T) {
	got, ok := Tools([]byte(`{"id":1,"result":{"tools":[{"name":"b","x":1},7,{"title":"nameless"},{"x":1,"name":"a"},{"name":"c","d":"\ud800"}]}}`))
	if !ok || len(got) != 3 || got[0].Name != "b" || got[1].Name != "a" || got[2].Name != "c" {
		t.Fatalf("%+v, %t", got, ok)
	}
	if got[0].Fingerprint == got[1].Fingerprint || string(got[0].Definition) != `{"name":"b","x":1}` || got[2].Fingerprint != "" {
		t.Errorf("%+v", got)
	}
	for _, in := range []string{`{"result":{"tools":{}}}`, `{"result":{}}`, `{"error":{}}`, `[`, ``} {
		if _, ok := Tools([]byte(in)); ok {
			t.Errorf("%s has tools", in)
		}
	}
}

// FuzzCanonical: total; what comes out means the same, is its own canonical form, and does not depend on the order of names.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{definition, `[1e30,-0,"\u20ac",{"é":1,"\r":[]}]`, `{"a":1,"a":2}`, `"\ud800"`, ` 1e400`, "\"\xff\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := Canonical(in)
		if err != nil {
			return
		}
		var a, b any
		if json.Unmarshal(in, &a) != nil || json.Unmarshal(got, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%q means other than %q", got, in)
		}
		for _, again := range [][]byte{got, respell(bytes.TrimSpace(got))} {
			if same, err := Canonical(again); err != nil || !bytes.Equal(same, got) {
				t.Fatalf("%q gives %q, %v; want %q", again, same, err, got)
			}
		}
	})
}
