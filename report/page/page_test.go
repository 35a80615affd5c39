package page_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"mcpdiag/ingest/frame"
	"mcpdiag/samples/logtest"
)

func TestOpensWithTheSentenceAndThePictures(t *testing.T) {
	p := open(t, incident(t))
	if got := eval[string](p, `document.querySelector("h1").textContent`); got != "5 of 67 calls stalled" {
		t.Errorf("h1 is %q", got)
	}
	if n := eval[int](p, `document.querySelectorAll("#pictures .picture").length`); n != 3 {
		t.Errorf("%d sessions are drawn, want 3", n)
	}
	// Each side has an axis of its own: no chart spans both lanes.
	if n := eval[int](p, `document.querySelectorAll("#pictures svg[aria-label*='client’s lane'], #pictures svg[aria-label*='server’s lane']").length`); n != 6 {
		t.Errorf("%d lanes, want two for each of 3 sessions", n)
	}
	// Two answers of billing-41c7 are lost and one request of docs-9e02: their arrows end in the gap.
	labels := eval[[]string](p, `[...document.querySelectorAll("#pictures svg[aria-label^='the gap']")].map((s) => s.ariaLabel)`)
	if want := []string{"the gap: nothing lost in it", "the gap: 1 lost in it", "the gap: 2 lost in it"}; fmt.Sprint(labels) != fmt.Sprint(want) {
		t.Errorf("gaps are %q", labels)
	}
	if n := eval[int](p, `document.querySelectorAll("#sizes svg [data-mark=rect], #service svg [data-mark=dot]").length`); n < 2 {
		t.Error("the figures by tool are not drawn")
	}
	if n := eval[int](p, `document.documentElement.scrollWidth - innerWidth`); n > 0 {
		t.Errorf("the page is %d px wider than the window", n)
	}
}

func TestClickShowsTheLinesOfACall(t *testing.T) {
	p := open(t, incident(t))
	for _, click := range []string{
		`[...document.querySelectorAll(".kinds button")].find((b) => b.textContent.includes("search_invoices"))`,
		`[...document.querySelectorAll(".rows button")].find((b) => b.textContent === "8 search_invoices")`,
		`(() => { document.getElementById("find").value = "search_invoices billing"; document.getElementById("find").dispatchEvent(new Event("input")); document.getElementById("show").value = "stalled"; document.getElementById("show").dispatchEvent(new Event("change")); return document.querySelector("#calls tbody button"); })()`,
	} {
		p.do(`document.querySelector(".rows button").click()`)
		p.do(click + ".click()")
		got := eval[string](p, `document.getElementById("detail").textContent`)
		for _, want := range []string{"id 8 tools/call search_invoices", "written, not read", "client.log:81", "client.log:116", "server.log:125", "server.log:126", "server.log:127", "server.log:128", "71,023 B",
			"dispatch 1.217 ms + handler 110.486 ms + flush 2.991 ms = 114.695 ms, residual 0 ms", "max_line_length", "raise the reader's line limit"} {
			if !strings.Contains(got, want) {
				t.Errorf("after %.60s… %q is not told in %s", click, want, got)
			}
		}
		if id := eval[string](p, `document.activeElement.id`); id != "detail-head" {
			t.Errorf("focus is on %q, not on the call", id)
		}
	}
	p.do(`history.back()`)
	p.wait(`document.getElementById("detail-head").textContent.startsWith("id 1 ")`)
}

func TestKeyboardAndHover(t *testing.T) {
	p := open(t, incident(t))
	p.do(`document.querySelector(".rows button[aria-label*='restart_service']").focus()`)
	p.run(chromedp.KeyEvent(kb.Enter))
	p.wait(`document.getElementById("detail-head").textContent === "id 12 tools/call restart_service"`)
	// Over the bar of a stage stands its name, its time and its lines.
	box := eval[[]float64](p, `(() => { const r = [...document.querySelectorAll("#detail [data-mark=rect] rect")].at(-1); r.scrollIntoView({block: "center", behavior: "instant"}); const b = r.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()`)
	p.run(chromedp.MouseEvent("mouseMoved", box[0], box[1]))
	p.wait(`document.querySelector("#detail [aria-label=tip]")?.textContent.includes("server.log:114")`)
}

func TestSortAndFilter(t *testing.T) {
	p := open(t, incident(t))
	column := func(n int) []string {
		return eval[[]string](p, fmt.Sprintf(`[...document.querySelectorAll("#calls tbody tr.row")].slice(0, 4).map((r) => r.cells[%d].textContent)`, n))
	}
	click := func(name string) {
		p.do(fmt.Sprintf(`[...document.querySelectorAll("#calls th button")].find((b) => b.textContent === %q).click()`, name))
	}
	click("answer")
	if got := column(6); got[0] != "119,204 B" || got[1] != "71,023 B" {
		t.Errorf("largest first: %q", got)
	}
	if got := eval[string](p, `document.querySelector("#calls th[aria-sort]").textContent + " " + document.querySelector("#calls th[aria-sort]").ariaSort`); got != "answer descending" {
		t.Errorf("sorted by %q", got)
	}
	click("answer")
	if got := column(6); got[0] != "38 B" {
		t.Errorf("smallest first: %q", got)
	}
	click("call")
	if got := column(1); got[0] != "elicitation/create" {
		t.Errorf("by name: %q", got)
	}
	p.do(`(() => { const f = document.getElementById("find"); f.value = "docs-9e02 summarize"; f.dispatchEvent(new Event("input")); })()`)
	p.wait(`document.getElementById("shown").textContent === "2 of 67"`)
	p.do(`(() => { const s = document.getElementById("show"); s.value = "problem"; s.dispatchEvent(new Event("change")); })()`)
	if got := column(0); len(got) != 1 || got[0] != `"d-10"` {
		t.Errorf("slow ones: %q", got)
	}
}

// TestManyCalls has twenty thousand: the document holds only the rows in view, wherever the table stands.
func TestManyCalls(t *testing.T) {
	const n = 20_000
	var client, server strings.Builder
	for i := range n {
		fmt.Fprintf(&client, "%d > req %d name=tool%d bytes=90\n", i, i+1, i%7)
		fmt.Fprintf(&server, "%d > req %d name=tool%d bytes=90\n%d < res %d bytes=%d\n", i, i+1, i%7, i+1, i+1, 100+i)
		if i%100 != 50 {
			fmt.Fprintf(&client, "%d < res %d bytes=%d\n", i+2, i+1, 100+i)
		}
	}
	client.WriteString("90000 > req 99999\n90001 < res 99999")
	server.WriteString("90000 > req 99999\n90001 < res 99999")
	p := open(t, logtest.Pair(t, client.String(), server.String()))
	inView := func() int { return eval[int](p, `document.querySelectorAll("#calls tbody tr").length`) }
	if got := eval[string](p, `document.getElementById("shown").textContent`); got != "20,001 of 20,001" {
		t.Errorf("listed %s", got)
	}
	if n := inView(); n > 80 {
		t.Errorf("%d rows are in the document", n)
	}
	p.do(`document.getElementById("scroll").scrollTop = 15000 * 30`)
	p.wait(`[...document.querySelectorAll("#calls tbody tr.row")].some((r) => r.cells[0].textContent === "15005")`)
	if n := inView(); n > 80 {
		t.Errorf("%d rows are in the document after scrolling", n)
	}
	p.do(`(() => { const s = document.getElementById("show"); s.value = "stalled"; s.dispatchEvent(new Event("change")); })()`)
	if got := eval[string](p, `document.getElementById("shown").textContent`); got != "200 of 20,001" {
		t.Errorf("stalled %s", got)
	}
	if n := eval[int](p, `document.querySelectorAll("#pictures .rows button").length`); n != 60 {
		t.Errorf("%d rows are drawn of a session of thousands", n)
	}
}

// TestHostileLogInjectsNothing puts markup and script wherever a log's text may appear.
func TestHostileLogInjectsNothing(t *testing.T) {
	evil := []string{`</script><script>window.pwned=1</script>`, `<img src=x onerror="window.pwned=1">`, `"><svg onload=window.pwned=1>`, `<!--<script>`, `</style><style>*{display:none}`, `javascript:window.pwned=1`, "\u2028window.pwned=1//", `{{.}}${window.pwned=1}`}
	var client, server strings.Builder
	for i, e := range evil {
		q := strings.ReplaceAll(fmt.Sprintf("%+q", e), " ", `\u0020`)
		id := strings.NewReplacer(" ", `\u0020`, "=", `\u003d`).Replace(fmt.Sprintf("%+q", fmt.Sprint(i)+e))
		for _, b := range []*strings.Builder{&client, &server} {
			fmt.Fprintf(b, "%d > req %d session=%s method=initialize\n%d < res %d session=%s\n", i, 100+i, q, i+1, 100+i, q)
		}
		fmt.Fprintf(&client, "%d > req %s session=%s name=%s\n%d < bad session=%s raw=%s bytes=9\n60000 > ntf method=notifications/cancelled request_id=%s session=%s reason=%s\n", i+2, id, q, q, i+3, q, q, id, q, q)
		fmt.Fprintf(&server, "%d > req %s session=%s name=%s\n%d < res %s session=%s bytes=70000\n", i+2, id, q, q, i+4, id, q)
	}
	d := logtest.Pair(t, client.String(), server.String())
	p := open(t, d)
	if n := eval[int](p, `document.querySelectorAll(".kinds button").length`); n != len(evil) {
		t.Fatalf("%d kinds of stall, want %d: %s", n, len(evil), logtest.Say(d))
	}
	for i := range evil {
		p.do(fmt.Sprintf(`document.querySelectorAll(".kinds button")[%d].click()`, i))
	}
	if eval[bool](p, `"pwned" in window`) {
		t.Error("a log ran a script")
	}
	if got := eval[string](p, `[...document.querySelectorAll("img, iframe, object, embed, script[src], link:not([rel=icon]), a, base, style:not(.chart style):not(head style)")].map((e) => e.outerHTML).join("\n")`); got != "" {
		t.Errorf("a log made elements: %s", got)
	}
	if n := eval[int](p, `document.scripts.length`); n != 3 {
		t.Errorf("%d script elements, want the data, the library and the page's own", n)
	}
	for i, e := range evil {
		if strings.ContainsRune(e, '\u2028') {
			e = strings.ReplaceAll(e, "\u2028", `\u{2028}`)
		}
		if got := eval[string](p, fmt.Sprintf(`document.querySelectorAll(".kinds code")[%d].textContent`, i)); got != "tools/call "+e {
			t.Errorf("%q is told as %q", e, got)
		}
	}
}

func TestOneLogAndNoTimes(t *testing.T) {
	p := open(t, logtest.Diagnose(t, logtest.Read(t, frame.Client, "0 > req 1\n5 < res 1\n10 > req 2 name=search\n70000 > ntf method=notifications/cancelled request_id=2")))
	if got := eval[string](p, `document.body.textContent`); !strings.Contains(got, "no log of the server") {
		t.Error("it is not said that the server's log is missing")
	}
	p = open(t, logtest.Pair(t, "- > req 1\n- < res 1\n- > req 2\n- > ntf method=notifications/cancelled request_id=2", "- > req 1\n- < res 1\n- > req 2\n- < res 2"))
	if got := eval[string](p, `document.getElementById("pictures").textContent`); !strings.Contains(got, "log tells no times") {
		t.Errorf("it is not said that there are no times: %s", got)
	}
	open(t, logtest.Pair(t, "", ""))
}

// axe finds what somebody could not see, read or reach.
func TestAccessible(t *testing.T) {
	axe := npm(t, "axe-core/axe.min.js")
	d := incident(t)
	for _, s := range []struct {
		scheme string
		width  int64
	}{{"light", 1280}, {"dark", 390}} {
		t.Run(fmt.Sprint(s.scheme, s.width), func(t *testing.T) {
			p := open(t, d, size(s.width, 900), scheme(s.scheme))
			p.do(axe)
			type violation struct {
				ID    string
				Help  string
				Nodes []struct{ HTML, FailureSummary string }
			}
			for _, v := range eval[[]violation](p, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations)`) {
				t.Errorf("%s: %s: %.400s", v.ID, v.Help, fmt.Sprint(v.Nodes))
			}
			if n := eval[int](p, `document.documentElement.scrollWidth - innerWidth`); n > 0 {
				t.Errorf("the page is %d px wider than the window", n)
			}
		})
	}
}

// TestScreenshots keeps the pictures of ../testdata as the page looks; -update takes them.
func TestScreenshots(t *testing.T) {
	d := incident(t)
	for _, s := range []struct {
		name, scheme  string
		width, height int64
	}{{"light", "light", 1280, 1500}, {"dark", "dark", 1280, 1500}, {"narrow", "light", 390, 1700}} {
		path := filepath.Join("../testdata", "incident-"+s.name+".png")
		if !*update {
			if info, err := os.Stat(path); err != nil || info.Size() > 300<<10 {
				t.Errorf("%s: %v; go test ./report/page -update takes it", path, err)
			}
			continue
		}
		p := open(t, d, size(s.width, s.height), scheme(s.scheme))
		p.do(`[...document.querySelectorAll(".kinds button")][1].click(); document.activeElement.blur()`)
		p.wait(`new Promise((done) => setTimeout(() => { scrollTo({top: 0, behavior: "instant"}); requestAnimationFrame(() => done(true)); }, 800))`)
		png, err := chromedp.Run(p.Context, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPaper: on paper, which is narrower, the rows of the lanes still stand beside the names of their calls.
func TestPaper(t *testing.T) {
	p := open(t, incident(t))
	p.run(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return err
	}))
	p.do(`document.body.style.width = "700px"`)
	if got := eval[[]float64](p, `[...document.querySelectorAll("#pictures .picture")].map((b) => Math.max(...[...b.querySelectorAll("svg")].map((s) => Math.abs(s.getBoundingClientRect().bottom - b.querySelector(".rows").getBoundingClientRect().bottom))))`); slices.Max(got) > 6 {
		t.Errorf("lanes end %v px away from the names beside them", got)
	}
}
