package diagnose

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"mcpdiag/ingest"
)

// The causes that a rule can name. Each is either found or a candidate; None stands first when nothing is found.
const (
	None              = "none_can_be_told"
	Contamination     = "stdout_contamination"
	Interleaved       = "interleaved_frames"
	Buffering         = "buffering"
	ProxyBuffering    = "proxy_buffering"
	EmbeddedNewline   = "embedded_newline"
	MaxLineLength     = "max_line_length"
	RequestTooLarge   = "request_too_large"
	RequestUnparsed   = "request_unparsed"
	SSEDropped        = "sse_dropped"
	Session404        = "session_404"
	SessionExpired    = "session_expired"
	RefusedByPeer     = "refused"
	HandlerBlocked    = "handler_blocked"
	SlowHandler       = "slow_handler"
	StoppedReading    = "server_stopped_reading"
	ServerClosed      = "server_closed"
	QueuedBehind      = "queued_behind"
	SlowWrite         = "slow_write"
	ReverseUnanswered = "reverse_request_unanswered"
	CircularWait      = "circular_wait"
	NotServed         = "capability_not_served"
	ReaderStopped     = "client_reader_stopped"
	ClientDeadline    = "client_deadline"
	CancelledByClient = "cancelled_by_client"
	ClosedByClient    = "transport_closed_by_client"
	IDTypeMismatch    = "id_type_mismatch"
	IDBeyond          = "id_beyond_2_53"
	IDReusedInFlight  = "id_reused_in_flight"
	IDsRenumbered     = "ids_renumbered"
	AtAgentLevel      = "agent_level"
)

// Cause is one answer to "why", with what shows it. The words are made when they are asked for: of ninety thousand stalled
// calls a person reads three.
type Cause struct {
	Name  string
	Found bool // else a candidate
	say   func() string
	root  uint32 // the line that the cause hangs on, for those that one event has many casualties of; 0 otherwise
	heads *Call  // the call that this one is a casualty of, where the rule knows
}

// Status is the word for how sure a cause is.
func (c Cause) Status() string {
	if c.Found {
		return "found"
	}
	return "candidate"
}

// Evidence is what shows the cause, with lines and figures.
func (c Cause) Evidence() string {
	if c.say == nil {
		return ""
	}
	return c.say()
}

func found(name string, say func() string) *Cause     { return &Cause{Name: name, Found: true, say: say} }
func candidate(name string, say func() string) *Cause { return &Cause{Name: name, say: say} }

// at hangs the cause on a line, so that its casualties are told once.
func (c *Cause) at(line uint32) *Cause {
	c.root = line
	return c
}

// Rule is one row of the table of causes.
type Rule struct {
	Name   string
	Needs  string // what must be in the logs
	Proves string // what makes it found rather than a candidate
	at     where
	check  func(*scene) *Cause
}

// where says for which verdicts a rule is worth asking.
type where uint8

const (
	arriving where = 1 << iota // never arrived
	serving                    // never written
	reading                    // written, not read
	done                       // delivered
	unplaced                   // no leaf
	anywhere = arriving | serving | reading | done | unplaced
)

func (c *Call) where() where {
	switch c.Leaf {
	case NeverArrived:
		return arriving
	case NeverWritten:
		return serving
	case WrittenNotRead:
		return reading
	case AgentLevel:
		return done
	}
	return unplaced
}

// Rules lists the rules in the order in which they are tried: what the bytes say goes before what silence says.
func Rules() []Rule {
	return []Rule{
		{IDReusedInFlight, "two requests outstanding with one id", "both lines", unplaced, idReusedInFlight},
		{IDsRenumbered, "no id in common, or one id for different calls", "most calls agree in method, tool and size, in order", unplaced, idsRenumbered},
		{IDTypeMismatch, "an answer nobody asked for whose id has the same digits and another JSON type", "it is the only one", arriving | serving | reading | unplaced, idTypeMismatch},
		{IDBeyond, "an answer nobody asked for whose id is this one rounded to a double, or cut to 32 bits", "it is the only one", arriving | serving | reading | unplaced, idBeyond},
		{Session404, "HTTP 404 without an id, one request outstanding", "the status", arriving | serving | reading | unplaced, session404},
		{SessionExpired, "HTTP 400 without an id after silence, one request outstanding", "the status and a silence of a minute or more", arriving | serving | reading | unplaced, sessionExpired},
		{RequestTooLarge, "HTTP 413 without an id; or sizes of requests read and lost", "the status; or the sizes separate twice", arriving | serving | reading | unplaced, requestTooLarge},
		{RequestUnparsed, "a bad line in the responder's log of the request's size; or error -32700", "the sizes are equal", arriving, requestUnparsed},
		{RefusedByPeer, "an HTTP status without an id, one request outstanding", "the status", arriving | serving | reading | unplaced, refusedByPeer},
		{EmbeddedNewline, "bad lines in the reader's log", "they add up to the lost frame, or miss 3 B a split (U+2028, U+2029)", reading, embeddedNewline},
		{Interleaved, "bad lines in the reader's log", "they add up to two lost frames", reading, interleaved},
		{Contamination, "bad lines in the reader's log", "text glued in front of the frame, or the stream ended right after the line", serving | reading, contamination},
		{MaxLineLength, "sizes of answers read and lost", "the sizes separate, there are two losses, and the reader lived or just one known ceiling fits; or the leftover is the frame less a ceiling", reading, maxLineLength},
		{ClosedByClient, "the requester's own eof while it waited", "the answer was written after it, or never, within half a minute", arriving | serving | reading | unplaced, closedByClient},
		{ClientDeadline, "a cancel, and the responder's time", "the responder took longer than the requester waited", reading | done, clientDeadline},
		{SSEDropped, "the end of the answer's stream while it was outstanding", "neither a cancel nor its own close came before it", reading | done, sseDropped},
		{Buffering, "times on both sides", "written apart and read together, or read when the input was closed", done, buffering},
		{ProxyBuffering, "progress on both sides", "written apart and read together with the answer", done, proxyBuffering},
		{ReaderStopped, "nothing read any more while the requester still writes", "two unread frames of different calls", reading, readerStopped},
		{NotServed, "the capabilities that the requester of the outer call declared", "the server's own request needs one that was not declared", anywhere, notServed},
		{CircularWait, "the server's own request, sent from within the handler and read, unanswered", "its reader sent nothing else after it", serving, circularWait},
		{ReverseUnanswered, "the server's own request, sent from within the handler, unanswered", "both are open", serving, reverseUnanswered},
		{CancelledByClient, "a cancel that was read, and a handler that left after it", "the order of the two lines", serving, cancelledByClient},
		{ServerClosed, "the responder's own eof, or the end of its stream before the request", "the line", arriving | serving, serverClosed},
		{StoppedReading, "a handler that never left, after which the responder's log is silent", "the handler was entered before this request was sent", arriving, stoppedReading},
		{QueuedBehind, "handler events; a request read and not entered", "another handler was open all the while", serving | reading | done, queuedBehind},
		{HandlerBlocked, "a handler entered and not left", "the log goes on, or the requester's clock does", serving, handlerBlocked},
		{SlowWrite, "the times of handler exit and write", "most of the time lies between them", serving | reading | done, slowWrite},
		{SlowHandler, "the times of handler enter and exit", "most of the wait lies between them", done, slowHandler},
		{AtAgentLevel, "an answer that was read, and silence after it", "nothing was outstanding", done, atAgentLevel},
	}
}

// explain names the causes of each call with a problem or without a leaf, and who is whose casualty.
func (d *Diagnosis) explain() {
	d.stage = newStage(d)
	rules := map[where][]Rule{}
	for _, r := range Rules() {
		for _, at := range []where{arriving, serving, reading, done, unplaced} {
			if r.at&at != 0 {
				rules[at] = append(rules[at], r)
			}
		}
	}
	var wait sync.WaitGroup
	for part := range slices.Chunk(d.Calls, max(1, len(d.Calls)/runtime.GOMAXPROCS(0)+1)) {
		wait.Go(func() {
			for c := range Walk(part) {
				if c.Problem() || c.Leaf == NoLeaf {
					c.Causes = d.causes(c, rules[c.where()])
				}
			}
		})
	}
	wait.Wait()
	d.casualties()
}

// causes asks the rules about one call: what is found first stands first, then what else may be.
func (d *Diagnosis) causes(c *Call, rules []Rule) []Cause {
	s := d.stage.scene(c)
	var maybe []Cause
	for _, r := range rules {
		switch cause := r.check(s); {
		case cause == nil:
		case cause.Found:
			return append([]Cause{*cause}, maybe...)
		default:
			maybe = append(maybe, *cause)
		}
	}
	return append([]Cause{{Name: None, Found: true, say: func() string { return d.nothing(c) }}}, maybe...)
}

// casualties makes every call but the first a follower of the first that one event has hit.
func (d *Diagnosis) casualties() {
	type event struct {
		pair uint32
		name string
		root uint32
	}
	heads := map[event]*Call{}
	for c := range Walk(d.Calls) {
		if len(c.Causes) == 0 || !c.Causes[0].Found {
			continue
		}
		cause := c.Causes[0]
		if cause.heads != nil {
			c.Follows = cause.heads
			continue
		}
		if cause.root == 0 {
			continue
		}
		e := event{d.pair(c), cause.Name, cause.root}
		if head := heads[e]; head != nil {
			c.Follows = head
		} else {
			heads[e] = c
		}
	}
}

// pair is the number of the session that both logs share.
func (d *Diagnosis) pair(c *Call) uint32 {
	h := c.any()
	return d.join.Align.PairOf(h.Log, h.N)
}

// whyHidden says what may have swallowed a line of the responder's log.
func (c *Call) whyHidden() string {
	if line, ok := c.Served.Log.BlindLine(c.Served.N); ok {
		if line > c.Served.Log.Lines {
			return "it is cut off at its end"
		}
		return fmt.Sprintf("%s cannot be read", Cite(c.Served.Log, line))
	}
	if l := c.Served.Log; l.Messages == 0 || !l.Dialect.Sees.EveryAnswer() {
		return l.Dialect.Name + " does not log every answer"
	}
	return "it is incomplete, or a proxy answered by itself"
}

// nothing says that no cause can be told, and what is missing.
func (d *Diagnosis) nothing(c *Call) string {
	switch {
	case c.Sent.Has(ingest.Acked):
		return fmt.Sprintf("the %s acknowledged the cancel (%s): it reads and had not answered the call", c.Requester.Peer(), Cite(c.Sent.Log, c.Sent.Fact().AckLine))
	case !d.BothSides() && c.Leaf == NoLeaf && c.Served.OK() && c.Served.Line(ingest.Answer) != 0:
		return fmt.Sprintf("written (%s); whether it was read only the %s's log can say", Cite(c.Served.Log, c.Served.Line(ingest.Answer)), c.Requester)
	case !d.BothSides() && c.Leaf == NoLeaf && c.Served.OK():
		return fmt.Sprintf("it reached the %s (%s); what became of it only the %s's log can say", c.Requester.Peer(), c.FirstLine(), c.Requester)
	case !d.BothSides() && c.Leaf == NoLeaf && c.Q[0] == Yes:
		return fmt.Sprintf("it reached the %s; whether an answer was written only the %s's log can say", c.Requester.Peer(), c.Requester.Peer())
	case !d.BothSides() && c.Leaf == NoLeaf:
		return fmt.Sprintf("there is no log of the %s to say whether the request arrived", c.Requester.Peer())
	case c.Reason == LogIncomplete && !c.Sent.OK():
		return fmt.Sprintf("served (%s), but the requester's log does not show it: it started later, was rotated, or is another client's", c.FirstLine())
	case c.Reason == LogIncomplete && !c.Served.OK() && !d.peers(c.Sent)[0].Dialect.Sees.EveryRequest():
		return fmt.Sprintf("answered (%s); the responder's log does not show every call (%s)", Cite(c.Sent.Log, c.Sent.Line(ingest.Answer)), d.peers(c.Sent)[0].Dialect.Name)
	case c.Reason == LogIncomplete && !c.Served.OK():
		return fmt.Sprintf("answered (%s), but the responder's log does not show the call: it started later, was rotated, or another replica or a proxy answered", Cite(c.Sent.Log, c.Sent.Line(ingest.Answer)))
	case c.Reason == LogIncomplete:
		return fmt.Sprintf("answered (%s), but the responder's log shows no answer to it: %s", Cite(c.Sent.Log, c.Sent.Line(ingest.Answer)), c.whyHidden())
	case c.Reason == CannotTell && !c.Served.OK():
		return "the responder's log does not cover the call: nothing in it proves that it would be there"
	case c.Reason == CannotTell && !c.Sent.OK():
		return "without the requester's log nobody can say whether the answer was read"
	case c.Reason == CannotTell:
		return "the answer may be there and not be shown: " + c.whyHidden()
	case c.Leaf == NeverArrived:
		return "no refusal, no bad line, no end of stream explains the absence"
	case c.Leaf == NeverWritten && c.Served.Line(ingest.Enter) == 0:
		return "the responder's log shows no handler event of the call"
	case c.Leaf == NeverWritten:
		return "the handler left and no answer followed it"
	case c.Leaf == WrittenNotRead:
		return "neither the bytes nor the ends of the streams say where it was lost"
	}
	return "the logs show no reason"
}
