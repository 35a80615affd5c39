package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mcpdiag/ingest/dialect"
	"mcpdiag/ingest/frame"
)

// Rules is the table, in the order of a report.
func Rules() []Rule {
	return slices.Concat(envelopeRules(), batchRules(), requestRules(), resultRules(), noticeRules(), errorRules(), legacyRules(), httpRules())
}

// Report is the audit of one log.
type Report struct {
	Path    string
	Side    frame.Side
	Entries []Entry // of the messages, in arrival order
	Counts  Counts
	Tallies []Tally    // of the rules, in the table's order
	First   *Violation // to put right; nil is none
	Stopped *Stop      // nil when the whole log was judged

	Unreadable int // lines of the log that are no record
	Copies     int // how often every frame stands in the log, each of which is judged once; 0 or 1 is normal
}

// Counts are the messages of a log by era. Each counts once: what is no legal message of its era counts as invalid.
type Counts struct {
	Messages, Modern, Legacy, Invalid, Ambiguous int
	InvalidModern, InvalidLegacy                 int // of the invalid ones
	NoPayload                                    int // messages whose text the log does not have, or only the beginning of
}

// Stop is a message that is not JSON-RPC 2.0: what follows cannot be judged by rules for it.
type Stop struct {
	Line     uint32
	Envelope string
}

// Entry is one message and what was found about it.
type Entry struct {
	Line      uint32
	Dir       frame.Dir
	Kind      string // request, notification, response, error, invalid; http for a head without a message
	Era       Era
	Primitive string
	ID        frame.ID // nil is none
	Method    string   // of an answer: the request's; "" is not known
	Verdicts  []Said
}

// Said is a verdict as a message's line shows it.
type Said struct {
	Name   string // metadata, resultType …, or a broken rule's id
	Value  string // valid, absent, invalid …; "" of a broken rule
	Weight Weight
	Broken bool
}

func (s Said) String() string {
	if s.Value == "" {
		return fmt.Sprintf("%s(%s)", s.Name, s.Weight)
	}
	if s.Broken {
		return fmt.Sprintf("%s=%s(%s)", s.Name, s.Value, s.Weight)
	}
	return s.Name + "=" + s.Value
}

// String is the message's line: [request/modern/tools] id=7 tools/list metadata=valid.
func (e *Entry) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s/%s/%s]", e.Kind, e.Era, e.Primitive)
	if len(e.ID) > 0 {
		fmt.Fprintf(&b, " id=%s", e.ID)
	}
	if e.Method != "" {
		b.WriteString(" " + e.Method)
	}
	for _, s := range e.Verdicts {
		b.WriteString(" " + s.String())
	}
	return b.String()
}

// Tally is what became of one rule.
type Tally struct {
	Rule       *Rule
	Kept       int
	Broken     int
	Accepted   int            // of the broken, by a baseline
	Unjudged   map[string]int // messages that it concerns, by the reason for which it could not be judged
	Violations []Violation    // the first of the broken, see MaxViolations

	kinds map[Accepted]int // how often it is broken in which way
}

// Violation is a rule that a message breaks.
type Violation struct {
	Rule     *Rule
	Line     uint32
	Dir      frame.Dir
	Method   string
	Word     string
	Detail   string
	Cites    uint32 // another line that it rests on; 0 is none
	Accepted bool

	text []byte // of the message, while it may be corrected
}

// before reports whether the violation is to be put right before another: the heavier one, then the earlier. What is merely
// worth knowing is nothing to put right.
func (v *Violation) before(w *Violation) bool {
	switch {
	case v.Rule.Weight == Info:
		return false
	case w == nil || v.Rule.Weight != w.Rule.Weight:
		return w == nil || v.Rule.Weight > w.Rule.Weight
	}
	return v.Line < w.Line
}

// MaxViolations is how many violations of one rule are kept with their lines; all are counted.
const MaxViolations = 100

// Auditor judges the messages of one log in their order.
type Auditor struct {
	report    *Report
	rules     []Rule
	catalogue catalogue
	scopes    map[string]*scope
	server    server
	posted    map[string]*message // requests by HTTP exchange
	notices   map[string]bool     // exchanges that carried a notification or an answer
	streams   map[string]bool     // exchanges whose stream began
	events    map[string]*event   // by session and event id
	listens   map[string]*listen
	listings  map[string]*listing
	pages     map[string]*listing
	legs      []*leg
	phases    map[string]*[5]int
	copies    map[string]int
}

// New makes an auditor of a log.
func New(path string, side frame.Side) *Auditor {
	a := &Auditor{report: &Report{Path: path, Side: side}, rules: Rules(), catalogue: newCatalogue(), scopes: map[string]*scope{},
		server: server{headers: map[string]map[string]string{}}, posted: map[string]*message{}, notices: map[string]bool{}, streams: map[string]bool{},
		events: map[string]*event{}, listens: map[string]*listen{}, listings: map[string]*listing{}, pages: map[string]*listing{}, phases: map[string]*[5]int{}, copies: map[string]int{}}
	for i := range a.rules {
		a.report.Tallies = append(a.report.Tallies, Tally{Rule: &a.rules[i], Unjudged: map[string]int{}, kinds: map[Accepted]int{}})
	}
	return a
}

// Repeated tells the auditor, before the first record, that every frame of the log stands there k times.
func (a *Auditor) Repeated(k int) { a.report.Copies = k }

// Report is what was found so far.
func (a *Auditor) Report() *Report { return a.report }

// Add judges the next record of the log. What is no message (handler events and the like) is passed over, and so is
// everything after a message that is not JSON-RPC 2.0.
func (a *Auditor) Add(f *frame.Frame, body *dialect.Body) {
	if a.report.Stopped != nil || !Judges(f, body) || a.again(f, body) {
		return
	}
	m := newMessage(f, body, a.catalogue)
	if m.side = f.Side; m.side == frame.NoSide {
		m.side = a.report.Side
	}
	if m.stray() && m.envelope == "" && !m.body.Stdio && !m.overHTTP() {
		return // a line of another kind in a mixed log
	}
	a.relate(m)
	a.relateHTTP(m)
	a.classify(m)
	a.judge(m)
	if !m.replay {
		a.remember(m)
		a.rememberHTTP(m)
	}
}

// Judges reports whether a record is one that an audit looks at: a message, bytes that are none, or a head of HTTP.
func Judges(f *frame.Frame, body *dialect.Body) bool {
	return f.Kind.Message() || f.Kind == frame.Invalid || f.Kind == frame.Open && body.HTTP != nil
}

// again reports whether the record is another moment in the life of a frame that was judged at its first one: a tee records
// the read and the write.
func (a *Auditor) again(f *frame.Frame, body *dialect.Body) bool {
	key := strings.Join([]string{f.Dir.String(), f.Kind.String(), string(f.ID), string(f.Method), string(f.RequestID), string(f.Session), ""}, "\x00")
	if m := f.More; m != nil {
		key += string(m.Token) + "\x00" + string(m.Exchange) + "\x00" + string(m.PID) + "\x00" + string(m.Raw)
	} else {
		key += "\x00\x00\x00"
	}
	if k := a.report.Copies; k > 1 {
		key += "\x00" + strconv.FormatInt(f.Bytes, 10)
		a.copies[key]++
		return a.copies[key]%k != 1
	}
	if len(a.phases) > maxRemembered {
		clear(a.phases)
	}
	n := a.phases[key]
	if n == nil {
		n = new([5]int)
		a.phases[key] = n
	}
	n[f.Phase]++
	if f.Phase >= frame.Queued && body.Text == nil && n[frame.NoPhase] >= n[f.Phase] {
		return true
	}
	for _, other := range [...]frame.Phase{frame.Read, frame.Parsed, frame.Queued, frame.Written} {
		if other < f.Phase && n[other] >= n[f.Phase] {
			return true
		}
	}
	return false
}

// judge applies every rule to the message.
func (a *Auditor) judge(m *message) {
	e := Entry{Line: m.line, Dir: m.Dir, Kind: m.kind.String(), Era: m.era, Primitive: m.primitive(), ID: m.ID, Method: m.method}
	if m.request != nil {
		e.Method = m.request.method
	}
	if code, ok := m.code(); ok && m.kind == isError {
		e.Verdicts = append(e.Verdicts, Said{Name: "code", Value: fmt.Sprint(code)})
	}
	void := false
	for i := range a.rules {
		r := &a.rules[i]
		if m.replay && r.Needs&Heads == 0 {
			continue // it was judged when it was sent
		}
		v := r.judge(m)
		a.tally(i, m, v)
		e.say(m, r, v)
		void = void || v.outcome == broken && r.Voids
		m.badHeaders = m.badHeaders || v.outcome == broken && r.Token == "headers"
		m.incomplete = m.incomplete || v.outcome == broken && r.Token == "metadata"
	}
	if m.kind == isHead && !e.broken() {
		return
	}
	if m.kind != isHead {
		a.count(m, void)
	}
	a.report.Entries = append(a.report.Entries, e)
	if m.envelope != "" {
		a.report.Stopped = &Stop{m.line, m.envelope}
	}
}

func (e *Entry) broken() bool {
	return slices.ContainsFunc(e.Verdicts, func(s Said) bool { return s.Broken })
}

// say shows a verdict on the message's line. Rules that share a name there give one verdict: the heaviest.
func (e *Entry) say(m *message, r *Rule, v Verdict) {
	said := Said{Name: r.Token, Value: "valid", Weight: r.Weight, Broken: v.outcome == broken}
	switch {
	case v.outcome == unconcerned, r.Token == "" && v.outcome != broken, v.outcome == unjudged && m.era == Ambiguous:
		return
	case r.Token == "clientInfo" && v.outcome != broken:
		return // metadata says enough
	case v.outcome == unjudged:
		said.Value = "unknown"
	case said.Broken && r.Token == "metadata":
		said.Value = "invalid"
	case said.Broken:
		said.Value = v.Word
	case r.Token == "resultType":
		said.Value = m.resultType()
	}
	if r.Token == "" {
		said.Name, said.Value = r.ID, ""
	}
	for i := range e.Verdicts {
		if old := &e.Verdicts[i]; old.Name == said.Name {
			if said.Broken && !old.Broken || old.Value == "valid" && said.Value == "unknown" {
				*old = said
			}
			return
		}
	}
	e.Verdicts = append(e.Verdicts, said)
}

func (a *Auditor) tally(i int, m *message, v Verdict) {
	t := &a.report.Tallies[i]
	switch v.outcome {
	case kept:
		t.Kept++
	case unjudged:
		t.Unjudged[v.Detail]++
	case broken:
		t.Broken++
		x := Violation{Rule: t.Rule, Line: m.line, Dir: m.Dir, Method: m.method, Word: v.Word, Detail: v.Detail, Cites: v.Cites}
		if m.request != nil {
			x.Method = m.request.method
		}
		t.kinds[x.kind()]++
		if len(t.Violations) == 0 {
			x.text = m.body.Text
		}
		if len(t.Violations) < MaxViolations {
			t.Violations = append(t.Violations, x)
		}
		if x.before(a.report.First) {
			a.report.First = &x
		}
	}
}

func (a *Auditor) count(m *message, void bool) {
	c := &a.report.Counts
	c.Messages++
	if m.doc == nil && m.kind != isInvalid {
		c.NoPayload++
	}
	switch {
	case m.era == NoEra:
		c.Invalid++
	case void && m.era == Modern:
		c.Invalid++
		c.InvalidModern++
	case void && m.era == Legacy:
		c.Invalid++
		c.InvalidLegacy++
	case void:
		c.Invalid++
	case m.era == Modern:
		c.Modern++
	case m.era == Legacy:
		c.Legacy++
	default:
		c.Ambiguous++
	}
}

// Worst is the weight of the heaviest violation that no baseline accepts; ok is false when there is none.
func (r *Report) Worst() (w Weight, ok bool) {
	for _, t := range r.Tallies {
		if t.Broken > t.Accepted && (!ok || t.Rule.Weight > w) {
			w, ok = t.Rule.Weight, true
		}
	}
	return w, ok
}

// Repeats reports whether ids are used or answered twice, as in a log that was recorded at several points.
func (r *Report) Repeats() bool {
	for _, t := range r.Tallies {
		if t.Broken > 0 && (t.Rule.ID == "id-in-flight" || t.Rule.ID == "answer-once") {
			return true
		}
	}
	return false
}

// Status says of a rule, in a word, what became of it.
func (t *Tally) Status() string {
	switch {
	case t.Broken > t.Accepted:
		return "broken"
	case t.Broken > 0:
		return "accepted"
	case len(t.Unjudged) > 0:
		return "not judged"
	case t.Kept > 0:
		return "kept"
	}
	return "not observed"
}
