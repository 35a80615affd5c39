package report

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"mcpdiag/ingest/frame"
)

// ink is a colour. Colour says only what a word beside it says too.
type ink string

const (
	bold   ink = "1"
	dim    ink = "2"
	red    ink = "31;1"
	green  ink = "32"
	yellow ink = "33"
)

// printer writes text for a terminal. Every text is escaped on its way out, in hang and table; only paint makes an escape
// sequence, from this file's own constants.
type printer struct {
	w      io.Writer
	style  Style
	secret string // see paint
	notes  []string
	short  *strings.Replacer // cites logs by their short names
	err    error
	fit    bool // the width is one that somebody sees: no table may be wider
}

// defaultWidth is for output that goes to no terminal.
const defaultWidth = 100

func newPrinter(w io.Writer, s Style) *printer {
	fit := s.Width > 0
	if !fit {
		s.Width = defaultWidth
	}
	s.Width = max(s.Width, 40)
	return &printer{w: w, style: s, secret: rand.Text(), fit: fit}
}

func (p *printer) line(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, strings.TrimRight(s, " ")+"\n")
	}
}

// A text carries its colour between marks until it is escaped on its way out. The marks hold a secret of this printer, so no
// log can write one: begin, the ink, middle, the text, end.
const (
	begin  = "\uE000"
	middle = "\uE001"
	end    = "\uE002"
)

// paint colours a text word by word, since lines are broken between words.
func (p *printer) paint(color ink, s string) string {
	if !p.style.Color {
		return s
	}
	words := strings.Split(s, " ")
	for i, word := range words {
		if word != "" {
			words[i] = begin + p.secret + string(color) + middle + p.secret + word + end + p.secret
		}
	}
	return strings.Join(words, " ")
}

// painted finds the first coloured piece of s: what stands before it, its ink, its text, and what follows.
func (p *printer) painted(s string) (before, color, text, rest string, ok bool) {
	before, s, ok1 := strings.Cut(s, begin+p.secret)
	color, s, ok2 := strings.Cut(s, middle+p.secret)
	text, rest, ok3 := strings.Cut(s, end+p.secret)
	return before, color, text, rest, p.style.Color && ok1 && ok2 && ok3
}

// clean escapes a text and turns the marks of paint into colour.
func (p *printer) clean(s string) string {
	var b strings.Builder
	for {
		before, color, text, rest, ok := p.painted(s)
		if !ok {
			return b.String() + frame.Escape(s)
		}
		fmt.Fprintf(&b, "%s\x1b[%sm%s\x1b[0m", frame.Escape(before), color, frame.Escape(text))
		s = rest
	}
}

// visible is how many columns a text takes.
func (p *printer) visible(s string) int {
	n := 0
	for {
		before, _, text, rest, ok := p.painted(s)
		if !ok {
			return n + columnsOf(frame.Escape(s))
		}
		n += columnsOf(frame.Escape(before) + frame.Escape(text))
		s = rest
	}
}

// columnsOf is how many columns a text takes on a terminal: most Chinese, Japanese and Korean characters take two. It does not ask
// the locale, so that a report is the same everywhere.
func columnsOf(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

const (
	leastRoom  = 20 // columns that a text needs beside its label
	underLabel = "        "
)

// hang prints text behind a label, wrapped, its further lines hanging under the first.
func (p *printer) hang(label, text string) {
	if p.short != nil {
		text = p.short.Replace(text)
	}
	indent := strings.Repeat(" ", p.visible(label))
	if p.style.Width-len(indent) < leastRoom { // a long path: what is said of it goes under it
		p.line(p.clean(label))
		label, indent = underLabel, underLabel
	}
	room := p.style.Width - len(indent)
	row := label
	used := 0
	for _, word := range strings.Fields(strings.Map(spaces, text)) {
		n := p.visible(word)
		if used > 0 && used+1+n > room {
			p.line(p.clean(row))
			row, used = indent, 0
		}
		if used > 0 {
			row += " "
			used++
		}
		row += word
		used += n
	}
	p.line(p.clean(row))
}

// spaces keeps a control character from passing as white space.
func spaces(r rune) rune {
	if r != ' ' && (r < 0x20 || r == 0x85 || r == 0xA0) {
		return '\uFFFD'
	}
	return r
}

// field prints one line of a block.
func (p *printer) field(label, text string) {
	if text != "" {
		p.hang(fmt.Sprintf("  %-8s ", label), text)
	}
}

// marks numbers the notes of a verdict and returns their marks; the notes themselves stand at the end.
func (p *printer) marks(notes []string) string {
	s := ""
	for _, note := range notes {
		n := 0
		for i, known := range p.notes {
			if known == note {
				n = i + 1
			}
		}
		if n == 0 {
			p.notes = append(p.notes, note)
			n = len(p.notes)
		}
		s += fmt.Sprintf(" [%d]", n)
	}
	return s
}

func (p *printer) footnotes() {
	for i, note := range p.notes {
		p.hang(fmt.Sprintf("[%d] ", i+1), note)
	}
}

// table prints rows under their heads; columns named in right are set to the right.
func (p *printer) table(heads []string, rows [][]string, right ...int) {
	var b bytes.Buffer
	align := make(tw.Alignment, len(heads))
	for i := range align {
		align[i] = tw.AlignLeft
	}
	for _, i := range right {
		align[i] = tw.AlignRight
	}
	cells := tw.CellConfig{Alignment: tw.CellAlignment{PerColumn: align}, Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Padding: tw.CellPadding{Global: tw.Padding{Left: "", Right: "  ", Overwrite: true}}}
	t := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{Borders: tw.BorderNone,
			Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone}})),
		tablewriter.WithConfig(tablewriter.Config{Header: cells, Row: cells}))
	t.Header(heads)
	escaped := make([][]string, len(rows))
	for k, row := range rows {
		for _, cell := range row {
			escaped[k] = append(escaped[k], frame.Escape(cell))
		}
	}
	if p.fit {
		shorten(heads, escaped, p.style.Width-len("  "))
	}
	for _, clean := range escaped {
		if err := t.Append(clean); err != nil && p.err == nil {
			p.err = err
		}
	}
	if err := t.Render(); err != nil && p.err == nil {
		p.err = err
	}
	for _, line := range strings.Split(strings.TrimRight(b.String(), "\n"), "\n") {
		p.line("  " + line)
	}
}

const narrowest = 8 // columns that a shortened cell keeps

// shorten cuts the cells of the widest columns until the table is no wider than room: a terminal would wrap its rows, and nobody
// can read those.
func shorten(heads []string, rows [][]string, room int) {
	const gap = 2
	widths := make([]int, len(heads))
	total := 0
	for i, h := range heads {
		widths[i] = twwidth.Width(h)
		for _, row := range rows {
			widths[i] = max(widths[i], twwidth.Width(row[i]))
		}
		total += widths[i] + gap
	}
	limits := slices.Clone(widths)
	for total-gap > room {
		k := slices.Index(limits, slices.Max(limits))
		if limits[k] <= max(narrowest, twwidth.Width(heads[k])) {
			return // it cannot be helped
		}
		limits[k]--
		total--
	}
	for _, row := range rows {
		for i := range row {
			if twwidth.Width(row[i]) > limits[i] {
				row[i] = twwidth.Truncate(row[i], limits[i], "…")
			}
		}
	}
}
