package diagnose

import (
	"context"
	"database/sql/driver"
	_ "embed"
	"fmt"
	"iter"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/join"
)

//go:embed told.sql
var toldSQL string

//go:embed leaf.sql
var leafSQL string

// Options are what the user asked of a diagnosis.
type Options struct {
	ingest.Limits
	All bool // healthy calls too
}

// fewCalls is up to how many calls a diagnosis lists them all, healthy ones too.
const fewCalls = join.FewCalls

// Summary counts the calls.
type Summary struct {
	Calls, Stalled, Slow, Quiet, NoLeaf int
	Leaf                                map[Leaf]int
}

// Diagnosis is what is known of a pair of logs.
type Diagnosis struct {
	Logs     []*ingest.Log
	Summary  Summary
	Calls    []*Call // those with a problem or without a leaf; every call when they are few or all were asked for
	Findings []Finding
	Options  Options
	join     *join.Joined
	stage    *stage
	plain    []join.Plain // healthy calls that were left where the folded logs lie
	every    bool         // a row of `verdicts` is one call
	orphans  []Half       // answers and handler events whose request neither log has
}

// Finding is something odd that has not itself stalled a call.
type Finding struct {
	Kind     string
	Severity string // "info", "warning", "error"
	Log      *ingest.Log
	Line     uint32
	Text     string
	Calls    []*Call
}

// Diagnose joins the logs and gives each call its verdict. It uses conn up: a second diagnosis needs a database of its own.
func Diagnose(ctx context.Context, conn *ingest.Conn, logs []*ingest.Log, o Options) (*Diagnosis, error) {
	return DiagnoseBrought(ctx, conn, &join.Brought{Logs: logs}, o)
}

// DiagnoseBrought is Diagnose for logs of which some healthy calls are only counted.
func DiagnoseBrought(ctx context.Context, conn *ingest.Conn, b *join.Brought, o Options) (*Diagnosis, error) {
	j, err := join.Join(ctx, conn, b.Logs, &o.Limits)
	if err != nil {
		return nil, err
	}
	d := &Diagnosis{Logs: b.Logs, Options: o, join: j, plain: b.Plain}
	if err := d.tell(ctx); err != nil {
		return nil, err
	}
	if err := d.summarise(ctx); err != nil {
		return nil, err
	}
	if d.everyCall() {
		if err := d.eachTold(ctx); err != nil {
			return nil, err
		}
	}
	if err := d.load(ctx); err != nil {
		return nil, err
	}
	d.revise()
	if err := d.find(ctx); err != nil {
		return nil, err
	}
	d.explain()
	return d, nil
}

// tell makes what leaf.sql reads beside the calls, and runs it.
func (d *Diagnosis) tell(ctx context.Context) error {
	c := d.join.Conn
	if err := c.Exec(ctx, "CREATE OR REPLACE TEMP TABLE spans (span UINTEGER, answers BOOLEAN, cut BOOLEAN, sees BOOLEAN)"); err != nil {
		return err
	}
	for k, span := range d.join.Align.Spans {
		cut, sees := false, true
		for _, l := range span.Peers {
			cut, sees = cut || l.CutTail, sees && l.Dialect.Sees.EveryRequest()
		}
		answers := span.Log.Messages > 0 && span.Log.Dialect.Sees.EveryAnswer()
		if err := c.Exec(ctx, "INSERT INTO spans VALUES ($1, $2, $3, $4)", k, answers, cut, sees); err != nil {
			return err
		}
	}
	if err := c.Exec(ctx, "SET VARIABLE both_sides = $1", d.BothSides()); err != nil {
		return err
	}
	halves := 0
	for _, l := range d.Logs {
		halves += l.Halves()
	}
	return d.leaves(ctx, d.Options.All || halves <= 2*fewCalls)
}

// leaves gives the calls their leaves. With every, a row of `told` and `verdicts` is one call, healthy ones too.
func (d *Diagnosis) leaves(ctx context.Context, every bool) error {
	c := d.join.Conn
	if err := c.Exec(ctx, "SET VARIABLE every = $1", every); err != nil {
		return err
	}
	d.every = every
	if err := c.Exec(ctx, toldSQL); err != nil {
		return err
	}
	if err := d.tellPlain(ctx); err != nil {
		return err
	}
	return c.Exec(ctx, leafSQL)
}

// tellPlain adds the healthy calls that are only counted, as told.sql counts its own.
func (d *Diagnosis) tellPlain(ctx context.Context) error {
	for _, p := range d.plain {
		sent, ok1 := d.join.Align.SpanOf(p.Sent, p.Served)
		served, ok2 := d.join.Align.SpanOf(p.Served, p.Sent)
		if !ok1 || !ok2 {
			return fmt.Errorf("%s and %s have calls in common, and no session", p.Sent.Path, p.Served.Path)
		}
		err := d.join.Conn.Exec(ctx, "INSERT INTO told (requester, r_facts, p_facts, r_line, r_last, p_line, p_last, n) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)", uint8(p.Requester),
			ingest.PlainFacts(sent, p.Shown), ingest.PlainFacts(served, p.Shown), p.SentLine, p.SentLast, p.ReadLine, p.ReadLast, p.N)
		if err != nil {
			return err
		}
	}
	return nil
}

// eachTold makes sure that a row of `verdicts` is one call, for those who go through them all.
func (d *Diagnosis) eachTold(ctx context.Context) error {
	if d.every {
		return nil
	}
	return d.leaves(ctx, true)
}

func (d *Diagnosis) summarise(ctx context.Context) error {
	rows, err := d.join.Conn.Query(ctx, `SELECT coalesce(leaf, ''), sum(n)::BIGINT, count(*) FILTER (stalled), count(*) FILTER (slow), count(*) FILTER (quiet) FROM verdicts GROUP BY 1`)
	if err != nil {
		return err
	}
	defer rows.Close()
	d.Summary.Leaf = map[Leaf]int{}
	for rows.Next() {
		var leaf string
		var n, stalled, slow, quiet int
		if err := rows.Scan(&leaf, &n, &stalled, &slow, &quiet); err != nil {
			return err
		}
		d.Summary.Calls += n
		d.Summary.Stalled += stalled
		d.Summary.Slow += slow
		d.Summary.Quiet += quiet
		if leaf == "" {
			d.Summary.NoLeaf = n
		} else {
			d.Summary.Leaf[Leaf(leaf)] = n
		}
	}
	return rows.Err()
}

//go:embed closely.sql
var closelySQL string

// load brings in the calls that are looked at closely.
func (d *Diagnosis) load(ctx context.Context) error {
	add := func(halves, verdict int64) { d.Calls = append(d.Calls, d.call(halves, verdict)) }
	return d.join.Conn.Pairs(ctx, add, closelySQL, driver.NamedValue{Ordinal: 1, Value: d.everyCall()})
}

// call unpacks a row of closely.sql.
func (d *Diagnosis) call(halves, verdict int64) *Call {
	by := frame.Side(verdict >> 12)
	c := &Call{Requester: by, Sent: d.half(by, halves>>32-1), Served: d.half(by.Peer(), halves&(1<<32-1)-1)}
	for k := range c.Q {
		c.Q[k] = Truth(verdict >> (2 * k) & 3)
	}
	c.Stalled, c.Slow, c.Quiet = verdict&64 != 0, verdict&128 != 0, verdict&256 != 0
	if leaf := verdict >> 9 & 7; leaf > 0 {
		c.Leaf = Leaves()[leaf-1]
	} else {
		c.Reason = whyNone(c.Q, c.Ambiguous(), c.Sent.OK() || !d.BothSides())
	}
	return c
}

func (d *Diagnosis) half(side frame.Side, n int64) Half {
	if n < 0 {
		return Half{}
	}
	l, i := d.join.Align.Find(d.Logs, side, uint32(n))
	return Half{l, i}
}

// BothSides reports whether logs of both sides were given.
func (d *Diagnosis) BothSides() bool { return d.Log(frame.Client) != nil && d.Log(frame.Server) != nil }

// Log is the first log of a side; nil when none was given.
func (d *Diagnosis) Log(side frame.Side) *ingest.Log {
	for _, l := range d.Logs {
		if l.Side == side {
			return l
		}
	}
	return nil
}

// peers are the logs in which the other half of a call would stand: those of the other side that know its session, else all
// of that side.
func (d *Diagnosis) peers(h Half) []*ingest.Log {
	if peers := d.join.Align.PeersOf(h.Log, h.N); len(peers) > 0 {
		return peers
	}
	var all []*ingest.Log
	for _, l := range d.Logs {
		if l.Side != h.Log.Side {
			all = append(all, l)
		}
	}
	return all
}

// walked is how many calls are looked at before what was looked up for them is let go of.
const walked = 512

// Walk goes through calls. What the logs say of them lies all over a file, where memory is short: it must not come back whole.
func Walk(calls []*Call) iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		for k, c := range calls {
			if k%walked == walked-1 {
				c.any().Log.LetGo()
			}
			if !yield(c) {
				return
			}
		}
	}
}

// Cite names a line of a log as a reader finds it: file and line.
func Cite(l *ingest.Log, line uint32) string {
	if l == nil || line == 0 {
		return ""
	}
	path, n := l.Place(line)
	return fmt.Sprintf("%s:%d", path, n)
}

// Age is how long an unanswered call had waited when its requester's log ended.
func (c *Call) Age() Span {
	if !c.Sent.OK() {
		return Span{}
	}
	_, last := c.Sent.Log.Span()
	age, ok := last.Sub(c.Sent.At(ingest.Request))
	return Span{age, ok && age >= 0}
}
