package report

import (
	"io"

	"mcpdiag/diagnose"
)

// Style is what a terminal can show.
type Style struct {
	Width int  // columns
	Color bool // only on a terminal, and never with NO_COLOR
	All   bool // list the healthy calls too
}

// Format is a way to write a diagnosis.
type Format struct {
	Name  string
	About string
	Write func(io.Writer, *diagnose.Diagnosis, Style) error
	Every bool // it says something of every call, healthy ones too
}

// Formats lists the formats; the first is the default.
func Formats() []Format {
	return []Format{
		{"text", "for a terminal", Text, false},
		{"json", "one document, schema " + Schema, JSON, false},
		{"ndjson", "one call on a line", NDJSON, false},
		{"html", "one page to open in a browser, with pictures; needs no network", HTML, true},
		{"markdown", "a section of a post-mortem, with sequence diagrams", Markdown, false},
	}
}

// ByName finds a format.
func ByName(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}
