package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

// quick are the trials that go test runs; make fault-lab runs all.
func quick() []string {
	return []string{"stdout-noise", "glued", "client:line-ceiling=16384", "never-return", "client:garbled-request", "session-404", "idle-cut=400ms"}
}

func TestLab(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chdir(filepath.Join("..", "..")); err != nil {
		t.Fatal(err)
	}
	// mcptap is built in a moment, and the test has DuckDB in it already.
	l := &lab{bin: filepath.Join(dir, "bin"), recorder: "mcptap", patience: 5 * time.Minute}
	l.join = func(_ context.Context, c *trial, dir string) (verdict, error) { return joinHere(t, c, dir), nil }
	if err := l.build(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, name := range quick() {
		t.Run(name, func(t *testing.T) {
			trial := first(t, name)
			got, err := l.try(context.Background(), trial, filepath.Join(dir, "logs"))
			if err != nil {
				t.Fatal(err)
			}
			if !trial.agrees(got) {
				said, _ := os.ReadFile(filepath.Join(dir, "logs", "client.out"))
				t.Errorf("diagnosed %s, injected %s %s; the client said\n%s", got, trial.leaf, trial.want(), said)
			}
		})
	}
}

// joinHere joins in process, with the defaults of mcpdiag join.
func joinHere(t *testing.T, c *trial, dir string) verdict {
	var logs []*ingest.Log
	for side, name := range map[frame.Side]string{frame.Client: logOf("client", c.client), frame.Server: logOf("server", c.server)} {
		set := ingest.Set{Sources: []ingest.Source{{Path: filepath.Join(dir, name), Label: name}}, Side: side}
		log, err := ingest.Read(context.Background(), set, ingest.Options{Quiet: logtest.Quiet})
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, log...)
	}
	for _, call := range logtest.Diagnose(t, logs...).Calls {
		if call.Name() != "work" || !call.Stalled {
			continue
		}
		v := verdict{Leaf: string(call.Leaf), NoLeaf: string(call.Reason)}
		for _, k := range call.Causes {
			v.Causes = append(v.Causes, cause{k.Name, k.Status()})
		}
		return v
	}
	return verdict{}
}

func first(t *testing.T, fault string) *trial {
	for _, c := range trials() {
		if c.fault == fault {
			return &c
		}
	}
	t.Fatalf("no trial of %s", fault)
	return nil
}

// TestTrialsCoverRules checks that the lab provokes every cause that can be named, and every leaf.
func TestTrialsCoverRules(t *testing.T) {
	leaves, causes := map[string]bool{}, map[string]bool{}
	for _, c := range trials() {
		leaves[c.leaf], causes[c.cause] = true, true
	}
	for _, r := range diagnose.Rules() {
		if !causes[r.Name] {
			t.Errorf("no trial provokes %s", r.Name)
		}
	}
	for _, leaf := range diagnose.Leaves() {
		if !leaves[string(leaf)] {
			t.Errorf("no trial has the leaf %s", leaf)
		}
	}
}

func TestAgrees(t *testing.T) {
	found := func(names ...string) verdict {
		v := verdict{Leaf: "never_written"}
		for _, n := range names {
			name, maybe := strings.CutSuffix(n, "?")
			status := "found"
			if maybe {
				status = "candidate"
			}
			v.Causes = append(v.Causes, cause{name, status})
		}
		return v
	}
	sure := trial{leaf: "never_written", cause: "a"}
	perhaps := trial{leaf: "never_written", cause: "a", candidate: true}
	for _, c := range []struct {
		t    trial
		v    verdict
		want bool
	}{
		{sure, found("a"), true}, {sure, found("a", "b?"), true}, {sure, found("a?"), false}, {sure, found("b", "a?"), false}, {sure, found(), false},
		{perhaps, found("none", "b?", "a?"), true}, {perhaps, found("b"), false}, {sure, verdict{Leaf: "agent_level", Causes: []cause{{"a", "found"}}}, false}, {sure, verdict{}, false},
	} {
		if c.t.agrees(c.v) != c.want {
			t.Errorf("%s against %s %s: not %v", c.v, c.t.leaf, c.t.want(), c.want)
		}
	}
}
