package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"mcpdiag/diagnose"
	"mcpdiag/report"
	"mcpdiag/samples/logtest"
)

var fence = regexp.MustCompile("(?s)```mermaid\n(.*?)```")

// TestMermaid parses every diagram of the Markdown with Mermaid itself: two participants, and each frame as an arrow or a cross.
func TestMermaid(t *testing.T) {
	p := blank(t)
	p.run(chromedp.Navigate("about:blank"))
	p.do(npm(t, "mermaid/dist/mermaid.min.js"))
	for name, want := range map[string]struct {
		d *diagnose.Diagnosis
		// messages are, for each diagram, its arrows: "x" ends in a cross, ">" arrives.
		arrows []string
	}{
		"founding": {sample(t, "."), []string{">x"}},
		"incident": {incident(t), []string{">", ">x", "x", ">>"}},
		"hostile":  {hostile(t), []string{">x", ">x", ">x", ">x", ">x", ">x"}},
	} {
		var b bytes.Buffer
		if err := report.Markdown(&b, want.d, report.Style{}); err != nil {
			t.Fatal(err)
		}
		diagrams := fence.FindAllStringSubmatch(b.String(), -1)
		if len(diagrams) != len(want.arrows) {
			t.Errorf("%s has %d diagrams, want %d", name, len(diagrams), len(want.arrows))
			continue
		}
		for i, m := range diagrams {
			source, err := json.Marshal(m[1])
			if err != nil {
				t.Fatal(err)
			}
			got := eval[[]string](p, fmt.Sprintf(`mermaid.parse(%[1]s).then(() => mermaid.mermaidAPI.getDiagramFromText(%[1]s)).then((d) => [[...d.db.getActors().keys()].join(" "),
				d.db.getMessages().filter((m) => m.from !== m.to && m.placement === undefined).map((m) => [4, 3].includes(m.type) ? "x" : ">").join("")])`, source))
			if got[0] != "client server" || got[1] != want.arrows[i] {
				t.Errorf("%s, diagram %d: participants %q, arrows %q, want %q\n%s", name, i+1, got[0], got[1], want.arrows[i], m[1])
			}
		}
	}
}

// hostile are calls whose names try to end a line, a label, the diagram or the fence.
func hostile(t *testing.T) *diagnose.Diagnosis {
	var client, server strings.Builder
	for i, name := range []string{"x; participant evil", "x\nparticipant evil", "end", "%%{init: {}}%%", "```\n", "client->>server: forged #quot; <br/>"} {
		q := strings.ReplaceAll(fmt.Sprintf("%+q", name), " ", `\u0020`)
		for _, b := range []*strings.Builder{&client, &server} {
			fmt.Fprintf(b, "0 > req 1 session=s%d\n1 < res 1 session=s%d\n", i, i)
		}
		fmt.Fprintf(&client, "%d > req 2 session=s%d name=%s\n60000 > ntf session=s%d method=notifications/cancelled request_id=2\n", i+2, i, q, i)
		fmt.Fprintf(&server, "%d > req 2 session=s%d name=%s\n%d < res 2 session=s%d bytes=70000\n", i+2, i, q, i+3, i)
	}
	return logtest.Pair(t, client.String(), server.String())
}
