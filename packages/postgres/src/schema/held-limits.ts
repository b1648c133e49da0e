import { CLAIMED_COLUMNS } from './key-claims.ts';
import { PLPGSQL } from './plpgsql.ts';

/** Locks that claims with `maxHeld` take, by a hash of the key: a server has few thousand locks for all its sessions. */
const LOCKS = 16;

const LOCK_OF_LIMITS = 'webhook-backpressure limits:';

/** An owner that lives renews its claims, so that none has a lease that ended so long ago. */
const LATE_MS = 60_000;

/** Locks the keys of a call that have a limit, and counts in `counts` how many each want may claim. */
export const limitCounts = (s: string): string => `FOR bucket IN
    SELECT DISTINCT abs(hashtext(w.key) % ${String(LOCKS)}) FROM unnest(p_keys, p_max_held) AS w(key, max_held)
    WHERE w.max_held IS NOT NULL ORDER BY 1
  LOOP
    PERFORM pg_advisory_xact_lock(hashtext('${LOCK_OF_LIMITS}${s}'), bucket);
  END LOOP;
  SELECT array_agg(CASE WHEN w.max_held IS NULL THEN w.count ELSE greatest(0, least(w.count, w.max_held - (
      SELECT count(*) FROM ${s}.queue o WHERE o.state - 0 = 2 AND o.key = w.key
        AND CASE WHEN w.is_full THEN o.owner = p_owner OR o.lease_ms > p_now_ms
          ELSE o.lease_ms > p_now_ms - ${String(LATE_MS)} END))) END ORDER BY w.at)
  INTO counts FROM unnest(p_keys, p_counts, p_are_full, p_max_held) WITH ORDINALITY
    AS w(key, count, is_full, max_held, at);`;

/** Claims of named keys of which only so many may be claimed, by all owners. */
export const heldLimits = (s: string): string => `
-- claim_keys_v1 with the most claims that each key may have after it, by all owners; null: any number. Calls for the same
-- keys wait for each other's commit, and count what the other has claimed. Claims whose lease has run out do not count
-- where this call ends them.
CREATE FUNCTION ${s}.claim_keys_v2(
  p_owner bigint, p_lease_ms double precision, p_now_ms double precision, p_keys text[], p_counts integer[],
  p_are_heads boolean[], p_are_full boolean[], p_floor_due double precision[], p_floor_seqs bigint[],
  p_max_held integer[])
RETURNS TABLE (
  ${CLAIMED_COLUMNS})
${PLPGSQL}
DECLARE
  bucket integer;
  counts integer[];
BEGIN
  ${limitCounts(s)}
  RETURN QUERY SELECT * FROM ${s}.claim_keys_v1(
    p_owner, p_lease_ms, p_now_ms, p_keys, counts, p_are_heads, p_are_full, p_floor_due, p_floor_seqs);
END $$;
`;
