package diagnose

import "mcpdiag/ingest"

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
	check  func(*scene) *Cause
}

// Rules lists the rules in the order in which they are tried: what the bytes say goes before what silence says.
func Rules() []Rule {
	return []Rule{
		{IDReusedInFlight, "two requests outstanding with one id", "both lines", idReusedInFlight},
		{IDsRenumbered, "no id in common, or one id for different calls", "most calls agree in method, tool and size, in order", idsRenumbered},
		{IDTypeMismatch, "an answer nobody asked for whose id has the same digits and another JSON type", "it is the only one", idTypeMismatch},
		{IDBeyond, "an answer nobody asked for whose id is this one rounded to a double, or cut to 32 bits", "it is the only one", idBeyond},
		{Session404, "HTTP 404 without an id, one request outstanding", "the status", session404},
		{SessionExpired, "HTTP 400 without an id after silence, one request outstanding", "the status and a silence of a minute or more", sessionExpired},
		{RequestTooLarge, "HTTP 413 without an id; or sizes of requests read and lost", "the status; or the sizes separate twice", requestTooLarge},
		{RequestUnparsed, "a bad line in the responder's log of the request's size; or error -32700", "the sizes are equal", requestUnparsed},
		{RefusedByPeer, "an HTTP status without an id, one request outstanding", "the status", refusedByPeer},
		{EmbeddedNewline, "bad lines in the reader's log", "they add up to the lost frame, or miss 3 B a split (U+2028, U+2029)", embeddedNewline},
		{Interleaved, "bad lines in the reader's log", "they add up to two lost frames", interleaved},
		{Contamination, "bad lines in the reader's log", "text glued in front of the frame, or the stream ended right after the line", contamination},
		{MaxLineLength, "sizes of answers read and lost", "the sizes separate and there are two losses, or the leftover is the frame less a ceiling", maxLineLength},
		{ClosedByClient, "the requester's own eof while it waited", "the answer was written after it, or never, within half a minute", closedByClient},
		{ClientDeadline, "a cancel, and the responder's time", "the responder took longer than the requester waited", clientDeadline},
		{SSEDropped, "the end of the answer's stream while it was outstanding", "nothing bad was read before it", sseDropped},
		{Buffering, "times on both sides", "written apart and read together, or read when the input was closed", buffering},
		{ProxyBuffering, "progress on both sides", "written apart and read together with the answer", proxyBuffering},
		{ReaderStopped, "nothing read any more while the requester still writes", "two unread frames of different calls", readerStopped},
		{NotServed, "the capabilities that the requester of the outer call declared", "the server's own request needs one that was not declared", notServed},
		{CircularWait, "the server's own request, sent from within the handler and read, unanswered", "its reader sent nothing else after it", circularWait},
		{ReverseUnanswered, "the server's own request, sent from within the handler, unanswered", "both are open", reverseUnanswered},
		{CancelledByClient, "a cancel that was read, and a handler that left after it", "the order of the two lines", cancelledByClient},
		{ServerClosed, "the responder's own eof, or the end of its stream before the request", "the line", serverClosed},
		{StoppedReading, "a handler that never left, after which the responder's log is silent", "the handler was entered before this request was sent", stoppedReading},
		{QueuedBehind, "handler events; a request read and not entered", "another handler was open all the while", queuedBehind},
		{HandlerBlocked, "a handler entered and not left", "the log goes on, or the requester's clock does", handlerBlocked},
		{SlowWrite, "the times of handler exit and write", "most of the time lies between them", slowWrite},
		{SlowHandler, "the times of handler enter and exit", "most of the wait lies between them", slowHandler},
		{AtAgentLevel, "an answer that was read, and silence after it", "nothing was outstanding", atAgentLevel},
	}
}

// explain names the causes of each call with a problem or without a leaf, and who is whose casualty.
func (d *Diagnosis) explain() {
	stage := newStage(d)
	rules := Rules()
	for _, c := range d.Calls {
		if !c.Problem() && c.Leaf != NoLeaf {
			continue
		}
		s := stage.scene(c)
		var sure, maybe []Cause
		for k := range rules {
			switch cause := rules[k].check(s); {
			case cause == nil:
			case cause.Found:
				sure = append(sure, *cause)
			default:
				maybe = append(maybe, *cause)
			}
			if len(sure) > 0 {
				break
			}
		}
		if len(sure) == 0 {
			sure = []Cause{{Name: None, Found: true, say: func() string { return nothing(c) }}}
		}
		c.Causes = append(sure, maybe...)
	}
	d.casualties()
}

// casualties makes every call but the first a follower of the first that one event has hit.
func (d *Diagnosis) casualties() {
	type event struct {
		pair uint32
		name string
		root uint32
	}
	heads := map[event]*Call{}
	for _, c := range d.Calls {
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
	return d.join.Align.Pair[h.Log.Side][h.Log.Half(h.N).Stretch]
}

// nothing says that no cause can be told, and what is missing.
func nothing(c *Call) string {
	switch {
	case c.Reason == LogIncomplete:
		return "a log does not cover the call"
	case c.Reason == CannotTell && c.Sent.OK() && !c.Served.OK():
		return "the responder's log does not cover the call"
	case c.Reason == CannotTell:
		return "a line that may be its answer cannot be read"
	case c.Leaf == NeverArrived:
		return "no refusal, no bad line, no end of stream explains the absence"
	case c.Leaf == NeverWritten && c.Served.Line(ingest.Enter) == 0:
		return "the responder's log shows no handler event of the call"
	case c.Leaf == NeverWritten:
		return "the handler left and no answer followed it"
	case c.Leaf == WrittenNotRead:
		return "no bad line, no end of stream, and one loss shows no pattern"
	}
	return "the logs show no reason"
}
