package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestParseScript(t *testing.T) {
	calls, err := parseScript("echo; work bytes=20 deaf=true text=a & pause 20ms; work text=@3")
	if err != nil {
		t.Fatal(err)
	}
	want := "[{echo map[] 0 false} {work map[bytes:20 deaf:true text:a] 0 true} { map[] 20000000 false} {work map[text:xxx] 0 false}]"
	if got := fmt.Sprint(calls); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for _, wrong := range []string{"echo x", "pause soon"} {
		if _, err := parseScript(wrong); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}

// TestCeiling checks that the reader passes over the lines that are too long, and no others.
func TestCeiling(t *testing.T) {
	var bad []string
	line := func(n int) string { return `"` + strings.Repeat("x", n-3) + "\"\n" }
	in := line(10) + line(11) + "no JSON\n" + line(9) + `"last"`
	l := readLines(10)(&client{}, io.NopCloser(strings.NewReader(in))).(*lines)
	l.bad = func(b []byte) { bad = append(bad, string(b)) }
	got, err := io.ReadAll(l)
	if err != nil || string(got) != line(10)+line(9)+`"last"` || fmt.Sprint(bad) != "[no JSON\n]" {
		t.Errorf("%q, bad %q, %v", got, bad, err)
	}
}

func TestFaultNames(t *testing.T) {
	for _, f := range faults() {
		if err := putFault(&client{}, f.name); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
	for _, wrong := range []string{"nonesuch", "lines=1", "line-ceiling=none", "line-ceiling=-5"} {
		if putFault(&client{}, wrong) == nil {
			t.Errorf("%s was taken", wrong)
		}
	}
	var list bytes.Buffer
	listFaults(&list)
	if n := strings.Count(list.String(), "\n"); n != len(faults()) {
		t.Errorf("%d lines", n)
	}
}
