//go:build cluster

package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"mcpdiag/samples/cluster"
)

// TestClusterFounding: the founding scenario, by way of a folder and of a cluster, in the words of the logs.
func TestClusterFounding(t *testing.T) {
	c, err := cluster.Start(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	call := func(want int, args ...string) string {
		t.Helper()
		var out, complaints bytes.Buffer
		e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &complaints, getenv: func(string) string { return "" }, now: time.Now}
		if status := run(context.Background(), e, args); status != want || complaints.Len() > 0 {
			t.Fatalf("mcpdiag %q: status %d, %s", args, status, complaints.String())
		}
		return out.String()
	}
	client, server := "../../samples/client.log", "../../samples/server.log"
	for _, s := range c.Shards {
		call(exitFine, "ship", "--init", "--to", s.Address("mcp"))
	}
	folded, there := t.TempDir()+"/folded", c.Shards[0].Address("mcp")
	call(exitFine, "fold", client, "--out", folded)
	call(exitFine, "fold", "--server", server, "--out", folded)
	if sent := call(exitFine, "ship", "--to", there, folded); strings.Count(sent, ", sent, as") != 2 {
		t.Errorf("sent: %s", sent)
	}
	if sent := call(exitFine, "ship", "--to", c.Shards[1].Address("mcp"), client, server); strings.Count(sent, ", was there, as") != 2 {
		t.Errorf("sent again: %s", sent)
	}
	want := call(exitStalled, "join", client, server)
	for _, args := range [][]string{{"join", folded}, {"join", "--at", there}, {"join", "--at", c.Shards[1].Address("mcp"), "--session", "s1"}} {
		if got := call(exitStalled, args...); got != want {
			t.Errorf("mcpdiag %q says\n%s\nwant\n%s", args, got, want)
		}
	}
	if got := call(exitFine, "join", "--at", there, "--session", "another"); !strings.Contains(got, "0 calls") {
		t.Errorf("another session: %s", got)
	}
	t.Logf("mcpdiag join --at\n%s", call(exitStalled, "join", "--at", there))
}
