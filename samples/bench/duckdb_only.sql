-- What `mcpdiag join` answers, by DuckDB alone: the baseline of `make bench`. The variables client and server name the two files.
--
-- One row of records is one line of either log. One row of calls is one id of one session, with the earliest reading of each
-- event on that side's monotonic clock; NULL where there is none. The answer has one row a leaf.
--
-- It is what a user who knows SQL would write, so it takes what such a user would take on: ids are texts (1 and "1" are the
-- same), the second use of an id is the first, and one line that is no JSON ends it.

CREATE TABLE records AS
FROM read_json(
  [getvariable('client'), getvariable('server')],
  format = 'newline_delimited',
  columns = {
    ts: 'TIMESTAMP', mono_ns: 'BIGINT', side: 'VARCHAR', dir: 'VARCHAR', kind: 'VARCHAR', id: 'VARCHAR',
    request_id: 'VARCHAR', method: 'VARCHAR', name: 'VARCHAR', bytes: 'BIGINT', session: 'VARCHAR'
  }
);

CREATE TABLE calls AS
SELECT
  session,
  coalesce(id, request_id) AS call_id,
  max(method) FILTER (kind = 'request') AS method,
  max(name) AS name,
  min(mono_ns) FILTER (side = 'client' AND kind = 'request') AS sent,
  min(mono_ns) FILTER (side = 'server' AND kind = 'request') AS read,
  min(mono_ns) FILTER (kind = 'handler_enter') AS entered,
  min(mono_ns) FILTER (kind = 'handler_exit') AS left_handler,
  min(mono_ns) FILTER (side = 'server' AND kind IN ('response', 'error')) AS written,
  min(mono_ns) FILTER (side = 'client' AND kind IN ('response', 'error')) AS arrived,
  min(mono_ns) FILTER (method = 'notifications/cancelled') AS cancelled,
  max(bytes) FILTER (side = 'server' AND kind = 'response') AS answer_bytes
FROM records
GROUP BY session, call_id;

SELECT
  CASE
    WHEN read IS NULL THEN 'never_arrived'
    WHEN written IS NULL THEN 'never_written'
    WHEN arrived IS NULL THEN 'written_not_read'
    ELSE 'agent_level'
  END AS leaf,
  count(*) AS calls,
  quantile_cont(arrived - sent, [0.5, 0.99]) AS wait_ns,
  quantile_cont(written - read, [0.5, 0.99]) AS server_ns,
  quantile_cont(left_handler - entered, [0.5, 0.99]) AS handler_ns
FROM calls
GROUP BY leaf
ORDER BY calls DESC;
