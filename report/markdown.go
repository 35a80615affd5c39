package report

import (
	"fmt"
	"io"
	"strings"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
)

// Markdown writes the diagnosis as a section of a post-mortem: a summary, each kind of stall with a timeline for each side and a
// sequence diagram, what else is worth knowing, the next steps, and what could not be told.
func Markdown(w io.Writer, d *diagnose.Diagnosis, s Style) error {
	m := &markdown{w: w, d: d, all: s.All, short: shortNames(d)}
	found, others := told(d, s.All)
	m.summary(found, others)
	for i, k := range found {
		m.kind(i+1, k)
	}
	m.others()
	m.nextSteps(found)
	m.untold(found)
	m.logs()
	return m.err
}

// markdown writes one document. Text of a log goes through code, prose or mermaid on its way in.
type markdown struct {
	w     io.Writer
	d     *diagnose.Diagnosis
	all   bool
	short *strings.Replacer
	err   error
}

func (m *markdown) printf(format string, args ...any) {
	if m.err == nil {
		_, m.err = fmt.Fprintf(m.w, format, args...)
	}
}

// table writes rows whose cells are Markdown already.
func (m *markdown) table(heads []string, rows [][]string) {
	m.printf("| %s |\n|%s\n", strings.Join(heads, " | "), strings.Repeat(" --- |", len(heads)))
	for _, row := range rows {
		m.printf("| %s |\n", strings.Join(row, " | "))
	}
	m.printf("\n")
}

func (m *markdown) summary(found, others []*kindOfStall) {
	s := m.d.Summary
	m.printf("## MCP calls: %s of %s stalled\n\n", diagnose.Thousands(int64(s.Stalled)), diagnose.Thousands(int64(s.Calls)))
	for i, k := range found {
		m.printf("%d. **%s × %s: %s** Cause: %s.\n", i+1, diagnose.Thousands(int64(len(k.calls))), code(k.tool), verdictLine(k.calls[0]), k.causeWords())
	}
	if len(found) == 0 {
		m.printf("Nothing is stalled.\n")
	}
	if len(others) > 0 {
		m.printf("\n%s (`--all` tells them).\n", otherKinds(others))
	}
	m.printf("\n")
	var rows [][]string
	for _, leaf := range diagnose.Leaves() {
		rows = append(rows, []string{leaf.Words(), diagnose.Thousands(int64(s.Leaf[leaf])), lookAt(leaf)})
	}
	if s.NoLeaf > 0 {
		rows = append(rows, []string{"no leaf", diagnose.Thousands(int64(s.NoLeaf)), "a log: it does not decide"})
	}
	m.table([]string{"stopped at", "calls", "who looks next"}, rows)
	m.printf("Calls are joined on the request id. Every time is a difference on one log's own clock; nothing is ordered or subtracted across the two.\n\n")
}

// causeWords is the cause of a kind, and how sure it is.
func (k *kindOfStall) causeWords() string {
	if k.cause == diagnose.None {
		return "none can be told"
	}
	return code(k.cause) + " (" + k.calls[0].Causes[0].Status() + ")"
}

// verdictLine is the verdict as one sentence.
func verdictLine(c *diagnose.Call) string {
	where, why := verdict(c)
	return where + why
}

// kind tells the stalls of one kind: the first few whole, the others as a table.
func (m *markdown) kind(n int, k *kindOfStall) {
	m.printf("### %d. %s: %s\n\n", n, code(k.tool), k.leaf.Words())
	for i, c := range k.calls {
		if i == 1 && !m.all {
			break
		}
		m.call(c, k.casualties[c])
	}
	if rest := k.calls[1:]; len(rest) > 0 && !m.all {
		m.likewise(rest)
	}
}

// call tells one stalled call.
func (m *markdown) call(c *diagnose.Call, casualties []*diagnose.Call) {
	m.printf("Id %s, %s. **%s**\n\n", code(string(c.ID())), inSession(c), verdictLine(c))
	m.diagram(c)
	for _, h := range []diagnose.Half{c.Sent, c.Served} {
		m.timeline(c, h)
	}
	m.stages(c)
	for i, cause := range c.Causes {
		label := map[bool]string{true: "Cause", false: "Or"}[i == 0]
		if cause.Name == diagnose.None {
			m.printf("- **%s**: none can be told — %s\n", label, prose(cause.Evidence()))
			continue
		}
		m.printf("- **%s** (%s): %s — %s\n", label, cause.Status(), code(cause.Name), prose(cause.Evidence()))
	}
	for _, h := range c.Hints {
		m.printf("- **Hint**: %s (%s)\n", prose(h.Text), codes(h.Lines))
	}
	for _, note := range m.d.NotesOf(c) {
		m.printf("- **Note**: %s\n", prose(note))
	}
	m.printf("- **Next**: %s\n", prose(c.Next()))
	if len(casualties) > 0 {
		m.printf("\nLost along with it: %s.\n\n", count(len(casualties), "call"))
		m.likewise(casualties)
	}
	m.printf("\n")
}

func inSession(c *diagnose.Call) string {
	if s := c.Session(); s != "" {
		return "session " + code(s)
	}
	return fmt.Sprintf("connection %d", c.Connection())
}

func codes(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, code(s))
	}
	return strings.Join(out, ", ")
}

// timeline is what one log shows of a call, on its clock.
func (m *markdown) timeline(c *diagnose.Call, h diagnose.Half) {
	list := events(c, h)
	if len(list) == 0 {
		return
	}
	var rows [][]string
	for _, e := range list {
		rows = append(rows, []string{e.since(), e.what, code(e.cited)})
	}
	m.table([]string{"on the " + h.Log.Side.String() + "'s clock", "what its log shows", "line"}, rows)
}

func (m *markdown) stages(c *diagnose.Call) {
	s := c.Stages()
	var rows [][]string
	for _, part := range []struct {
		name string
		span diagnose.Span
	}{{"dispatch: read to entered", s.Dispatch}, {"handler: entered to left", s.Handler}, {"flush: left to written", s.Flush}, {"**read to written**", s.Total}, {"residual", s.Residual}} {
		if part.span.OK {
			rows = append(rows, []string{part.name, diagnose.MS(part.span.D)})
		}
	}
	if len(rows) > 0 {
		m.table([]string{"stage on the " + c.Requester.Peer().String() + "'s side", "time"}, rows)
	}
}

// likewiseShown is how many calls of a kind are listed without --all.
const likewiseShown = 20

// likewise lists calls a line each.
func (m *markdown) likewise(calls []*diagnose.Call) {
	var rows [][]string
	for i, c := range calls {
		if i == likewiseShown && !m.all {
			break
		}
		rows = append(rows, []string{code(string(c.ID())), code(toolOf(c)), c.Leaf.Words(), code(c.Session()), sized(c.Bytes(ingest.Request)), sized(c.Bytes(ingest.Answer)), spent(c), code(c.FirstLine())})
	}
	m.table([]string{"id", "call", "stopped at", "session", "request", "answer", "given up after", "line"}, rows)
	if left := len(calls) - len(rows); left > 0 {
		m.printf("… and %s more (`--all` lists them).\n\n", diagnose.Thousands(int64(left)))
	}
}

// spent is how long the requester waited before it gave up; what is known of it.
func spent(c *diagnose.Call) string {
	if d := c.CancelAfter(); d.OK {
		return diagnose.Wait(d.D)
	}
	if d := c.Age(); d.OK && c.Sent.Line(ingest.Answer) == 0 {
		return "not by " + diagnose.Wait(d.D)
	}
	return ""
}

// others are the calls that are slow or followed by silence.
func (m *markdown) others() {
	var rows [][]string
	left := 0
	for _, c := range m.d.Calls {
		if c.Stalled || !c.Problem() {
			continue
		}
		if len(rows) == likewiseShown && !m.all {
			left++
			continue
		}
		word := map[bool]string{true: "slow", false: "silence after it"}[c.Slow]
		rows = append(rows, []string{word, code(string(c.ID())), code(toolOf(c)), code(c.Session()), ms(c.Wait()), prose(firstCause(c)), code(c.FirstLine())})
	}
	if len(rows) == 0 {
		return
	}
	m.printf("### Slow, or followed by silence\n\n")
	m.table([]string{"", "id", "call", "session", "waited", "why", "line"}, rows)
	if left > 0 {
		m.printf("… and %s more (`--all` lists them).\n\n", diagnose.Thousands(int64(left)))
	}
}

func firstCause(c *diagnose.Call) string {
	if len(c.Causes) == 0 {
		return ""
	}
	return c.Causes[0].Name + ": " + c.Causes[0].Evidence()
}

// nextSteps lists each step once, with the kinds that it is for.
func (m *markdown) nextSteps(found []*kindOfStall) {
	if len(found) == 0 {
		return
	}
	m.printf("### Next steps\n\n")
	var order []string
	kinds := map[string][]string{}
	for i, k := range found {
		step := k.calls[0].Next()
		if kinds[step] == nil {
			order = append(order, step)
		}
		kinds[step] = append(kinds[step], fmt.Sprint(i+1))
	}
	for _, step := range order {
		m.printf("- [ ] %s (%s)\n", prose(step), strings.Join(kinds[step], ", "))
	}
	m.printf("\n")
}

// untold says what the logs do not decide, so that nobody takes silence for an answer.
func (m *markdown) untold(found []*kindOfStall) {
	m.printf("### What could not be told\n\n")
	rows, left := [][]string{}, 0
	for _, c := range m.d.Calls {
		if c.Leaf != diagnose.NoLeaf {
			continue
		}
		if len(rows) == likewiseShown && !m.all {
			left++
			continue
		}
		rows = append(rows, []string{code(string(c.ID())), code(toolOf(c)), code(c.Session()), strings.ReplaceAll(string(c.Reason), "_", " "), prose(firstCause(c))})
	}
	m.printf("- Network time between the two ends: that needs one clock for both.\n")
	for _, k := range found {
		if k.cause == diagnose.None {
			m.printf("- Why %s stopped: %s\n", code(k.tool), prose(k.calls[0].Causes[0].Evidence()))
		}
	}
	for _, l := range m.d.Logs {
		for _, warning := range m.d.LogWarnings(l) {
			m.printf("- %s log: %s\n", l.Side, prose(warning))
		}
	}
	if !m.d.BothSides() {
		m.printf("- There is no log of the %s: where the two would have to be compared, the answer is unknown.\n", m.d.Logs[0].Side.Peer())
	}
	m.printf("\n")
	if len(rows) > 0 {
		m.table([]string{"id", "call", "session", "no leaf", "why"}, rows)
	}
	if left > 0 {
		m.printf("… and %s more without a leaf (`--all` lists them).\n\n", diagnose.Thousands(int64(left)))
	}
}

func (m *markdown) logs() {
	m.printf("### The logs\n\n")
	var rows [][]string
	for _, l := range m.d.Logs {
		lines := ""
		if l.FirstLine != 0 {
			lines = fmt.Sprintf("%d–%d", l.FirstLine, l.LastLine)
		}
		rows = append(rows, []string{l.Side.String(), code(l.Path), code(l.Dialect.Name), diagnose.Thousands(int64(l.Records)), lines, strings.Join(l.Dialect.Sees.Missing(), ", ")})
	}
	m.table([]string{"side", "file", "dialect", "records", "lines", "cannot see"}, rows)
	for _, f := range m.d.Findings {
		who := ""
		if f.Log != nil {
			who = f.Log.Side.String() + " log: "
		}
		m.printf("- %s: %s%s\n", f.Severity, who, prose(f.Text))
	}
}

// toolOf names what was called: the method, and the tool where there is one.
func toolOf(c *diagnose.Call) string {
	return strings.TrimSpace(c.Method() + " " + c.Name())
}
