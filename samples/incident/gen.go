//go:build ignore

// Gen writes client.log and server.log, two native frame logs of the same three sessions, as README.md tells:
//
//	go run samples/incident/gen.go [DIR]
//
// DIR is samples/incident when not given. The same run gives the same bytes.
package main

import (
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	billing = "billing-41c7"
	docs    = "docs-9e02"
	ops     = "ops-d5b8"

	serverStarts = 8000                    // ms: the server's recorder was switched on late
	deadline     = 60 * time.Second        // the client gives up on every call after this
	wallApart    = 2400 * time.Millisecond // the server's wall clock is ahead
	cutAt        = `"kind":"respo`         // the server's file was copied in the middle of its last line
)

// plan is what happens to a call.
type plan uint8

const (
	answered    plan = iota
	failed           // answered with a JSON-RPC error
	late             // answered after the client had given up
	lostRequest      // never read by the server
	blocked          // handler entered and never left
	lostAnswer       // written and never read
)

// call is one request and its fate. Times are ms: at counts from the first frame, work is the handler's.
type call struct {
	session  string
	at       int
	id       string // raw JSON
	method   string
	name     string
	work     int
	size     int // bytes of the answer
	rows     int
	plan     plan
	progress int // progress notifications sent along the way
	server   bool
}

// event is one line of a log, without its times.
type event struct {
	at   time.Duration
	text string
}

type pair struct {
	client, server []event
	rand           *rand.Rand
}

func main() {
	dir := "samples/incident"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	p := &pair{rand: rand.New(rand.NewPCG(41, 827))}
	for _, c := range script() {
		p.call(c)
	}
	p.asides()
	p.server = slices.DeleteFunc(p.server, func(e event) bool { return e.at < serverStarts*time.Millisecond })
	client := render(p.client, "client", 0, 5_141_207_334_118)
	server := render(p.server, "server", wallApart, 918_440_905_633)
	server = server[:strings.LastIndex(server, cutAt)+len(cutAt)]
	write(filepath.Join(dir, "client.log"), client)
	write(filepath.Join(dir, "server.log"), server)
}

func write(path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}

// script is every call, session by session.
func script() []call {
	return slices.Concat(opsCalls(), docsCalls(), billingCalls())
}

func opsCalls() []call {
	return []call{
		{session: ops, at: 0, id: "1", method: "initialize", work: 9, size: 1187},
		{session: ops, at: 45, id: "2", method: "tools/list", work: 2, size: 6204},
		tool(ops, 2100, "3", "get_deploy_status", 38, 2214),
		tool(ops, 9000, "4", "get_deploy_status", 41, 2209),
		tool(ops, 12000, "5", "tail_logs", 312, 31044),
		tool(ops, 12004, "6", "tail_logs", 121, 28870),
		tool(ops, 12009, "7", "list_pods", 44, 7415),
		tool(ops, 15200, "8", "get_alert", 29, 3022),
		tool(ops, 16000, "9", "explain_alert", 1420, 4107),
		{session: ops, at: 16055, id: "9", method: "sampling/createMessage", work: 1290, size: 2350, server: true},
		tool(ops, 24500, "10", "explain_alert", 1180, 3966),
		{session: ops, at: 24561, id: "10", method: "sampling/createMessage", work: 1040, size: 2198, server: true},
		tool(ops, 33100, "11", "list_pods", 47, 7415),
		tool(ops, 40000, "12", "restart_service", 0, 0).with(blocked),
		tool(ops, 41800, "13", "get_deploy_status", 40, 2231),
		{session: ops, at: 58200, id: "14", method: "ping", size: 38},
		{session: ops, at: 77400, id: "15", method: "ping", size: 38},
		tool(ops, 82100, "16", "list_pods", 51, 7388),
		tool(ops, 96600, "17", "get_deploy_status", 43, 2231),
		tool(ops, 104300, "18", "list_pods", 46, 7388),
		tool(ops, 104310, "19", "tail_logs", 288, 30511),
		tool(ops, 112000, "20", "get_deploy_status", 39, 2231),
	}
}

func docsCalls() []call {
	reindex := tool(docs, 26400, `"d-8"`, "reindex", 1640, 402)
	reindex.progress = 4
	return []call{
		{session: docs, at: 14000, id: `"d-1"`, method: "initialize", work: 14, size: 1304},
		{session: docs, at: 14100, id: `"d-2"`, method: "tools/list", work: 3, size: 4880},
		{session: docs, at: 14160, id: `"d-3"`, method: "resources/list", work: 11, size: 15230},
		tool(docs, 17300, `"d-4"`, "search_docs", 88, 18402),
		read(21000, `"d-5"`, "docs://handbook/oncall", 24, 40118),
		read(21002, `"d-6"`, "docs://handbook/escalation", 31, 22907),
		read(21005, `"d-7"`, "docs://runbooks/ledger", 19, 51660),
		reindex,
		tool(docs, 31000, `"d-9"`, "search_docs", 95, 17733),
		tool(docs, 38200, `"d-10"`, "summarize_doc", 3050, 5120),
		tool(docs, 47100, `"d-11"`, "search_docs", 90, 18016),
		tool(docs, 60200, `"d-12"`, "fetch_page", 0, 0).with(lostRequest),
		read(60900, `"d-13"`, "docs://runbooks/refunds", 22, 36410),
		tool(docs, 75000, `"d-14"`, "ask_corpus", 66500, 8841).with(late),
		tool(docs, 80500, `"d-15"`, "search_docs", 87, 16950),
		read(98000, `"d-16"`, "docs://handbook/oncall", 20, 40118),
		tool(docs, 118800, `"d-17"`, "search_docs", 93, 18377),
		tool(docs, 137200, `"d-18"`, "search_docs", 91, 18290),
		tool(docs, 145600, `"d-19"`, "search_docs", 85, 17201),
		tool(docs, 190400, `"d-20"`, "summarize_doc", 910, 4777),
		read(193500, `"d-21"`, "docs://runbooks/ledger", 18, 51660),
	}
}

func billingCalls() []call {
	return []call{
		{session: billing, at: 20000, id: "0", method: "initialize", work: 10, size: 1240},
		{session: billing, at: 20090, id: "1", method: "tools/list", work: 2, size: 9317},
		tool(billing, 23400, "2", "get_customer", 18, 1502),
		invoices(24100, "3", 120, 12158),
		invoices(24103, "4", 301, 30402),
		tool(billing, 24108, "5", "get_customer", 21, 1488),
		invoices(31000, "6", 642, 64911),
		tool(billing, 36700, "7", "create_invoice", 6, 187).with(failed),
		invoices(50000, "8", 703, 71023).with(lostAnswer),
		tool(billing, 51200, "9", "get_customer", 17, 1511),
		invoices(66000, "10", 88, 8934),
		tool(billing, 84000, "11", "approve_refund", 8400, 530),
		{session: billing, at: 84060, id: "11", method: "elicitation/create", work: 8150, size: 214, server: true},
		invoices(95000, "12", 1180, 119204).with(lostAnswer),
		tool(billing, 96100, "13", "get_customer", 19, 1497),
		{session: billing, at: 112400, id: "14", method: "ping", size: 38},
		invoices(128900, "15", 410, 41409),
		tool(billing, 149000, "16", "get_customer", 20, 1502),
		invoices(161300, "17", 505, 50992),
		tool(billing, 161305, "18", "get_customer", 16, 1479),
		tool(billing, 180000, "19", "list_refunds", 33, 5206),
		{session: billing, at: 204000, id: "20", method: "ping", size: 38},
		tool(billing, 216400, "21", "get_customer", 18, 1502),
		tool(billing, 222000, "22", "export_ledger", 740, 48230),
	}
}

func tool(session string, at int, id, name string, work, size int) call {
	return call{session: session, at: at, id: id, method: "tools/call", name: name, work: work, size: size}
}

func read(at int, id, uri string, work, size int) call {
	return call{session: docs, at: at, id: id, method: "resources/read", name: uri, work: work, size: size}
}

func invoices(at int, id string, rows, size int) call {
	c := tool(billing, at, id, "search_invoices", 40+rows/10, size)
	c.rows = rows
	return c
}

func (c call) with(p plan) call {
	c.plan = p
	return c
}

// asides are the lines that are no calls: handshakes, stray text on the server's stdout, ends of streams. The session billing
// goes on when the logs end.
func (p *pair) asides() {
	p.initialized(ops, 31)
	p.initialized(docs, 14040)
	p.initialized(billing, 20033)
	p.stray(docs, 14062, "docs-index: 18204 chunks loaded in 3.1s")
	p.stray(docs, 31022, "(node:4121) ExperimentalWarning: SQLite is an experimental feature")
	p.end(ops, 118000)
	p.end(docs, 199000)
}

func (p *pair) initialized(session string, at int) {
	t := p.near(at)
	text := note("c2s", "notifications/initialized", 55, session, "")
	p.client = append(p.client, event{t, text})
	p.server = append(p.server, event{t + p.net(), text})
}

// stray is text that only the client's reader sees as a line.
func (p *pair) stray(session string, at int, raw string) {
	text := fmt.Sprintf(`"dir":"s2c","kind":"invalid","bytes":%d,"session":%q,"raw":%q`, len(raw)+1, session, raw)
	p.client = append(p.client, event{p.near(at), text})
}

// end closes a session: the client closes its stream, the server drains and closes its own.
func (p *pair) end(session string, at int) {
	t := p.near(at)
	eof := func(dir string) string { return fmt.Sprintf(`"dir":%q,"kind":"eof","session":%q`, dir, session) }
	seen := t + p.net()
	p.client = append(p.client, event{t, eof("c2s")}, event{seen + 3*time.Millisecond, eof("s2c")})
	p.server = append(p.server, event{seen, eof("c2s")}, event{seen + 2*time.Millisecond, eof("s2c")})
}

// near is a time in ms with a fraction, as real ones have.
func (p *pair) near(ms int) time.Duration {
	return time.Duration(ms)*time.Millisecond + time.Duration(p.rand.IntN(400_000))
}

// net is the time from one end to the other.
func (p *pair) net() time.Duration { return 300*time.Microsecond + time.Duration(p.rand.IntN(900_000)) }

// call lays out the life of one call on both sides.
func (p *pair) call(c call) {
	asks, answers, dir := &p.client, &p.server, "c2s"
	if c.server {
		asks, answers, dir = answers, asks, "s2c"
	}
	sent := p.near(c.at)
	request := c.request(dir, 90+len(c.name)+p.rand.IntN(160))
	*asks = append(*asks, event{sent, request})
	if c.plan != lostRequest {
		arrived := sent + p.net()
		*answers = append(*answers, event{arrived, request})
		written := p.handle(c, answers, dir, arrived)
		p.deliver(c, asks, answers, dir, written)
	}
	if c.plan >= late {
		p.giveUp(c, sent)
	}
}

// handle writes the handler's marks and returns when the answer is written.
func (p *pair) handle(c call, log *[]event, dir string, arrived time.Duration) time.Duration {
	enter := arrived + 200*time.Microsecond + time.Duration(p.rand.IntN(1_400_000))
	*log = append(*log, event{enter, c.handler(dir, "handler_enter", "")})
	p.reports(c, enter)
	if c.plan == blocked {
		return 0
	}
	exit := enter + time.Duration(c.work)*time.Millisecond + time.Duration(p.rand.IntN(900_000))
	rows := ""
	if c.rows > 0 {
		rows = fmt.Sprintf(`,"rows":%d`, c.rows)
	}
	*log = append(*log, event{exit, c.handler(dir, "handler_exit", rows)})
	return exit + 150*time.Microsecond + time.Duration(c.size)*40 // 25 MB/s to encode
}

// reports sends the progress notifications, evenly spread over the handler's time.
func (p *pair) reports(c call, enter time.Duration) {
	for i := range c.progress {
		at := enter + time.Duration((i+1)*c.work/(c.progress+1))*time.Millisecond
		text := note("s2c", "notifications/progress", 131, c.session, `,"request_id":`+c.id+`,"token":`+c.id)
		p.server = append(p.server, event{at, text})
		p.client = append(p.client, event{at + p.net(), text})
	}
}

func (p *pair) deliver(c call, asks, answers *[]event, dir string, written time.Duration) {
	if c.plan == blocked {
		return
	}
	back := map[string]string{"c2s": "s2c", "s2c": "c2s"}[dir]
	text := c.answer(back)
	*answers = append(*answers, event{written, text})
	if c.plan != lostAnswer {
		*asks = append(*asks, event{written + p.net(), text})
	}
}

// giveUp is the client's cancel, which the server reads like any other frame.
func (p *pair) giveUp(c call, sent time.Duration) {
	t := sent + deadline + time.Duration(p.rand.IntN(3_000_000))
	text := note("c2s", "notifications/cancelled", 103+len(c.id), c.session, `,"request_id":`+c.id)
	p.client = append(p.client, event{t, text})
	p.server = append(p.server, event{t + p.net(), text})
}

func (c call) request(dir string, bytes int) string {
	extra := ""
	if c.method == "initialize" {
		extra = `,"caps":["elicitation","roots","sampling"],"era":"2025-06-18"`
	}
	if c.progress > 0 {
		extra = `,"token":` + c.id
	}
	return fmt.Sprintf(`"dir":%q,"kind":"request","id":%s,"method":%q%s,"bytes":%d,"session":%q%s`, dir, c.id, c.method, c.named(), bytes, c.session, extra)
}

func (c call) handler(dir, kind, extra string) string {
	return fmt.Sprintf(`"dir":%q,"kind":%q,"id":%s,"method":%q%s,"session":%q%s`, dir, kind, c.id, c.method, c.named(), c.session, extra)
}

func (c call) answer(dir string) string {
	kind, extra := "response", ""
	if c.plan == failed {
		kind, extra = "error", `,"code":-32602`
	}
	if c.method == "initialize" {
		extra = `,"caps":["logging","resources","tools"],"era":"2025-06-18"`
	}
	return fmt.Sprintf(`"dir":%q,"kind":%q,"id":%s,"bytes":%d,"session":%q%s`, dir, kind, c.id, c.size, c.session, extra)
}

func (c call) named() string {
	if c.name == "" {
		return ""
	}
	return fmt.Sprintf(`,"name":%q`, c.name)
}

func note(dir, method string, bytes int, session, extra string) string {
	return fmt.Sprintf(`"dir":%q,"kind":"notification","method":%q,"bytes":%d,"session":%q%s`, dir, method, bytes, session, extra)
}

// render sorts the events by time, which both clocks of a side keep, and stamps them with these.
func render(events []event, side string, wall time.Duration, mono int64) string {
	slices.SortStableFunc(events, func(a, b event) int { return int(a.at - b.at) })
	start := time.Date(2026, 5, 12, 14, 2, 0, 0, time.UTC).Add(wall)
	var b strings.Builder
	for _, e := range events {
		ts := start.Add(e.at).Format("2006-01-02T15:04:05.000Z")
		fmt.Fprintf(&b, `{"ts":%q,"mono_ns":%d,"side":%q,%s}`+"\n", ts, mono+int64(e.at), side, e.text)
	}
	return b.String()
}
