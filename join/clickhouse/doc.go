// Package clickhouse keeps folded logs in a ClickHouse and is the store that they are joined in.
//
// On each shard stand the tables NAME_here; with a cluster the tables NAME spread over them, by a hash of the session, so that
// both halves of a call meet on one shard. The rows of a log are inserted in batches and its row in `logs` last, on every shard:
// a log is there when that row is, and nothing of it counts before. Rows may stand there twice, since a batch is sent again when
// nobody knows whether it arrived; every query is indifferent to that (see folded_calls.sql).
//
// It speaks HTTP through the standard library. clickhouse-go v2.51.0 does not serve the 18.16 that Debian has: over the native
// protocol it queries, but its batches learn no columns there and take no rows; over HTTP it sends a setting that 18.16 refuses.
// That version knows no parameters in queries either, so values from users and logs travel as external tables, which any
// version takes, and never as text of SQL. A result is complete or an error: the server is told to hold it back until the
// query has ended, so that a failure has its own status, and a connection that breaks ends the read with an error.
package clickhouse
