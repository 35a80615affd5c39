// Package report turns a diagnosis into something to read: text for a terminal, JSON for a program, a page for a browser, Markdown
// for a post-mortem. A format is one row of the table Formats; a form for other programs one of Exports.
//
// Nothing that comes from a log is printed as it is. Text and JSON escape what a terminal would act on (see printer.go and
// ascii.go), Markdown what a forge would (markdown_escape.go), and the page takes a log's texts as JSON and puts them into the
// document as text only (page/page.js); its policy lets it run the embedded scripts, known by their hashes, and reach nothing.
//
// Times of two logs never stand on one axis or in one order: pictures have a lane and an axis for each side, joined by the ids.
package report
