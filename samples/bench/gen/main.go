// Gen writes a synthetic pair of native frame logs and what was planted in them.
//
//	go run ./samples/bench/gen [-calls 100000] [-keys native|shuffled] [-ids int|opaque] [-payload BYTES] DIR
//
// DIR gets client.jsonl (about 2 lines a call), server.jsonl (about 4) and, when both are complete, truth.json: calls by leaf.
// The same flags give the same bytes. Of 100 calls about 89 are healthy, 2 never arrive, 4 are never written (read only; entered;
// left), 2 are written and not read, and one each is answered late, with an error, and twice. Sessions have 1,000 calls; the
// first call of each is healthy, so that both logs cover their sessions from the start and every planted leaf can be told.
//
// Memory is bounded by what is outstanding at once, not by -calls.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

const (
	callsPerSession = 1000
	meanGap         = 3e6  // ns between calls
	deadline        = 30e9 // ns until the client cancels
	tooLong         = 40e9 // ns that a late answer takes on top
)

// options are the flags.
type options struct {
	calls   int
	keys    string
	ids     string
	payload int
}

func main() {
	var o options
	flag.IntVar(&o.calls, "calls", 100_000, "number of calls")
	flag.StringVar(&o.keys, "keys", "native", "order of the members of each line: native or shuffled")
	flag.StringVar(&o.ids, "ids", "int", "ids: int (strings in one session of ten) or opaque (strings)")
	flag.IntVar(&o.payload, "payload", 0, "add a frame of about this many `bytes` to each request and answer")
	flag.Parse()
	if flag.NArg() != 1 || !oneOf(o.keys, "native", "shuffled") || !oneOf(o.ids, "int", "opaque") {
		flag.Usage()
		os.Exit(2)
	}
	if err := generate(o, flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

func oneOf(s string, words ...string) bool {
	for _, w := range words {
		if s == w {
			return true
		}
	}
	return false
}

// generate writes the three files of dir.
func generate(o options, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	client, err := newSide(filepath.Join(dir, "client.jsonl"), "client", 0, 123_456_789, o)
	if err != nil {
		return err
	}
	server, err := newSide(filepath.Join(dir, "server.jsonl"), "server", -2137*time.Millisecond, 987_654_321_987, o)
	if err != nil {
		return err
	}
	truth := plant(o.calls, client, server)
	for _, s := range []*side{client, server} {
		if err := s.close(); err != nil {
			return err
		}
		fmt.Println(s.path, s.lines, "lines")
	}
	return writeTruth(filepath.Join(dir, "truth.json"), truth)
}

// writeTruth comes last: where there is a truth.json the logs are complete.
func writeTruth(path string, truth map[string]int) error {
	b, err := json.MarshalIndent(truth, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// plant lays out the calls in the order of their start and returns how many went where. What happens before the next call
// starts can be written at once: no later call can come before it.
func plant(calls int, client, server *side) map[string]int {
	r := rand.New(rand.NewPCG(47, 418))
	truth := map[string]int{"never_arrived": 0, "never_written": 0, "written_not_read": 0, "agent_level": 0}
	now := int64(0)
	for i := range calls {
		now += int64(r.ExpFloat64() * meanGap)
		client.flush(now)
		server.flush(now)
		c := draw(r, i, now)
		truth[c.leaf()]++
		c.atClient(client)
		c.atServer(server)
	}
	return truth
}

// fate is what happens to a call.
type fate uint8

const (
	healthy fate = iota
	lost         // never arrived
	unseen       // read, and no handler entered
	stuck        // entered, never left
	unsent       // left, nothing written
	unread       // written, not read
	late         // answered after the cancel
	failed       // answered with an error
	twice        // answered twice
)

// fates is indexed by per cent; what lies beyond is healthy.
var fates = [...]fate{lost, lost, unseen, stuck, stuck, unsent, unread, unread, late, failed, twice}

// call is one call and its moments, in ns of a true time that neither log has.
type call struct {
	n                                         int
	fate                                      fate
	sent, read, enter, exit, written, arrived int64
}

func draw(r *rand.Rand, n int, now int64) call {
	c := call{n: n, sent: now}
	if p := r.IntN(100); p < len(fates) && n%callsPerSession > 0 {
		c.fate = fates[p]
	}
	after := func(least, mean float64) int64 { return int64(least + r.ExpFloat64()*mean) }
	c.read = c.sent + after(2e5, 1e6)
	c.enter = c.read + after(5e4, 5e5)
	c.exit = c.enter + after(1e6, 8e7)
	if c.fate == late {
		c.exit += tooLong
	}
	c.written = c.exit + after(2e4, 2e5)
	c.arrived = c.written + after(2e5, 1e6)
	return c
}

func (c call) leaf() string {
	switch c.fate {
	case lost:
		return "never_arrived"
	case unseen, stuck, unsent:
		return "never_written"
	case unread:
		return "written_not_read"
	}
	return "agent_level"
}

// atClient is what the client records.
func (c call) atClient(s *side) {
	s.add(c.sent, c.n, request)
	switch c.fate {
	case lost, unseen, stuck, unsent, unread, late:
		s.add(c.sent+deadline, c.n, cancel)
	}
	switch c.fate {
	case healthy, late, twice:
		s.add(c.arrived, c.n, response)
	case failed:
		s.add(c.arrived, c.n, failure)
	}
	if c.fate == twice {
		s.add(c.arrived+1e6, c.n, response)
	}
}

// atServer is what the server records, which is less the earlier the call was lost.
func (c call) atServer(s *side) {
	if c.fate == lost {
		return
	}
	s.add(c.read, c.n, request)
	if c.fate == unseen {
		return
	}
	s.add(c.enter, c.n, handlerEnter)
	if c.fate == stuck {
		return
	}
	s.add(c.exit, c.n, handlerExit)
	switch c.fate {
	case unsent:
	case failed:
		s.add(c.written, c.n, failure)
	default:
		s.add(c.written, c.n, response)
	}
}
