package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mcpdiag/ingest/frame"
	"mcpdiag/report"
)

// outFlags say where and how to write.
type outFlags struct {
	format string
	file   string
}

func (f *outFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.format, "format", report.Formats()[0].Name, "`FORMAT`: "+formatNames())
	c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formatValues(), cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringVarP(&f.file, "out", "o", "", "write to `FILE` instead of standard output")
}

func formatNames() string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// writer is where a report goes.
type writer struct {
	io.Writer
	width    int
	terminal bool
}

// style is what the place that the report goes to can show. Colour is for terminals, never with NO_COLOR, and never where
// TERM says that there is none.
func (w writer) style(e *env, all bool) report.Style {
	color := w.terminal && e.getenv("NO_COLOR") == "" && e.getenv("TERM") != "dumb"
	width := w.width
	if n, err := strconv.Atoi(e.getenv("COLUMNS")); err == nil && n > 0 && !w.terminal {
		width = n
	}
	return report.Style{Width: width, Color: color, All: all}
}

// write hands f the place to write to. A file is written beside and renamed, so that a failure leaves none, and is the
// user's alone: reports quote logs, and logs hold secrets.
func (f *outFlags) write(e *env, write func(writer) error) error {
	if f.file == "" {
		width, terminal := e.terminal(e.stdout)
		b := bufio.NewWriterSize(e.stdout, 64<<10)
		if err := write(writer{b, width, terminal}); err != nil {
			return err
		}
		return b.Flush()
	}
	tmp, err := os.CreateTemp(filepath.Dir(f.file), "."+filepath.Base(f.file)+".*")
	if err != nil {
		return f.refused(err)
	}
	defer os.Remove(tmp.Name())
	b := bufio.NewWriterSize(tmp, 64<<10)
	err = write(writer{Writer: b})
	if err == nil {
		err = b.Flush()
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		if err = os.Rename(tmp.Name(), f.file); err != nil {
			return f.refused(err)
		}
	}
	return err
}

// refused says that the file cannot be written. The name of the one beside it would only puzzle.
func (f *outFlags) refused(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch info, _ := os.Stat(f.file); {
	case info != nil && info.IsDir():
		return &usageError{"cannot write " + frame.Escape(f.file) + ": it is a directory", "name a file in it"}
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("cannot write %s: %w", frame.Escape(f.file), err)
}

// quote shows a text of the user's, or of a log's, safely.
func quote(s string) string { return `"` + frame.Escape(s) + `"` }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
