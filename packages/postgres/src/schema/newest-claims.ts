import { CLAIMED_COLUMNS, limitCounts } from './key-claims.ts';
import { PLPGSQL, visits } from './plpgsql.ts';

/** Claims of named keys that take new deliveries, the latest first. */
export const newestClaims = (s: string): string => `
-- Claims deliveries that were never tried, the latest first. The rows are those of claim_keys_v1, which also ends the claims
-- whose lease has run out, and says when there is more. A delivery that was delayed is left to it.
CREATE FUNCTION ${s}.claim_newest_v1(
  p_owner bigint, p_lease_ms double precision, p_now_ms double precision, p_keys text[], p_counts integer[],
  p_are_heads boolean[], p_are_full boolean[], p_floor_due double precision[], p_floor_seqs bigint[],
  p_max_held integer[], p_max_stranded integer, p_max_strandings integer)
RETURNS TABLE (
  ${CLAIMED_COLUMNS})
${PLPGSQL}
DECLARE
  visited_before bigint := ${visits(s, 'ready')};
  bucket integer;
  taken bigint[] := '{}';
  taken_for integer[] := '{}';
BEGIN
  IF EXISTS (SELECT FROM ${s}.paused WHERE scope = 'all') THEN RETURN; END IF;
  PERFORM set_config('synchronous_commit', 'off', true);
  ${limitCounts(s)}
  SELECT coalesce(array_agg(r.seq ORDER BY w.at, r.nth), '{}'),
    coalesce(array_agg(w.at::integer ORDER BY w.at, r.nth), '{}')
  INTO taken, taken_for
  FROM unnest(p_keys, p_counts) WITH ORDINALITY AS w(key, count, at)
  CROSS JOIN LATERAL (
    SELECT n.seq, row_number() OVER (ORDER BY n.due_ms DESC, n.seq DESC) AS nth FROM (
      SELECT q.due_ms, q.seq FROM ${s}.queue q WHERE q.state = 0 AND q.key = w.key AND q.attempts = 0
      ORDER BY q.due_ms DESC, q.seq DESC LIMIT w.count FOR UPDATE SKIP LOCKED) AS n
  ) AS r
  WHERE NOT EXISTS (SELECT FROM ${s}.paused p WHERE p.scope = 'key' AND p.key = w.key);
  UPDATE ${s}.queue SET state = 2, owner = p_owner, lease_ms = p_now_ms + p_lease_ms, attempts = 1
  WHERE seq = ANY (taken);
  RETURN QUERY
  SELECT t.want, c.key, c.id, c.is_generated, c.sender, c.facts, c.received_ms, c.body, q.attempts, q.strandings,
    q.due_ms, q.seq::double precision, NULL::double precision, NULL::double precision
  FROM unnest(taken, taken_for) WITH ORDINALITY AS t(seq, want, at)
  JOIN ${s}.contents c ON c.seq = t.seq JOIN ${s}.queue q ON q.seq = t.seq ORDER BY t.at;
  RETURN QUERY SELECT r.* FROM ${s}.claim_keys_v1(
    p_owner, p_lease_ms, p_now_ms, p_keys, array_fill(0, ARRAY[cardinality(p_keys)]), p_are_heads, p_are_full,
    p_floor_due, p_floor_seqs, p_max_held, 0, NULL) AS r WHERE r.want > 0;
  want := 0;
  visited := ${visits(s, 'ready')} - visited_before;
  RETURN NEXT;
END $$;
`;
