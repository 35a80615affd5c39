package join

import (
	"fmt"
	"hash/maphash"
	"sort"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// Doubt is a pairing of stretches that is less than certain, or was not made.
type Doubt struct {
	Kind   string // "runner_up", "nothing_in_common", "ids_renumbered"
	Text   string
	Line   uint32            // in the client's log
	Client uint32            // stretch of the client's log
	Server uint32            // and of the server's
	Alike  map[uint32]uint32 // halves of the client's log and of the server's that may be one call, by their order
}

// Align pairs the stretches of two logs and numbers the uses of their ids alike. With one log every stretch is its own pair.
func Align(logs []*ingest.Log) (*ingest.Alignment, []Doubt) {
	a := &aligner{out: &ingest.Alignment{}}
	for _, l := range logs {
		a.out.Pair[l.Side] = make([]uint32, len(l.Stretches))
		a.out.Known[l.Side] = make([]bool, len(l.Stretches))
		a.out.Nth[l.Side] = map[uint32]uint32{}
		for i := range a.out.Pair[l.Side] {
			a.next++
			a.out.Pair[l.Side][i] = a.next
		}
	}
	if len(logs) == 2 {
		a.client, a.server = logs[0], logs[1]
		if a.client.Side != frame.Client {
			a.client, a.server = a.server, a.client
		}
		a.out.Keyless = a.client.NoIDs > 0 || a.server.NoIDs > 0
		a.stretches()
		if a.out.Keyless {
			a.byOrder()
		} else {
			a.renumbered()
		}
		a.occurrences()
	}
	return a.out, a.doubts
}

type aligner struct {
	client, server *ingest.Log
	out            *ingest.Alignment
	next           uint32
	doubts         []Doubt
	partners       map[uint32]uint32 // pair → server stretch
	pairs          [3]map[uint32]int // by side: how many stretches share a pair
}

// pair makes two stretches one session.
func (a *aligner) pair(c, s uint32) {
	a.out.Pair[frame.Server][s] = a.out.Pair[frame.Client][c]
	a.out.Known[frame.Client][c], a.out.Known[frame.Server][s] = true, true
}

// stretches pairs the sessions: by name, else the ones whose calls agree best.
func (a *aligner) stretches() {
	named := map[string]uint32{}
	for i, s := range a.server.Stretches {
		if s.Session != "" {
			named[s.Session] = uint32(i)
		}
	}
	var clients, servers []uint32
	for i, s := range a.client.Stretches {
		if j, ok := named[s.Session]; ok && s.Session != "" {
			a.pair(uint32(i), j)
		} else {
			clients = append(clients, uint32(i))
		}
	}
	for i := range a.server.Stretches {
		if !a.out.Known[frame.Server][i] {
			servers = append(servers, uint32(i))
		}
	}
	if len(clients) > 0 && len(servers) > 0 {
		a.byAgreement(clients, servers)
	}
}

// candidate is a pair of stretches and how many calls agree in (requester, id, method, name, bytes).
type candidate struct {
	c, s  uint32
	score int
}

// byAgreement pairs the stretches that have most calls in common, and of equals those that stand at the same place counted
// from the end, since a log that started late has lost its head.
func (a *aligner) byAgreement(clients, servers []uint32) {
	cs, ss := signatures(a.client, clients, a.out.Keyless), signatures(a.server, servers, a.out.Keyless)
	list := candidates(clients, servers, cs, ss)
	place := func(k candidate) int {
		d := (len(clients) - index(clients, k.c)) - (len(servers) - index(servers, k.s))
		return max(d, -d)
	}
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].score != list[j].score {
			return list[i].score > list[j].score
		}
		return place(list[i]) < place(list[j])
	})
	for _, k := range list {
		if !a.out.Known[frame.Client][k.c] && !a.out.Known[frame.Server][k.s] {
			a.pair(k.c, k.s)
		}
	}
	a.merge(list, cs, ss)
	for _, k := range list {
		a.runnerUp(k, list)
	}
	a.leftOver(clients, servers, cs, ss)
}

func index(list []uint32, v uint32) int {
	return sort.Search(len(list), func(i int) bool { return list[i] >= v })
}

// maxDoubts bounds the pairs that are talked about.
const maxDoubts = 8

// runnerUp notes a pair that was not made although it was nearly as good as the one that was.
func (a *aligner) runnerUp(k candidate, list []candidate) {
	if a.out.Known[frame.Client][k.c] && a.out.Known[frame.Server][k.s] || len(a.doubts) >= maxDoubts {
		return
	}
	best := 0
	for _, other := range list {
		if other.c == k.c || other.s == k.s {
			best = max(best, other.score)
		}
	}
	if k.score*10 >= best*9 {
		a.doubts = append(a.doubts, Doubt{"runner_up", fmt.Sprintf("connection %d of the client's log agrees with connection %d of the server's in %d calls, as well as the pair that was taken",
			a.client.Stretches[k.c].Number, a.server.Stretches[k.s].Number, k.score), a.client.Stretches[k.c].First, k.c, k.s, nil})
	}
}

// signature counts the calls of a stretch by what both logs can know of them.
type signature map[uint64]int

func signatures(l *ingest.Log, stretches []uint32, keyless bool) map[uint32]signature {
	out := map[uint32]signature{}
	for _, s := range stretches {
		out[s] = signature{}
	}
	for i := range uint32(l.Halves()) {
		h := l.Half(i)
		if sig, ok := out[h.Stretch]; ok && l.FirstHalfLine(i) != 0 && (keyless || l.Line(i, ingest.Request) != 0) {
			sig[callHash(l, i, keyless)]++
		}
	}
	return out
}

var hashSeed = maphash.MakeSeed()

func callHash(l *ingest.Log, i uint32, keyless bool) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	h.WriteByte(byte(l.Half(i).By))
	if keyless { // the method is what every such log tells
		h.WriteString(l.Method(i))
		return h.Sum64()
	}
	h.Write(l.ID(i))
	h.WriteByte(0)
	h.WriteString(l.Method(i))
	h.WriteByte(0)
	h.WriteString(l.Name(i))
	fmt.Fprint(&h, l.Bytes(i, ingest.Request))
	return h.Sum64()
}

// common counts the calls that two stretches share.
func common(a, b signature) int {
	if len(b) < len(a) {
		a, b = b, a
	}
	n := 0
	for k, m := range a {
		n += min(m, b[k])
	}
	return n
}

// maxCandidates bounds the pairs looked at, for logs of very many short connections that all look alike.
const maxCandidates = 1 << 20

func candidates(clients, servers []uint32, cs, ss map[uint32]signature) []candidate {
	holders := map[uint64][]uint32{}
	for _, s := range servers {
		for k := range ss[s] {
			holders[k] = append(holders[k], s)
		}
	}
	var list []candidate
	for _, c := range clients {
		met := map[uint32]bool{}
		for k := range cs[c] {
			for _, s := range holders[k] {
				met[s] = true
			}
		}
		near := make([]uint32, 0, len(met))
		for s := range met {
			near = append(near, s)
		}
		sort.Slice(near, func(i, j int) bool { return near[i] < near[j] })
		for _, s := range near {
			if len(list) < maxCandidates {
				list = append(list, candidate{c, s, common(cs[c], ss[s])})
			}
		}
	}
	return list
}

// merge adds stretches that one log cut and the other did not: a client that does not see TCP connections has one stretch
// for what the server's log has in several.
func (a *aligner) merge(list []candidate, cs, ss map[uint32]signature) {
	for _, k := range list {
		knownC, knownS := a.out.Known[frame.Client][k.c], a.out.Known[frame.Server][k.s]
		switch {
		case knownC && !knownS && k.score == len(ss[k.s]) && a.free(a.server, k.s, a.out.Pair[frame.Client][k.c]):
			a.out.Pair[frame.Server][k.s] = a.out.Pair[frame.Client][k.c]
			a.out.Known[frame.Server][k.s] = true
		case knownS && !knownC && k.score == len(cs[k.c]) && a.free(a.client, k.c, a.out.Pair[frame.Server][k.s]):
			a.out.Pair[frame.Client][k.c] = a.out.Pair[frame.Server][k.s]
			a.out.Known[frame.Client][k.c] = true
		}
	}
}

// free reports whether no stretch of the pair in this log uses an id that stretch s uses too.
func (a *aligner) free(l *ingest.Log, s, pair uint32) bool {
	used := map[string]bool{}
	key := func(i uint32) string { return l.Half(i).By.String() + string(l.ID(i)) }
	for i := range uint32(l.Halves()) {
		if st := l.Half(i).Stretch; st != s && a.out.Pair[l.Side][st] == pair {
			used[key(i)] = true
		}
	}
	for i := range uint32(l.Halves()) {
		if l.Half(i).Stretch == s && used[key(i)] {
			return false
		}
	}
	return true
}

// leftOver treats the stretches that have nothing in common. A lone one without calls is the other's session seen without
// calls; a lone one with other calls is a hint that a gateway renumbers.
func (a *aligner) leftOver(clients, servers []uint32, cs, ss map[uint32]signature) {
	var c, s []uint32
	for _, i := range clients {
		if !a.out.Known[frame.Client][i] {
			c = append(c, i)
		}
	}
	for _, i := range servers {
		if !a.out.Known[frame.Server][i] {
			s = append(s, i)
		}
	}
	if len(c) != 1 || len(s) != 1 {
		return
	}
	if len(cs[c[0]]) == 0 || len(ss[s[0]]) == 0 || a.shareAnID(c[0], s[0]) {
		a.pair(c[0], s[0])
		return
	}
	a.doubts = append(a.doubts, Doubt{"nothing_in_common", "the two logs share no request id here: renumbered by a gateway, or logs of different sessions", a.client.Stretches[c[0]].First, c[0], s[0], nil})
}

// shareAnID reports whether the two stretches have a request with the same id and method; a proxy may have changed its size.
func (a *aligner) shareAnID(c, s uint32) bool {
	seen := map[string]bool{}
	key := func(l *ingest.Log, i uint32) string {
		return l.Half(i).By.String() + string(l.ID(i)) + " " + l.Method(i)
	}
	for i := range uint32(a.client.Halves()) {
		if a.client.Half(i).Stretch == c {
			seen[key(a.client, i)] = true
		}
	}
	for i := range uint32(a.server.Halves()) {
		if a.server.Half(i).Stretch == s && seen[key(a.server, i)] {
			return true
		}
	}
	return false
}
