package diagnose_test

import "mcpdiag/diagnose"

func timingCases() []*ruleCase {
	return []*ruleCase{
		proof(diagnose.ClientDeadline, "cancelled after 30 s, answered after 45 s", `
			10 > req 5 bytes=80
			30010 > cancel 5
			45000 < res 5 bytes=400`, read5+`
			30012 > cancel 5
			44990 < res 5 bytes=400`).says("python-sdk HTTP"),
		proof(diagnose.ClientDeadline, "progress came in time: the deadline runs from the request", `
			10 > req 5 bytes=80
			25000 < progress 5
			50000 < progress 5
			60010 > cancel 5
			70000 < res 5 bytes=400`, read5+`
			24990 < progress 5
			49990 < progress 5
			60012 > cancel 5
			69990 < res 5 bytes=400`).says("progress does not extend it"),
		miss(diagnose.ClientDeadline, "cancelled after 30 s, but the answer was written after 2 s", "none_can_be_told client_reader_stopped", `
			10 > req 5 bytes=80
			30010 > cancel 5`, read5+`
			2000 < res 5 bytes=400
			30012 > cancel 5`),
		miss(diagnose.ClientDeadline, "as long, with progress, and not cancelled", "slow_handler", `
			10 > req 5 bytes=80
			25000 < progress 5
			50000 < progress 5
			70000 < res 5 bytes=400`, read5+`
			12 > enter 5
			24990 < progress 5
			49990 < progress 5
			69980 > exit 5
			69990 < res 5 bytes=400`),
		little(diagnose.ClientDeadline, "cancelled after 30 s, and the server's log tells no times", "none_can_be_told", `
			10 > req 5 bytes=80
			30010 > cancel 5
			later`, `
			- > req 5 bytes=80
			- < res 5 bytes=400
			later`),

		proof(diagnose.Buffering, "written 3 s apart, read 1 ms apart", `
			10 > req 5 bytes=80
			3000 > req 6 bytes=80
			8000 < res 5 bytes=400
			8001 < res 6 bytes=400`, read5+`
			20 < res 5 bytes=400
			3001 > req 6 bytes=80
			3010 < res 6 bytes=400`).says("2,990 ms"),
		proof(diagnose.Buffering, "written at once, read when the input was closed", `
			10 > req 5 bytes=80
			9000 > eof
			9050 < res 5 bytes=400`, read5+"20 < res 5 bytes=400").says("flushed at end of input"),
		miss(diagnose.Buffering, "read 1 ms apart, and so written: the server was slow", "slow_handler", `
			10 > req 5 bytes=80
			3000 > req 6 bytes=80
			8000 < res 5 bytes=400
			8001 < res 6 bytes=400`, read5+`
			12 > enter 5
			3001 > req 6 bytes=80
			7980 > exit 5
			7990 < res 5 bytes=400
			7991 < res 6 bytes=400`),
		miss(diagnose.Buffering, "the input was closed, and the answer came long after that", "none_can_be_told buffering", `
			10 > req 5 bytes=80
			4000 > eof
			9050 < res 5 bytes=400`, read5+"20 < res 5 bytes=400"),
		little(diagnose.Buffering, "held back alone", "none_can_be_told buffering", `
			10 > req 5 bytes=80
			8000 < res 5 bytes=400`, read5+"20 < res 5 bytes=400"),

		proof(diagnose.ProxyBuffering, "progress and answer written over 3 s, read within 3 ms", `
			10 > req 5 bytes=80
			4010 < progress 5
			4011 < progress 5
			4012 < progress 5
			4013 < res 5 bytes=400`, read5+`
			1000 < progress 5
			2000 < progress 5
			3000 < progress 5
			4000 < res 5 bytes=400`),
		miss(diagnose.ProxyBuffering, "read as they were written", "slow_handler", `
			10 > req 5 bytes=80
			1010 < progress 5
			2010 < progress 5
			3010 < progress 5
			4013 < res 5 bytes=400`, read5+`
			12 > enter 5
			1000 < progress 5
			2000 < progress 5
			3000 < progress 5
			3999 > exit 5
			4000 < res 5 bytes=400`),
		little(diagnose.ProxyBuffering, "a single progress notification", "none_can_be_told", `
			10 > req 5 bytes=80
			4012 < progress 5
			4013 < res 5 bytes=400`, read5+`
			1000 < progress 5
			4000 < res 5 bytes=400`),

		proof(diagnose.SlowWrite, "4.98 s of 5 s between exit and write", `
			10 > req 5 bytes=80
			5005 < res 5 bytes=400`, read5+`
			12 > enter 5
			20 > exit 5
			5000 < res 5 bytes=400`),
		miss(diagnose.SlowWrite, "as slow, the time before the exit", "slow_handler", `
			10 > req 5 bytes=80
			5005 < res 5 bytes=400`, read5+`
			12 > enter 5
			4980 > exit 5
			5000 < res 5 bytes=400`),
		little(diagnose.SlowWrite, "the handler left and nothing was written", "none_can_be_told slow_write", `
			10 > req 5 bytes=80
			later`, read5+`
			12 > enter 5
			20 > exit 5
			later`),

		proof(diagnose.SlowHandler, "4.97 s of 5 s between enter and exit", `
			10 > req 5 bytes=80
			5005 < res 5 bytes=400`, read5+`
			12 > enter 5
			4980 > exit 5
			5000 < res 5 bytes=400`),
		miss(diagnose.SlowHandler, "most of the server's time, but not of the wait", "none_can_be_told buffering", `
			10 > req 5 bytes=80
			8000 < res 5 bytes=400`, read5+`
			12 > enter 5
			2110 > exit 5
			2120 < res 5 bytes=400`),
		little(diagnose.SlowHandler, "slow on the server, and no handler events", "none_can_be_told", `
			10 > req 5 bytes=80
			5005 < res 5 bytes=400`, read5+"5000 < res 5 bytes=400"),

		proof(diagnose.AtAgentLevel, "a minute of silence after the answer, then a call that succeeds", `
			10 > req 5 bytes=80
			14 < res 5 bytes=400
			later`, answered5+"later"),
		proof(diagnose.AtAgentLevel, "a minute of silence after the answer, then eof", `
			10 > req 5 bytes=80
			14 < res 5 bytes=400
			60000 > eof`, answered5+"60001 > eof"),
		miss(diagnose.AtAgentLevel, "the silence ends in a stall, to which it belongs", "", `
			10 > req 5 bytes=80
			14 < res 5 bytes=400
			70000 > req 6 bytes=80
			130000 > cancel 6`, answered5+`
			70001 > req 6 bytes=80
			70002 > enter 6
			130001 > cancel 6`),
		miss(diagnose.AtAgentLevel, "another call was outstanding: it waited", "", `
			10 > req 6 bytes=80
			11 > req 5 bytes=80
			14 < res 5 bytes=400
			later`, `
			10 > req 6 bytes=80
			10 > enter 6`+"\n"+answered5+"later"),
		little(diagnose.AtAgentLevel, "20 s of silence", "", `
			10 > req 5 bytes=80
			14 < res 5 bytes=400
			20014 > req 6 bytes=80
			20020 < res 6 bytes=500`, answered5+`
			20015 > req 6 bytes=80
			20019 < res 6 bytes=500`),
	}
}
