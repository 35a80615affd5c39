package main

import "fmt"

// row is one line of the table. The ratio is held against a limit, from above or from below.
type row struct {
	what, ours, theirs string
	ratio, limit       float64
	unit               string
	atLeast            bool // the ratio should be the limit or more; else the limit or less
	unknown            bool // could not be measured here
}

// faster is a row in which ours should take a fraction of theirs.
func faster(what string, ours, theirs sample, limit float64) row {
	return row{what: what, ours: ours.String(), theirs: theirs.String(), ratio: theirs.median().Seconds() / ours.median().Seconds(), limit: limit, unit: "x", atLeast: true}
}

// slower is a row in which ours may take longer than theirs, up to a limit.
func slower(what string, ours, theirs sample, limit float64) row {
	return row{what: what, ours: ours.String(), theirs: theirs.String(), ratio: ours.median().Seconds() / theirs.median().Seconds(), limit: limit, unit: "x"}
}

// peak is a row about memory, in MB (10^6 bytes).
func peak(what string, ours, theirs sample, limit float64) row {
	mb := func(s sample) float64 { return float64(s.rss) / 1e6 }
	show := func(s sample) string { return fmt.Sprintf("%.0f MB", mb(s)) }
	return row{what: what, ours: show(ours), theirs: show(theirs), ratio: mb(ours), limit: limit, unit: " MB", unknown: ours.rss == 0}
}

func (r row) shown() string { return figure(r.ratio) + r.unit }

// figure writes three digits, and never an exponent.
func figure(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

func (r row) bar() string {
	if r.atLeast {
		return "≥ " + figure(r.limit) + r.unit
	}
	return "≤ " + figure(r.limit) + r.unit
}

func (r row) verdict() string {
	switch {
	case r.unknown:
		return "not measured here"
	case r.atLeast == (r.ratio >= r.limit) || r.ratio == r.limit:
		return "ok"
	}
	return "short"
}
