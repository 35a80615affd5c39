package diagnose_test

import (
	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
)

func idCases() []*ruleCase {
	return []*ruleCase{
		proof(diagnose.IDReusedInFlight, "two requests outstanding with one id, one answer", `
			10 > req 5 name=a bytes=80
			20 > req 5 name=b bytes=80
			40 < res 5 bytes=400
			later`, `
			11 > req 5 name=a bytes=80
			21 > req 5 name=b bytes=80
			39 < res 5 bytes=400
			later`).says("used by 2 requests at once"),
		miss(diagnose.IDReusedInFlight, "reused after its answer: two calls that are told apart", "handler_blocked", `
			10 > req 5 bytes=80
			15 < res 5 bytes=400
			20 > req 5 bytes=80
			later`, `
			11 > req 5 bytes=80
			14 < res 5 bytes=400
			21 > req 5 bytes=80
			22 > enter 5
			later`).second(),
		little(diagnose.IDReusedInFlight, "reused after the first was given up: it is no longer waited for", "none_can_be_told", `
			10 > req 5 bytes=80
			5000 > cancel 5
			6000 > req 5 bytes=80
			later`, `
			11 > req 5 bytes=80
			5001 > cancel 5
			6001 > req 5 bytes=80
			6003 < res 5 bytes=400
			later`).second(),

		proof(diagnose.IDsRenumbered, "no id in common, all calls alike and in order", `
			10 > req 1 name=a bytes=101 session=s1
			15 < res 1 bytes=301 session=s1
			20 > req 2 name=b bytes=102 session=s1
			25 < res 2 bytes=302 session=s1
			30 > req 5 name=c bytes=103 session=s1
			35 < res 5 bytes=303 session=s1`, `
			11 > req 71 name=a bytes=101 session=s1
			14 < res 71 bytes=301 session=s1
			21 > req 72 name=b bytes=102 session=s1
			24 < res 72 bytes=302 session=s1
			31 > req 75 name=c bytes=103 session=s1
			34 < res 75 bytes=303 session=s1`).alone(),
		proof(diagnose.IDsRenumbered, "one id names different tools on the two sides, all calls alike and in order", `
			10 > req 4 name=a bytes=101
			15 < res 4 bytes=301
			20 > req 5 name=b bytes=102
			25 < res 5 bytes=302
			30 > req 6 name=c bytes=103
			35 < res 6 bytes=303`, `
			11 > req 5 name=a bytes=101
			14 < res 5 bytes=301
			21 > req 6 name=b bytes=102
			24 < res 6 bytes=302
			31 > req 7 name=c bytes=103
			34 < res 7 bytes=303`).alone(),
		miss(diagnose.IDsRenumbered, "one id in common for one call: the ids are not rewritten", "none_can_be_told", `
			10 > req 2 name=b bytes=102
			15 < res 2 bytes=302
			20 > req 5 name=c bytes=103
			25 < res 5 bytes=303`, `
			11 > req 72 name=b bytes=102
			14 < res 72 bytes=302
			21 > req 75 name=c bytes=103
			24 < res 75 bytes=303`),
		little(diagnose.IDsRenumbered, "no id in common, but nothing says that it is one session", "none_can_be_told ids_renumbered", `
			10 > req 4 name=a bytes=101
			15 < res 4 bytes=301
			20 > req 5 name=b bytes=102
			25 < res 5 bytes=302`, `
			11 > req 74 name=a bytes=101
			14 < res 74 bytes=301
			21 > req 75 name=b bytes=102
			24 < res 75 bytes=302`).alone(),

		proof(diagnose.IDTypeMismatch, `answered as "5", and nobody asked so`, `
			10 > req 5 bytes=80
			14 < res "5" bytes=400
			later`, `
			11 > req 5 bytes=80
			13 < res "5" bytes=400
			later`),
		miss(diagnose.IDTypeMismatch, `somebody did ask as "5": two calls`, "handler_blocked", `
			10 > req 5 bytes=80
			12 > req "5" bytes=80
			20 < res "5" bytes=400
			later`, `
			11 > req 5 bytes=80
			12 > enter 5
			13 > req "5" bytes=80
			19 < res "5" bytes=400
			later`),
		little(diagnose.IDTypeMismatch, "the answer nobody asked for has other digits", "none_can_be_told", `
			10 > req 5 bytes=80
			14 < res "6" bytes=400
			later`, `
			11 > req 5 bytes=80
			13 < res "6" bytes=400
			later`),

		proof(diagnose.IDBeyond, "2^53+1 answered as 2^53, its double", `
			10 > req 9007199254740993 bytes=80
			14 < res 9007199254740992 bytes=400
			later`, `
			11 > req 9007199254740993 bytes=80
			13 < res 9007199254740992 bytes=400
			later`).of(frame.Client, "9007199254740993"),
		proof(diagnose.IDBeyond, "2^32+5 answered as 5, its low 32 bits", `
			10 > req 4294967301 bytes=80
			14 < res 5 bytes=400
			later`, `
			11 > req 4294967301 bytes=80
			13 < res 5 bytes=400
			later`).of(frame.Client, "4294967301"),
		proof(diagnose.IDBeyond, "2^31+5 answered as a negative number, its 32 bits with a sign", `
			10 > req 2147483653 bytes=80
			14 < res -2147483643 bytes=400
			later`, `
			11 > req 2147483653 bytes=80
			13 < res -2147483643 bytes=400
			later`).of(frame.Client, "2147483653"),
		miss(diagnose.IDBeyond, "2^53-1 is a double: the number next to it is another id", "handler_blocked", `
			10 > req 9007199254740991 bytes=80
			14 < res 9007199254740990 bytes=400
			later`, `
			11 > req 9007199254740991 bytes=80
			12 > enter 9007199254740991
			13 < res 9007199254740990 bytes=400
			later`).of(frame.Client, "9007199254740991"),
		little(diagnose.IDBeyond, "two near misses at once, the double and the low 32 bits: neither is chosen", "none_can_be_told", `
			10 > req 9007199254740997 bytes=80
			14 < res 9007199254740996 bytes=400
			15 < res 5 bytes=400
			later`, `
			11 > req 9007199254740997 bytes=80
			13 < res 9007199254740996 bytes=400
			14 < res 5 bytes=400
			later`).of(frame.Client, "9007199254740997"),
	}
}
