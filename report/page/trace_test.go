package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"mcpdiag/report"
	"mcpdiag/samples/logtest"
)

// reader reads a trace with the engine of Chrome's developer tools and tells each process's name, and for each thread how many
// slices stand on top of it and how deep they nest.
const reader = `
globalThis.window = globalThis;
globalThis.DOMRect = class { constructor(x, y, width, height) { Object.assign(this, { x, y, width, height }); } static fromRect(r) { return new DOMRect(r.x, r.y, r.width, r.height); } };
const { Processor } = await import("@paulirish/trace_engine");
const { readFileSync } = await import("node:fs");
const p = Processor.TraceProcessor.createWithAllHandlers();
await p.parse(JSON.parse(readFileSync(process.argv[2], "utf8")).traceEvents, {});
const out = [];
for (const [pid, process] of p.data.Renderer.processes)
  out.push({ name: p.data.Meta.processNames.get(pid).args.name, threads: [...process.threads.values()].map((t) => ({ roots: t.tree.roots.size, entries: t.entries.length, depth: t.tree.maxDepth })) });
console.log(JSON.stringify(out));
`

func TestTraceIsReadByChromesEngine(t *testing.T) {
	d := incident(t)
	var b bytes.Buffer
	if err := report.Trace(&b, d, "test"); err != nil {
		t.Fatal(err)
	}
	npm(t, "@paulirish/trace_engine/package.json")
	cmd := exec.Command("node", "--input-type=module", "-", logtest.File(t, "trace.json", b.String()))
	cmd.Dir, cmd.Stdin = "../../.npm", strings.NewReader(reader)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []struct {
		Name    string
		Threads []struct{ Roots, Entries, Depth int }
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := map[string]int{"client's clock: client.log": 67, "server's clock: server.log": 63}
	for _, p := range got {
		roots, entries := 0, 0
		for _, thread := range p.Threads {
			roots, entries = roots+thread.Roots, entries+thread.Entries
			if thread.Depth > 2 {
				t.Errorf("%s: slices of one thread overlap: %v", p.Name, p.Threads)
			}
		}
		if roots != want[p.Name] || entries <= roots {
			t.Errorf("%s: %d calls and %d slices, want %d calls with their stages: %s", p.Name, roots, entries, want[p.Name], fmt.Sprint(p.Threads))
		}
		delete(want, p.Name)
	}
	if len(want) > 0 {
		t.Errorf("no process for %v", want)
	}
}
