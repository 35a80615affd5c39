package diagnose

// Leaf is where a call stopped: one of four places, or none when the logs do not decide.
type Leaf string

// The leaves. doc.go proves that there are no others.
const (
	NoLeaf         Leaf = ""
	NeverArrived   Leaf = "never_arrived"
	NeverWritten   Leaf = "never_written"
	WrittenNotRead Leaf = "written_not_read"
	AgentLevel     Leaf = "agent_level"
)

// Leaves lists the four in the order of the questions.
func Leaves() []Leaf { return []Leaf{NeverArrived, NeverWritten, WrittenNotRead, AgentLevel} }

// Words says a leaf in words.
func (l Leaf) Words() string {
	switch l {
	case NeverArrived:
		return "never arrived"
	case NeverWritten:
		return "never written"
	case WrittenNotRead:
		return "written, not read"
	case AgentLevel:
		return "delivered (agent level)"
	}
	return "no leaf"
}

// Truth answers one of the three questions.
type Truth int8

// The answers. Unknown means that the logs do not cover it: no evidence either way.
const (
	Unknown Truth = iota
	No
	Yes
)

// Reason says why a call has no leaf.
type Reason string

// The reasons.
const (
	LogIncomplete Reason = "log_incomplete" // a triple that none of the four leaves has: a log misses something
	CannotTell    Reason = "cannot_tell"    // the logs do not decide
)

// whyNone says why a triple without a leaf has none. An answer that the requester read proves that it was written, so a log
// that does not show it is incomplete; so is one that does not show the request of a call that the other shows whole.
func whyNone(q [3]Truth, ambiguous, requesterHas bool) Reason {
	switch {
	case ambiguous:
		return CannotTell
	case q[2] == Yes, q[0] == Yes && q[1] == Yes && !requesterHas:
		return LogIncomplete
	}
	return CannotTell
}
