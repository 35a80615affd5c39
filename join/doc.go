// Package join finds the two halves of each call.
//
// The key is (session or connection, which side asked, id with its JSON type and exact digits, occurrence). Align settles
// its first and last part, which need both logs at once: which stretches of the two logs are one session, and which use of
// an id here is which use there. The join itself is calls.sql, a full outer join in DuckDB; it needs no order and no clock.
//
// Logs that were folded elsewhere are joined where their rows lie, by one SQL that DuckDB and ClickHouse both run
// (folded_calls.sql, folded_whole.sql): Bring gets the logs with the halves that are not plainly healthy, and the number of
// those that are. These go through Align and calls.sql like any others, so that there is one leaf.sql and one Go for causes.
//
// Nothing is joined on likeness: a near match ("1" for 1) is a hint for the report, never a call.
package join
