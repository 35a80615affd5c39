package diagnose_test

import (
	"slices"
	"strings"
	"testing"

	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// showing is what a pair of logs shows of a rule.
type showing string

// Every rule has a pair of each.
const (
	proves    showing = "proves"     // the cause is found, and stands first
	nearMiss  showing = "near miss"  // it looks alike and is something else, or nothing
	tooLittle showing = "too little" // the deciding piece of evidence is not there: at most a candidate
)

// ruleCase is a pair of logs and what its call 5 is a case of.
type ruleCase struct {
	rule           string // of the table
	shows          showing
	is             string // what decides
	want           string // every cause named, in order: the first is found, the others are candidates; "" is a healthy call
	client, server string // in the notation of logtest, and that of abbreviated
	requester      frame.Side
	id             string
	nth            int
	bare           bool   // without the healthy call 1 that stands first in both logs otherwise
	evidence       string // stands in the evidence of the first cause
}

func newCase(rule string, shows showing, is, want, client, server string) *ruleCase {
	return &ruleCase{rule: rule, shows: shows, is: is, want: want, client: client, server: server, requester: frame.Client, id: "5", nth: 1}
}

// proof is a pair of logs in which the rule finds its cause.
func proof(rule, is, client, server string) *ruleCase {
	return newCase(rule, proves, is, rule, client, server)
}

// miss is a pair in which the rule must find nothing, and what is named instead.
func miss(rule, is, want, client, server string) *ruleCase {
	return newCase(rule, nearMiss, is, want, client, server)
}

// little is a pair with too little evidence for the rule.
func little(rule, is, want, client, server string) *ruleCase {
	return newCase(rule, tooLittle, is, want, client, server)
}

// names tells what is named where that is not the rule's name alone.
func (c *ruleCase) names(causes string) *ruleCase { c.want = causes; return c }

// of tells which call is looked at, where it is not the client's 5.
func (c *ruleCase) of(by frame.Side, id string) *ruleCase { c.requester, c.id = by, id; return c }

// second looks at the second call with the id.
func (c *ruleCase) second() *ruleCase { c.nth = 2; return c }

// alone leaves out the healthy call 1.
func (c *ruleCase) alone() *ruleCase { c.bare = true; return c }

// says wants some words in the evidence.
func (c *ruleCase) says(words string) *ruleCase { c.evidence = words; return c }

// ruleCases are all of them. The tables stand in the files of the rules.
func ruleCases() []*ruleCase {
	return slices.Concat(idCases(), refusalCases(), readingCases(), ceilingCases(), endCases(), timingCases(), servingCases(), nestedCases())
}

// abbreviated spells out what most scripts have: cancels, progress, and a healthy call a minute later.
func abbreviated(side frame.Side, script string) string {
	later := "70000 > req 9 bytes=80\n70005 < res 9 bytes=500"
	if side == frame.Server {
		later = "70000 > req 9 bytes=80\n70004 < res 9 bytes=500"
	}
	return strings.NewReplacer(" cancel ", " ntf method=notifications/cancelled request_id=",
		" progress ", " ntf method=notifications/progress request_id=", "later", later).Replace(script)
}

// texts writes the two logs: the answer of call 1 has 500 B, so that a lost one of 400 B was not too long.
func (c *ruleCase) texts() (client, server string) {
	before := [2]string{"0 > req 1 bytes=80\n5 < res 1 bytes=500\n", "0 > req 1 bytes=80\n4 < res 1 bytes=500\n"}
	if c.bare {
		before = [2]string{}
	}
	return logtest.Text(frame.Client, dense(before[0]+abbreviated(frame.Client, c.client))),
		logtest.Text(frame.Server, dense(before[1]+abbreviated(frame.Server, c.server)))
}

// dense takes the empty lines out of a script.
func dense(script string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(script, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" }), "\n")
}

func diagnoseTexts(t *testing.T, client, server string) *diagnose.Diagnosis {
	t.Helper()
	return logtest.Diagnose(t, logtest.ReadText(t, frame.Client, client), logtest.ReadText(t, frame.Server, server))
}

// named lists the causes of a call by name, the first found and the others candidates; any that is not so says it.
func named(c *diagnose.Call) string {
	var names []string
	for i, cause := range c.Causes {
		name := cause.Name
		if cause.Found != (i == 0) {
			name += "(" + cause.Status() + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func first(causes string) string {
	name, _, _ := strings.Cut(causes, " ")
	return name
}

// TestRules runs the proofs, the near misses and what is too little.
func TestRules(t *testing.T) {
	for _, tt := range ruleCases() {
		t.Run(tt.rule+"/"+string(tt.shows)+"/"+tt.is, func(t *testing.T) {
			t.Parallel()
			client, server := tt.texts()
			d := diagnoseTexts(t, client, server)
			c := logtest.Call(t, d, tt.requester, tt.id, tt.nth)
			if got := named(c); got != tt.want {
				t.Errorf("%s\nnames %q\nwant  %q", logtest.SayCall(c), got, tt.want)
				for _, cause := range c.Causes {
					t.Logf("%s, %s: %s", cause.Name, cause.Status(), cause.Evidence())
				}
				return
			}
			if tt.evidence != "" && !strings.Contains(c.Causes[0].Evidence(), tt.evidence) {
				t.Errorf("the evidence is %q, without %q", c.Causes[0].Evidence(), tt.evidence)
			}
		})
	}
}

// TestRulesHaveCases: every rule of the table has a proof, a near miss and a pair with too little evidence, and they are such.
func TestRulesHaveCases(t *testing.T) {
	have := map[string]map[showing]int{}
	for _, r := range diagnose.Rules() {
		have[r.Name] = map[showing]int{}
	}
	for _, c := range ruleCases() {
		if have[c.rule] == nil {
			t.Errorf("no rule %q", c.rule)
			continue
		}
		have[c.rule][c.shows]++
		if named := first(c.want) == c.rule; named && c.shows != proves {
			t.Errorf("%s, %s: %q names the cause", c.rule, c.shows, c.is)
		}
		if none := c.want == "" || first(c.want) == diagnose.None; c.shows == tooLittle && !none || c.shows == proves && none {
			t.Errorf("%s, %s: %q wants %q", c.rule, c.shows, c.is, c.want)
		}
	}
	for rule, n := range have {
		for _, s := range []showing{proves, nearMiss, tooLittle} {
			if n[s] == 0 {
				t.Errorf("rule %s has no case that is: %s", rule, s)
			}
		}
	}
}
