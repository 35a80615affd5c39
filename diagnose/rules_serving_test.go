package diagnose_test

import (
	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
)

// asked5 is call 5 as its client logs it, which it waits for a minute.
const asked5 = "10 > req 5 bytes=80\n60010 > cancel 5\n"

func servingCases() []*ruleCase {
	return []*ruleCase{
		proof(diagnose.CancelledByClient, "the cancel was read, then the handler left", `
			10 > req 5 bytes=80
			30010 > cancel 5`, read5+`
			12 > enter 5
			30012 > cancel 5
			30020 > exit 5`).says("8 ms after it"),
		miss(diagnose.CancelledByClient, "the handler had left long before the cancel", "none_can_be_told slow_write", `
			10 > req 5 bytes=80
			30010 > cancel 5`, read5+`
			12 > enter 5
			1000 > exit 5
			30012 > cancel 5`),
		miss(diagnose.CancelledByClient, "the cancel was read, and the handler never left", "handler_blocked", `
			10 > req 5 bytes=80
			30010 > cancel 5`, read5+`
			12 > enter 5
			30012 > cancel 5`),
		little(diagnose.CancelledByClient, "the handler left, and the server's log has no cancel", "none_can_be_told slow_write", `
			10 > req 5 bytes=80
			30010 > cancel 5`, read5+`
			12 > enter 5
			30020 > exit 5`),

		proof(diagnose.ServerClosed, "the server closed its output before it answered", `
			10 > req 5 bytes=80
			3005 < eof`, read5+`
			12 > enter 5
			3000 < eof`).says("closed its output"),
		proof(diagnose.ServerClosed, "the same, and the cancel was read after it", `
			10 > req 5 bytes=80
			3500 > cancel 5`, read5+`
			12 > enter 5
			3000 < eof
			3501 > cancel 5`),
		proof(diagnose.ServerClosed, "the stream had ended before the request was sent", `
			8 < eof
			10 > req 5 bytes=80`, "").says("before the request was sent"),
		proof(diagnose.ServerClosed, "the stream ended 3 s after the request, where the server's log falls silent", `
			10 > req 5 bytes=80
			3005 < eof`, read5+"12 > enter 5").says("has nothing after"),
		miss(diagnose.ServerClosed, "it had read the cancel before it closed", "handler_blocked", `
			10 > req 5 bytes=80
			3000 > cancel 5`, read5+`
			12 > enter 5
			3001 > cancel 5
			3500 < eof`),
		miss(diagnose.ServerClosed, "the stream ended, and the server's log goes on", "handler_blocked", `
			10 > req 5 bytes=80
			3005 < eof`, read5+`
			12 > enter 5
			5000 > ntf method=notifications/roots/list_changed`),
		little(diagnose.ServerClosed, "the stream ended a minute after the request: an idle cut as well", "none_can_be_told", `
			10 > req 5 bytes=80
			60010 < eof`, read5),

		proof(diagnose.StoppedReading, "the handler of 6 was entered, and the server's log ends there", `
			10 > req 6 bytes=80
			100 > req 5 bytes=80
			60010 > cancel 6
			60100 > cancel 5`, `
			11 > req 6 bytes=80
			12 > enter 6`).says("the handler of id 6"),
		miss(diagnose.StoppedReading, "the handler of 6 was entered, and the server read on", "none_can_be_told", `
			10 > req 6 bytes=80
			100 > req 5 bytes=80
			later`, `
			11 > req 6 bytes=80
			12 > enter 6
			later`),
		miss(diagnose.StoppedReading, "the handler of 6 was entered, and 6 was sent after 5", "none_can_be_told server_stopped_reading", `
			10 > req 5 bytes=80
			100 > req 6 bytes=80
			60010 > cancel 5
			60100 > cancel 6`, `
			101 > req 6 bytes=80
			102 > enter 6`),
		little(diagnose.StoppedReading, "the server's log is silent, and no handler is open", "none_can_be_told server_stopped_reading", asked5, ""),

		proof(diagnose.QueuedBehind, "read and never entered, the handler of 6 open before it", `
			10 > req 6 bytes=80
			19 > req 5 bytes=80
			60010 > cancel 6
			60019 > cancel 5`, `
			11 > req 6 bytes=80
			12 > enter 6
			20 > req 5 bytes=80`).says("the handler of id 6"),
		proof(diagnose.QueuedBehind, "slow: 4.99 s of 5 s until it was entered, when the handler of 6 left", `
			10 > req 6 bytes=80
			11 > req 5 bytes=80
			4998 < res 6 bytes=400
			5015 < res 5 bytes=400`, `
			11 > req 6 bytes=80
			12 > enter 6
			13 > req 5 bytes=80
			4996 > exit 6
			4997 < res 6 bytes=400
			5000 > enter 5
			5010 > exit 5
			5012 < res 5 bytes=400`),
		miss(diagnose.QueuedBehind, "never entered, but another was entered since: the server is concurrent", "none_can_be_told", `
			10 > req 6 bytes=80
			19 > req 5 bytes=80
			24 > req 7 bytes=80
			29 < res 7 bytes=400
			60010 > cancel 6
			60019 > cancel 5`, `
			11 > req 6 bytes=80
			12 > enter 6
			20 > req 5 bytes=80
			25 > req 7 bytes=80
			26 > enter 7
			27 > exit 7
			28 < res 7 bytes=400`),
		miss(diagnose.QueuedBehind, "slow, the time after it was entered", "slow_handler", `
			10 > req 5 bytes=80
			5015 < res 5 bytes=400`, read5+`
			20 > enter 5
			5010 > exit 5
			5012 < res 5 bytes=400`),
		little(diagnose.QueuedBehind, "read and never entered, and no handler is open", "none_can_be_told", asked5, read5),
		little(diagnose.QueuedBehind, "slow until it was entered, and no other handler was open", "none_can_be_told queued_behind", `
			10 > req 5 bytes=80
			5015 < res 5 bytes=400`, read5+`
			5000 > enter 5
			5010 > exit 5
			5012 < res 5 bytes=400`),

		proof(diagnose.HandlerBlocked, "entered and never left, and the server's log goes on for a minute", `
			10 > req 5 bytes=80
			later`, read5+"12 > enter 5\nlater").says("goes on for 69,992 ms"),
		miss(diagnose.HandlerBlocked, "entered and left, nothing written", "none_can_be_told slow_write", `
			10 > req 5 bytes=80
			later`, read5+"12 > enter 5\n14 > exit 5\nlater"),
		miss(diagnose.HandlerBlocked, "entered and never left, waiting for the server's own request", "reverse_request_unanswered", asked5, read5+`
			12 > enter 5
			15 < req 0 method=sampling/createMessage bytes=300`),
		little(diagnose.HandlerBlocked, "read, no handler event", "none_can_be_told", `
			10 > req 5 bytes=80
			later`, read5+"later"),
	}
}

// nestedCases are about the server's own requests. Call 0 of the server is sent from within the handler of call 5.
func nestedCases() []*ruleCase {
	const (
		within   = read5 + "12 > enter 5\n15 < req 0 method=sampling/createMessage bytes=300\n"
		asked    = "10 > req 5 bytes=80\n"
		readBack = "20 < req 0 method=sampling/createMessage bytes=300\n"
		gaveUp   = "60010 > cancel 5\n"
	)
	hello := func(answer, caps string) string {
		return "0 > req 1 method=initialize bytes=80 caps=" + caps + "\n" + answer + " < res 1 bytes=500\n"
	}
	return []*ruleCase{
		proof(diagnose.NotServed, "sampling needed, roots declared", hello("5", `["roots"]`)+asked+readBack+gaveUp,
			hello("4", `["roots"]`)+within).alone().says(`"sampling"`),
		proof(diagnose.NotServed, "sampling needed, an empty list declared", hello("5", `[]`)+asked+readBack+gaveUp,
			hello("4", `[]`)+within).alone().says("declared none"),
		proof(diagnose.NotServed, "the inner call is told the same", hello("5", `["roots"]`)+asked+readBack+gaveUp,
			hello("4", `["roots"]`)+within).alone().of(frame.Server, "0"),
		miss(diagnose.NotServed, "sampling needed and declared", "circular_wait", hello("5", `["sampling"]`)+asked+readBack+gaveUp,
			hello("4", `["sampling"]`)+within).alone(),
		miss(diagnose.NotServed, "no word of capabilities in the log: nothing can be told about them", "circular_wait", asked+readBack+gaveUp, within),
		little(diagnose.NotServed, "an unanswered request of the server alone, no word of capabilities", "none_can_be_told",
			readBack+"later", "15 < req 0 method=sampling/createMessage bytes=300\nlater").of(frame.Server, "0"),

		proof(diagnose.CircularWait, "the client read the inner request and sends nothing while it waits", asked+readBack+gaveUp, within).says("each holds the other's"),
		proof(diagnose.CircularWait, "the handler leaves when the call is cancelled, and had waited until then", asked+readBack+gaveUp,
			within+"60011 > cancel 5\n60012 > exit 5"),
		miss(diagnose.CircularWait, "the handler had left before the cancel", "none_can_be_told slow_write", asked+readBack+gaveUp,
			within+"50 > exit 5\n60011 > cancel 5"),
		proof(diagnose.CircularWait, "the inner call is told the same", asked+readBack+gaveUp, within).of(frame.Server, "0"),
		miss(diagnose.CircularWait, "the client asked something else after it: it is not stuck", "reverse_request_unanswered",
			asked+readBack+"30 > req 6 bytes=80\n40 < res 6 bytes=400\n"+gaveUp, within+"31 > req 6 bytes=80\n39 < res 6 bytes=400"),
		miss(diagnose.CircularWait, "a handler was entered on the client: it works on it", "reverse_request_unanswered",
			asked+readBack+"21 < enter 0\n"+gaveUp, within),
		little(diagnose.CircularWait, "no handler events: nothing says that it was sent from within 5", "none_can_be_told",
			asked+readBack+gaveUp, read5+"15 < req 0 method=sampling/createMessage bytes=300"),

		proof(diagnose.ReverseUnanswered, "the inner request never arrived", asked+gaveUp, within).says("never arrived"),
		proof(diagnose.ReverseUnanswered, "the inner request was answered, and the answer not read", asked+readBack+"25 > res 0 bytes=300\n"+gaveUp, within),
		miss(diagnose.ReverseUnanswered, "the inner request was answered", "handler_blocked", asked+readBack+"25 > res 0 bytes=300\n"+gaveUp,
			within+"27 > res 0 bytes=300"),
		miss(diagnose.ReverseUnanswered, "the server's request had been sent before the handler was entered", "handler_blocked", asked+gaveUp,
			read5+"12 < req 0 method=sampling/createMessage bytes=300\n15 > enter 5"),
		little(diagnose.ReverseUnanswered, "no handler events: nothing says that it was sent from within 5", "none_can_be_told", asked+gaveUp,
			read5+"15 < req 0 method=sampling/createMessage bytes=300"),
	}
}
