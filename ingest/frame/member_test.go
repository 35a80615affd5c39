package frame

import (
	"fmt"
	"strings"
	"testing"
)

func TestMembers(t *testing.T) {
	var got []string
	ok := Members([]byte(` { "a" : 1 , "b\u0022":[ {"a":2} ], "c":"x" } `), func(n string, v []byte) { got = append(got, fmt.Sprintf("%s=%s", n, v)) })
	if want := `a=1~b"=[ {"a":2} ]~c="x"`; !ok || strings.Join(got, "~") != want {
		t.Errorf("%q, %t", got, ok)
	}
	for in, want := range map[string]bool{`{}`: true, ` { } `: true, `{"a":1}x`: false, `{"a":1,}`: false, `{,}`: false, `[]`: false, ``: false, `{"a"}`: false, `{"a":`: false, `{"a":1`: false} {
		if got := Members([]byte(in), func(string, []byte) {}); got != want {
			t.Errorf("%s: %t", in, got)
		}
	}
}

func TestElements(t *testing.T) {
	var got []string
	if !Elements([]byte(`[1, [2,3] ,"x"]`), func(v []byte) { got = append(got, string(v)) }) || strings.Join(got, "~") != `1~[2,3]~"x"` {
		t.Errorf("%q", got)
	}
	for in, want := range map[string]bool{`[]`: true, `[1]x`: false, `[1,]`: false, `{}`: false, `[1`: false} {
		if got := Elements([]byte(in), func([]byte) {}); got != want {
			t.Errorf("%s: %t", in, got)
		}
	}
}

func TestMember(t *testing.T) {
	b := []byte(`{"a":{"b":"\u0041\n"},"a":2}`)
	if s, ok := Text(Member(Member(b, "a"), "b")); !ok || s != "A\n" {
		t.Errorf("%q, %t", s, ok)
	}
	if Member(b, "c") != nil || Member(nil, "c") != nil {
		t.Error("a member that is not there")
	}
	if _, ok := Text([]byte(`7`)); ok {
		t.Error("7 is no string")
	}
}
