-- One row is one call that is looked at closely: with a problem, still open, or without a leaf; with $1 every call.
-- A row is two integers, since there may be many, and each column costs as much as all else. The first is the two halves, 32 bits
-- each, counted from 1 (0: none). The second is the verdict in bits: two for each of q1, q2, q3 (0 unknown, 1 no, 2 yes), stalled,
-- slow, quiet, from 512 on the place of the leaf among the four, and from 4096 on who asked. (Sums, for << and | have one rank.)
SELECT coalesce(r_half::BIGINT + 1, 0) * 4294967296 + coalesce(p_half::BIGINT + 1, 0),
       (coalesce(1 + q1::INT, 0) + 4 * coalesce(1 + q2::INT, 0) + 16 * coalesce(1 + q3::INT, 0)
        + 64 * stalled::INT + 128 * slow::INT + 256 * quiet::INT
        + 512 * CASE leaf WHEN 'never_arrived' THEN 1 WHEN 'never_written' THEN 2 WHEN 'written_not_read' THEN 3
                          WHEN 'agent_level' THEN 4 ELSE 0 END
        + 4096 * requester)::BIGINT
FROM verdicts
WHERE $1 OR stalled OR slow OR quiet OR open OR leaf IS NULL
ORDER BY requester, r_half NULLS LAST, p_half;
