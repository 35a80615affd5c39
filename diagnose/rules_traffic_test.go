package diagnose_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// restsOnSilence are the causes that a call served afterwards in the same session takes the ground from, and what may be left
// of them: a client that goes on is in no circular wait, but has still not answered.
var restsOnSilence = map[string][]string{
	diagnose.ReaderStopped: {diagnose.None}, diagnose.StoppedReading: {diagnose.None}, diagnose.QueuedBehind: {diagnose.None},
	diagnose.ServerClosed: {diagnose.None}, diagnose.Contamination: {diagnose.None},
	diagnose.CircularWait: {diagnose.ReverseUnanswered, diagnose.None},
}

// addition is healthy traffic: where it goes, and what it may change.
type addition struct {
	name     string
	add      func(p *pairOfLogs) bool // false when there is no place for it
	evidence bool                     // it may prove a candidate
	ends     bool                     // and end a silence
}

func additions() []addition {
	return []addition{
		{name: "another session after every line", add: (*pairOfLogs).otherSession},
		{name: "calls before", add: (*pairOfLogs).callsBefore, evidence: true},
		{name: "calls after", add: (*pairOfLogs).callsAfter, evidence: true, ends: true},
	}
}

// TestHealthyTraffic: healthy traffic turns no cause that was found into another one. Another session changes nothing at all;
// calls in the same session may prove what was a candidate, and show that a silence was none.
func TestHealthyTraffic(t *testing.T) {
	for name, texts := range everyPair(t) {
		before := diagnoseTexts(t, texts[0], texts[1])
		for _, more := range additions() {
			p := newPairOfLogs(before, texts)
			if !more.add(p) {
				continue
			}
			t.Run(name+"/"+more.name, func(t *testing.T) {
				t.Parallel()
				after := diagnoseTexts(t, p.text(frame.Client), p.text(frame.Server))
				now := map[string]*diagnose.Call{}
				for _, c := range after.Calls {
					now[key(c)] = c
				}
				for _, c := range before.Calls {
					if wrong := more.turned(c, now[key(c)]); wrong != "" {
						t.Errorf("%s: %s\n%s%s", key(c), wrong, p.text(frame.Client), p.text(frame.Server))
					}
				}
			})
		}
	}
}

// everyPair are the logs of the cases, and the proofs of the rules.
func everyPair(t *testing.T) map[string][2]string {
	t.Helper()
	pairs := map[string][2]string{}
	folders, err := filepath.Glob("testdata/cases/*/want.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range folders {
		dir := filepath.Dir(path)
		pairs[filepath.Base(dir)] = [2]string{string(readFile(t, filepath.Join(dir, "client.log"))), string(readFile(t, filepath.Join(dir, "server.log")))}
	}
	delete(pairs, "40-docker-chain-duplicates") // traffic that stands there once shows that its log is no copy
	for _, c := range ruleCases() {
		if c.shows == proves {
			client, server := c.texts()
			pairs[c.rule+"/"+c.is] = [2]string{client, server}
		}
	}
	return pairs
}

func key(c *diagnose.Call) string {
	return fmt.Sprintf("%s %s/%d id %s (%d)", c.Requester, c.Session(), c.Connection(), c.ID(), c.Nth())
}

// turned says what is wrong with the causes after the traffic.
func (a addition) turned(before, after *diagnose.Call) string {
	if after == nil {
		return "the call is gone"
	}
	was, is := named(before), named(after)
	change := fmt.Sprintf("%s became %s, %q became %q", logtest.Verdict(before), logtest.Verdict(after), was, is)
	proved := slices.Contains(strings.Fields(was)[min(1, len(strings.Fields(was))):], first(is))
	switch {
	case first(was) == first(is) && (a.evidence || was == is):
		return ""
	case a.evidence && proved:
		return ""
	case a.ends && slices.Contains(restsOnSilence[first(was)], first(is)):
		return ""
	}
	return change
}

// pairOfLogs is two logs that lines are put into.
type pairOfLogs struct {
	lines  [3][]string         // by side
	put    [3]map[int][]string // by side: what goes after so many lines
	shared [3]uint32           // the first line of a call that both logs have
	sound  *diagnose.Call      // a healthy one, which the traffic is like
}

func newPairOfLogs(d *diagnose.Diagnosis, texts [2]string) *pairOfLogs {
	p := &pairOfLogs{}
	for side := frame.Client; side <= frame.Server; side++ {
		p.lines[side] = slices.DeleteFunc(strings.SplitAfter(texts[side-frame.Client], "\n"), func(line string) bool { return line == "" })
		p.put[side] = map[int][]string{}
	}
	for _, c := range d.Calls {
		if !c.Sent.OK() || !c.Served.OK() {
			continue
		}
		for _, h := range []diagnose.Half{c.Sent, c.Served} {
			if line := h.Log.FirstHalfLine(h.N); p.shared[h.Log.Side] == 0 || line < p.shared[h.Log.Side] {
				p.shared[h.Log.Side] = line
			}
		}
		if p.sound == nil && c.Requester == frame.Client && c.Leaf == diagnose.AgentLevel && !c.Problem() {
			p.sound = c
		}
	}
	return p
}

// text is a log with what was put into it.
func (p *pairOfLogs) text(side frame.Side) string {
	var b strings.Builder
	for i, line := range p.lines[side] {
		b.WriteString(strings.Join(p.put[side][i], ""))
		b.WriteString(line)
	}
	b.WriteString(strings.Join(p.put[side][len(p.lines[side])], ""))
	return b.String()
}

// end is the number of lines of a log before its cut tail, if it has one.
func (p *pairOfLogs) end(side frame.Side) int {
	n := len(p.lines[side])
	if n > 0 && !strings.HasSuffix(p.lines[side][n-1], "\n") {
		n--
	}
	return n
}

// call puts a healthy call into both logs: it takes no time, so it stands at the time of the line before it.
func (p *pairOfLogs) call(id string, client, server int, in func(frame.Side) map[string]any) {
	for side, at := range map[frame.Side]int{frame.Client: client, frame.Server: server} {
		request, answer := int64(80), int64(0)
		if p.sound != nil {
			request, answer = p.sound.Bytes(ingest.Request), p.sound.Bytes(ingest.Answer)
		}
		p.record(side, at, in, map[string]any{"dir": "c2s", "kind": "request", "id": id, "method": "tools/call", "name": "calm", "bytes": request})
		if side == frame.Server {
			p.record(side, at, in, map[string]any{"dir": "c2s", "kind": "handler_enter", "id": id, "method": "tools/call", "name": "calm"})
			p.record(side, at, in, map[string]any{"dir": "c2s", "kind": "handler_exit", "id": id, "method": "tools/call", "name": "calm"})
		}
		p.record(side, at, in, map[string]any{"dir": "s2c", "kind": "response", "id": id, "bytes": answer})
	}
}

func (p *pairOfLogs) record(side frame.Side, at int, in func(frame.Side) map[string]any, members map[string]any) {
	members["side"] = side.String()
	for k, v := range p.members(side, at, "ts", "mono_ns") {
		members[k] = v
	}
	for k, v := range in(side) {
		members[k] = v
	}
	for k, v := range members {
		if n, ok := v.(int64); ok && n <= 0 { // a size that is not known
			delete(members, k)
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	p.put[side][at] = append(p.put[side][at], string(text)+"\n")
}

// members are some members of the last record among so many lines; of the first record of all when they have none.
func (p *pairOfLogs) members(side frame.Side, at int, names ...string) map[string]any {
	before := slices.Clone(p.lines[side][:at])
	slices.Reverse(before)
	for _, line := range append(before, p.lines[side][at:]...) {
		var all map[string]json.RawMessage
		if json.Unmarshal([]byte(line), &all) != nil {
			continue
		}
		some := map[string]any{}
		for _, name := range names {
			if v, ok := all[name]; ok {
				some[name] = v
			}
		}
		return some
	}
	return nil
}

// otherSession puts a call of another session after every line of both logs, from the first call that they share on: before
// it, it would show that the logs cover more. Where they share none, they are taken to cover all; so the first stands first.
func (p *pairOfLogs) otherSession() bool {
	from := [3]int{frame.Client: int(p.shared[frame.Client]), frame.Server: int(p.shared[frame.Server])}
	length := [3]int{frame.Client: p.end(frame.Client) - from[frame.Client], frame.Server: p.end(frame.Server) - from[frame.Server]}
	calls := max(length[frame.Client], length[frame.Server])
	place := func(side frame.Side, k int) int { return from[side] + max(0, length[side])*k/max(1, calls) }
	for k := range calls + 1 {
		p.call(fmt.Sprintf("calm-%d", k), place(frame.Client, k), place(frame.Server, k), func(frame.Side) map[string]any {
			return map[string]any{"session": "calm"}
		})
	}
	return true
}

// like is the session of the healthy call, as its logs write it.
func (p *pairOfLogs) like(side frame.Side) map[string]any {
	h := p.sound.Sent
	if side == frame.Server {
		h = p.sound.Served
	}
	return p.members(side, int(h.Line(ingest.Request)), "session", "conn", "pid")
}

// callsBefore puts two calls right after the healthy one.
func (p *pairOfLogs) callsBefore() bool {
	if p.sound == nil {
		return false
	}
	for k := range 2 {
		p.call(fmt.Sprintf("before-%d", k), int(p.sound.Sent.Line(ingest.Answer)), int(p.sound.Served.Line(ingest.Answer)), p.like)
	}
	return true
}

// callsAfter puts two calls at the end of the session, unless a stream of it has ended: that cannot be taken back.
func (p *pairOfLogs) callsAfter() bool {
	if p.sound == nil || p.sound.Sent.Stretch().EOF != [2]uint32{} || p.sound.Served.Stretch().EOF != [2]uint32{} {
		return false
	}
	for k := range 2 {
		p.call(fmt.Sprintf("after-%d", k), p.end(frame.Client), p.end(frame.Server), p.like)
	}
	return true
}
