package diagnose_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// naiveSQL finds the leaves of clean logs in the plainest way: no coverage, no copies, no reuse, ids that are unique in their
// session. One row is a leaf and its count.
const naiveSQL = `
WITH client AS (SELECT * FROM read_json($1, format = 'newline_delimited', columns = {kind: 'VARCHAR', id: 'JSON', session: 'VARCHAR'})),
     server AS (SELECT * FROM read_json($2, format = 'newline_delimited', columns = {kind: 'VARCHAR', id: 'JSON', session: 'VARCHAR'})),
     calls AS (
       SELECT EXISTS (FROM server s WHERE s.session = c.session AND s.id = c.id AND s.kind = 'request')               AS q1,
              EXISTS (FROM server s WHERE s.session = c.session AND s.id = c.id AND s.kind IN ('response', 'error')) AS q2,
              EXISTS (FROM client r WHERE r.session = c.session AND r.id = c.id AND r.kind IN ('response', 'error')) AS q3
       FROM client c WHERE c.kind = 'request')
SELECT CASE WHEN q1 AND q2 AND q3 THEN 'agent_level' WHEN q1 AND q2 THEN 'written_not_read'
            WHEN q1 AND NOT q3 THEN 'never_written' WHEN NOT q2 AND NOT q3 THEN 'never_arrived' ELSE 'none' END, count(*)
FROM calls GROUP BY 1`

// generated is a pair of logs and what was planted in them.
type generated struct {
	client, server string
	truth          map[diagnose.Leaf]int
}

// event is a line with its true time; lines are written in its order.
type event struct {
	at   float64
	line []string // members, as key:value
}

// generate plants calls of every leaf in several sessions. ids makes the id of the nth call; with shuffled each line has its members in an order
// of its own.
func generate(r *rand.Rand, calls int, ids func(n int) string, shuffled bool) generated {
	g := generated{truth: map[diagnose.Leaf]int{}}
	var sides [2][]event
	for n := range calls {
		session, leaf := fmt.Sprintf("s%d", n/100), diagnose.AgentLevel
		if n%100 > 0 { // the first call of a session is healthy: from it on both logs cover the session
			leaf = append(diagnose.Leaves(), diagnose.AgentLevel, diagnose.AgentLevel)[r.IntN(6)]
		}
		g.truth[leaf]++
		at := float64(n) * 10
		add := func(side int, after float64, members ...string) {
			members = append(members, `"session":"`+session+`"`, `"id":`+ids(n))
			sides[side] = append(sides[side], event{at + after, members})
		}
		request := []string{`"kind":"request"`, `"dir":"c2s"`, `"method":"tools/call"`, fmt.Sprintf(`"name":"t%d"`, n%7), `"bytes":120`}
		answer := []string{`"kind":"response"`, `"dir":"s2c"`, fmt.Sprintf(`"bytes":%d`, 500+n%4000)}
		if n%11 == 0 {
			answer[0] = `"kind":"error"`
		}
		add(0, 0, request...)
		if leaf == diagnose.NeverArrived {
			continue
		}
		add(1, 2, request...)
		if leaf == diagnose.NeverWritten {
			continue
		}
		add(1, 30+r.Float64()*400, answer...)
		if leaf == diagnose.AgentLevel {
			add(0, 450+r.Float64()*100, answer...)
		}
	}
	g.client, g.server = write(r, "client", sides[0], shuffled), write(r, "server", sides[1], shuffled)
	return g
}

func write(r *rand.Rand, side string, events []event, shuffled bool) string {
	// Insertion by time: the lists are nearly in order already.
	for i := 1; i < len(events); i++ {
		for k := i; k > 0 && events[k].at < events[k-1].at; k-- {
			events[k], events[k-1] = events[k-1], events[k]
		}
	}
	var b strings.Builder
	for _, e := range events {
		ts := logtest.Epoch.Add(time.Duration(e.at * float64(time.Millisecond))).Format(time.RFC3339Nano)
		members := append([]string{`"ts":"` + ts + `"`, `"side":"` + side + `"`}, e.line...)
		if shuffled {
			r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
		}
		b.WriteString("{" + strings.Join(members, ",") + "}\n")
	}
	return b.String()
}

func naiveLeaves(t *testing.T, clientPath, serverPath string) map[diagnose.Leaf]int {
	t.Helper()
	ctx := context.Background()
	conn, err := ingest.OpenDB(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	rows, err := conn.Query(ctx, naiveSQL, clientPath, serverPath)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[diagnose.Leaf]int{}
	for rows.Next() {
		var leaf string
		var n int
		if err := rows.Scan(&leaf, &n); err != nil {
			t.Fatal(err)
		}
		out[diagnose.Leaf(leaf)] = n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDifferential: on clean logs the pipeline, a naive SQL over the files and what was planted say the same.
func TestDifferential(t *testing.T) {
	ids := map[string]func(int) string{
		"int":    func(n int) string { return fmt.Sprint(n % 100) },
		"opaque": func(n int) string { return fmt.Sprintf(`"%x-%03d"`, uint64(n)*0x9E3779B97F4A7C15, n%100) },
		"big":    func(n int) string { return fmt.Sprintf("900719925474%04d", n%100) },
		"escape": func(n int) string { return fmt.Sprintf(`"é\u00e9/\"%d"`, n%100) },
	}
	for name, id := range ids {
		for _, shuffled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/shuffled=%t", name, shuffled), func(t *testing.T) {
				g := generate(rand.New(rand.NewPCG(47, uint64(len(name)))), 3000, id, shuffled)
				client, server := logtest.File(t, "client.log", g.client), logtest.File(t, "server.log", g.server)
				var logs []*ingest.Log
				for _, s := range []struct {
					path string
					side frame.Side
				}{{client, frame.Client}, {server, frame.Server}} {
					l, err := ingest.Read(context.Background(), ingest.Set{Sources: []ingest.Source{{Path: s.path, Label: s.path}}, Side: s.side}, ingest.Options{Quiet: logtest.Quiet})
					if err != nil {
						t.Fatal(err)
					}
					logs = append(logs, l...)
				}
				d := logtest.DiagnoseWith(t, diagnose.Options{Limits: logtest.Options().Limits}, logs...)
				naive := naiveLeaves(t, client, server)
				for _, leaf := range diagnose.Leaves() {
					if got, sql, truth := d.Summary.Leaf[leaf], naive[leaf], g.truth[leaf]; got != truth || sql != truth {
						t.Errorf("%s: %d, by SQL %d, planted %d", leaf, got, sql, truth)
					}
				}
				if d.Summary.NoLeaf != 0 || naive["none"] != 0 || d.Summary.Calls != 3000 {
					t.Errorf("%d calls, %d without a leaf, by SQL %d", d.Summary.Calls, d.Summary.NoLeaf, naive["none"])
				}
				for _, c := range d.Calls {
					if !c.Problem() && c.Leaf == diagnose.AgentLevel {
						t.Fatalf("a healthy call among %d of 3000: %s", len(d.Calls), logtest.SayCall(c))
					}
				}
			})
		}
	}
}
