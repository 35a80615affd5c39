-- One row of `told` is one call as the two logs tell it; or, unless the variable `every` asks for each, all the calls of one
-- requester that both logs show from request to answer with nothing odd (4627 = 1 + 2 + 16 + 512 + 4096, see below), counted
-- together: of a healthy million nothing is kept but its number, and the lines between which it lies.
CREATE OR REPLACE TEMP TABLE told AS
SELECT requester, r_facts, p_facts,
       CASE WHEN single THEN r_half END AS r_half,
       CASE WHEN single THEN p_half END AS p_half,
       min(r_line) AS r_line, max(r_line) AS r_last,
       min(p_line) AS p_line, max(p_line) AS p_last,
       count(*)    AS n
FROM (SELECT *, (r_facts & 131071) | 512 IS DISTINCT FROM 4627 OR (p_facts & 131071) | 512 IS DISTINCT FROM 4627 OR getvariable('every') AND coalesce(r_facts, p_facts) & 512 > 0 AS single FROM calls)
GROUP BY ALL;
