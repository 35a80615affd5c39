package join

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// Store is where the rows of folded logs lie: a DuckDB that reads Parquet, or a ClickHouse of any number of shards. Both run the
// same SQL. A table NAME_here is what one shard has of it; the store says what stands for all shards in Everywhere.
type Store interface {
	// Query runs a query. Values that came from users or logs are in the lists, which the query reads as tables of one column
	// `value`; none is ever written into its text.
	Query(ctx context.Context, query string, lists ...List) (Rows, error)
	// Everywhere names the table over all shards.
	Everywhere(table string) string
}

// List is a table of one column `value`, given along with a query.
type List struct {
	Name   string
	Values []string
}

// Rows are the rows of a query, as those of database/sql.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// CallsSQL and WholeSQL define calls_here and whole_here over halves_here and stretches_here.
var (
	//go:embed folded_calls.sql
	CallsSQL string
	//go:embed folded_whole.sql
	WholeSQL string
)

// Plain counts healthy calls that were left in the store: answered on both sides with nothing odd, by the logs that have them.
// The lines are the first and the last of each log, since they say what it covers.
type Plain struct {
	Requester          frame.Side
	Sent, Served       *ingest.Log
	Shown              bool // the user asked for them
	N                  uint64
	SentLine, SentLast uint32
	ReadLine, ReadLast uint32
}

// Brought is what is needed of folded logs to diagnose them: the logs with those halves that are not plainly healthy, and how
// many are.
type Brought struct {
	Logs  []*ingest.Log
	Plain []Plain
}

// Want says which calls are brought in.
type Want uint8

// What may be wanted.
const (
	Odd  Want = iota // every call unless both its halves are there and nothing is odd about them
	Few              // these, or all that the user asked for when they are few, since then a report lists them all
	Each             // all that the user asked for
)

// Bring joins the folded logs of a store there, and brings in what has to be looked at.
func Bring(ctx context.Context, store Store, memory *ingest.Memory, limits *ingest.Limits, want Want) (*Brought, error) {
	b := &bringer{ctx: ctx, store: store, limits: limits, unfolding: ingest.NewUnfolding(memory), logs: map[string]*known{}}
	for _, step := range []func() error{b.heads, b.stretches, b.marks, b.decide(want), b.halves, b.surveys} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	logs := b.unfolding.Logs()
	plain, err := b.plain()
	if err != nil {
		return nil, err
	}
	return &Brought{logs, plain}, nil
}

type bringer struct {
	ctx       context.Context
	store     Store
	limits    *ingest.Limits
	unfolding *ingest.Unfolding
	logs      map[string]*known
	halvesIn  uint64 // in all logs
	keyless   bool
	every     bool
}

// each runs a query and calls f for each row.
func (b *bringer) each(query string, f func(Rows) error) error {
	rows, err := b.store.Query(b.ctx, b.fill(query), List{"asked_session", nonEmpty(b.limits.Session)}, List{"asked_id", idSpellings(b.limits.ID)})
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// idSpellings are the tokens that a user may mean by an id.
func idSpellings(id string) []string {
	if id == "" {
		return nil
	}
	return []string{id, `"` + id + `"`}
}

// fill writes the store's tables, and the limits, which are numbers, into a query.
func (b *bringer) fill(query string) string {
	var pairs []string
	for _, table := range []string{"logs", "stretches", "marks", "halves", "calls"} {
		pairs = append(pairs, "{"+table+"}", b.store.Everywhere(table))
	}
	number := func(n int64) string { return fmt.Sprint(n) }
	pairs = append(pairs, "{shown}", b.shown(), "{every}", number(int64(truth(b.every))), "{slow}", number(int64(b.limits.Slow)), "{quiet}", number(int64(b.limits.Quiet)))
	query = strings.ReplaceAll(query, "{plain}", plainly)
	return strings.NewReplacer(pairs...).Replace(query)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// plainly is what makes a call one of many: 4099 = 1 + 2 + 4096, as in told.sql, for request, answer and answered.
const plainly = `(r_has AND p_has AND r_facts = 4099 AND p_facts = 4099 AND took < {slow} AND quiet < {quiet} AND is_cited <= 0 AND NOT ({every} = 1 AND {shown}))`

// shown is what makes a call one that the user asked for, by its requester's half if that is there.
func (b *bringer) shown() string {
	m, parts := b.limits, []string{}
	if m.Session != "" {
		parts = append(parts, "session IN (SELECT value FROM asked_session)")
	}
	if m.ID != "" {
		parts = append(parts, "id IN (SELECT value FROM asked_id)")
	}
	if m.Since.Set {
		parts = append(parts, "NOT "+beforeSQL(m.Since))
	}
	if m.Until.Set {
		parts = append(parts, beforeSQL(m.Until))
	}
	if len(parts) == 0 {
		return "1 = 1"
	}
	return "(" + strings.Join(parts, " AND ") + ")"
}

func beforeSQL(bound ingest.Bound) string {
	column, n := "since", int64(bound.After)
	if !bound.Wall.IsZero() {
		column, n = "wall", bound.Wall.UnixNano()
	}
	at := fmt.Sprintf("if(r_has, r_%s, p_%[1]s)", column)
	return fmt.Sprintf("(%s <> -1 AND %[1]s < %d)", at, n)
}

func (b *bringer) heads() error {
	on := map[string]map[int64]bool{} // by log: the shards that know it
	err := b.each("SELECT log, side, name, halves, body, shard, shards FROM {logs} ORDER BY side, name, log", func(rows Rows) error {
		var log, side, name string
		var halves uint64
		var shard, shards int64
		var body []byte
		if err := rows.Scan(&log, &side, &name, &halves, &body, &shard, &shards); err != nil {
			return err
		}
		if on[log] == nil {
			on[log] = map[int64]bool{}
			b.logs[log] = &known{name: name, shards: shards}
			b.halvesIn += halves
		}
		on[log][shard] = true
		of, _ := frame.ParseSide([]byte(side))
		return b.unfolding.AddLog(log, of, name, body)
	})
	if err != nil {
		return err
	}
	if len(b.logs) == 0 {
		return errors.New("no log is there: mcpdiag ship sends some")
	}
	for log, k := range b.logs {
		if int64(len(on[log])) < k.shards {
			return fmt.Errorf("%s (log %s) is known on %d of %d shards: shipping it was cut off; ship it again", frame.Escape(k.name), log, len(on[log]), k.shards)
		}
	}
	return nil
}

// known is a log that the store has.
type known struct {
	name   string
	shards int64 // that have a row of it
}

func (b *bringer) stretches() error {
	return b.each("SELECT log, stretch, no_ids, body FROM {stretches} WHERE log IN (SELECT log FROM known_here) ORDER BY log, stretch", func(rows Rows) error {
		var log string
		var n uint32
		var noIDs int64
		var body []byte
		if err := rows.Scan(&log, &n, &noIDs, &body); err != nil {
			return err
		}
		b.keyless = b.keyless || noIDs > 0
		return b.unfolding.AddStretch(log, n, body)
	})
}

func (b *bringer) marks() error {
	return b.each("SELECT log, body FROM {marks} WHERE log IN (SELECT log FROM known_here) ORDER BY log, line", func(rows Rows) error {
		var log string
		var body []byte
		if err := rows.Scan(&log, &body); err != nil {
			return err
		}
		return b.unfolding.AddMark(log, body)
	})
}

// FewCalls is up to how many calls a report lists them all.
const FewCalls = 1000

// decide settles whether all calls that the user asked for are brought in. When a log tells no ids nothing can be met by them, so
// that all have to be.
func (b *bringer) decide(want Want) func() error {
	return func() error {
		b.every = b.keyless || want == Each || want == Few && b.halvesIn <= 2*FewCalls
		if b.every || want == Odd || b.limits.All() {
			return nil
		}
		return b.each("SELECT count(*) FROM {calls} WHERE {shown}", func(rows Rows) error {
			var n uint64
			err := rows.Scan(&n)
			b.every = n <= FewCalls
			return err
		})
	}
}

func (b *bringer) halves() error {
	numbers := make([]string, len(ingest.HalfNumbers))
	for k, name := range ingest.HalfNumbers {
		numbers[k] = name
		if name == "requester" {
			numbers[k] = "if(requester = 'client', 1, 2)"
		}
	}
	where := `session IN (SELECT session FROM whole_here)
		OR (session, requester, id, nth) IN (SELECT session, requester, id, nth FROM calls_here WHERE NOT {plain})`
	if b.keyless {
		where = "1 = 1"
	}
	query := fmt.Sprintf("SELECT log, id, method, name, more, %s FROM {halves} WHERE log IN (SELECT log FROM known_here) AND (%s) ORDER BY log, half", b.list(numbers), where)
	var r ingest.HalfRow
	var list []byte
	return b.each(query, func(rows Rows) error {
		if err := rows.Scan(&r.Log, &r.ID, &r.Method, &r.Name, &r.More, &list); err != nil {
			return err
		}
		if !r.ParseNumbers(list) {
			return fmt.Errorf("log %s: a half's numbers are %q", r.Log, list)
		}
		return b.unfolding.AddHalf(&r)
	})
}

// list makes one column of many numbers: to whoever scans rows, each column costs as much as all else.
func (b *bringer) list(numbers []string) string {
	parts := make([]string, len(numbers))
	for k, n := range numbers {
		parts[k] = "toString(" + n + ")"
	}
	return "concat(" + strings.Join(parts, ", ' ', ") + ")"
}

// surveys tells the logs what all halves of a requester in a stretch come to, where some were left behind.
func (b *bringer) surveys() error {
	if b.keyless || b.every && b.limits.All() {
		return nil
	}
	// The largest answer and its line, the first of equals, in one number: the larger the answer and the lower the line, the larger.
	query := `SELECT log, stretch, if(requester = 'client', 1, 2), max(request_bytes), max(request_line), max(if(answer_line > 0, request_line, -1)), max(answer_line),
			max(if(answer_line > 0 AND answer_bytes > 0, toUInt64(answer_bytes) * 4294967296 + toUInt64(4294967295 - answer_line), toUInt64(0))),
			max(if(answer_line > 0, silence_ns, -1))
		FROM {halves}
		WHERE log IN (SELECT log FROM known_here)
			AND (session IN (SELECT session FROM whole_here) OR session IN (SELECT session FROM calls_here WHERE NOT {plain}))
		GROUP BY log, stretch, requester`
	for log := range b.logs {
		if err := b.unfolding.Partial(log); err != nil {
			return err
		}
	}
	return b.each(query, func(rows Rows) error {
		var log string
		var of ingest.Asked
		var s ingest.Survey
		var largest uint64
		var answered, lastRequest, lastAnswer, silence int64
		if err := rows.Scan(&log, &of.Stretch, &of.By, &s.LargestRequest, &lastRequest, &answered, &lastAnswer, &largest, &silence); err != nil {
			return err
		}
		line := func(n int64) uint32 { return uint32(max(n, 0)) }
		s.LastRequest, s.Answered, s.LastAnswer, s.LargestRequest = line(lastRequest), line(answered), line(lastAnswer), max(s.LargestRequest, 0)
		if largest > 0 {
			s.Largest, s.LargestLine = int64(largest>>32), 1<<32-1-uint32(largest)
		}
		return b.unfolding.AddSurvey(log, of, &s, time.Duration(max(silence, 0)))
	})
}

// plain counts what is left in the store; apart what the user did not ask for, since it still says what the logs cover.
func (b *bringer) plain() ([]Plain, error) {
	if b.keyless {
		return nil, nil
	}
	list, err := b.plainWhere("{shown}", true)
	if err != nil || b.limits.All() {
		return list, err
	}
	others, err := b.plainWhere("NOT {shown}", false)
	return append(list, others...), err
}

func (b *bringer) plainWhere(where string, shown bool) ([]Plain, error) {
	query := `SELECT if(requester = 'client', 1, 2), r_log, p_log, min(r_line), max(r_line), min(p_line), max(p_line), count(*)
		FROM {calls}
		WHERE {plain} AND ` + where + ` AND session NOT IN (SELECT session FROM whole_here)
		GROUP BY requester, r_log, p_log ORDER BY 1, 2, 3`
	var list []Plain
	err := b.each(query, func(rows Rows) error {
		var by uint8
		var sent, served string
		p := Plain{Shown: shown}
		if err := rows.Scan(&by, &sent, &served, &p.SentLine, &p.SentLast, &p.ReadLine, &p.ReadLast, &p.N); err != nil {
			return err
		}
		p.Requester, p.Sent, p.Served = frame.Side(by), b.unfolding.Find(sent), b.unfolding.Find(served)
		if p.Sent == nil || p.Served == nil {
			return fmt.Errorf("calls of the logs %q and %q, which are not both there", sent, served)
		}
		list = append(list, p)
		return nil
	})
	return list, err
}
