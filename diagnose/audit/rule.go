package audit

import "fmt"

// Weight is how much a rule weighs: what the spec says with MUST is an error, with SHOULD a warning, with MAY or not at all
// info.
type Weight uint8

// The weights, the heaviest last.
const (
	Info Weight = iota
	Warning
	Error
)

var weightNames = [...]string{"info", "warning", "error"}

func (w Weight) String() string { return weightNames[w] }

// Needs is what must be there of a message for a rule to be judged.
type Needs uint8

// The needs. A rule without any is judged by the metadata of a record.
const (
	Payload Needs = 1 << iota // the whole JSON text
	Heads                     // the heads of HTTP
)

var needsNames = []string{"payload", "HTTP heads"}

func (n Needs) String() string {
	s := ""
	for i, name := range needsNames {
		if n>>i&1 == 1 {
			if s != "" {
				s += ", "
			}
			s += name
		}
	}
	return s
}

// Rule is one row of the table.
type Rule struct {
	ID     string
	Text   string // what is to be done, and thereby the corrective action
	Weight Weight
	Spec   string // page of the spec's version 2026-07-28 (S26) or of a legacy one (S25b: 2025-11-25), and what else states it
	Since  string // the first version that it holds for; "" is all
	Until  string // the last
	Needs  Needs
	On     kind   // the kinds of messages that it looks at
	Token  string // what its verdict is called on a message's line; "" shows broken ones by the rule's id
	Shows  string // what a kept one shows there; "" is "valid"

	Voids bool // a message that breaks it is no legal message of its era

	// For tells, by what every record has, whether a message is concerned. nil is all of the kinds.
	For func(*message) bool
	// Check judges a message that has what the rule needs.
	Check func(*message) Verdict
	// Fix puts right, in a copy of the message, what the rule complains of; nil when that takes knowing the sender's mind.
	Fix func(object)
}

// Legacy reports whether the rule holds for legacy versions only, Modern for the modern one only.
func (r *Rule) Legacy() bool { return r.Until != "" && r.Until < v2607 }

// Modern reports whether the rule holds for the modern version only.
func (r *Rule) Modern() bool { return r.Since >= v2607 }

// outcome is what a check says.
type outcome uint8

const (
	unconcerned outcome = iota
	kept
	broken
	unjudged
)

// Verdict is a rule's verdict on a message. Its zero value is that the rule does not concern the message.
type Verdict struct {
	outcome outcome
	Word    string // absent, invalid
	Detail  string // without ids and lines, so that two recordings of one fault say the same
	Cites   uint32 // another line that the verdict rests on; 0 is none
}

var keep = Verdict{outcome: kept}

func breaks(format string, args ...any) Verdict {
	return Verdict{outcome: broken, Word: "invalid", Detail: fmt.Sprintf(format, args...)}
}

func lacks(what string) Verdict {
	return Verdict{outcome: broken, Word: "absent", Detail: what + " is absent"}
}

// faulty is lacks or breaks, by what the member's state is.
func faulty(o object, name, want string) Verdict {
	if !o.has(name) {
		return lacks(name)
	}
	return breaks("%s is not %s", name, want)
}

func unclear(why string) Verdict { return Verdict{outcome: unjudged, Detail: why} }

func (v Verdict) citing(line uint32) Verdict {
	v.Cites = line
	return v
}

// want is keep, or breaks with the text.
func want(ok bool, format string, args ...any) Verdict {
	if ok {
		return keep
	}
	return breaks(format, args...)
}

// judge gives the rule's verdict on a message.
func (r *Rule) judge(m *message) Verdict {
	if r.On&m.kind == 0 || r.For != nil && !r.For(m) {
		return Verdict{}
	}
	if !r.overlaps(m) {
		return Verdict{}
	}
	if why := r.missing(m); why != "" {
		return unclear(why)
	}
	v := r.Check(m)
	if why := r.uncertain(m); why != "" && (v.outcome == kept || v.outcome == broken) {
		return unclear(why)
	}
	return v
}

// overlaps reports whether the message can be of a version that the rule holds for.
func (r *Rule) overlaps(m *message) bool {
	switch {
	case m.era == Modern:
		return !r.Legacy()
	case m.era == Legacy && m.version == "":
		return !r.Modern()
	case m.era == Legacy:
		return r.Since <= m.version && (r.Until == "" || m.version <= r.Until)
	}
	return true
}

// uncertain says why a rule of some versions cannot be judged though the message shows everything.
func (r *Rule) uncertain(m *message) string {
	bounded := r.Since != "" || r.Until != ""
	switch {
	case m.era == Ambiguous && bounded, m.era == NoEra && bounded && m.version == "":
		return "the message's era does not show"
	case m.era == Legacy && m.version == "" && (r.Since > v2024 || r.Until != "" && r.Until < v2511):
		return "the version in force does not show"
	}
	return ""
}

func (r *Rule) missing(m *message) string {
	switch {
	case r.Needs&Heads != 0 && m.http() == nil:
		return "the log has no HTTP heads"
	case r.Needs&Payload == 0 || m.doc != nil || m.kind&(isInvalid|isHead) != 0:
		return ""
	case m.body.Cut:
		return "the payload is cut"
	}
	return "the log has no payload"
}
