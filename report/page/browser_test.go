// Package page_test opens the HTML report in a real browser. make test installs what it needs: chromium, and the packages of
// package.json under .npm.
package page_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"mcpdiag/diagnose"
	"mcpdiag/ingest"
	"mcpdiag/ingest/frame"
	"mcpdiag/report"
	"mcpdiag/samples/logtest"
)

var update = flag.Bool("update", false, "rewrite the screenshots in ../testdata")

var browser context.Context // one browser; every test has a tab of its own

func TestMain(m *testing.M) {
	flag.Parse()
	path, err := findBrowser()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1280, 1000),
		chromedp.Flag("disable-background-networking", true), chromedp.WSURLReadTimeout(time.Minute))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "the browser does not start:", err)
		os.Exit(1)
	}
	browser = ctx
	code := m.Run()
	cancel()
	stop()
	os.Exit(code)
}

func findBrowser() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no chromium on this machine: make test installs it (apt-get install chromium)")
}

// npm reads a file of an npm package.
func npm(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../.npm/node_modules", path))
	if err != nil {
		t.Fatalf("%v: make test installs the npm packages", err)
	}
	return string(b)
}

// tab is a page in the browser, and what it did that it should not.
type tab struct {
	context.Context
	t        *testing.T
	mu       sync.Mutex
	troubles []string
}

// open writes the report of d and opens it.
func open(t *testing.T, d *diagnose.Diagnosis, before ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	var b bytes.Buffer
	if err := report.HTML(&b, d, report.Style{}); err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(logtest.File(t, "report.html", b.String()))
	if err != nil {
		t.Fatal(err)
	}
	at := (&url.URL{Scheme: "file", Path: path}).String()
	p := blank(t)
	if err := chromedp.Listen(p.Context, func(event any) { p.watch(at, event) }); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(p.Context, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(p.Context, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	if before == nil {
		before = append(before, scheme("light"))
	}
	p.run(append(before, chromedp.Navigate(at))...)
	p.wait(`document.documentElement.dataset.ready === "yes"`)
	t.Cleanup(p.clean)
	return p
}

func blank(t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(stop)
	return &tab{Context: ctx, t: t}
}

// watch notes every request but the page itself, every complaint of the browser, and every dialog.
func (p *tab) watch(at string, event any) {
	trouble := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, at) && !strings.HasPrefix(u, "data:,") {
			trouble = "request to " + u
		}
	case *runtime.EventExceptionThrown:
		trouble = e.ExceptionDetails.Text + " " + e.ExceptionDetails.Exception.Description
	case *runtime.EventConsoleAPICalled:
		trouble = "console." + string(e.Type)
	case *log.EventEntryAdded:
		trouble = e.Entry.Text
	case *cdpage.EventJavascriptDialogOpening:
		trouble = "dialog " + e.Message
	}
	if trouble != "" {
		p.mu.Lock()
		p.troubles = append(p.troubles, trouble)
		p.mu.Unlock()
	}
}

func (p *tab) clean() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.troubles {
		p.t.Error(s)
	}
}

func (p *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.Context, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// eval evaluates an expression, and waits for it if it is a promise.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	out, err := chromedp.Run(p.Context, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%v in %.200s", err, expression)
	}
	return out
}

// do evaluates an expression for what it does.
func (p *tab) do(expression string) {
	p.t.Helper()
	eval[chromedp.Void](p, expression)
}

// wait waits until an expression is true.
func (p *tab) wait(expression string) {
	p.t.Helper()
	if _, err := chromedp.Run(p.Context, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(30*time.Second))); err != nil {
		p.t.Fatalf("%v, waiting for %.200s", err, expression)
	}
}

func incident(t *testing.T) *diagnose.Diagnosis { return sample(t, "incident") }

func sample(t *testing.T, dir string) *diagnose.Diagnosis {
	t.Helper()
	read := func(side frame.Side) *ingest.Log {
		b, err := os.ReadFile(filepath.Join("../../samples", dir, side.String()+".log"))
		if err != nil {
			t.Fatal(err)
		}
		return logtest.ReadText(t, side, string(b))
	}
	return logtest.Diagnose(t, read(frame.Client), read(frame.Server))
}

func size(width, height int64) chromedp.Action[chromedp.Void] {
	return chromedp.EmulateViewport(width, height)
}

// scheme chooses light or dark; and nothing glides, so that a test need not wait.
func scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
		return err
	})
}
