// Package report turns a diagnosis into something to read: text for a terminal, JSON for a program. A format is one row of
// the table Formats. Nothing that comes from a log is printed as it is: see escape.go.
package report
