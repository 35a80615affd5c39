package tap

import (
	"fmt"
	"time"

	"mcpdiag/ingest/frame"
)

// waits follows the requests that wait for their answer, for --stall-after.
type waits struct {
	open map[waitKey]*wait // nil: nobody asked
}

type waitKey struct {
	session, id string
	by          frame.Side
}

type wait struct {
	since        time.Time
	method, name string
	said         bool
}

// mostWaits bounds the memory of a peer that never answers.
const mostWaits = 10_000

// follow is told of each event.
func (w *waits) follow(e *Event) {
	if w.open == nil {
		return
	}
	switch {
	case e.Kind == frame.Request && len(w.open) < mostWaits && !openByDesign(string(e.Method)):
		key := keyOf(e, e.ID, e.Dir.From())
		if w.open[key] == nil { // its second phase is no second request
			w.open[key] = &wait{since: e.Time, method: string(e.Method), name: string(e.Name)}
		}
	case e.Kind.Answer():
		delete(w.open, keyOf(e, e.ID, e.Requester()))
	case e.Kind == frame.Notification && string(e.Method) == "notifications/cancelled":
		delete(w.open, keyOf(e, e.RequestID, e.Dir.From()))
	}
}

func keyOf(e *Event, id frame.ID, by frame.Side) waitKey {
	return waitKey{string(e.Session), string(id), by}
}

// openByDesign names the requests whose answer may take for ever.
func openByDesign(method string) bool {
	return method == "subscriptions/listen" || method == "tasks/result"
}

// watch says once of each request that it has waited too long.
func (r *Recorder) watch() {
	tick := time.NewTicker(max(r.o.StallAfter/8, 10*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-r.done:
			return
		case now := <-tick.C:
			for _, line := range r.stalled(now) {
				fmt.Fprint(r.o.Stderr, line)
			}
		}
	}
}

func (r *Recorder) stalled(now time.Time) (lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, w := range r.waits.open {
		if waited := now.Sub(w.since); !w.said && waited >= r.o.StallAfter {
			w.said = true
			lines = append(lines, fmt.Sprintf("%s: id %s %s %s of the %s has waited %v for its answer\n",
				r.o.Program, frame.Escape(key.id), frame.Escape(w.method), frame.Escape(w.name), key.by, waited.Round(100*time.Millisecond)))
		}
	}
	return lines
}
