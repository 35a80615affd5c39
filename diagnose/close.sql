-- One row is one call that is looked at closely: with a problem, still open, or without a leaf; with $1 every call.
-- A row is four integers, since there may be many: who asked, the two halves (-1: none), and the verdict in bits: two for
-- each of q1, q2, q3 (0 unknown, 1 no, 2 yes), stalled, slow, quiet, and from 512 on the place of the leaf among the four.
SELECT requester, coalesce(r_half, -1)::BIGINT, coalesce(p_half, -1)::BIGINT,
       (coalesce(1 + q1::INT, 0) | coalesce(1 + q2::INT, 0) << 2 | coalesce(1 + q3::INT, 0) << 4
        | stalled::INT << 6 | slow::INT << 7 | quiet::INT << 8
        | coalesce(list_position(['never_arrived', 'never_written', 'written_not_read', 'agent_level'], leaf), 0) << 9)::BIGINT
FROM verdicts
WHERE $1 OR stalled OR slow OR quiet OR open OR leaf IS NULL
ORDER BY requester, r_half NULLS LAST, p_half;
