package diagnose_test

import "mcpdiag/diagnose"

// readingCases are about what the bytes of bad lines say.
func readingCases() []*ruleCase {
	return []*ruleCase{
		proof(diagnose.EmbeddedNewline, "150 + 250 B are the lost 400 B", `
			10 > req 5 bytes=80
			14 < bad bytes=150 raw={
			14 < bad bytes=250 raw=}
			later`, answered5+"later").says("add up to 400 B"),
		proof(diagnose.EmbeddedNewline, "100 + 147 + 147 B are the lost 400 B less 3 B a split: U+2028", `
			10 > req 5 bytes=80
			14 < bad bytes=100 raw={
			14 < bad bytes=147 raw=x
			14 < bad bytes=147 raw=}
			later`, answered5+"later").says("U+2028"),
		proof(diagnose.EmbeddedNewline, "the text of the lines, joined, is the answer, whatever their sizes", `
			10 > req 5 bytes=80
			14 < bad bytes=60 raw={"jsonrpc":"2.0","id":5,
			14 < bad bytes=60 raw="result":{}}
			later`, read5+"13 < res 5\nlater").says("put together, are the answer"),
		proof(diagnose.EmbeddedNewline, "the joined text decides where no size is told", `
			10 > req 5 bytes=80
			14 < bad raw={"jsonrpc":"2.0","id":5,
			14 < bad raw="result":{}}
			later`, answered5+"later"),
		miss(diagnose.EmbeddedNewline, "one byte more than the lost frame", "none_can_be_told stdout_contamination", `
			10 > req 5 bytes=80
			14 < bad bytes=151 raw={
			14 < bad bytes=250 raw=}
			later`, answered5+"later"),
		miss(diagnose.EmbeddedNewline, "the sum is right, but the lines came two seconds apart", "none_can_be_told stdout_contamination", `
			10 > req 5 bytes=80
			14 < bad bytes=150 raw={
			2014 < bad bytes=250 raw=}
			later`, answered5+"later"),
		miss(diagnose.EmbeddedNewline, "the joined text is the answer to another id", "none_can_be_told stdout_contamination", `
			10 > req 5 bytes=80
			14 < bad bytes=60 raw={"jsonrpc":"2.0","id":55,
			14 < bad bytes=60 raw="result":{}}
			later`, answered5+"later"),
		little(diagnose.EmbeddedNewline, "one bad line only", "none_can_be_told stdout_contamination", `
			10 > req 5 bytes=80
			14 < bad bytes=150 raw={
			later`, answered5+"later"),

		proof(diagnose.Interleaved, "600 + 300 B are the lost 400 B of 5 and 500 B of 6", `
			10 > req 5 bytes=80
			11 > req 6 bytes=80
			14 < bad bytes=600 raw=xx
			14 < bad bytes=300 raw=xx
			later`, answered5+`
			12 > req 6 bytes=80
			13 < res 6 bytes=500
			later`).says("400 B (id 5) + 500 B (id 6)"),
		proof(diagnose.Interleaved, "two frames that lost the line end between them are one line of both sizes", `
			10 > req 5 bytes=80
			11 > req 6 bytes=80
			14 < bad bytes=900 raw=xx
			later`, answered5+`
			12 > req 6 bytes=80
			13 < res 6 bytes=500
			later`),
		miss(diagnose.Interleaved, "the second frame was read whole, so the sum is a coincidence", "none_can_be_told stdout_contamination", `
			10 > req 5 bytes=80
			11 > req 6 bytes=80
			14 < bad bytes=600 raw=xx
			14 < bad bytes=300 raw=xx
			15 < res 6 bytes=500
			later`, answered5+`
			12 > req 6 bytes=80
			13 < res 6 bytes=500
			later`),
		little(diagnose.Interleaved, "two lost frames, and bad lines that are not both of them", "none_can_be_told stdout_contamination", `
			10 > req 5 bytes=80
			11 > req 6 bytes=80
			14 < bad bytes=600 raw=xx
			later`, answered5+`
			12 > req 6 bytes=80
			13 < res 6 bytes=500
			later`),

		proof(diagnose.SSEDropped, "over HTTP, the stream of its own exchange ended; an earlier one's end is not its", `
			5 > req 4 bytes=80 exchange=e4
			8 < eof exchange=e4
			10 > req 5 bytes=80 exchange=e5
			2010 < eof exchange=e5
			2011 > req 6 bytes=80 exchange=e6
			2012 < res 6 bytes=90 exchange=e6
			later`, `
			6 > req 4 bytes=80 exchange=e4
			9 < res 4 bytes=90 exchange=e4
			11 > req 5 bytes=80 exchange=e5
			2013 > req 6 bytes=80 exchange=e6
			2014 < res 6 bytes=90 exchange=e6
			5000 < res 5 bytes=900 exchange=e5
			later`).says("the stream ended 2,000 ms after the request"),
		proof(diagnose.ClosedByClient, "over HTTP, the client closed the stream of its own exchange", `
			10 > req 5 bytes=80 exchange=e5
			500 > eof exchange=e5
			later`, `
			11 > req 5 bytes=80 exchange=e5
			12 > enter 5
			later`),
		proof(diagnose.Contamination, "12 B of text glued in front of the lost 400 B", `
			10 > req 5 bytes=80
			14 < bad bytes=412 raw=Listening...{"jsonrpc":
			later`, answered5+"later").says("glued in front"),
		proof(diagnose.Contamination, "a stray line, and the reader hung up at once", `
			10 > req 5 bytes=80
			12 < bad bytes=20 raw=banner
			13 < eof`, answered5).says("the stream ended 1 ms after it"),
		proof(diagnose.Contamination, "the same before the server had answered", `
			10 > req 5 bytes=80
			12 < bad bytes=20 raw=banner
			13 < eof`, read5),
		miss(diagnose.Contamination, "a stray line, and the stream ended a minute later", "sse_dropped stdout_contamination", `
			10 > req 5 bytes=80
			12 < bad bytes=20 raw=banner
			60012 < eof`, answered5),
		miss(diagnose.Contamination, "a stray line that its reader survived by a frame, then the end", "sse_dropped stdout_contamination", `
			10 > req 5 bytes=80
			11 > req 6 bytes=80
			12 < bad bytes=20 raw=banner
			13 < res 6 bytes=500
			14 < eof`, answered5+`
			12 > req 6 bytes=80
			13 < res 6 bytes=500`),
		little(diagnose.Contamination, "a stray line while it waited, and its reader lives", "none_can_be_told stdout_contamination", `
			10 > req 5 bytes=80
			12 < bad bytes=20 raw=banner
			later`, answered5+"later"),
		little(diagnose.Contamination, "12 B more than the lost frame, and no text in front", "none_can_be_told stdout_contamination", `
			10 > req 5 bytes=80
			14 < bad bytes=412 raw={"jsonrpc":
			later`, answered5+"later"),
	}
}

// ceilingCases are about sizes. Two losses are calls 5 and 6.
func ceilingCases() []*ruleCase {
	const asked = "10 > req 5 bytes=80\n11 > req 6 bytes=80\n"
	written := func(five, six string) string {
		return "11 > req 5 bytes=80\n12 > req 6 bytes=80\n13 < res 5 bytes=" + five + "\n14 < res 6 bytes=" + six + "\n"
	}
	const gaveUp = "60000 > cancel 5\n60001 > cancel 6\n"
	return []*ruleCase{
		proof(diagnose.MaxLineLength, "two losses, both larger than all that were read, and the reader lives", asked+"later",
			written("70000", "80000")+"later").says("everything up to 500 B was read, everything from 70,000 B was not"),
		proof(diagnose.MaxLineLength, "one loss, and the bad line is what is left of it over 2 × 65,536 B", `
			10 > req 5 bytes=80
			14 < bad bytes=8928 raw=x
			later`, read5+`
			13 < res 5 bytes=140000
			later`).names("max_line_length stdout_contamination").says("2 × 65,536 B"),
		miss(diagnose.MaxLineLength, "the sizes cross: a small answer was lost too, and the reader lives", "none_can_be_told", asked+"later",
			written("70000", "300")+"later"),
		miss(diagnose.MaxLineLength, "the reader died at the first oversize frame: the small one after it is a casualty",
			"client_reader_stopped max_line_length", asked+gaveUp, written("70000", "300")),
		miss(diagnose.MaxLineLength, "two oversize losses, but the reader did not survive them",
			"client_reader_stopped max_line_length", asked+gaveUp, written("70000", "80000")),
		miss(diagnose.MaxLineLength, "the same between two known ceilings", "client_reader_stopped max_line_length", asked+gaveUp, written("600", "700")),
		little(diagnose.MaxLineLength, "a single loss", "none_can_be_told max_line_length", `
			10 > req 5 bytes=80
			later`, read5+`
			13 < res 5 bytes=70000
			later`),
		little(diagnose.MaxLineLength, "a single loss, and a leftover that is no multiple of a ceiling away from it",
			"none_can_be_told stdout_contamination max_line_length", `
			10 > req 5 bytes=80
			14 < bad bytes=8929 raw=x
			later`, read5+`
			13 < res 5 bytes=140000
			later`),
		little(diagnose.MaxLineLength, "a leftover, but the reader did not survive",
			"none_can_be_told stdout_contamination max_line_length", `
			10 > req 5 bytes=80
			14 < bad bytes=8928 raw=x
			60000 > cancel 5`, read5+"13 < res 5 bytes=140000"),
	}
}

// endCases are about streams that end or fall silent.
func endCases() []*ruleCase {
	return []*ruleCase{
		proof(diagnose.ClosedByClient, "its own eof 1 s after the request, the answer written after 5 s", `
			10 > req 5 bytes=80
			1010 > eof`, read5+"5000 < res 5 bytes=400"),
		proof(diagnose.ClosedByClient, "its own eof 1 s after the request, and no answer by then", `
			10 > req 5 bytes=80
			1010 > eof`, read5),
		miss(diagnose.ClosedByClient, "it had cancelled first", "client_deadline", `
			10 > req 5 bytes=80
			500 > cancel 5
			1010 > eof`, read5+"5000 < res 5 bytes=400"),
		miss(diagnose.ClosedByClient, "the peer's stream had ended first", "sse_dropped", `
			10 > req 5 bytes=80
			900 < eof
			1010 > eof`, read5+"5000 < res 5 bytes=400"),
		little(diagnose.ClosedByClient, "the answer was written long before", "none_can_be_told transport_closed_by_client client_reader_stopped", `
			10 > req 5 bytes=80
			40000 > eof`, answered5),

		proof(diagnose.SSEDropped, "the stream ended 5 s after the request, the answer was written at 6 s", `
			10 > req 5 bytes=80
			5000 < eof`, read5+"6000 < res 5 bytes=400").says("4,990 ms after the request"),
		miss(diagnose.SSEDropped, "the client had closed its own side first", "transport_closed_by_client", `
			10 > req 5 bytes=80
			4900 > eof
			5000 < eof`, read5+"6000 < res 5 bytes=400"),
		miss(diagnose.SSEDropped, "the client had cancelled first", "client_deadline", `
			10 > req 5 bytes=80
			4900 > cancel 5
			5000 < eof`, read5+"6000 < res 5 bytes=400"),
		little(diagnose.SSEDropped, "the stream had ended before the request was sent", "none_can_be_told", `
			8 < eof
			10 > req 5 bytes=80`, answered5),

		proof(diagnose.ReaderStopped, "two answers written, nothing read any more, and the client still writes", `
			10 > req 5 bytes=80
			11 > req 6 bytes=80
			30010 > cancel 5
			30011 > cancel 6`, answered5+`
			14 > req 6 bytes=80
			16 < res 6 bytes=300`),
		miss(diagnose.ReaderStopped, "something was read later", "none_can_be_told", `
			10 > req 5 bytes=80
			11 > req 6 bytes=80
			later`, answered5+`
			14 > req 6 bytes=80
			16 < res 6 bytes=300
			later`),
		miss(diagnose.ReaderStopped, "its stream ended: nothing can be read", "sse_dropped", `
			10 > req 5 bytes=80
			11 > req 6 bytes=80
			12 < eof
			30010 > cancel 5
			30011 > cancel 6`, answered5+`
			14 > req 6 bytes=80
			16 < res 6 bytes=300`),
		little(diagnose.ReaderStopped, "one answer only", "none_can_be_told client_reader_stopped", `
			10 > req 5 bytes=80
			60010 > cancel 5`, answered5),
	}
}
