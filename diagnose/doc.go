// Package diagnose gives each call its verdict: the leaf, what qualifies it, its stages and causes, and the next step.
//
// # The tree closes
//
// A call is a request and what became of it. Three questions are asked of its two halves, in this order:
//
//	q1  did the request reach the responder?
//	q2  did an answer leave the responder?
//	q3  did the requester log the answer?
//
// Each has two answers, so there are eight branches, and half of them cannot exist in the world:
//
//   - An answer leaves only a responder that the request reached: q2 implies q1. That rules out no/yes/no and no/yes/yes.
//   - An answer is read only after it left: q3 implies q2. That rules out no/no/yes and yes/no/yes.
//
// What remains is no/no/no, yes/no/no, yes/yes/no and yes/yes/yes: never arrived, never written, written not read, agent
// level. They exclude each other and there is no fifth. If logs show one of the other four, the world did not do that; a log
// misses something, and the verdict is that (LogIncomplete), never a leaf.
//
// One inference is used: a handler event or an answer in the responder's log proves that the request reached it, whether or
// not its line is there.
//
// # What a missing line proves
//
// "No" needs more than a missing line: the log must cover the place where the line would stand. A log covers what the other
// log shows from the first call that the two share, in the other's order, to the end. Calls sent before that, sessions that
// the log does not know, calls outstanding at a line that cannot be read or at a gap, and what comes after the last shared
// call of a log whose tail is cut, are not covered: the answer is Unknown, and unless the other answers decide alone there
// is no leaf (CannotTell). leaf.sql is this paragraph in SQL; tree_test.go holds the two against each other.
//
// # What is not claimed
//
// A leaf is a position, not a judgement: a cancelled call that was rightly left unanswered is never_written too. Causes are
// named only where the logs decide; the rest are candidates. No figure is ever taken across two clocks.
package diagnose
