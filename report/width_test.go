package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"

	"mcpdiag/diagnose/audit"
	"mcpdiag/diagnose/inventory"
	"mcpdiag/report"
	"mcpdiag/samples/logtest"
)

// TestNoLineIsWiderThanTheTerminal: neither blocks nor tables, in any text report, on a narrow or a wide terminal.
func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	long := strings.Repeat("very_long_tool_name_", 5)
	crowd := func(end string) string {
		s := "0 > req 1 method=initialize\n5 < res 1"
		for i := range 9 {
			s += fmt.Sprintf("\n%d > req %d name=%s session=session_%s", 10+i, 10+i, long[:90-i%2], long[:20])
			if end == "client" {
				s += fmt.Sprintf("\n%d > ntf method=notifications/cancelled request_id=%d session=session_%s", 5000+i, 10+i, long[:20])
			}
		}
		return s
	}
	d := logtest.Pair(t, crowd("client"), crowd("server"))
	for _, width := range []int{60, 80, 132, 200} {
		var b bytes.Buffer
		if err := report.Text(&b, d, report.Style{Width: width, All: true}); err != nil {
			t.Fatal(err)
		}
		if err := report.Text(&b, sample(t, "incident"), report.Style{Width: width, All: true}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimRight(line, "\n")
			// A word longer than the line stands whole, so that it can be copied.
			if n := utf8.RuneCountInString(line); n > width && len(strings.Fields(line)) > 1 && !strings.Contains(line, "very_long") {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
	}
}

// TestLongPaths: what is said of a log whose path fills the line goes under the path, and not past the line's end.
func TestLongPaths(t *testing.T) {
	d := logtest.Pair(t, "0 > req 1\n5 < res 1", "1 > req 1\n4 < res 1")
	for _, l := range d.Logs {
		l.Path = strings.Repeat("/a_folder", 6) + "/" + l.Path
	}
	var b bytes.Buffer
	if err := report.Text(&b, d, report.Style{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(b.String(), "client.log\n        native, ") {
		t.Errorf("got\n%s", b.String())
	}
}

// TestToolsFit: a long name, a hostile one and one in wide characters leave the tables as wide as the terminal, and what drifted
// shows no character of a name raw or lost.
func TestToolsFit(t *testing.T) {
	names := []string{strings.Repeat("tool_", 40), strings.Repeat("\u65e5\u672c\u8a9e", 20), "new\nline", "\x1b[31mred"}
	server := &inventory.Server{Name: "s", Log: "a.log", Uses: map[string]*inventory.Use{}}
	for _, name := range names {
		server.Uses[name] = &inventory.Use{Calls: 1}
	}
	tools := &report.Tools{Servers: []*inventory.Server{server}, Drifts: []inventory.Drift{{Server: "s", Tool: "new\nline", Change: inventory.Added, Between: "a.log:1 and a.log:2"}}}
	for _, width := range []int{80, 100, 110, 200} {
		var b bytes.Buffer
		if err := report.ToolsText(&b, tools, report.Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := twwidth.Width(strings.TrimRight(line, "\n")); n > width {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
		if !strings.Contains(b.String(), `s: new\nline added`) || strings.ContainsAny(b.String(), "\x1b\ufffd") {
			t.Errorf("names are lost:\n%s", b.String())
		}
	}
}

// TestRulesFit: a narrow terminal shows each rule whole.
func TestRulesFit(t *testing.T) {
	var b bytes.Buffer
	if err := report.AuditRules(&b, report.Style{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	words := strings.Join(strings.Fields(b.String()), " ")
	for _, r := range audit.Rules() {
		if !strings.Contains(words, r.ID+" "+r.Weight.String()+", ") || !strings.Contains(words, r.Text+" ("+r.Spec+")") {
			t.Errorf("%s is not shown whole", r.ID)
		}
	}
}

// TestCrowd: a thousand stalls of one kind are one block with three examples; --all tells each.
func TestCrowd(t *testing.T) {
	var client, server strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&client, "%d > req %d name=search\n", i, i)
	}
	for i := range 1000 {
		fmt.Fprintf(&client, "%d > ntf method=notifications/cancelled request_id=%d\n", 5000+i, i)
		fmt.Fprintf(&server, "%d > req %d name=search\n", i, i)
	}
	d := logtest.Pair(t, client.String(), server.String())
	say := func(all bool) string {
		var b bytes.Buffer
		if err := report.Text(&b, d, report.Style{Width: 80, All: all}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	brief := say(false)
	if n := strings.Count(brief, "\n"); n > 40 || !strings.Contains(brief, "1,000 × tools/call search") || !strings.Contains(brief, "… and 997 more (--all lists them)") {
		t.Errorf("%d lines:\n%s", n, brief)
	}
	if n := strings.Count(brief, ": sent client.log:"); n != 3 {
		t.Errorf("%d examples, want 3", n)
	}
	if n := strings.Count(say(true), "STALLED "); n != 1000 {
		t.Errorf("--all tells %d of 1,000", n)
	}
}
