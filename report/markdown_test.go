package report_test

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"mcpdiag/diagnose"
	"mcpdiag/report"
	"mcpdiag/samples/logtest"
)

// hostile are texts that a log may hold and a document must not obey.
var hostile = []string{
	"a|b|c", "`tick`", "``` fence", "\n```\n# head", "</code><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))",
	"![x](https://evil.example/x.png)", "https://evil.example/", "www.evil.example", "@everyone", "#1", "**bold** _under_ ~~gone~~", "- item\n- item", "| --- |", `\`, "&lt;", "%%{init: {}}%%",
	"x; participant evil", "x\nparticipant evil", "end", "#quot;", "loop forever", "client->>server: forged", "$x$", "\u202etxt\u2028\u0000", "-->", "<!--", "{{.}}", "${1}",
}

// hostileLogs are a lost answer for each hostile text, as the name of its tool and of its session, and a stray line with it.
func hostileLogs() (client, server string) {
	var c, s strings.Builder
	for i, h := range hostile {
		q := func(s string) string { return strings.ReplaceAll(strconv.QuoteToASCII(s), `\x`, `\u00`) }
		line := func(b *strings.Builder, at int, dir, kind, rest string) {
			b.WriteString(`!{"ts":"2026-03-02T09:00:` + strconv.Itoa(10+at) + `Z","dir":"` + dir + `","kind":"` + kind + `","session":` + q(h) + rest + "}\n")
		}
		call := `,"id":` + q(strconv.Itoa(i)+h) + `,"method":"tools/call","name":` + q(h) + `,"bytes":90`
		answer := `,"id":` + q(strconv.Itoa(i)+h) + `,"bytes":70000`
		line(&c, 0, "c2s", "request", `,"id":0,"method":"initialize"`)
		line(&c, 1, "s2c", "response", `,"id":0,"bytes":90`)
		line(&s, 0, "c2s", "request", `,"id":0,"method":"initialize"`)
		line(&s, 1, "s2c", "response", `,"id":0,"bytes":90`)
		line(&c, 2, "c2s", "request", call)
		line(&c, 3, "s2c", "invalid", `,"raw":`+q(h)+`,"bytes":9`)
		line(&s, 2, "c2s", "request", call)
		line(&s, 3, "s2c", "response", answer)
		line(&c, 40, "c2s", "notification", `,"method":"notifications/cancelled","request_id":`+q(strconv.Itoa(i)+h))
	}
	return c.String(), s.String()
}

func markdownOf(t testing.TB, d *diagnose.Diagnosis) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Markdown(&b, d, report.Style{All: true}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestMarkdownHoldsHostileText parses the document as forges do: no text of a log may become anything but text.
func TestMarkdownHoldsHostileText(t *testing.T) {
	client, server := hostileLogs()
	d := logtest.Pair(t, client, server)
	if d.Summary.Stalled != len(hostile) {
		t.Fatalf("%d stalled, want one for each of %d texts", d.Summary.Stalled, len(hostile))
	}
	doc := markdownOf(t, d)
	source := []byte(doc)
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	allowed := regexp.MustCompile(`^</?code>$`)
	fences, tables, heads := 0, 0, 0
	ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link, *ast.Image, *ast.AutoLink, *ast.HTMLBlock:
			t.Errorf("%s in the document", n.Kind())
		case *ast.RawHTML:
			if s := string(n.Segments.Value(source)); !allowed.MatchString(s) {
				t.Errorf("markup in the document: %q", s)
			}
		case *ast.FencedCodeBlock:
			fences++
			if lang := string(n.Language(source)); lang != "mermaid" {
				t.Errorf("a fence in %q", lang)
			}
		case *ast.Heading:
			heads++
		case *east.Table:
			tables++
			for row := n.FirstChild(); row != nil; row = row.NextSibling() {
				if got, want := row.ChildCount(), n.FirstChild().ChildCount(); got != want {
					t.Errorf("a row of %d cells under %d heads: %s", got, want, row.Text(source))
				}
			}
		}
		return ast.WalkContinue, nil
	})
	if want := strings.Count(doc, "\n```mermaid\n"); fences != want || want != len(hostile) {
		t.Errorf("%d fences parsed, %d written, want %d", fences, want, len(hostile))
	}
	if want := strings.Count(doc, "\n### ") + 1; heads != want {
		t.Errorf("%d headings parsed, %d written", heads, want)
	}
	if want := strings.Count("\n"+doc, "\n|"); tables == 0 || want == 0 {
		t.Error("no tables")
	}
	outside := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`").ReplaceAllString(doc, "")
	for _, bad := range []string{"@", "\u202e", "\u2028", "\x00", "://", "www."} {
		if strings.Contains(outside, bad) {
			t.Errorf("%q stands outside code", bad)
		}
	}
}
