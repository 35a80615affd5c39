// Package ingest reads frame logs and folds them.
//
// Each log is read once, in file order. Everything that depends on order within one log is settled here, by one small state
// machine per session: which response closes which request, the k-th use of an id, which handler event belongs to which
// request, what a cancel refers to, what was outstanding when a bad line came. The product is one Half for each call that
// the log knows of, plus the rare rows that a diagnosis needs (Mark) and what was odd (Finding). Records are never re-sorted
// by wall clock, and nothing here looks at two logs at once: that is the next room's work.
//
// Halves live in blocks outside the garbage collector's interest (no pointers), a block being as long as a DuckDB vector,
// and DuckDB reads them where they are, as the table function `halves`. Under a Memory the blocks beyond its share lie in a
// mapped file: DuckDB and everybody else read them there as before, so that a log that does not fit gets the same verdicts.
//
// A folded log can travel: Fold writes it as Parquet (folded.md), and an Unfolding makes a Log of the rows again, with all
// halves or with those that matter.
package ingest
