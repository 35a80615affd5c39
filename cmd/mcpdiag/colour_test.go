package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/report"
	"mcpdiag/samples/logtest"
)

// TestStyle: colour is for terminals, never with NO_COLOR and never where TERM says that there is none.
func TestStyle(t *testing.T) {
	for _, tt := range []struct {
		terminal      bool
		noColor, term string
		want          bool
	}{
		{true, "", "xterm", true}, {true, "1", "xterm", false}, {true, "", "dumb", false}, {false, "", "xterm", false}, {false, "1", "", false},
	} {
		e := &env{getenv: func(k string) string { return map[string]string{"NO_COLOR": tt.noColor, "TERM": tt.term}[k] }}
		if s := (writer{terminal: tt.terminal}).style(e, false); s.Color != tt.want {
			t.Errorf("%+v: colour %t", tt, s.Color)
		}
	}
	e := &env{getenv: func(k string) string { return map[string]string{"COLUMNS": "70"}[k] }}
	if s := (writer{}).style(e, true); s.Width != 70 || !s.All {
		t.Errorf("style %+v, want COLUMNS wide", s)
	}
	if s := (writer{width: 132, terminal: true}).style(e, false); s.Width != 132 {
		t.Errorf("style %+v, want as wide as the terminal", s)
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func writeText(t *testing.T, d *diagnose.Diagnosis, s report.Style) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Text(&b, d, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestColourAddsNothing: without its colours the coloured text is the plain text.
func TestColourAddsNothing(t *testing.T) {
	d := logtest.Pair(t, "!oops\n0 > req 1\n3000 < res 1\n3009 > req 2 name=search\n3010 < bad - raw=noise bytes=6\n50000 > eof\n", "0 > req 1\n5 < res 1\n")
	plain, coloured := writeText(t, d, report.Style{All: true}), writeText(t, d, report.Style{All: true, Color: true})
	if !sgr.MatchString(coloured) || strings.Contains(plain, "\x1b") {
		t.Errorf("plain %q\ncoloured %q", plain, coloured)
	}
	if got := sgr.ReplaceAllString(coloured, ""); got != plain {
		t.Errorf("without its colours\n%q\nis not\n%q", got, plain)
	}
}

// TestLogsCannotColour: the marks that the printer sets around colour (U+E000 to U+E002) mean nothing in a log's own text.
func TestLogsCannotColour(t *testing.T) {
	d := logtest.Pair(t, "0 > req 1\n5 < res 1\n9 > req 2 name=x\ue0002J\ue001y\ue002\n50000 > eof\n", "0 > req 1\n5 < res 1\n")
	coloured := writeText(t, d, report.Style{Color: true})
	if rest := sgr.ReplaceAllString(coloured, ""); strings.Contains(rest, "\x1b") {
		i := strings.Index(rest, "\x1b")
		t.Errorf("a log clears the screen: %q", rest[max(0, i-20):min(len(rest), i+20)])
	}
}
