package diagnose

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// noteTexts says, for each kind of note that a fold makes, how bad it is and what it means. The text takes the count.
var noteTexts = map[string]struct{ severity, text string }{
	"duplicate_answer":        {"warning", "%s to an id that was answered before; figures use the first. Some clients close the connection on one"},
	"id_reused":               {"warning", "%s with an id that was used and answered before in the session: legacy versions forbid it, 2026-07-28 allows it"},
	"id_reused_in_flight":     {"error", "%s with the id of one still outstanding: their answers cannot be told apart; every version forbids it"},
	"id_not_integer":          {"warning", "%s whose id is a number and no integer: the spec allows strings and integers"},
	"clock_step":              {"info", "the wall clock was stepped against the monotonic clock, %s"},
	"clock_back":              {"warning", "the log's times go back, %s: intervals across that are not durations"},
	"records_lost":            {"warning", "the writer's numbering has gaps, %s: records were lost there"},
	"hole":                    {"warning", "NUL bytes stand before a line, %s: the file was truncated in place, and what stood before is lost"},
	"cancel_of_unknown":       {"info", "%s of a request that the log does not show"},
	"cancel_after_answer":     {"info", "%s of a request that was already answered"},
	"handler_without_request": {"info", "%s that belong to no outstanding request"},
	"answer_id_lost":          {"warning", "%s whose id was cut off while several requests were outstanding: one of them is answered"},
	"two_clients":             {"warning", "ids of one connection jump back and forth %s: two clients in one file? calls of both may carry one id"},
	"request_id_lost":         {"warning", "%s whose id was cut off: they cannot be joined"},
}

var noteNouns = map[string]string{
	"duplicate_answer": "answer", "id_reused": "request", "id_reused_in_flight": "request", "id_not_integer": "request",
	"cancel_of_unknown": "cancel", "cancel_after_answer": "cancel", "handler_without_request": "handler event",
	"answer_id_lost": "answer", "request_id_lost": "request",
}

// find collects the findings.
func (d *Diagnosis) find(ctx context.Context) error {
	d.swapped()
	for _, l := range d.Logs {
		d.notes(l)
		d.strays(l)
		d.copied(l)
		d.negotiated(l)
	}
	d.ignoredCancels()
	for _, doubt := range d.join.Doubts {
		d.add(doubt.Kind, "warning", doubt.Client.Log, doubt.Line, doubt.Text)
	}
	return d.findOrphans(ctx)
}

func (d *Diagnosis) add(kind, severity string, l *ingest.Log, line uint32, text string) *Finding {
	d.Findings = append(d.Findings, Finding{Kind: kind, Severity: severity, Log: l, Line: line, Text: text})
	return &d.Findings[len(d.Findings)-1]
}

func (d *Diagnosis) notes(l *ingest.Log) {
	kinds := make([]string, 0, len(l.Notes))
	for k := range l.Notes {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	for _, k := range kinds {
		n, t := l.Notes[k], noteTexts[k]
		count := plural(n.Count, noteNouns[k])
		switch {
		case len(n.Text) > 0:
			count = fmt.Sprintf("%s (%s)", times(n.Count), strings.Join(n.Text, ", "))
		case noteNouns[k] == "":
			count = times(n.Count)
		}
		f := d.add(k, t.severity, l, n.Lines[0], fmt.Sprintf(t.text, count)+moreLines(l, n.Lines, n.Count))
		for _, i := range n.Halves {
			f.Calls = append(f.Calls, d.callOf(l, i))
		}
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return plural(n, "time")
}

// moreLines cites the lines of a finding.
func moreLines(l *ingest.Log, lines []uint32, count int) string {
	var cites []string
	for _, n := range lines[:min(len(lines), 3)] {
		cites = append(cites, Cite(l, n))
	}
	if count > len(cites) {
		cites = append(cites, "…")
	}
	return " (" + strings.Join(cites, ", ") + ")"
}

// callOf is a call as one log shows it.
func (d *Diagnosis) callOf(l *ingest.Log, i uint32) *Call {
	c := &Call{Requester: l.Half(i).By}
	if c.Requester == l.Side {
		c.Sent = Half{l, i}
	} else {
		c.Served = Half{l, i}
	}
	return c
}

// strays reports what is on the wire and is no JSON-RPC: one finding for a direction, with the first few prefixes.
func (d *Diagnosis) strays(l *ingest.Log) {
	for _, dir := range []frame.Dir{frame.C2S, frame.S2C} {
		var lines []uint32
		var raws []string
		n := 0
		for _, m := range l.Marks {
			if m.Kind != frame.Invalid || m.Dir != dir || m.Half >= 0 {
				continue
			}
			if n++; n <= 3 {
				lines, raws = append(lines, m.Line), append(raws, fmt.Sprintf("%q", m.Raw))
			}
		}
		if n == 0 {
			continue
		}
		verb := "are"
		if n == 1 {
			verb = "is"
		}
		text := fmt.Sprintf("%s on %s %s not JSON-RPC: %s", plural(n, "line"), dir, verb, strings.Join(raws, ", "))
		d.add("stray_lines", "warning", l, lines[0], text+moreLines(l, lines, n)+"; a stricter reader drops the connection")
	}
}

// actOnCancel is how soon after a cancel a handler that heeds it leaves.
const actOnCancel = time.Second

// ignoredCancels reports cancels that were read while the handler ran on: nothing stalls by that, and the work was for nobody.
func (d *Diagnosis) ignoredCancels() {
	var calls []*Call
	n := 0
	for c := range Walk(d.Calls) {
		h := c.Served
		if h.Line(ingest.Cancel) == 0 || h.Line(ingest.Enter) == 0 {
			continue
		}
		if ran, ok := h.Between(ingest.Cancel, ingest.Exit); h.Line(ingest.Exit) != 0 && (!ok || ran < actOnCancel) {
			continue
		}
		if n++; len(calls) < 3 {
			calls = append(calls, c)
		}
	}
	if n == 0 {
		return
	}
	h := calls[0].Served
	text := fmt.Sprintf("%s read while the handler ran on for %s or longer, first that of id %s (%s)", plural(n, "cancel"), Wait(actOnCancel), calls[0].ID(), Cite(h.Log, h.Line(ingest.Cancel)))
	d.add("cancel_not_heeded", "info", h.Log, h.Line(ingest.Cancel), text).Calls = calls
}

func (d *Diagnosis) copied(l *ingest.Log) {
	if l.Copies > 1 {
		d.add("copies", "info", l, l.FirstLine, fmt.Sprintf("every frame stands there %d times (same direction, id, method and size within 2 ms): captured at %d points; folded", l.Copies, l.Copies))
	}
}

// swapped notices logs that were given the wrong way round.
func (d *Diagnosis) swapped() {
	if !d.BothSides() {
		return
	}
	both := true
	for _, l := range d.Logs {
		both = both && l.Sided > 0 && l.OtherSide == l.Sided
	}
	if both {
		d.add("swapped", "error", nil, 0, fmt.Sprintf("the logs look swapped: every record of %s names the server, and every record of %s the client; they were read as given", d.Log(frame.Client).Path, d.Log(frame.Server).Path))
	}
}

// listChanged is the capability that a notification of a changed list takes.
var listChanged = map[string]string{
	"notifications/tools/list_changed": "tools.listChanged", "notifications/prompts/list_changed": "prompts.listChanged",
	"notifications/resources/list_changed": "resources.listChanged", "notifications/roots/list_changed": "roots.listChanged",
}

// negotiated reports notifications whose capability was never declared: nothing is wrong on the wire, and the peer may
// ignore them. Without capabilities in the log nothing can be told.
func (d *Diagnosis) negotiated(l *ingest.Log) {
	told := map[string]bool{}
	for _, m := range l.Marks {
		want := listChanged[m.Method]
		sender := m.Dir.From()
		if m.Kind != frame.Notification || want == "" || sender != l.Side.Peer() || told[m.Method] {
			continue
		}
		st := l.Stretches[m.Stretch]
		caps := st.Caps[sender-frame.Client]
		if caps == nil || declared(caps, want) {
			continue
		}
		told[m.Method] = true
		text := fmt.Sprintf("the %s sent %s (%s) without having declared %s (it declared: %s); a peer may ignore it", sender, m.Method, Cite(l, m.Line), want, list(caps))
		if !d.listedAfter(l, m) {
			text += ", and no new list was asked for after it"
		}
		d.add("not_negotiated", "warning", l, m.Line, text)
	}
}

// listedAfter reports whether the receiver of a list_changed asked for the list again.
func (d *Diagnosis) listedAfter(l *ingest.Log, m ingest.Mark) bool {
	method := strings.TrimSuffix(strings.TrimPrefix(m.Method, "notifications/"), "/list_changed") + "/list"
	for i := range uint32(l.Halves()) {
		if l.Half(i).Stretch == m.Stretch && l.Line(i, ingest.Request) > m.Line && l.Method(i) == method {
			return true
		}
	}
	return false
}

// orphansKept bounds the answers without a request that are looked at one by one.
const orphansKept = 10_000

// findOrphans collects the answers whose request neither log has.
func (d *Diagnosis) findOrphans(ctx context.Context) error {
	rows, err := d.join.Conn.Query(ctx, `SELECT requester, coalesce(r_half, -1), coalesce(p_half, -1) FROM told
		WHERE (coalesce(r_facts, 0) | coalesce(p_facts, 0)) & 3 = 2 ORDER BY ALL LIMIT $1`, orphansKept)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	var firstHalf Half
	for rows.Next() {
		var by uint8
		var r, p int64
		if err := rows.Scan(&by, &r, &p); err != nil {
			return err
		}
		n++
		for _, h := range []Half{d.half(frame.Side(by).Peer(), p), d.half(frame.Side(by), r)} {
			if h.OK() {
				d.orphans = append(d.orphans, h)
				if n == 1 {
					firstHalf = h
				}
			}
		}
	}
	if n > 0 {
		f := d.add("orphan_response", "warning", firstHalf.Log, firstHalf.Log.FirstHalfLine(firstHalf.N),
			fmt.Sprintf("%s to an id with which nobody asked, first id %s (%s)", plural(n, "answer"), firstHalf.Log.ID(firstHalf.N), firstHalf.sizedLine()))
		f.Calls = append(f.Calls, d.callOf(firstHalf.Log, firstHalf.N))
	}
	return rows.Err()
}

// LogWarnings are what is to be said of a log as a whole.
func (d *Diagnosis) LogWarnings(l *ingest.Log) []string {
	var w []string
	say := func(format string, args ...any) { w = append(w, fmt.Sprintf(format, args...)) }
	if l.Records == 0 {
		if len(l.BadLines) > 0 {
			say("%s log has no record that can be read: nothing can be told from it", l.Side)
		} else {
			say("%s log is empty: nothing can be told from it, arrival least of all", l.Side)
		}
	}
	if l.Messages == 0 && l.NoIDs == 0 && l.Dialect.Knob != "" {
		say("%s", l.Dialect.Knob)
	}
	if l.NoIDs > 0 {
		say("it tells no ids: with another log its calls can be paired by tool and order only, which is likely and no proof")
	}
	if l.Twins > 0 {
		say("%s in two of the files that %s keeps, from line %d on: counted once", plural(l.Twins, "event")+" stood", l.Dialect.Name, l.TwinLine)
	}
	if l.Sided > 0 && l.OtherSide == l.Sided {
		say("every record names the %s; read as the %s's log, as given", l.Side.Peer(), l.Side)
	}
	if l.SideGuessed {
		say("nothing tells whose log this is; read as the %s's (--side)", l.Side)
	}
	if len(l.BadLines) > 0 {
		say("%s not readable (%s): absence is less certain there", plural(len(l.BadLines), "line"), reasons(l))
	}
	if l.CutTail && l.StreamCut == "" {
		say("last line is cut off: what it said cannot be told")
	}
	if l.StreamCut != "" {
		say("the compressed stream ends early (%s): absence at its end is unreliable", l.StreamCut)
	}
	l.Warnings.Each(func(member string, n uint32) {
		say("%s: member %q unusable, taken as unknown", plural(int(n), "record"), member)
	})
	return w
}

func reasons(l *ingest.Log) string {
	var parts []string
	for r, n := range l.Reasons {
		parts = append(parts, fmt.Sprintf("%s: %d", r, n))
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}
