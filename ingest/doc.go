// Package ingest reads frame logs and folds them.
//
// Each log is read once, in file order. Everything that depends on order within one log is settled here, by one small state
// machine per session: which response closes which request, the k-th use of an id, which handler event belongs to which
// request, what a cancel refers to, what was outstanding when a bad line came. The product is one Half for each call that
// the log knows of, plus the rare rows that a diagnosis needs (Mark) and what was odd (Finding). Records are never re-sorted
// by wall clock, and nothing here looks at two logs at once: that is the next room's work.
//
// Halves live in blocks outside the garbage collector's interest (no pointers), a block being as long as a DuckDB vector,
// and DuckDB reads them where they are, as the table function `halves`.
package ingest
