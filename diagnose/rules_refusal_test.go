package diagnose_test

import "mcpdiag/diagnose"

// read5 and answered5 are call 5 as a healthy server logs it, its answer no longer than one that was read.
const (
	read5     = "11 > req 5 bytes=80\n"
	answered5 = read5 + "13 < res 5 bytes=400\n"
)

func refusalCases() []*ruleCase {
	return []*ruleCase{
		proof(diagnose.Session404, "404 without an id, one request outstanding", `
			10 > req 5 bytes=80
			14 < err status=404
			later`, "later"),
		proof(diagnose.Session404, "404 with a null id is the same", `
			10 > req 5 bytes=80
			14 < err null status=404
			later`, "later"),
		miss(diagnose.Session404, "another status", "refused", `
			10 > req 5 bytes=80
			14 < err status=500
			later`, "later"),
		miss(diagnose.Session404, "404 with the call's id is its answer", "", `
			10 > req 5 bytes=80
			14 < err 5 status=404`, read5+`
			13 < err 5 status=404`),
		little(diagnose.Session404, "two requests outstanding: whose it is cannot be told", "none_can_be_told", `
			10 > req 5 bytes=80
			12 > req 6 bytes=80
			14 < err status=404
			later`, "later"),

		proof(diagnose.SessionExpired, "400 without an id after 100 s of silence", `
			100000 > req 5 bytes=80
			100004 < err status=400`, ""),
		miss(diagnose.SessionExpired, "after the same silence 404: it says more", "session_404", `
			100000 > req 5 bytes=80
			100004 < err status=404`, ""),
		little(diagnose.SessionExpired, "400 at once: any bad request", "none_can_be_told session_expired refused", `
			10 > req 5 bytes=80
			14 < err status=400
			later`, "later"),

		proof(diagnose.RequestTooLarge, "413 without an id", `
			10 > req 5 bytes=70000
			14 < err status=413
			later`, "later").says("70,000 B"),
		proof(diagnose.RequestTooLarge, "two requests lost, both larger than all that were read, and the reader lives", `
			10 > req 5 bytes=70000
			20 > req 6 bytes=90000
			later`, "later").names("max_line_length"),
		miss(diagnose.RequestTooLarge, "a large request refused for another reason", "refused max_line_length", `
			10 > req 5 bytes=70000
			14 < err status=503
			later`, "later"),
		miss(diagnose.RequestTooLarge, "the sizes cross: a small request was lost too", "none_can_be_told", `
			10 > req 5 bytes=70000
			20 > req 6 bytes=60
			later`, "later"),
		little(diagnose.RequestTooLarge, "a single large request lost", "none_can_be_told max_line_length", `
			10 > req 5 bytes=70000
			later`, "later"),
		little(diagnose.RequestTooLarge, "two lost, and nothing was read after them: the reader may have died of anything", "none_can_be_told max_line_length server_stopped_reading", `
			10 > req 5 bytes=70000
			20 > req 6 bytes=90000
			60000 > cancel 5`, ""),

		proof(diagnose.RequestUnparsed, "a bad line of the request's size at the server", `
			10 > req 5 bytes=80
			later`, `
			11 > bad bytes=80 raw=POST
			later`),
		proof(diagnose.RequestUnparsed, "error -32700 without an id", `
			10 > req 5 bytes=80
			14 < err null code=-32700
			later`, `
			13 < err null code=-32700
			later`),
		proof(diagnose.RequestUnparsed, "two bad lines that add up to the request: it was sent over two lines", `
			10 > req 5 bytes=80
			later`, `
			11 > bad bytes=30 raw={
			11 > bad bytes=50 raw=}
			later`).names("embedded_newline"),
		miss(diagnose.RequestUnparsed, "a bad line of that size, and the request was read besides", "handler_blocked", `
			10 > req 5 bytes=80
			later`, `
			11 > bad bytes=80 raw=POST
			12 > req 5 bytes=80
			13 > enter 5
			later`),
		little(diagnose.RequestUnparsed, "a bad line that is one byte longer", "none_can_be_told", `
			10 > req 5 bytes=80
			later`, `
			11 > bad bytes=81 raw=POST
			later`),

		proof(diagnose.RefusedByPeer, "503 without an id", `
			10 > req 5 bytes=80
			14 < err status=503
			later`, "later").says("HTTP 503"),
		miss(diagnose.RefusedByPeer, "503 with the call's id is its answer", "", `
			10 > req 5 bytes=80
			14 < err 5 status=503`, read5+`
			13 < err 5 status=503`),
		miss(diagnose.RefusedByPeer, "413 says more", "request_too_large", `
			10 > req 5 bytes=80
			14 < err status=413
			later`, "later"),
		little(diagnose.RefusedByPeer, "an error without an id and without a status", "none_can_be_told refused", `
			10 > req 5 bytes=80
			14 < err null code=-32600
			later`, "later"),
	}
}
