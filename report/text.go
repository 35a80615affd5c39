package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// examples is how many calls of a kind are told one by one; of more, this many are examples.
const examples = 3

// Text writes the diagnosis for a terminal: the logs, the counts, a block for each stalled call, then what is less urgent.
func Text(w io.Writer, d *diagnose.Diagnosis, s Style) error {
	p := newPrinter(w, s)
	p.short = shortNames(d)
	p.logs(d)
	p.findings(d, func(severity string) bool { return severity == "error" })
	p.counts(d)
	p.stalls(d)
	p.slow(d)
	p.quiet(d)
	p.unplaced(d)
	p.delivered(d)
	if s.All {
		p.rest(d)
	}
	p.findings(d, func(severity string) bool { return severity != "error" })
	p.footnotes()
	return p.err
}

// shortNames lets the text cite a log by its file's name alone where that says which: the whole path stands at the top.
func shortNames(d *diagnose.Diagnosis) *strings.Replacer {
	var pairs []string
	seen := map[string]string{}
	for _, l := range d.Logs {
		for _, path := range l.Paths() {
			name := filepath.Base(path)
			if other, ok := seen[name]; ok && other != path {
				return strings.NewReplacer()
			}
			seen[name] = path
			pairs = append(pairs, path+":", name+":")
		}
	}
	return strings.NewReplacer(pairs...)
}

func (p *printer) logs(d *diagnose.Diagnosis) {
	wide := 0
	for _, l := range d.Logs {
		wide = max(wide, len(frame.Escape(l.Path)))
	}
	for _, l := range d.Logs {
		what := fmt.Sprintf("%s, %s", l.Dialect.Name, count(int(l.Records), "record"))
		if l.FirstLine != 0 {
			what += fmt.Sprintf(", lines %d–%d", l.FirstLine, l.LastLine)
		}
		if missing := l.Dialect.Sees.Missing(); len(missing) > 0 {
			what += "; cannot see " + strings.Join(missing, ", ")
		}
		if wide > p.style.Width/2 { // what is said of the log would be squeezed beside it
			p.line(fmt.Sprintf("%-6s  %s", l.Side, frame.Escape(l.Path)))
			p.hang("        ", what)
		} else {
			p.hang(fmt.Sprintf("%-6s  %-*s  ", l.Side, wide, frame.Escape(l.Path)), what)
		}
		for _, warning := range d.LogWarnings(l) {
			p.hang("        "+p.paint(yellow, "! "), warning)
		}
	}
	if !d.BothSides() {
		p.hang(fmt.Sprintf("%-6s  ", d.Logs[0].Side.Peer()), "no log: where the two would have to be compared, the answer is unknown")
	}
	p.line("")
}

// counts prints how many calls stopped where. It is the whole story of a healthy pair of logs.
func (p *printer) counts(d *diagnose.Diagnosis) {
	s := d.Summary
	head := p.paint(bold, count(s.Calls, "call"))
	for _, part := range []struct {
		n    int
		word string
		ink  ink
	}{{s.Stalled, "stalled", red}, {s.Slow, "slow", yellow}, {s.Quiet, "followed by silence", yellow}, {s.NoLeaf, "that cannot be placed", yellow}} {
		if part.n > 0 {
			head += ", " + p.paint(part.ink, diagnose.Thousands(int64(part.n))+" "+part.word)
		}
	}
	if s.Stalled == 0 {
		head += ", " + p.paint(green, "none stalled")
	}
	p.hang("", head)
	rows := [][]string{}
	for _, leaf := range diagnose.Leaves() {
		rows = append(rows, []string{leaf.Words(), diagnose.Thousands(int64(s.Leaf[leaf])), lookAt(leaf)})
	}
	if s.NoLeaf > 0 {
		rows = append(rows, []string{"no leaf", diagnose.Thousands(int64(s.NoLeaf)), "a log: it does not decide"})
	}
	p.table([]string{"stopped at", "calls", "who looks next"}, rows, 1)
	p.line("")
}

func lookAt(l diagnose.Leaf) string {
	switch l {
	case diagnose.NeverArrived:
		return "the client, or what is in front of the server"
	case diagnose.NeverWritten:
		return "the server's handler"
	case diagnose.WrittenNotRead:
		return "the client's reader, or the transport"
	}
	return "nobody below the agent"
}

// title names a call.
func title(c *diagnose.Call) string {
	t := "id " + string(c.ID()) + " " + c.Method()
	if c.NoID() {
		t = "no id " + c.Method()
	}
	if c.Name() != "" {
		t += " " + c.Name()
	}
	if c.Requester == frame.Server {
		t += " (asked by the server)"
	}
	if s := c.Session(); s != "" {
		t += ", session " + s
	} else if c.Connection() > 1 {
		t += fmt.Sprintf(", connection %d", c.Connection())
	}
	if c.ByOrder() {
		t += " — paired by tool and order, not by id: likely, not certain"
	}
	return t
}

// block tells one stalled call.
func (p *printer) block(d *diagnose.Diagnosis, c *diagnose.Call, casualties []*diagnose.Call) {
	p.hang(p.paint(red, "STALLED ")+" ", title(c))
	p.hang("  ", p.sentence(c)+p.marks(d.NotesOf(c)))
	p.field("request", p.request(c))
	if s := p.answer(c); s != "" {
		p.field("answer", s)
	}
	if s := stages(c); s != "" {
		p.field(c.Requester.Peer().String(), s)
	}
	p.field(c.Requester.String(), waited(c))
	p.causes(c, "")
	p.field("next", c.Next())
	p.also(casualties)
	p.line("")
}

// sentence says in words where the call stopped.
func (p *printer) sentence(c *diagnose.Call) string {
	where, why := verdict(c)
	return p.paint(bold, where) + why
}

// verdict says in words where the call stopped: the place, and what that means.
func verdict(c *diagnose.Call) (where, why string) {
	asker, peer := c.Requester.String(), c.Requester.Peer().String()
	switch c.Leaf {
	case diagnose.NeverArrived:
		return "never arrived", fmt.Sprintf(": the %s sent the request; the %s's log does not have it.", asker, peer)
	case diagnose.NeverWritten:
		return "never written", fmt.Sprintf(": the %s read the request and wrote no answer.", peer)
	case diagnose.WrittenNotRead:
		return "written, not read", fmt.Sprintf(": the %s wrote the answer; the %s never logged it.", peer, asker)
	case diagnose.AgentLevel:
		if !c.Stalled {
			return "delivered", fmt.Sprintf(": the %s read the answer.", asker)
		}
		return "delivered", fmt.Sprintf(", but too late: the %s had given up.", asker)
	}
	if c.Reason == diagnose.LogIncomplete {
		return "no leaf", ": a log is incomplete."
	}
	return "no leaf", ": what the logs show does not decide where it stopped."
}

func (p *printer) request(c *diagnose.Call) string {
	return facts(sized(c.Bytes(ingest.Request)), cited("sent", c.Sent, ingest.Request), cited("read", c.Served, ingest.Request))
}

func (p *printer) answer(c *diagnose.Call) string {
	if c.Served.Line(ingest.Answer) == 0 && c.Sent.Line(ingest.Answer) == 0 {
		return ""
	}
	rows := ""
	if n, b := c.Rows(), c.Bytes(ingest.Answer); n > 0 && b != frame.Unknown {
		rows = fmt.Sprintf("%s (%.2f B a row)", count(int(n), "row"), float64(b)/float64(n))
	}
	return facts(sized(c.Bytes(ingest.Answer)), cited("written", c.Served, ingest.Answer), cited("read", c.Sent, ingest.Answer), rows)
}

// cited says where a point stands, or that it does not.
func cited(verb string, h diagnose.Half, pt ingest.Point) string {
	if line := h.Line(pt); line != 0 {
		return verb + " " + diagnose.Cite(h.Log, line)
	}
	return ""
}

func sized(n int64) string {
	if n == frame.Unknown {
		return ""
	}
	return diagnose.Thousands(n) + " B"
}

func facts(parts ...string) string {
	var known []string
	for _, s := range parts {
		if s != "" {
			known = append(known, s)
		}
	}
	return strings.Join(known, ", ")
}

// stages tells the responder's times as a sum, and the lines that they rest on.
func stages(c *diagnose.Call) string {
	sum, where := stageWords(c)
	if sum != "" && where != "" {
		return sum + " (" + where + ")"
	}
	return sum + where
}

func stageWords(c *diagnose.Call) (sum, where string) {
	s := c.Stages()
	var parts []string
	for _, part := range []struct {
		name string
		span diagnose.Span
	}{{"dispatch", s.Dispatch}, {"handler", s.Handler}, {"flush", s.Flush}} {
		if part.span.OK {
			parts = append(parts, part.name+" "+diagnose.MS(part.span.D))
		}
	}
	sum = strings.Join(parts, " + ")
	switch {
	case s.Residual.OK:
		sum += fmt.Sprintf(" = %s, residual %s", diagnose.MS(s.Total.D), diagnose.MS(s.Residual.D))
	case s.Total.OK && sum == "":
		sum = fmt.Sprintf("read to written %s, not divided", diagnose.MS(s.Total.D))
	case s.Total.OK:
		sum += fmt.Sprintf(", in all %s", diagnose.MS(s.Total.D))
	}
	return sum, facts(cited("entered", c.Served, ingest.Enter), cited("left", c.Served, ingest.Exit))
}

// waited tells how long the requester waited, and what it did then.
func waited(c *diagnose.Call) string {
	if !c.Sent.OK() {
		return "its log does not have the call"
	}
	var parts []string
	if f := c.Sent.Fact(); c.Sent.Has(ingest.Refused) {
		what := "refused" + httpStatus(f.RefusedStatus)
		if d, ok := f.RefusedAt.Sub(c.Sent.At(ingest.Request)); ok {
			what += " after " + diagnose.Wait(d)
		}
		parts = append(parts, what+" ("+diagnose.Cite(c.Sent.Log, f.RefusedLine)+")")
	}
	if line := c.Sent.Line(ingest.Cancel); line != 0 {
		what := "cancelled"
		if c.Sent.Has(ingest.LocalEnd) {
			what = "gave up by its own word, no cancel shown,"
		}
		if d := c.CancelAfter(); d.OK {
			what += " after " + diagnose.Wait(d.D)
		}
		parts = append(parts, what+" ("+diagnose.Cite(c.Sent.Log, line)+")")
	}
	if c.Sent.Has(ingest.Acked) {
		parts = append(parts, fmt.Sprintf("the cancel was acknowledged (%s)", diagnose.Cite(c.Sent.Log, c.Sent.Fact().AckLine)))
	}
	if w := c.Wait(); w.OK {
		parts = append(parts, "had the answer after "+diagnose.Wait(w.D))
	}
	if len(parts) == 0 {
		if age := c.Age(); age.OK {
			return "no answer and no cancel for " + diagnose.Wait(age.D) + ", to the end of its log"
		}
		return "no answer and no cancel"
	}
	return strings.Join(parts, "; ")
}

func httpStatus(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" with HTTP %d", n)
}

// causes tells the first cause and the candidates; whose says of which call the evidence is, where there are several.
func (p *printer) causes(c *diagnose.Call, whose string) {
	for i, cause := range c.Causes {
		name := p.paint(bold, cause.Name)
		if !cause.Found {
			name = "perhaps " + cause.Name
		}
		label := "cause"
		if i > 0 {
			label = ""
		}
		p.field(label, name+": "+whose+cause.Evidence())
	}
	for _, h := range c.Hints {
		p.field("hint", h.Text+" ("+strings.Join(h.Lines, ", ")+")")
	}
}

// also lists the casualties of a call in a line or two.
func (p *printer) also(calls []*diagnose.Call) {
	if len(calls) == 0 {
		return
	}
	var ids []string
	for _, c := range calls {
		if len(ids) == 8 && len(calls) > 9 && !p.style.All {
			ids = append(ids, "…")
			break
		}
		ids = append(ids, fmt.Sprintf("%s %s (%s, %s)", c.ID(), strings.TrimSpace(c.Method()+" "+c.Name()), c.Leaf.Words(), c.FirstLine()))
	}
	p.field("also", fmt.Sprintf("%s lost to this: id %s", count(len(calls), "call"), strings.Join(ids, "; id ")))
}

// slow tells the slow calls, a line or two each.
func (p *printer) slow(d *diagnose.Diagnosis) {
	p.briefly(d, "SLOW    ", yellow, func(c *diagnose.Call) bool { return c.Slow && !c.Stalled }, func(c *diagnose.Call) string {
		took := c.Wait()
		who := "waited"
		if !took.OK {
			took, who = c.Stages().Total, "took"
		}
		return fmt.Sprintf("%s %s", who, diagnose.Wait(took.D)) + p.marks(d.NotesOf(c))
	})
}

func (p *printer) quiet(d *diagnose.Diagnosis) {
	p.briefly(d, "SILENCE ", yellow, func(c *diagnose.Call) bool { return c.Quiet && !c.Stalled && !c.Slow }, func(*diagnose.Call) string { return "" })
}

// delivered tells, of a lone log, which calls were: what somebody who has only that log wants to know.
func (p *printer) delivered(d *diagnose.Diagnosis) {
	if d.BothSides() || p.style.All {
		return
	}
	p.briefly(d, "DELIVERED", dim, func(c *diagnose.Call) bool {
		return c.Leaf == diagnose.AgentLevel && !c.Problem()
	}, func(c *diagnose.Call) string {
		text := "agent level: " + facts(cited("sent", c.Sent, ingest.Request), cited("answer read", c.Sent, ingest.Answer))
		if w := c.Wait(); w.OK {
			text += ", after " + diagnose.Wait(w.D)
		}
		return text + p.marks(d.NotesOf(c))
	})
}

func (p *printer) unplaced(d *diagnose.Diagnosis) {
	p.briefly(d, "NO LEAF ", yellow, func(c *diagnose.Call) bool { return c.Leaf == diagnose.NoLeaf && !c.Problem() }, func(c *diagnose.Call) string {
		return strings.ReplaceAll(string(c.Reason), "_", " ") + p.marks(d.NotesOf(c))
	})
}

// briefly tells calls that need no block: title, a word, the cause.
func (p *printer) briefly(d *diagnose.Diagnosis, label string, color ink, want func(*diagnose.Call) bool, word func(*diagnose.Call) string) {
	n := 0
	for c := range diagnose.Walk(d.Calls) {
		if !want(c) {
			continue
		}
		if n++; n > 4*examples && !p.style.All {
			continue
		}
		p.hang(p.paint(color, label)+" ", title(c))
		text := word(c)
		if len(c.Causes) > 0 {
			text = facts(text, c.Causes[0].Name+": "+c.Causes[0].Evidence())
		}
		p.hang("         ", text)
	}
	if n > 4*examples && !p.style.All {
		p.hang("         ", fmt.Sprintf("… and %s more (--all)", diagnose.Thousands(int64(n-4*examples))))
	}
	if n > 0 {
		p.line("")
	}
}

// rest is the table of the calls that went well.
func (p *printer) rest(d *diagnose.Diagnosis) {
	var rows [][]string
	for c := range diagnose.Walk(d.Calls) {
		if c.Problem() || c.Leaf == diagnose.NoLeaf {
			continue
		}
		rows = append(rows, []string{string(c.ID()), strings.TrimSpace(c.Method() + " " + c.Name()), ms(c.Wait()), ms(c.Stages().Total), sized(c.Bytes(ingest.Answer)), p.short.Replace(c.FirstLine())})
	}
	if len(rows) > 0 {
		p.table([]string{"id", "call", "waited", "served in", "answer", "line"}, rows, 2, 3, 4)
		p.line("")
	}
}

func ms(s diagnose.Span) string {
	if !s.OK {
		return ""
	}
	return diagnose.Wait(s.D)
}

// findings tells what is odd: errors first of all, since they may undo the rest, all else last.
func (p *printer) findings(d *diagnose.Diagnosis, want func(severity string) bool) {
	n := 0
	for _, f := range d.Findings {
		if !want(f.Severity) {
			continue
		}
		n++
		who := ""
		if f.Log != nil {
			who = f.Log.Side.String() + " log: "
		}
		p.hang(p.paint(severityInk(f.Severity), fmt.Sprintf("%-8s", strings.ToUpper(f.Severity)))+" ", who+f.Text)
	}
	if n > 0 {
		p.line("")
	}
}

func severityInk(severity string) ink {
	switch severity {
	case "warning":
		return yellow
	case "error":
		return red
	}
	return dim
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return diagnose.Thousands(int64(n)) + " " + noun + "s"
}

// Stalled writes the block of one call that has stalled, with its notes.
func Stalled(w io.Writer, d *diagnose.Diagnosis, c *diagnose.Call, s Style) error {
	p := newPrinter(w, s)
	p.short = shortNames(d)
	p.block(d, c, nil)
	if len(p.notes) > 0 {
		p.footnotes()
		p.line("")
	}
	return p.err
}

// Recovered writes that a stalled call was answered after all.
func Recovered(w io.Writer, d *diagnose.Diagnosis, c *diagnose.Call, s Style) error {
	p := newPrinter(w, s)
	p.short = shortNames(d)
	p.hang(p.paint(green, "ANSWERED")+" ", title(c))
	p.field("answer", p.answer(c))
	p.field(c.Requester.String(), waited(c))
	p.line("")
	return p.err
}
