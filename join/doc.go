// Package join finds the two halves of each call.
//
// The key is (session or connection, which side asked, id with its JSON type and exact digits, occurrence). Align settles
// its first and last part, which need both logs at once: which stretches of the two logs are one session, and which use of
// an id here is which use there. The join itself is calls.sql, a full outer join in DuckDB; it needs no order and no clock.
//
// Nothing is joined on likeness: a near match ("1" for 1) is a hint for the report, never a call.
package join
