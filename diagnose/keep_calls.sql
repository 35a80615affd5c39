-- One row of `calls` is one call of `verdicts`: r is its half in the requester's log, p the one in the responder's, l what was
-- found when it was looked at closely. A line is cited as the file that it stands in and its number there.
CREATE OR REPLACE TEMP MACRO file_of(before, line) AS len(list_filter(before, lambda b: b < line));
CREATE OR REPLACE TEMP MACRO cite(paths, before, line) AS
  CASE WHEN line IS NULL    THEN NULL
       WHEN len(before) = 1 THEN paths[1] || ':' || line
       ELSE paths[file_of(before, line)] || ':' || (line - before[file_of(before, line)])
  END;
INSERT INTO kept.calls
SELECT CASE v.requester WHEN 1 THEN 'client' ELSE 'server' END,
       coalesce(r.session, p.session),
       coalesce(r.connection, p.connection),
       coalesce(r.id, p.id),
       coalesce(r.nth, p.nth),
       coalesce(r.method, p.method),
       coalesce(r.name, p.name),
       coalesce(l.leaf, v.leaf),
       l.reason,
       coalesce(r.outcome, p.outcome),
       coalesce(l.stalled, v.stalled),
       coalesce(l.slow, v.slow),
       coalesce(l.quiet, v.quiet),
       v.q1, v.q2, v.q3,
       l.cause, l.cause_status, l.next,
       coalesce(r.request_bytes, p.request_bytes),
       coalesce(p.answer_bytes, r.answer_bytes),
       coalesce(p.rows, r.rows),
       p.dispatch_ns / 1e6,
       p.handler_ns / 1e6,
       p.flush_ns / 1e6,
       p.took_ns / 1e6,
       (p.took_ns - p.dispatch_ns - p.handler_ns - p.flush_ns) / 1e6,
       r.took_ns / 1e6,
       r.cancel_ns / 1e6,
       cite(rl.paths, rl.before, r.request_line),
       cite(pl.paths, pl.before, p.request_line),
       cite(pl.paths, pl.before, p.enter_line),
       cite(pl.paths, pl.before, p.exit_line),
       cite(pl.paths, pl.before, p.answer_line),
       cite(rl.paths, rl.before, r.answer_line),
       cite(rl.paths, rl.before, r.cancel_line),
       v.r_half, v.p_half
FROM verdicts AS v
LEFT JOIN kept.halves AS r  ON r.side = CASE v.requester WHEN 1 THEN 'client' ELSE 'server' END AND r.half = v.r_half
LEFT JOIN kept.halves AS p  ON p.side = CASE v.requester WHEN 1 THEN 'server' ELSE 'client' END AND p.half = v.p_half
LEFT JOIN kept_logs   AS rl ON rl.side = v.requester
LEFT JOIN kept_logs   AS pl ON pl.side = 3 - v.requester
LEFT JOIN kept_listed AS l  ON l.requester = v.requester AND l.r_half = coalesce(v.r_half, -1) AND l.p_half = coalesce(v.p_half, -1)
ORDER BY v.requester, v.r_half NULLS LAST, v.p_half;
