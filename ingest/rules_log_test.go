package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// repeatEach writes each line k times, step ms apart.
func repeatEach(k int, step float64, times []float64, rest []string) string {
	var out []string
	for i, r := range rest {
		for n := range k {
			out = append(out, fmt.Sprintf("%g %s", times[i]+float64(n)*step, r))
		}
	}
	return strings.Join(out, "\n")
}

var (
	copyTimes  = []float64{0, 20, 100, 150, 600, 900}
	copyFrames = []string{"> req 1 bytes=80", "< res 1 bytes=700", "> req 2 bytes=81", "< ntf method=notifications/message bytes=40", "< ntf method=notifications/message bytes=40", "< res 2 bytes=900"}
)

// TestCopies: a log that was captured at k points is folded to one.
func TestCopies(t *testing.T) {
	whole := func(k int, step float64) string { return repeatEach(k, step, copyTimes, copyFrames) }
	for _, tt := range []struct {
		name, script string
		copies       int
		folded       bool // what is left is the log as one point would have it
	}{
		{"once", whole(1, 0), 1, true},
		{"two points", whole(2, 0.7), 2, true},
		{"three points", whole(3, 0.9), 3, true},
		{"at the same instant", whole(3, 0), 3, true},
		{"more than a hop apart", whole(2, 2.1), 1, false},
		{"one frame has no copy", whole(2, 0.7) + "\n950 < ntf method=notifications/message bytes=41", 1, false},
		{"the first frame alone", "-90 > req 0 bytes=3\n" + whole(2, 0.7), 1, false},
		{"sizes differ", strings.ReplaceAll(whole(2, 0.7), "20.7 < res 1 bytes=700", "20.7 < res 1 bytes=701"), 1, false},
		{"only two equal notifications, 500 ms apart", "0 < ntf method=notifications/message\n500 < ntf method=notifications/message\n600 > req 1\n601 < res 1", 1, false},
		{"only two equal notifications, at once", "0 < ntf method=notifications/message\n1 < ntf method=notifications/message\n600 > req 1\n601 < res 1", 1, false},
		{"without times nothing can be told", strings.NewReplacer("20.7 ", "- ", "20 ", "- ").Replace(whole(2, 0.7)), 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := logtest.Read(t, frame.Server, tt.script)
			if l.Copies != tt.copies {
				t.Errorf("%d copies, want %d", l.Copies, tt.copies)
			}
			if want := uint64(strings.Count(tt.script, "\n") + 1); l.Records != want {
				t.Errorf("%d records, want %d: copies are records", l.Records, want)
			}
			// Of two equal notifications 450 ms apart none is a copy.
			if n := l.Stretches[0].End[1].Count; tt.folded && (n != 4 || l.Halves() != 2 || len(l.Notes) > 0) {
				t.Errorf("%d messages from the server, halves %s, notes %s", n, sayHalves(l), sayNotes(l))
			}
		})
	}
}

// TestCopiesLong has the pattern broken long after the log's head: then every record stands as it is.
func TestCopiesLong(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "%d > req %d\n%d.5 > req %d\n%d < res %d\n%d.5 < res %d\n", 10*i, i, 10*i, i, 10*i+4, i, 10*i+4, i)
	}
	if l := logtest.Read(t, frame.Server, b.String()); l.Copies != 2 || l.Halves() != 100 {
		t.Errorf("%d copies, %d halves", l.Copies, l.Halves())
	}
	l := logtest.Read(t, frame.Server, b.String()+"2000 > req 900\n2010 < res 900")
	if l.Copies != 1 || l.Halves() != 201 || l.Notes["id_reused_in_flight"] == nil {
		t.Errorf("broken: %d copies, %d halves, notes %s", l.Copies, l.Halves(), sayNotes(l))
	}
}

// TestGaps: losses that the log itself shows.
func TestGaps(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		gaps         int
		notes        string
		verdict      string // on call 5, which the script leaves without an answer
	}{
		{"none", "0 > req 5 seq=1\n1 > req 6 seq=2\n2 < res 6 seq=3", 0, "", "never_written"},
		{"a gap record", "0 > req 5\n1 - gap dropped=4\n2 > req 6\n3 < res 6", 1, "", "cannot_tell"},
		{"a number that never comes", "0 > req 5 seq=1\n1 > req 6 seq=2\n2 < res 6 seq=4", 1, "records_lost:1", "cannot_tell"},
		{"before the call", "0 > req 6 seq=1\n1 < res 6 seq=3\n2 > req 5 seq=4", 1, "records_lost:1", "never_written"},
		{"threads that swap two records", "0 > req 5 seq=1\n1 < res 6 seq=3\n2 > req 6 seq=2", 0, "", "never_written"},
		{"a writer that starts again", "0 > req 6 seq=1\n1 < res 6 seq=2\n2 > req 5 seq=1", 0, "", "never_written"},
		{"it starts at any number", "0 > req 5 seq=907\n1 > req 6 seq=908\n2 < res 6 seq=909", 0, "", "never_written"},
		{"two writers, each with its own numbers", "0 > req 5 session=s pid=1 seq=1\n1 > req 6 session=s pid=2 seq=9\n2 < res 6 session=s pid=2 seq=10\n3 < ntf session=s method=notifications/message pid=1 seq=2", 0, "", "never_written"},
		{"NUL bytes where lines were", "0 > req 5\n!\x00\x00\x00\x00\n2 > req 6\n3 < res 6", 1, "hole:1", "cannot_tell"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := logtest.Read(t, frame.Server, tt.script)
			if l.Gaps != tt.gaps || sayNotes(l) != tt.notes {
				t.Errorf("%d gaps, notes %q; want %d, %q", l.Gaps, sayNotes(l), tt.gaps, tt.notes)
			}
			client := "0 > req 6\n1 > req 5\n9 < res 6"
			if strings.Contains(tt.script, "session=s") {
				client = "0 > req 6 session=s\n1 > req 5 session=s\n9 < res 6 session=s"
			}
			c := logtest.Call(t, logtest.Diagnose(t, logtest.Read(t, frame.Client, client), l), frame.Client, "5", 1)
			if got := logtest.Verdict(c); got != tt.verdict {
				t.Errorf("%s, want %s", got, tt.verdict)
			}
		})
	}
}

// TestHoleKeepsRecord: a record behind a run of NUL bytes is a record.
func TestHoleKeepsRecord(t *testing.T) {
	text := strings.Repeat("\x00", 4096) + logtest.Text(frame.Server, "0 > req 1\n3 < res 1")
	l := logtest.ReadText(t, frame.Server, text)
	if l.Records != 2 || l.Gaps != 1 || len(l.BadLines) != 0 || sayHalves(l) != "1#1 request:1 answer:2" {
		t.Errorf("%d records, %d gaps, bad lines %v, %s", l.Records, l.Gaps, l.BadLines, sayHalves(l))
	}
}

// TestEndHidesNothingAfterEOF: past its stream's end no answer can come, so a bad line there hides none.
func TestEndHidesNothingAfterEOF(t *testing.T) {
	client := "0 > req 5 session=s\n9 > req 6 session=s\n10 < res 6 session=s"
	server := "1 > req 5 session=s\n9 > req 6 session=s\n10 < res 6 session=s\n"
	for _, tt := range []struct{ tail, want string }{
		{"!half a li\n20 < eof session=s", "cannot_tell"},
		{"20 < eof session=s\n!half a li", "never_written"},
		{"20 > eof session=s\n!half a li", "cannot_tell"}, // the client's end of it says nothing of the answers
		{"20 < eof session=t\n!half a li", "cannot_tell"},
		{"20 < eof session=s\n!{\"side\\", "never_written"},
	} {
		c := logtest.Call(t, logtest.Pair(t, client, server+tt.tail), frame.Client, "5", 1)
		if got := logtest.Verdict(c); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.tail, got, tt.want)
		}
	}
}

// TestRotatedSet: several files are one log; each line is cited by its own file.
func TestRotatedSet(t *testing.T) {
	l := logtest.Read(t, frame.Client, "0 > req 1\n5 < res 1\n\n6 > req 2", "900 < res 2\n1000 > req 3", "2000 < res 3")
	if got := sayHalves(l); got != "1#1 request:1 answer:2; 2#1 request:4 answer:5; 3#1 request:6 answer:7" {
		t.Errorf("halves %s", got)
	}
	for line, want := range map[uint32]string{1: "client.log:1", 4: "client.log:4", 5: "client2.log:1", 6: "client2.log:2", 7: "client3.log:1"} {
		if got := diagnose.Cite(l, line); got != want {
			t.Errorf("line %d is %s, want %s", line, got, want)
		}
	}
	if l.Path != "client.log, client2.log, client3.log" || l.Records != 6 || l.Lines != 7 {
		t.Errorf("path %q, %d records, %d lines", l.Path, l.Records, l.Lines)
	}
}

// TestRotatedSetCuts: only the last file's tail is the log's tail; a line that is cut elsewhere is a bad line.
func TestRotatedSetCuts(t *testing.T) {
	half := "0 > req 1\n5 < res 1\n!{\"side\":\"cl\\"
	for _, tt := range []struct {
		files []string
		cut   bool
		bad   string
	}{
		{[]string{half, "900 > req 2\n901 < res 2"}, false, "client.log:3"},
		{[]string{"900 > req 2\n901 < res 2", half}, true, "client2.log:3"},
		{[]string{"900 > req 2\n901 < res 2\\", "0 > req 1"}, false, ""}, // no LF at the end of a file ends its line all the same
	} {
		l := logtest.Read(t, frame.Client, tt.files...)
		bad := ""
		if len(l.BadLines) > 0 {
			bad = diagnose.Cite(l, l.BadLines[0])
		}
		if l.CutTail != tt.cut || bad != tt.bad {
			t.Errorf("%q: cut %t, bad %q", tt.files, l.CutTail, bad)
		}
	}
}

// TestSides: the command line decides whose log a file is; a file whose records all name the other side is read as given, with a warning.
func TestSides(t *testing.T) {
	server := logtest.Text(frame.Server, "0 > req 1\n3 < res 1")
	l := logtest.ReadText(t, frame.Client, server)
	if l.Side != frame.Client || l.OtherSide != 2 || l.Sided != 2 {
		t.Errorf("read as the %s's: %d of %d records name the other side", l.Side, l.OtherSide, l.Sided)
	}
	d := logtest.Diagnose(t, l)
	if w := strings.Join(d.LogWarnings(l), "\n"); !strings.Contains(w, "every record names the server; read as the client's log, as given") {
		t.Errorf("warnings %q", w)
	}
}
