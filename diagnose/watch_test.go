package diagnose_test

import (
	"context"
	"fmt"
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

// watching is a watch over two logs in a folder of the test.
type watching struct {
	t     *testing.T
	dir   string
	watch *diagnose.Watch
	now   time.Time
	state diagnose.State
}

func newWatching(t *testing.T, window int) *watching {
	t.Helper()
	w := &watching{t: t, dir: t.TempDir(), now: time.Unix(1e9, 0)}
	var sources []ingest.Source
	for _, side := range []frame.Side{frame.Client, frame.Server} {
		sources = append(sources, ingest.Source{Path: w.path(side), Label: side.String() + ".log"})
	}
	w.watch = diagnose.NewWatch(sources, []frame.Side{frame.Client, frame.Server}, window, logtest.Options())
	t.Cleanup(w.watch.Close)
	return w
}

func (w *watching) path(side frame.Side) string { return filepath.Join(w.dir, side.String()+".log") }

func (w *watching) log(side frame.Side, script string) {
	w.t.Helper()
	f, err := os.OpenFile(w.path(side), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(logtest.Text(side, script)); err != nil {
		w.t.Fatal(err)
	}
}

// step wants the changes of one step, a second later: "stalled ID LEAF LINE" or "answered ID LEAF LINE".
func (w *watching) step(want ...string) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	d, changes, state, err := w.watch.Step(context.Background(), w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	if d != nil {
		w.state = state
	}
	var got []string
	for _, c := range changes {
		word := map[bool]string{true: "answered", false: "stalled"}[c.Recovered]
		got = append(got, fmt.Sprintf("%s %s %s %s", word, c.Call.ID(), logtest.Verdict(c.Call), c.Call.FirstLine()))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Fatalf("changes %q, want %q", got, want)
	}
}

const hello = "0 > req 1 method=initialize\n5 < res 1"

func TestWatchTellsStallsAndRecoveries(t *testing.T) {
	w := newWatching(t, 1<<20)
	w.step() // nothing is there yet
	w.log(frame.Client, hello+"\n8 > req 2 name=old\n9 > ntf method=notifications/cancelled request_id=2")
	w.log(frame.Server, hello)
	w.step() // what is stalled already is no change
	if w.state.Stalled != 1 || w.state.Calls != 2 {
		t.Errorf("state %+v", w.state)
	}
	w.log(frame.Client, "10 > req 3 name=a")
	w.log(frame.Server, "11 > req 3 name=a\n12 < res 3 bytes=70000")
	w.step() // under way
	if w.state.Open != 1 {
		t.Errorf("state %+v", w.state)
	}
	w.log(frame.Client, "5000 > ntf method=notifications/cancelled request_id=3")
	w.step("stalled 3 written_not_read client.log:5")
	w.step()
	w.log(frame.Client, "6000 < res 3 bytes=70000")
	w.step("answered 3 agent_level client.log:5")
	w.step()
	w.log(frame.Client, "7000 > req 4\n8000 > ntf method=notifications/cancelled request_id=4\n8001 < res 4")
	w.log(frame.Server, "7000 > req 4\n8000 < res 4")
	w.step("stalled 4 agent_level client.log:8") // late within one step: told once
	w.step()
}

func TestWatchWaitsByTheLogsClockAndThenByItsOwn(t *testing.T) {
	w := newWatching(t, 1<<20)
	w.log(frame.Client, hello+"\n10 > req 2 name=a")
	w.log(frame.Server, hello+"\n11 > req 2 name=a")
	w.step()
	w.log(frame.Client, "29000 > ntf method=notifications/progress")
	w.step() // younger than 30 s by its log
	w.log(frame.Client, "31000 > ntf method=notifications/progress")
	w.step("stalled 2 never_written client.log:3")

	w.log(frame.Client, "32000 > req 3 name=b")
	w.log(frame.Server, "32000 > req 3 name=b")
	w.step()
	for range 29 {
		w.step() // the logs are silent, and time goes on
	}
	w.step("stalled 3 never_written client.log:6")
	w.step()
}

func TestWatchRotationAndTruncation(t *testing.T) {
	w := newWatching(t, 1<<20)
	w.log(frame.Client, hello+"\n10 > req 2 name=a\n11 > req 3 name=b")
	w.log(frame.Server, hello+"\n10 > req 2 name=a\n11 > req 3 name=b\n12 < res 2\n13 < res 3")
	w.step()
	if err := os.Rename(w.path(frame.Client), w.path(frame.Client)+".1"); err != nil {
		t.Fatal(err)
	}
	w.log(frame.Client, "20 < res 2")
	w.step() // asked in the old file, answered in the new one
	w.log(frame.Client, "9000 > ntf method=notifications/cancelled request_id=3")
	w.step("stalled 3 written_not_read client.log:4") // the line of the old file
	if err := os.Truncate(w.path(frame.Server), 0); err != nil {
		t.Fatal(err)
	}
	w.log(frame.Client, "9010 > req 4")
	w.log(frame.Server, "9011 > req 4\n9012 < res 4")
	w.step()
	w.log(frame.Client, "9020 > ntf method=notifications/cancelled request_id=4")
	w.step("stalled 4 written_not_read client.log:3") // the third line of the new file
}

// TestWatchIsBounded watches a long day: what is held stays small, nothing healthy is told, and a stall at its end is.
func TestWatchIsBounded(t *testing.T) {
	const window = 512 << 10
	w := newWatching(t, window)
	at, id, most := 0, 1, 0
	for range 15 {
		var client, server strings.Builder
		for range 1_000 {
			at, id = at+10, id+1
			fmt.Fprintf(&client, "%d > req %d name=a session=s1\n%d < res %d session=s1\n", at, id, at+5, id)
			fmt.Fprintf(&server, "%d > req %d name=a session=s1\n%d < res %d session=s1\n", at, id, at+3, id)
		}
		w.log(frame.Client, client.String())
		w.step() // the server's log lags behind
		w.log(frame.Server, server.String())
		w.step()
		most = max(most, w.state.Held)
	}
	if most > 2*window {
		t.Errorf("%d B were held of two windows of %d", most, window)
	}
	if n := diagnose.Remembered(w.watch); n > 8_000 {
		t.Errorf("%d halves are remembered", n)
	}
	if w.state.Calls < 14_990 || w.state.Calls > 15_010 || w.state.Open != 0 || w.state.Stalled != 0 {
		t.Errorf("state %+v, want about 15,000 calls, all done", w.state)
	}
	w.log(frame.Client, fmt.Sprintf("%d > req %d session=s1\n%d > ntf session=s1 method=notifications/cancelled request_id=%d", at+10, id+1, at+900, id+1))
	w.log(frame.Server, fmt.Sprintf("%d > req %d session=s1\n%d < res %d session=s1", at+10, id+1, at+20, id+1))
	w.step(fmt.Sprintf("stalled %d written_not_read client.log:%d", id+1, 2*15_000+1))
}
