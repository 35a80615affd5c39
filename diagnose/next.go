package diagnose

import (
	"fmt"

	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
)

// nextSteps is the one concrete step after each cause that was found.
var nextSteps = map[string]string{
	Contamination:     "send the server's own output to stderr (logging, banners, progress bars): stdout is for frames only",
	Interleaved:       "write each frame with one write under one lock: two writers share the server's stdout",
	Buffering:         "flush stdout after every frame, or set it to line buffering: the server's answers sit in a buffer",
	ProxyBuffering:    "turn response buffering off in the proxy for this route (nginx: proxy_buffering off, X-Accel-Buffering: no)",
	EmbeddedNewline:   "serialise the frame compactly on one line, and escape U+2028 and U+2029 in it",
	MaxLineLength:     "raise the reader's line limit, or page the result below it; mcpdiag threshold gives the number of records",
	RequestTooLarge:   "raise the server's body limit, or send less in one call",
	RequestUnparsed:   "compare the framing of the two sides: newline-delimited here, Content-Length there",
	SSEDropped:        "send progress or SSE comments more often than the stream's idle limit, or raise that limit",
	Session404:        "on 404 start a new session: initialize again, without the old session id",
	SessionExpired:    "answer a lost session with 404, so that clients initialize again; until then reconnect after long pauses",
	RefusedByPeer:     "read the log of whatever answered with that status: a gateway, an auth layer, the server's front",
	HandlerBlocked:    "take a stack dump of the server while it hangs, and look at what this tool waits for",
	StoppedReading:    "fix the call before it: the server reads nothing while that handler runs",
	ServerClosed:      "read the server's stderr and exit status at that moment: it went away with the call open",
	QueuedBehind:      "let handlers run concurrently, or bound the one in front",
	SlowWrite:         "see whether the client drains its end, and how long the answer takes to serialise",
	SlowHandler:       "look at the tool itself: the protocol did its part; progress notifications would keep the client waiting",
	ReverseUnanswered: "look at how the client serves that request, and give the handler a deadline for it",
	CircularWait:      "let the client serve requests while it waits for an answer, and give the handler a deadline",
	NotServed:         "check the client's declared capabilities before asking; answer the tool call with an error otherwise",
	ReaderStopped:     "look at what the client does with the last frame that it read: it reads nothing after it",
	ClientDeadline:    "raise the client's deadline for this tool, extend it on progress, or make the tool answer sooner",
	CancelledByClient: "nothing to mend in the server; raise the client's deadline if the call was worth waiting for",
	ClosedByClient:    "find out why the client closed: its host may have been stopped, or timed out",
	IDTypeMismatch:    "return the request's id unchanged, with its JSON type",
	IDBeyond:          "keep the id as text all the way: it is larger than a double, or 32 bits, can carry",
	IDReusedInFlight:  "give every request its own id",
	IDsRenumbered:     "take one of the logs on the other side of the gateway, or have it log both ids",
	AtAgentLevel:      "look above the protocol: the host application or the agent had the answer",
}

// Next is the step to take; "" when nothing is wrong.
func (c *Call) Next() string {
	if len(c.Causes) == 0 {
		return ""
	}
	if c.Follows != nil {
		return fmt.Sprintf("mend id %s first: this call is its casualty", c.Follows.ID())
	}
	if step, ok := nextSteps[c.Causes[0].Name]; ok {
		return step
	}
	return c.whereToLook()
}

// whereToLook is the step when no cause can be told.
func (c *Call) whereToLook() string {
	switch c.Leaf {
	case NeverArrived:
		return "rule out the ordinary reasons for an absence: never sent, a log level that hides it, a rotated log, another replica, a refusal in front of the server's log"
	case NeverWritten:
		if c.Served.Line(ingest.Enter) == 0 && c.Served.Line(ingest.Exit) == 0 {
			return "log handler enter and exit on the server (mcpdiag's tap does): then this divides into queued, blocked or not written"
		}
		return "look at how the server serialises and writes this answer: its handler is done"
	case WrittenNotRead:
		return c.tryASmaller()
	case AgentLevel:
		return "compare both sides' times around this call; a tap between them would divide the wait"
	}
	switch {
	case c.Reason == LogIncomplete && c.Sent.OK():
		return fmt.Sprintf("nothing to mend for this call: it was answered; for its stages get the %s's log from %s on", c.Requester.Peer(), c.FirstLine())
	case c.Sent.OK() && c.Served.OK():
		return "get the part of the log that is missing: a line that may be the answer cannot be read"
	case c.Sent.OK():
		return fmt.Sprintf("get the %s's log for the time of %s: its frame log, an SDK's debug output, or a recorder in front of it", c.Requester.Peer(), c.FirstLine())
	}
	return fmt.Sprintf("get the %s's log for the same time: only it can say whether the answer was read", c.Requester)
}

// tryASmaller turns the usual suspicion of a lost answer into a test.
func (c *Call) tryASmaller() string {
	n := c.Bytes(ingest.Answer)
	for _, cause := range c.Causes {
		if cause.Name == MaxLineLength && n != frame.Unknown {
			if fits := within(0, n); len(fits) > 0 {
				return fmt.Sprintf("repeat the call so that its answer is just below and just above %s: if only the larger is lost it is a line ceiling (mcpdiag threshold)", size(fits[len(fits)-1].Bytes))
			}
		}
	}
	return "put mcpdiag tee in front of the server: it shows whether the bytes reach the client's end"
}
