-- The sessions that have to be looked at whole, since what is one call in them is not decided by the key alone: those without a
-- name; those that several logs of one side know, or in which an id was used twice or is not told; and those in which nothing
-- was met, or an id names different calls on the two sides, as when a gateway renumbers.
SELECT session
FROM stretches_here
WHERE log IN (SELECT log FROM known_here)
GROUP BY session
HAVING session = '' OR uniqExactIf(log, side = 'client') > 1 OR uniqExactIf(log, side = 'server') > 1 OR max(reused) > 0 OR max(no_ids) > 0
UNION ALL
SELECT session
FROM calls_here
GROUP BY session
HAVING countIf(r_has AND p_has) = 0
    OR countIf(r_has AND p_has AND (r_method <> p_method AND r_method <> '' AND p_method <> '' OR r_name <> p_name AND r_name <> '' AND p_name <> '')) > 0
