-- The folded counterpart of calls.sql, for DuckDB and for ClickHouse, which both run this text: one row is one call of a named
-- session, its halves met by grouping on the key. It says of each half what the log alone decides (facts: ingest/halves.go) and
-- what the user's limits are held against. A row of `halves_here` may stand there twice, so nothing here counts or adds up.
SELECT session, requester, id, nth,
       countIf(side = requester) > 0       AS r_has,
       countIf(side <> requester) > 0      AS p_has,
       maxIf(log, side = requester)        AS r_log,
       maxIf(log, side <> requester)       AS p_log,
       maxIf(method, side = requester)     AS r_method,
       maxIf(method, side <> requester)    AS p_method,
       maxIf(name, side = requester)       AS r_name,
       maxIf(name, side <> requester)      AS p_name,
       maxIf(facts, side = requester)      AS r_facts,
       maxIf(facts, side <> requester)     AS p_facts,
       maxIf(first_line, side = requester)  AS r_line,
       maxIf(first_line, side <> requester) AS p_line,
       maxIf(wall_at, side = requester)     AS r_wall,
       maxIf(wall_at, side <> requester)    AS p_wall,
       maxIf(since_start, side = requester)  AS r_since,
       maxIf(since_start, side <> requester) AS p_since,
       max(took_ns)                         AS took,
       max(quiet_ns)                        AS quiet,
       max(cited)                           AS is_cited
FROM halves_here
WHERE session <> '' AND log IN (SELECT log FROM known_here)
GROUP BY session, requester, id, nth
