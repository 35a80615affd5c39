package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // for the page
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"mcpdiag/diagnose"
	"mcpdiag/ingest/frame"
)

//go:embed page/page.html
var pageHTML string

//go:embed page/page.css
var pageCSS string

//go:embed page/page.js
var pageJS string

//go:embed page/plot.js
var plotJS string

//go:embed page/plot.css
var plotCSS string

// HTML writes the diagnosis as one file that needs nothing else: the words as HTML, the figures as JSON in a data block, and the
// script that draws them. A policy lets the page run what is embedded here, by its hash, and reach nothing.
func HTML(w io.Writer, d *diagnose.Diagnosis, _ Style) error {
	p := newPager(d)
	if err := p.figures(context.Background()); err != nil {
		return err
	}
	body, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return err
	}
	out := &steps{w: w}
	out.text("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	out.text("<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy() + "\">\n<style>" + pageCSS + "</style>\n")
	out.do(func() error { return body.Execute(w, newPageWords(p)) })
	out.text("<script type=\"application/json\" id=\"data\">")
	out.do(func() error { return p.write(w) })
	out.text("</script>\n<script>" + plotJS + "</script>\n<script>" + pageJS + "</script>\n</body>\n</html>\n")
	return out.err
}

// policy allows the styles and scripts of this package and nothing else: no address, no frame, no form. plot.css is what the
// chart library puts into every chart.
func policy() string {
	return "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; script-src " + hashes(plotJS, pageJS) + "; style-src " + hashes(pageCSS, strings.TrimSuffix(plotCSS, "\n"))
}

func hashes(texts ...string) string {
	var list []string
	for _, t := range texts {
		sum := sha256.Sum256([]byte(t))
		list = append(list, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return strings.Join(list, " ")
}

// steps does things in a row until one fails.
type steps struct {
	w   io.Writer
	err error
}

func (s *steps) do(f func() error) {
	if s.err == nil {
		s.err = f()
	}
}

func (s *steps) text(t string) {
	s.do(func() error { _, err := io.WriteString(s.w, t); return err })
}

// write writes the data: the calls first, as they are made, then the rest, since texts are numbered as calls are written.
func (p *pager) write(w io.Writer) error {
	safe := ascii{w}
	if _, err := io.WriteString(w, "{\"calls\":[\n"); err != nil {
		return err
	}
	var b []byte
	for i, c := range p.calls {
		b = p.appendRow(b, i, c)
		if i < len(p.calls)-1 {
			b = append(b, ',')
		}
		b = append(b, '\n')
		if len(b) > 64<<10 || i == len(p.calls)-1 {
			if _, err := safe.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	rest, err := json.Marshal(p.page)
	if err != nil {
		return err
	}
	_, err = safe.Write(append([]byte("],"), bytes.TrimPrefix(rest, []byte("{"))...))
	return err
}

// pageWords are the words of the page that need no script.
type pageWords struct {
	Title    string
	Sentence string
	Kinds    []pageKind
	Others   []pageKind
	More     string // how many the others are
	Leaves   []pageLeaf
	Logs     []pageLogWords
	Findings []pageFinding
	Untold   []string
	LeftOut  string
}

type pageKind struct {
	N       string
	Tool    string
	Where   string
	Why     string
	Cause   string
	Status  string
	Next    string
	First   int // row of the first call
	Session string
}

type pageLeaf struct{ Words, N, Who string }

type pageLogWords struct {
	Side, Path, Dialect, Records, Missing string
	Warnings                              []string
}

type pageFinding struct{ Severity, Who, Text string }

func newPageWords(p *pager) *pageWords {
	d, s := p.d, p.d.Summary
	w := &pageWords{Title: "mcpdiag", Sentence: pageSentence(s)}
	shown, others := told(d, false)
	for _, k := range shown {
		w.Kinds = append(w.Kinds, p.kind(k))
	}
	for _, k := range others {
		w.Others = append(w.Others, p.kind(k))
	}
	if len(others) > 0 {
		w.More = otherKinds(others)
	}
	for _, leaf := range diagnose.Leaves() {
		w.Leaves = append(w.Leaves, pageLeaf{leaf.Words(), diagnose.Thousands(int64(s.Leaf[leaf])), lookAt(leaf)})
	}
	if s.NoLeaf > 0 {
		w.Leaves = append(w.Leaves, pageLeaf{"no leaf", diagnose.Thousands(int64(s.NoLeaf)), "a log: it does not decide"})
	}
	var names []string
	for _, l := range d.Logs {
		names = append(names, frame.Escape(l.Path))
		words := pageLogWords{l.Side.String(), frame.Escape(l.Path), l.Dialect.Name, count(int(l.Records), "record"), strings.Join(l.Dialect.Sees.Missing(), ", "), nil}
		for _, warning := range d.LogWarnings(l) {
			words.Warnings = append(words.Warnings, frame.Escape(warning))
		}
		w.Logs = append(w.Logs, words)
	}
	w.Title = w.Sentence + " — " + strings.Join(names, ", ")
	for _, f := range d.Findings {
		who := ""
		if f.Log != nil {
			who = f.Log.Side.String() + " log: "
		}
		w.Findings = append(w.Findings, pageFinding{f.Severity, who, frame.Escape(p.short(f.Text))})
	}
	if p.page.LeftOut > 0 {
		w.LeftOut = count(p.page.LeftOut, "call") + " without a problem left out: --format ndjson has them"
	}
	w.Untold = untold(d)
	return w
}

// pageSentence is the first thing a reader sees.
func pageSentence(s diagnose.Summary) string {
	n := diagnose.Thousands(int64(s.Stalled))
	switch {
	case s.Calls == 0:
		return "No calls"
	case s.Stalled == 0:
		return "None of " + count(s.Calls, "call") + " stalled"
	}
	return n + " of " + count(s.Calls, "call") + " stalled"
}

func (p *pager) kind(k *kindOfStall) pageKind {
	c := k.calls[0]
	where, why := verdict(c)
	cause := k.cause
	if cause == diagnose.None {
		cause = "" // the page has words for it
	}
	return pageKind{N: diagnose.Thousands(int64(len(k.calls))), Tool: frame.Escape(k.tool), Where: where, Why: why, Cause: cause, Status: c.Causes[0].Status(),
		Next: frame.Escape(c.Next()), First: p.rows[c], Session: frame.Escape(c.Session())}
}

func sortBuckets(list [][4]float64) {
	slices.SortFunc(list, func(a, b [4]float64) int { return int(a[0] - b[0]) })
}

// untold says what the logs do not decide.
func untold(d *diagnose.Diagnosis) []string {
	list := []string{"Network time between the two ends: that needs one clock for both."}
	shown, _ := told(d, false)
	for _, k := range shown {
		if k.cause == diagnose.None {
			list = append(list, fmt.Sprintf("Why %s stopped: %s", frame.Escape(k.tool), frame.Escape(k.calls[0].Causes[0].Evidence())))
		}
	}
	if d.Summary.NoLeaf > 0 {
		list = append(list, "Where "+count(d.Summary.NoLeaf, "call")+" stopped: what the logs show does not decide.")
	}
	for _, l := range d.Logs {
		for _, warning := range d.LogWarnings(l) {
			list = append(list, l.Side.String()+" log: "+frame.Escape(warning))
		}
	}
	if !d.BothSides() {
		list = append(list, fmt.Sprintf("There is no log of the %s: where the two would have to be compared, the answer is unknown.", d.Logs[0].Side.Peer()))
	}
	return list
}
