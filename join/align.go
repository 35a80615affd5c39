package join

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sort"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// Doubt is a pairing of stretches that is less than certain, or was not made.
type Doubt struct {
	Kind   string // "runner_up", "nothing_in_common", "ids_renumbered", "uneven"
	Text   string
	Client Stretch           // of a client's log; the doubt is told on its first line, or on Line
	Server Stretch           // and of a server's
	Line   uint32            // in the client's log
	Alike  map[uint32]uint32 // halves of the client's log and of the server's that may be one call, by their order
}

// Stretch is a stretch of one of the logs.
type Stretch struct {
	Log *ingest.Log
	N   uint32
}

func (s Stretch) is() *ingest.Stretch { return s.Log.Stretches[s.N] }

// half is a half of one of the logs.
type half struct {
	*ingest.Log
	n uint32
}

func (h half) of() *ingest.Half { return h.Half(h.n) }

func (h half) stretch() Stretch { return Stretch{h.Log, h.of().Stretch} }

// Align pairs the stretches of the logs of both sides and numbers the uses of their ids alike. With the logs of one side every
// stretch is its own pair.
func Align(logs []*ingest.Log) (*ingest.Alignment, []Doubt) {
	a := &aligner{out: ingest.NewAlignment(logs)}
	for _, l := range logs {
		a.logs[l.Side] = append(a.logs[l.Side], l)
		a.out.Keyless = a.out.Keyless || l.NoIDs > 0
		for i := range l.Stretches {
			a.next++
			a.out.Pair[l.Number()][i] = a.next
		}
	}
	if len(a.logs[frame.Client]) == 0 || len(a.logs[frame.Server]) == 0 {
		a.out.Keyless = false
		return a.out, nil
	}
	a.stretches()
	if a.out.Keyless {
		a.byOrder()
	} else {
		a.renumbered()
	}
	a.occurrences()
	a.out.Cover(logs)
	return a.out, a.doubts
}

type aligner struct {
	logs     [3][]*ingest.Log // by side
	out      *ingest.Alignment
	next     uint32
	doubts   []Doubt
	partners map[uint32]Stretch // pair → server stretch
	pairs    [3]map[uint32]int  // by side: how many stretches share a pair
}

func (a *aligner) pairOf(s Stretch) *uint32 { return &a.out.Pair[s.Log.Number()][s.N] }

func (a *aligner) known(s Stretch) bool { return a.out.Known[s.Log.Number()][s.N] }

// pair makes two stretches one session.
func (a *aligner) pair(c, s Stretch) {
	*a.pairOf(s) = *a.pairOf(c)
	a.know(c)
	a.know(s)
}

func (a *aligner) know(s Stretch) { a.out.Known[s.Log.Number()][s.N] = true }

// each lists the stretches of a side.
func (a *aligner) each(side frame.Side) []Stretch {
	var list []Stretch
	for _, l := range a.logs[side] {
		for i := range l.Stretches {
			list = append(list, Stretch{l, uint32(i)})
		}
	}
	return list
}

// halves calls f with each half of a side.
func (a *aligner) halves(side frame.Side, f func(half)) {
	for _, l := range a.logs[side] {
		for i := range uint32(l.Halves()) {
			f(half{l, i})
		}
	}
}

// stretches pairs the sessions: by name, else the ones whose calls agree best. All stretches of one name are one session: a
// client that moved to another host, or one of several replicas, has a part of it in each log.
func (a *aligner) stretches() {
	named := map[string][]Stretch{}
	for _, s := range a.each(frame.Server) {
		if name := s.is().Session; name != "" {
			named[name] = append(named[name], s)
		}
	}
	first := map[string]Stretch{}
	var clients, servers []Stretch
	for _, c := range a.each(frame.Client) {
		name := c.is().Session
		if named[name] == nil {
			clients = append(clients, c)
			continue
		}
		if one, ok := first[name]; ok {
			*a.pairOf(c) = *a.pairOf(one)
		} else {
			first[name] = c
		}
		for _, s := range named[name] {
			a.pair(c, s)
		}
	}
	for _, s := range a.each(frame.Server) {
		if !a.known(s) {
			servers = append(servers, s)
		}
	}
	if len(clients) > 0 && len(servers) > 0 {
		a.byAgreement(clients, servers)
	}
}

// candidate is a pair of stretches and how many calls agree in (requester, id, method, name, bytes).
type candidate struct {
	c, s  Stretch
	score int
}

// byAgreement pairs the stretches that have most calls in common, and of equals those that stand at the same place counted
// from the end, since a log that started late has lost its head.
func (a *aligner) byAgreement(clients, servers []Stretch) {
	cs, ss := a.signatures(frame.Client, clients), a.signatures(frame.Server, servers)
	list := candidates(clients, servers, cs, ss)
	fromEnd := map[Stretch]int{}
	for _, stretches := range [][]Stretch{clients, servers} {
		for k, s := range stretches {
			fromEnd[s] = len(stretches) - k
		}
	}
	place := func(k candidate) int {
		d := fromEnd[k.c] - fromEnd[k.s]
		return max(d, -d)
	}
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].score != list[j].score {
			return list[i].score > list[j].score
		}
		return place(list[i]) < place(list[j])
	})
	for _, k := range list {
		if !a.known(k.c) && !a.known(k.s) {
			a.pair(k.c, k.s)
		}
	}
	a.merge(list, cs, ss)
	for _, k := range list {
		a.runnerUp(k, list)
	}
	a.leftOver(clients, servers, cs, ss)
}

// maxDoubts bounds the pairs that are talked about.
const maxDoubts = 8

// runnerUp notes a pair that was not made although it was nearly as good as the one that was.
func (a *aligner) runnerUp(k candidate, list []candidate) {
	if a.known(k.c) && a.known(k.s) || len(a.doubts) >= maxDoubts {
		return
	}
	best := 0
	for _, other := range list {
		if other.c == k.c || other.s == k.s {
			best = max(best, other.score)
		}
	}
	if k.score*10 >= best*9 {
		a.doubt(k.c, k.s, Doubt{Kind: "runner_up", Text: fmt.Sprintf("connection %d of the client's log agrees with connection %d of the server's in %d calls, as well as the pair that was taken",
			k.c.is().Number, k.s.is().Number, k.score)})
	}
}

// doubt notes a doubt about two stretches, on the first line of the client's.
func (a *aligner) doubt(c, s Stretch, d Doubt) {
	d.Client, d.Server = c, s
	if d.Line == 0 {
		d.Line = c.is().First
	}
	a.doubts = append(a.doubts, d)
}

// signature counts the calls of a stretch by what both logs can know of them.
type signature map[uint64]int

func (a *aligner) signatures(side frame.Side, stretches []Stretch) map[Stretch]signature {
	out := map[Stretch]signature{}
	for _, s := range stretches {
		out[s] = signature{}
	}
	a.halves(side, func(h half) {
		if sig, ok := out[h.stretch()]; ok && h.FirstHalfLine(h.n) != 0 && (a.out.Keyless || h.Line(h.n, ingest.Request) != 0) {
			sig[h.hash(a.out.Keyless)]++
		}
	})
	return out
}

var hashSeed = maphash.MakeSeed()

func (h half) hash(keyless bool) uint64 {
	var sum maphash.Hash
	sum.SetSeed(hashSeed)
	sum.WriteByte(byte(h.of().By))
	if keyless { // the method is what every such log tells
		sum.WriteString(h.Method(h.n))
		return sum.Sum64()
	}
	sum.Write(h.ID(h.n))
	sum.WriteByte(0)
	sum.WriteString(h.Method(h.n))
	sum.WriteByte(0)
	sum.WriteString(h.Name(h.n))
	fmt.Fprint(&sum, h.Bytes(h.n, ingest.Request))
	return sum.Sum64()
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

func candidates(clients, servers []Stretch, cs, ss map[Stretch]signature) []candidate {
	holders := map[uint64][]int{}
	for k, s := range servers {
		for hash := range ss[s] {
			holders[hash] = append(holders[hash], k)
		}
	}
	var list []candidate
	for _, c := range clients {
		met := map[int]bool{}
		for hash := range cs[c] {
			for _, k := range holders[hash] {
				met[k] = true
			}
		}
		for _, k := range slices.Sorted(maps.Keys(met)) {
			if len(list) < maxCandidates {
				list = append(list, candidate{c, servers[k], common(cs[c], ss[servers[k]])})
			}
		}
	}
	return list
}

// merge adds stretches that one log cut and the other did not: a client that does not see TCP connections has one stretch
// for what the server's log has in several.
func (a *aligner) merge(list []candidate, cs, ss map[Stretch]signature) {
	for _, k := range list {
		knownC, knownS := a.known(k.c), a.known(k.s)
		switch {
		case knownC && !knownS && k.score == len(ss[k.s]) && a.free(k.s, *a.pairOf(k.c)):
			*a.pairOf(k.s) = *a.pairOf(k.c)
			a.know(k.s)
		case knownS && !knownC && k.score == len(cs[k.c]) && a.free(k.c, *a.pairOf(k.s)):
			*a.pairOf(k.c) = *a.pairOf(k.s)
			a.know(k.c)
		}
	}
}

// free reports whether no stretch of the pair on this side uses an id that stretch s uses too.
func (a *aligner) free(s Stretch, pair uint32) bool {
	used := map[string]bool{}
	key := func(h half) string { return h.of().By.String() + string(h.ID(h.n)) }
	a.halves(s.Log.Side, func(h half) {
		if other := h.stretch(); other != s && *a.pairOf(other) == pair {
			used[key(h)] = true
		}
	})
	free := true
	a.halves(s.Log.Side, func(h half) {
		free = free && !(h.stretch() == s && used[key(h)])
	})
	return free
}

// leftOver treats the stretches that have nothing in common. A lone one without calls is the other's session seen without
// calls; a lone one with other calls is a hint that a gateway renumbers.
func (a *aligner) leftOver(clients, servers []Stretch, cs, ss map[Stretch]signature) {
	c, s := slices.DeleteFunc(slices.Clone(clients), a.known), slices.DeleteFunc(slices.Clone(servers), a.known)
	if len(c) != 1 || len(s) != 1 {
		return
	}
	if len(cs[c[0]]) == 0 || len(ss[s[0]]) == 0 || a.shareAnID(c[0], s[0]) {
		a.pair(c[0], s[0])
		return
	}
	a.doubt(c[0], s[0], Doubt{Kind: "nothing_in_common", Text: "the two logs share no request id here: renumbered by a gateway, or logs of different sessions"})
}

// shareAnID reports whether the two stretches have a request with the same id and method; a proxy may have changed its size.
func (a *aligner) shareAnID(c, s Stretch) bool {
	seen, shared := map[string]bool{}, false
	key := func(h half) string { return h.of().By.String() + string(h.ID(h.n)) + " " + h.Method(h.n) }
	a.halves(frame.Client, func(h half) {
		if h.stretch() == c {
			seen[key(h)] = true
		}
	})
	a.halves(frame.Server, func(h half) {
		shared = shared || h.stretch() == s && seen[key(h)]
	})
	return shared
}
