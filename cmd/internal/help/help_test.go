package help

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
)

func TestFit(t *testing.T) {
	const long = `Says what it does in a sentence that goes on for longer than any terminal is wide, which is why it
has to be broken.

  one   is the first of the items, and what is said of it goes on for longer than a line has room for,
        and on
  three is no label`
	const want = `Says what it does in a sentence that goes on for longer than any terminal is
wide, which is why it has to be broken.

  one   is the first of the items, and what is said of it goes on for longer
        than a line has room for, and on
  three is no label

Usage:
  say [flags]

Flags:
  -h, --help        help for say
      --word WORD   the WORD to say, of which nothing is known but that it comes
                    at the end
`
	c := &cobra.Command{Use: "say", Long: long, RunE: func(*cobra.Command, []string) error { return nil }}
	c.Flags().String("word", "", "the `WORD` to say, of which nothing is known but that it comes at the end")
	Fit(c)
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetArgs([]string{"--help"})
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
