package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
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
	w     io.Writer
	style Style
	notes []string
	short *strings.Replacer // cites logs by their short names
	err   error
}

// defaultWidth is for output that goes to no terminal.
const defaultWidth = 100

func newPrinter(w io.Writer, s Style) *printer {
	if s.Width <= 0 {
		s.Width = defaultWidth
	}
	s.Width = max(s.Width, 40)
	return &printer{w: w, style: s}
}

func (p *printer) line(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, strings.TrimRight(s, " ")+"\n")
	}
}

// painted marks text that paint has coloured, so that escaping can leave it alone.
const (
	paintOn  = "\uE000"
	paintOff = "\uE001"
	paintEnd = "\uE002"
)

func (p *printer) paint(color ink, s string) string {
	s = strings.Map(unpaintable, s)
	if !p.style.Color {
		return s
	}
	return paintOn + string(color) + paintOff + s + paintEnd
}

// unpaintable drops the marks of paint from text that is not ours.
func unpaintable(r rune) rune {
	if r >= 0xE000 && r <= 0xE002 {
		return -1
	}
	return r
}

// clean escapes a text and turns the marks of paint into colour.
func (p *printer) clean(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, paintOn)
		if i < 0 || !p.style.Color {
			b.WriteString(frame.Escape(strings.Map(unpaintable, s)))
			return b.String()
		}
		j, k := strings.Index(s, paintOff), strings.Index(s, paintEnd)
		if j < i || k < j {
			s = strings.Map(unpaintable, s)
			continue
		}
		b.WriteString(frame.Escape(s[:i]))
		fmt.Fprintf(&b, "\x1b[%sm%s\x1b[0m", s[i+len(paintOn):j], frame.Escape(s[j+len(paintOff):k]))
		s = s[k+len(paintEnd):]
	}
}

// visible is how many columns a text takes.
func visible(s string) int {
	n := utf8.RuneCountInString(s)
	for {
		i, j := strings.Index(s, paintOn), strings.Index(s, paintOff)
		if i < 0 || j < i {
			return n
		}
		n -= utf8.RuneCountInString(s[i:j]) + 2
		s = s[j+len(paintOff):]
	}
}

// hang prints text behind a label, wrapped, its further lines hanging under the first.
func (p *printer) hang(label, text string) {
	if p.short != nil {
		text = p.short.Replace(text)
	}
	indent := strings.Repeat(" ", visible(label))
	room := max(p.style.Width-len(indent), 20)
	row := label
	used := 0
	for _, word := range strings.Fields(strings.Map(spaces, text)) {
		n := visible(word)
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
	for _, row := range rows {
		clean := make([]string, len(row))
		for i, cell := range row {
			clean[i] = frame.Escape(cell)
		}
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
