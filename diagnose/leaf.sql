-- One row of `verdicts` is one row of `told` with its three answers and the leaf that they select.
--
-- r is the requester's half, p the responder's. The facts are bits (ingest/halves.go): 1 request, 2 answer, 4 unsure (the
-- answer may be there and not be shown), 8 ambiguous, 16 the other log knows the session, 32 young, 64 open by design,
-- 128 quiet, 256 short of answers, 512 shown, 1024 gave up before any answer that may hide, 2048 slow; from 4096 on the
-- outcome: 1 answered, 2 late, 3 cancelled, 4 refused; 32768 the log itself shows that the responder had read the request,
-- 65536 and that it had not answered when it was cancelled; from 131072 on the number of its span: its log, and the logs of
-- the other side that know its session. `spans` has what these can show.
--
-- A half that is missing proves something only where its log covers: from the first call that both logs show, in the line
-- order of the log that has the call, to the end; and not after the last shared call of a log whose tail is cut.
CREATE OR REPLACE TEMP TABLE verdicts AS
WITH seen AS (
  SELECT *,
         coalesce(r_facts, 0) AS r, coalesce(p_facts, 0) AS p,
         r_facts IS NOT NULL AS r_has, p_facts IS NOT NULL AS p_has
  FROM told
), shared AS (             -- per span: the first and the last of its lines that belong to a call of both sides
  SELECT span, min(line) AS first, max(last) AS last
  FROM (SELECT r // 131072 AS span, r_line AS line, r_last AS last FROM seen WHERE r_has AND p_has
        UNION ALL
        SELECT p // 131072,         p_line,         p_last         FROM seen WHERE r_has AND p_has)
  GROUP BY span
), answered AS (
  SELECT seen.*,
         (r | p) & 8 > 0 AS ambiguous,
         own.answers,
         CASE WHEN r_has AND NOT p_has
              THEN r & 16 > 0 AND peer.sees
                   AND (shared.first IS NULL OR r_line >= shared.first)
                   AND NOT (peer.cut AND shared.last IS NOT NULL AND r_line > shared.last)
                   AND NOT (peer.cut AND shared.last IS NULL)
         END AS covered
  FROM seen
  LEFT JOIN shared        ON r_has AND shared.span = r // 131072
  LEFT JOIN spans AS peer ON r_has AND peer.span = r // 131072
  LEFT JOIN spans AS own  ON p_has AND own.span = p // 131072
  WHERE (r | p) & 1 > 0    -- an answer whose request neither log has is a finding
    AND (CASE WHEN r_has THEN r ELSE p END) & 512 > 0
), q AS (
  SELECT *,
         CASE WHEN ambiguous                                       THEN NULL
              WHEN p_has                                           THEN true
              WHEN r & 32768 > 0                                   THEN true   -- its handler's words stand in the requester's log
              WHEN covered                                         THEN false
              WHEN r & 2 > 0 AND NOT getvariable('both_sides')   THEN true   -- what was read had been written
         END AS q1,
         CASE WHEN ambiguous                                       THEN NULL
              WHEN p & 2 > 0 AND (p & 4 = 0 OR r & 2 > 0)          THEN true
              WHEN p_has AND r & 2 > 0 AND NOT answers             THEN true   -- a log that cannot show answers
              WHEN r & 65536 > 0                                   THEN false
              WHEN p_has AND p & 4 > 0                             THEN NULL
              WHEN p_has OR covered AND r & 32768 = 0              THEN false
              WHEN r & 2 > 0 AND NOT getvariable('both_sides')   THEN true
         END AS q2,
         CASE WHEN ambiguous                                       THEN NULL
              WHEN r & 2 > 0                                       THEN true
              WHEN r_has AND r & 1 > 0 AND r & 4 = 0               THEN false
         END AS q3
  FROM answered
)
SELECT requester, r_half, p_half, n, q1, q2, q3,
       CASE WHEN NOT q1 AND q3 IS NOT true          THEN 'never_arrived'
            WHEN q1 AND NOT q2 AND q3 IS NOT true   THEN 'never_written'
            WHEN q1 AND q2 AND NOT q3               THEN 'written_not_read'
            WHEN q1 AND q2 AND q3                   THEN 'agent_level'
       END AS leaf,
       CASE WHEN ambiguous                          THEN (r | p) & 256 > 0
            WHEN r & 1 > 0 THEN
              CASE WHEN (r // 4096 & 7) = 2         THEN true     -- late
                   WHEN r & (2 | 64) > 0            THEN false    -- answered; open by design
                   WHEN r & 4 > 0 AND r & 1024 = 0 AND q2 IS NOT false
                                                    THEN false    -- perhaps answered
                   WHEN (r // 4096 & 7) = 0         THEN r & 32 = 0
                   ELSE true END
            WHEN p_has AND NOT r_has                THEN q2 IS false AND p & 64 = 0 AND ((p // 4096 & 7) <> 0 OR p & 32 = 0)
            ELSE false
       END AS stalled,
       NOT stalled AND (CASE WHEN r_has THEN r ELSE p END) // 4096 & 7 = 1
         AND (CASE WHEN r_has THEN r ELSE p END) & 2048 > 0 AS slow,
       r & 128 > 0 AS quiet,
       r & 1 > 0 AND (r // 4096 & 7) = 0 AND NOT stalled AS open
FROM q;
