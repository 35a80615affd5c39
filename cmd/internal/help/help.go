// Package help fits the help of a command to the width of the terminal.
package help

import (
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// The widths that text is fitted to: where there is no terminal, and at most, since a longer line is hard to follow.
const (
	usual  = 80
	widest = 100
	least  = 40
)

// Fit makes the help of a command and all below it fit the terminal that it is written to.
func Fit(root *cobra.Command) {
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		about := c.Long
		if about == "" {
			about = c.Short
		}
		out := c.OutOrStdout()
		width := widthOf(out)
		io.WriteString(out, fill(about, width)+"\n\n"+hang(c.UsageString(), width))
	})
}

func widthOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return max(least, min(width, widest))
		}
	}
	return usual
}

// fill breaks paragraphs anew, and the items of lists.
func fill(text string, width int) string {
	paragraphs := strings.Split(strings.TrimSpace(text), "\n\n")
	for i, p := range paragraphs {
		if strings.Contains("\n"+p, "\n ") {
			paragraphs[i] = hang(joined(p), width)
		} else {
			paragraphs[i] = broken("", p, width)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// labelled is a line of a list of flags or commands: what it is about, a gap, and what is said of it.
var labelled = regexp.MustCompile(`^( +\S.*? {2,})(\S.*)$`)

// joined puts each item of a list on one line.
func joined(list string) string {
	var items []string
	under := "\n" // what the further lines of an item begin with; of no item, what no line does
	for line := range strings.SplitSeq(list, "\n") {
		if strings.HasPrefix(line, under) {
			items[len(items)-1] += " " + strings.TrimSpace(line)
			continue
		}
		items = append(items, line)
		under = "\n"
		if m := labelled.FindStringSubmatch(line); m != nil {
			under = strings.Repeat(" ", utf8.RuneCountInString(m[1]))
		}
	}
	return strings.Join(items, "\n")
}

// hang breaks the lines of lists that are too long, and puts what follows under what is said.
func hang(usage string, width int) string {
	lines := strings.Split(usage, "\n")
	for i, line := range lines {
		if m := labelled.FindStringSubmatch(line); m != nil && utf8.RuneCountInString(line) > width {
			lines[i] = broken(m[1], m[2], width)
		}
	}
	return strings.Join(lines, "\n")
}

// broken breaks text into lines of a width, the first behind a label and the others under it.
func broken(label, text string, width int) string {
	indent := utf8.RuneCountInString(label)
	var b strings.Builder
	b.WriteString(label)
	used := indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case used+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = indent
		default:
			b.WriteString(" ")
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}
