-- One row of `calls` is one call: the half in its requester's log and the half in its responder's, met on the key.
-- A half without a counterpart stays, with nulls for the other; what its absence proves is for leaf.sql to say.
-- Notifications have no id and take no part. Answers and handler events whose request neither log has are no calls.
-- It is a view: whoever reads it joins, and keeps only what it needs of a million calls.
CREATE OR REPLACE TEMP VIEW calls AS
SELECT coalesce(r.requester, p.requester)        AS requester,
       r.half AS r_half, r.line AS r_line, r.facts AS r_facts,
       p.half AS p_half, p.line AS p_line, p.facts AS p_facts
FROM      halves('requester') AS r
FULL JOIN halves('responder') AS p
       ON r.pair = p.pair AND r.requester = p.requester AND r.id = p.id AND r.nth = p.nth;
