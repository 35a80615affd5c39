package diagnose

import (
	"context"
	"slices"
	"time"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// Watch diagnoses logs that grow. At each step it reads the lines that it holds of each log anew, and tells what has changed
// since the step before.
//
// Memory is bounded: of each log the lines are held of calls that are under way or stalled, the latest of them where there are
// many, and a tail that shows what the two logs have in common; and never more than its follower's window. Of calls that are
// done only those in held lines are remembered.
type Watch struct {
	logs    []*watched
	options Options
	known   map[seat]*known
	settled int // calls that are done and gone
	grown   time.Time
	due     time.Time // when a call that is under way will have waited too long; zero: none will
	began   bool
}

// watched is one set of the command line: a file that one log, or the logs of both sides, are read from.
type watched struct {
	*ingest.Follower
	side    frame.Side
	dialect string // once a record has told it, since the head that told it will be let go
}

// seat is a half across steps: which log has it, and at which of all the lines that were ever read.
type seat struct {
	side frame.Side
	line uint64
}

// known is what was told of a call.
type known struct {
	state  fate
	since  time.Time
	halves int // seats that it is known by
}

type fate uint8

const (
	underWay fate = iota
	stalledCall
	doneCall
)

// Change is a call that has just stalled, or has just been answered after all.
type Change struct {
	Call      *Call
	Recovered bool
}

// State counts the calls that are watched.
type State struct {
	Calls   int // seen so far; about, since a call that is cut by the window's edge may count twice or not at all
	Open    int // under way
	Stalled int // stalled, and their lines still held
	Held    int // bytes of lines held
}

const (
	tailKept   = 2000             // lines of a log that are held though no call needs them
	neededKept = 20_000           // lines of a log that are held because calls need them; those of the latest calls
	lagging    = time.Minute      // how long the lines of a call that is done are held for the log that does not have it yet
	undecided  = 10 * time.Minute // how long a call that the logs cannot place holds its lines
)

// NewWatch watches files; a side is told for each, or found in its records.
func NewWatch(sources []ingest.Source, sides []frame.Side, window int, o Options) *Watch {
	w := &Watch{options: o, known: map[seat]*known{}}
	w.options.All = true
	for i, s := range sources {
		w.logs = append(w.logs, &watched{Follower: ingest.Follow(s, window), side: sides[i]})
	}
	return w
}

// Close lets go of the files.
func (w *Watch) Close() {
	for _, l := range w.logs {
		l.Close()
	}
}

// Step takes in what was written since the step before. d is nil when nothing can have changed. What stands in the logs at the
// first step is no change.
func (w *Watch) Step(ctx context.Context, now time.Time) (d *Diagnosis, changes []Change, state State, err error) {
	grew := false
	for _, l := range w.logs {
		more, err := l.Poll()
		if err != nil {
			return nil, nil, state, err
		}
		grew = grew || more
	}
	if grew || w.grown.IsZero() {
		w.grown, grew = now, true
	}
	if !grew && (w.due.IsZero() || now.Before(w.due)) {
		return nil, nil, state, nil
	}
	d, sets, err := w.diagnose(ctx, now)
	if err != nil {
		return nil, nil, state, err
	}
	changes, state = w.compare(d, sets, now)
	for _, l := range d.Logs {
		w.began = w.began || l.Records > 0
	}
	w.letGo(d, sets)
	return d, changes, state, nil
}

// diagnose reads the lines that are held. A call that is under way in a log that has fallen silent grows older by our clock, as
// the log's own stands still.
func (w *Watch) diagnose(ctx context.Context, now time.Time) (d *Diagnosis, sets map[*ingest.Log]*watched, err error) {
	sets = map[*ingest.Log]*watched{}
	var logs []*ingest.Log
	for _, l := range w.logs {
		read, err := ingest.Read(ctx, ingest.Set{Sources: []ingest.Source{l.Source()}, Side: l.side}, ingest.Options{Quiet: w.options.Quiet, Dialect: l.dialect})
		if err != nil {
			return nil, nil, err
		}
		for _, log := range read {
			sets[log] = l
			logs = append(logs, log)
			if log.Records > 0 {
				l.dialect = log.Dialect.Name
			}
		}
	}
	conn, err := ingest.OpenDB(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	o := w.options
	o.Patience = max(0, o.Patience-now.Sub(w.grown))
	d, err = Diagnose(ctx, conn, logs, o)
	return d, sets, err
}

// compare finds what is new, and counts.
func (w *Watch) compare(d *Diagnosis, sets map[*ingest.Log]*watched, now time.Time) (changes []Change, state State) {
	hurried := false
	for _, l := range w.logs {
		hurried = l.Hurried() || hurried
	}
	w.forget(sets) // polling may have let go of lines, to stay within the window
	w.due = time.Time{}
	state.Calls = w.settled
	for _, c := range d.Calls {
		k := w.remember(c, sets, now)
		state.Calls++
		if k.state == doneCall {
			continue
		}
		if hurried && (!c.Sent.OK() || !c.Served.OK()) {
			k.state = doneCall // its other half may have been let go unread: nothing can be told of it any more
			continue
		}
		before := k.state
		k.state = max(before, w.fateNow(c, sets)) // a stalled call whose request was let go does not look stalled any more
		switch {
		case k.state == stalledCall && before == underWay && w.began:
			changes = append(changes, Change{Call: c})
		case k.state == doneCall && c.Stalled && before == underWay && w.began:
			changes = append(changes, Change{Call: c}) // stalled and answered between two steps
		case k.state == doneCall && before == stalledCall:
			changes = append(changes, Change{Call: c, Recovered: true})
		}
		switch k.state {
		case stalledCall:
			state.Stalled++
		case underWay:
			state.Open++
			w.dueFor(c, now)
		}
	}
	for _, l := range w.logs {
		state.Held += l.Held()
	}
	return changes, state
}

// fateNow is what has become of a call: an answer that was read ends it. Nothing is said of a call that its requester's log
// does not have once lines of that log were let go: it may have stood there.
func (w *Watch) fateNow(c *Call, sets map[*ingest.Log]*watched) fate {
	switch {
	case c.Q[2] == Yes:
		return doneCall
	case !c.Stalled:
		return underWay
	}
	if !c.Sent.OK() {
		for log, l := range sets {
			if log.Side == c.Requester && !l.Complete() {
				return underWay
			}
		}
	}
	return stalledCall
}

// remember finds what is known of a call by either of its halves, and notes it under both.
func (w *Watch) remember(c *Call, sets map[*ingest.Log]*watched, now time.Time) *known {
	var k *known
	var keys []seat
	for _, h := range []Half{c.Sent, c.Served} {
		if !h.OK() {
			continue
		}
		key := w.at(h, sets)
		keys = append(keys, key)
		if old := w.known[key]; old != nil && (k == nil || old.state > k.state) {
			k = old
		}
	}
	if k == nil {
		k = &known{since: now}
	}
	for _, key := range keys {
		if w.known[key] != k {
			w.known[key] = k
			k.halves++
		}
	}
	return k
}

// dueFor notes when a call that is under way will have waited too long.
func (w *Watch) dueFor(c *Call, now time.Time) {
	age := c.Age()
	if !age.OK || ingest.OpenByDesign(c.Method()) {
		return
	}
	if at := w.grown.Add(w.options.Patience - age.D); at.After(now) && (w.due.IsZero() || at.Before(w.due)) {
		w.due = at
	}
}

// letGo lets go of the lines that no call needs any more, once they are most of what is held.
func (w *Watch) letGo(d *Diagnosis, sets map[*ingest.Log]*watched) {
	needed := map[*watched]map[uint32]bool{}
	for _, c := range slices.Backward(d.Calls) {
		for _, h := range []Half{c.Sent, c.Served} {
			if !h.OK() || !w.holds(w.known[w.at(h, sets)], len(sets)) {
				continue
			}
			l := sets[h.Log]
			if needed[l] == nil {
				needed[l] = map[uint32]bool{}
			}
			for _, p := range []ingest.Point{ingest.Request, ingest.Enter, ingest.Exit, ingest.Answer, ingest.Cancel} {
				if len(needed[l]) < neededKept {
					needed[l][h.Line(p)] = true
				}
			}
		}
	}
	for _, l := range w.logs {
		lines := uint32(l.Lines())
		if kept := tailKept + len(needed[l]); int(lines) > 2*kept {
			l.Keep(func(line uint32) bool { return line+tailKept > lines || needed[l][line] })
		}
	}
	w.forget(sets)
}

// forget lets go of what is known of calls in lines that are gone, and counts them.
func (w *Watch) forget(sets map[*ingest.Log]*watched) {
	for key, k := range w.known {
		if w.gone(key, sets) {
			delete(w.known, key)
			if k.halves--; k.halves == 0 {
				w.settled++
			}
		}
	}
}

func (w *Watch) at(h Half, sets map[*ingest.Log]*watched) seat {
	return seat{h.Log.Side, sets[h.Log].Serial(h.Log.FirstHalfLine(h.N))}
}

// holds reports whether a call's lines are needed: it is stalled; or it is under way, or only one of the logs has it, and not
// for long.
func (w *Watch) holds(k *known, logs int) bool {
	if k == nil {
		return false
	}
	age := w.grown.Sub(k.since)
	return k.state == stalledCall || k.state == underWay && age < undecided || k.halves < logs && age < lagging
}

// gone reports whether the lines of a half were let go.
func (w *Watch) gone(key seat, sets map[*ingest.Log]*watched) bool {
	for log, l := range sets {
		if log.Side == key.side && l.Holds(key.line) {
			return false
		}
	}
	return true
}
