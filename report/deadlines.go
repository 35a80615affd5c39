package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
)

// Deadlines writes after how long each log's side gave up, for a terminal. The logs are told one after another.
func Deadlines(w io.Writer, all []*diagnose.Patience, s Style) error {
	p := newPrinter(w, s)
	var logs []*ingest.Log
	for _, one := range all {
		logs = append(logs, one.Log)
	}
	p.short = shortNames(&diagnose.Diagnosis{Logs: logs})
	asked := slices.ContainsFunc(all, func(one *diagnose.Patience) bool { return one.Calls > 0 })
	for k, one := range all {
		if k > 0 {
			p.line("")
		}
		p.source(one.Log)
		if one.Calls > 0 {
			p.patience(one)
		} else if !asked {
			side := one.Log.Side
			p.hang("", fmt.Sprintf("The %s asked nothing in its log. Deadlines are the requester's: give the %s's log.", side, side.Peer()))
		}
	}
	return p.err
}

func (p *printer) patience(w *diagnose.Patience) {
	for k := range w.Clusters {
		p.deadline(&w.Clusters[k])
	}
	if len(w.Clusters) == 0 {
		p.hang("", fmt.Sprintf("No deadline shows: none of %s of the %s ended in a cancel whose time is known.", count(w.Calls, "call"), w.Log.Side))
		p.line("")
	}
	p.idleGiveUps(w)
	p.field("longest", longestWait(w))
	p.field("waiting", unanswered(w))
	p.field("besides", besides(w))
}

// deadline tells one cluster.
func (p *printer) deadline(c *diagnose.DeadlineCluster) {
	p.hang(p.paint(bold, seconds(c.Median))+"  ", deadlineSentence(p, c))
	p.field("spread", spreadOf(c))
	p.field("tools", firsts(c.Tools, "tool"))
	p.field("lines", cancelLines(c))
	if c.Progress > 0 {
		p.field("progress", fmt.Sprintf("came during %s of them, and did not hold the cancel off", diagnose.Thousands(int64(c.Progress))))
	}
	if c.Late > 0 {
		p.field("late", fmt.Sprintf("%s answered all the same, the longest %s after the request: id %s", diagnose.Thousands(int64(c.Late)),
			diagnose.Wait(c.LateMax.For), readAt(c.LateMax)))
	}
	if c.Credible() {
		p.field("outlived", outlived(c))
	}
	p.line("")
}

func deadlineSentence(p *printer, c *diagnose.DeadlineCluster) string {
	text := p.paint(yellow, count(len(c.Waits), "cancel")) + " after about that"
	switch {
	case c.Known != "":
		text += ": " + c.Known
	case len(c.Waits) > 1:
		text += ": no default that is known here"
	default:
		text += ": one cancel is no pattern, and a person may have given up; no default that is known here"
	}
	return text
}

// seconds writes a deadline as people set it.
func seconds(d time.Duration) string {
	if d < time.Second {
		return diagnose.Wait(d)
	}
	tenths := d.Round(100*time.Millisecond) / (100 * time.Millisecond)
	return fmt.Sprintf("%s.%d s", diagnose.Thousands(int64(tenths/10)), tenths%10)
}

func spreadOf(c *diagnose.DeadlineCluster) string {
	if len(c.Waits) == 1 {
		return diagnose.Wait(c.Median) + " from request to cancel"
	}
	return fmt.Sprintf("median %s, from %s to %s, from request to cancel", diagnose.Wait(c.Median), diagnose.Wait(c.Min), diagnose.Wait(c.Max))
}

// shownInRow is how many tools or lines are listed; the rest is counted.
const shownInRow = 5

func firsts(list []string, noun string) string {
	if more := len(list) - shownInRow; more > 0 {
		return strings.Join(list[:shownInRow], ", ") + " and " + count(more, "more "+noun)
	}
	return strings.Join(list, ", ")
}

func cancelLines(c *diagnose.DeadlineCluster) string {
	var list []string
	for _, w := range c.Waits {
		list = append(list, fmt.Sprintf("%s (id %s)", diagnose.Cite(w.Half.Log, w.Half.Line(ingest.Cancel)), w.Call().ID()))
		if len(list) > shownInRow {
			break
		}
	}
	if len(list) > shownInRow {
		list[shownInRow] = "…"
	}
	return strings.Join(list, ", ")
}

func readAt(w diagnose.Waited) string {
	return fmt.Sprintf("%s %s (%s)", w.Call().ID(), w.Tool(), diagnose.Cite(w.Half.Log, w.Half.Line(ingest.Answer)))
}

// outlived says what longer waits that were answered tell of the deadline.
func outlived(c *diagnose.DeadlineCluster) string {
	var parts []string
	if o := c.KeptAlive; o.N > 0 {
		parts = append(parts, fmt.Sprintf("%s by progress, never silent for that long, up to %s: id %s; so progress resets it, or it counts silence",
			count(o.N, "answered call"), diagnose.Wait(o.Longest.For), readAt(o.Longest)))
	}
	if o := c.Exempt; o.N > 0 {
		parts = append(parts, fmt.Sprintf("%s without progress, up to %s: id %s; so it does not hold for every call",
			count(o.N, "answered call"), diagnose.Wait(o.Longest.For), readAt(o.Longest)))
	}
	return strings.Join(parts, "; ")
}

func (p *printer) idleGiveUps(w *diagnose.Patience) {
	for k, g := range w.Idle {
		if k == shownInRow {
			p.field("idle", fmt.Sprintf("… and %s more", diagnose.Thousands(int64(len(w.Idle)-k))))
			return
		}
		p.field("idle", fmt.Sprintf("id %s was cancelled %s after its last progress (%s), %s after the request; the silence is %s: this deadline counts silence",
			g.Call().ID(), diagnose.Wait(g.Silence), diagnose.Cite(g.Half.Log, g.Half.Line(ingest.Cancel)), diagnose.Wait(g.For), g.Equals))
	}
}

func longestWait(w *diagnose.Patience) string {
	if w.Answered == 0 {
		return "no call was answered before a cancel, its time known"
	}
	text := fmt.Sprintf("%s is the longest wait that was answered before any cancel: id %s", diagnose.Wait(w.Longest.For), readAt(w.Longest))
	if w.Longest.Half.Fact().Progress > 0 {
		return text + ", with progress"
	}
	return text + "; a deadline for that call is above it"
}

// unanswered tells the calls that were neither answered nor cancelled. They prove no patience beyond their age.
func unanswered(w *diagnose.Patience) string {
	text := unfinished(w.Unanswered, "neither answered nor cancelled when the log or the stream ends")
	if text != "" {
		text += "; some clients give up and send nothing (Python v1, Java), so no cancel does not mean no deadline"
	}
	return text
}

func besides(w *diagnose.Patience) string {
	var parts []string
	for _, part := range []struct {
		n    int
		word string
	}{{w.Untimed, "cancelled at a time not known"}, {w.Stepped, "cancelled after the clock stepped, left out"}, {w.Refused, "refused"},
		{w.ByDesign, "open by design"}, {w.Untold, "of which the log does not tell the answer"}} {
		if part.n > 0 {
			parts = append(parts, diagnose.Thousands(int64(part.n))+" "+part.word)
		}
	}
	return strings.Join(parts, ", ")
}

// DeadlinesSchema names the JSON of deadlines.
const DeadlinesSchema = "mcpdiag.deadlines/v1"

// DeadlinesDocument is the JSON of deadlines. Times are milliseconds on the requester's clock; what is not known is null.
type DeadlinesDocument struct {
	Schema     string         `json:"schema"`
	Logs       []LogJSON      `json:"logs"`
	Requesters []PatienceJSON `json:"requesters"`
}

// PatienceJSON are the waits of one log's side.
type PatienceJSON struct {
	Requester      string         `json:"requester"`
	Path           string         `json:"path"`
	Calls          int            `json:"calls"`
	Deadlines      []DeadlineJSON `json:"deadlines"`
	Idle           []IdleJSON     `json:"idle"`
	Answered       int            `json:"answered"`
	LongestMS      *float64       `json:"longest_answered_ms"`
	Longest        *RefJSON       `json:"longest_answered"`
	Unanswered     UnfinishedJSON `json:"unanswered"`
	CancelsNoTime  int            `json:"cancels_without_time"`
	CancelsStepped int            `json:"cancels_clock_stepped"`
	Refused        int            `json:"refused"`
	OpenByDesign   int            `json:"open_by_design"`
	AnswerNotTold  int            `json:"not_told"`
}

// DeadlineJSON is one cluster of waits that ended in a cancel.
type DeadlineJSON struct {
	Count        int          `json:"count"`
	MedianMS     *float64     `json:"median_ms"`
	MinMS        *float64     `json:"min_ms"`
	MaxMS        *float64     `json:"max_ms"`
	Known        *string      `json:"known_default"`
	Tools        []string     `json:"tools"`
	Cancels      []RefJSON    `json:"first_calls"`
	Lines        []string     `json:"first_cancel_lines"`
	WithProgress int          `json:"with_progress"`
	LateAnswers  int          `json:"late_answers"`
	LateMaxMS    *float64     `json:"late_answer_longest_ms"`
	KeptAlive    OutlivedJSON `json:"outlived_by_progress"`
	Exempt       OutlivedJSON `json:"outlived_in_silence"`
}

// OutlivedJSON are answered waits longer than a deadline.
type OutlivedJSON struct {
	Count     int      `json:"count"`
	LongestMS *float64 `json:"longest_ms"`
	Longest   *RefJSON `json:"longest"`
}

// IdleJSON is a cancel so long after the last progress.
type IdleJSON struct {
	Call      RefJSON  `json:"call"`
	WaitMS    *float64 `json:"wait_ms"`
	SilenceMS *float64 `json:"silence_ms"`
	Equals    string   `json:"equals"`
}

// DeadlinesJSON writes the deadlines as one indented document.
func DeadlinesJSON(w io.Writer, all []*diagnose.Patience, _ Style) error {
	doc := DeadlinesDocument{Schema: DeadlinesSchema, Requesters: []PatienceJSON{}}
	var logs []*ingest.Log
	for _, one := range all {
		logs = append(logs, one.Log)
		doc.Requesters = append(doc.Requesters, newPatience(one))
	}
	doc.Logs = describeLogs(logs)
	return writeDocument(w, doc)
}

func newPatience(w *diagnose.Patience) PatienceJSON {
	j := PatienceJSON{Requester: w.Log.Side.String(), Path: w.Log.Path, Calls: w.Calls, Deadlines: []DeadlineJSON{}, Idle: []IdleJSON{},
		Answered: w.Answered, LongestMS: millis(w.Longest.For, w.Answered > 0), Unanswered: newUnfinished(w.Unanswered), CancelsNoTime: w.Untimed,
		CancelsStepped: w.Stepped, Refused: w.Refused, OpenByDesign: w.ByDesign, AnswerNotTold: w.Untold}
	if w.Answered > 0 {
		j.Longest = refOrNil(w.Longest.Call())
	}
	for k := range w.Clusters {
		j.Deadlines = append(j.Deadlines, newDeadline(&w.Clusters[k]))
	}
	for _, g := range w.Idle {
		j.Idle = append(j.Idle, IdleJSON{newRef(g.Call()), millis(g.For, true), millis(g.Silence, true), g.Equals})
	}
	return j
}

func newDeadline(c *diagnose.DeadlineCluster) DeadlineJSON {
	j := DeadlineJSON{Count: len(c.Waits), MedianMS: millis(c.Median, true), MinMS: millis(c.Min, true), MaxMS: millis(c.Max, true), Known: text(c.Known),
		Tools: c.Tools, Cancels: []RefJSON{}, Lines: []string{}, WithProgress: c.Progress, LateAnswers: c.Late, LateMaxMS: millis(c.LateMax.For, c.Late > 0),
		KeptAlive: newOutlived(c.KeptAlive), Exempt: newOutlived(c.Exempt)}
	for _, w := range c.Waits[:min(len(c.Waits), shownInRow)] {
		j.Cancels = append(j.Cancels, newRef(w.Call()))
		j.Lines = append(j.Lines, diagnose.Cite(w.Half.Log, w.Half.Line(ingest.Cancel)))
	}
	return j
}

func newOutlived(o diagnose.Outlived) OutlivedJSON {
	j := OutlivedJSON{Count: o.N, LongestMS: millis(o.Longest.For, o.N > 0)}
	if o.N > 0 {
		j.Longest = refOrNil(o.Longest.Call())
	}
	return j
}
