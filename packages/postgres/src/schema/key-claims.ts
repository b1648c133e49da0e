import { PLPGSQL, visits } from './plpgsql.ts';

/** A page of keys passes at most so many that are not due, or as many as it may list. */
const MAX_PASSED = 1000;

/** Locks that claims of heads take, by a hash of the key: a server has few thousand locks for all its sessions. */
const HEAD_LOCKS = 16;

const LOCK_OF_HEADS = 'webhook-backpressure heads:';

/** Locks that claims with `maxHeld` take, likewise. */
const LIMIT_LOCKS = 16;

const LOCK_OF_LIMITS = 'webhook-backpressure limits:';

/** An owner that lives renews its claims, so that none has a lease that ended so long ago. */
const LATE_MS = 60_000;

const INDEXES = ['ready', 'held', 'key', 'key_waiting', 'key_suspect'];

/** The rows of every claim of named keys, for `RETURNS TABLE`. */
export const CLAIMED_COLUMNS = `want integer, key text, id text, is_generated boolean, sender text, facts text, received_ms double precision,
  body bytea, attempt integer, strandings integer, due_ms double precision, seq double precision,
  next_ms double precision, visited double precision`;

/**
 * Locks the keys of a call that have a limit, and lowers `p_counts` to how many each want may claim. Calls for the same keys
 * wait for each other's commit, and count what the other has claimed. Claims whose lease has run out do not count where
 * this call ends them.
 */
export const limitCounts = (
  s: string,
): string => `IF EXISTS (SELECT FROM unnest(p_max_held) AS m WHERE m IS NOT NULL) THEN
    FOR bucket IN
      SELECT DISTINCT abs(hashtext(w.key) % ${String(LIMIT_LOCKS)}) FROM unnest(p_keys, p_max_held) AS w(key, max_held)
      WHERE w.max_held IS NOT NULL ORDER BY 1
    LOOP
      PERFORM pg_advisory_xact_lock(hashtext('${LOCK_OF_LIMITS}${s}'), bucket);
    END LOOP;
    SELECT array_agg(CASE WHEN w.max_held IS NULL THEN w.count ELSE greatest(0, least(w.count, w.max_held - (
        SELECT count(*) FROM ${s}.queue o WHERE o.state = 2 AND o.key = w.key
          AND CASE WHEN w.is_full THEN o.owner = p_owner OR o.lease_ms > p_now_ms
            ELSE o.lease_ms > p_now_ms - ${String(LATE_MS)} END))) END ORDER BY w.at)
    INTO p_counts FROM unnest(p_keys, p_counts, p_are_full, p_max_held) WITH ORDINALITY
      AS w(key, count, is_full, max_held, at);
  END IF;`;

/** The wants of a claim whose keys are not paused. */
const WANTS = `unnest(p_keys, p_counts, p_are_heads, p_are_full, p_floor_due, p_floor_seqs)
      WITH ORDINALITY AS w(key, count, is_head, is_full, floor_due, floor_seq, at)`;

const UNPAUSED = 'w.at <> ALL (paused_ats)';

/** The first delivery of a key in one state. */
const firstOf = (s: string, what: string, state: string, key: string): string =>
  `(SELECT ${what} FROM ${s}.queue q WHERE ${state} AND q.key = ${key} ORDER BY q.due_ms, q.seq LIMIT 1)`;

/** When the first claim of another owner ends. */
const leaseOf = (s: string, key: string): string =>
  `(SELECT q.lease_ms FROM ${s}.queue q WHERE q.state = 2 AND q.key = ${key} AND q.owner <> p_owner
      ORDER BY q.lease_ms, q.owner LIMIT 1)`;

/** When a retry of a key is due, or a claim of another owner ends. */
const nextOf = (s: string, key: string): string =>
  `least(${firstOf(s, 'q.due_ms', 'q.state - 0 = 1', key)}, ${leaseOf(s, key)})`;

/** Whether a delivery of a want's key is claimed, by any owner. */
const isClaimed = (s: string): string => `EXISTS (
          SELECT FROM ${s}.queue o WHERE o.state = 2 AND o.key = w.key
            AND o.lease_ms > CASE WHEN w.is_full THEN '-Infinity' ELSE p_now_ms - ${String(LATE_MS)} END)`;

/** The first delivery of a want's key, in the order of storing. */
const headOf = (s: string, what: string): string => `
        SELECT ${what} FROM ${s}.queue f
        WHERE f.key || '' = w.key AND f.seq + 0 >= w.floor_seq ORDER BY f.key || '', f.seq + 0 LIMIT 1`;

/** Functions that claim from named keys. */
export const keyClaims = (s: string): string => `
-- Claims deliveries of named keys. A row with an id is a claim. Each want whose key is not paused also has a row without an
-- id, which says when there is more: -Infinity is now. The last row counts the visited index entries.
--
-- While a transaction is open, a look at a key passes the entries of all deliveries that were claimed since, see claim.
-- So the caller may ask for less: p_are_full false looks only at deliveries that were never tried, behind the floor.
--
-- The head of a key is found before it is locked: a search that skips locked rows would find the second delivery while
-- another transaction claims the first. A delivery that was stored before the head can appear later, from a put that took
-- longer to commit or from a redrive. It must not be claimed beside the head, hence the advisory locks.
--
-- p_max_held: the most claims that each key may have after the call, by all owners; null: any number.
-- p_max_stranded: the most suspects of the call, and p_max_strandings: the most strandings of each; null: any number.
CREATE FUNCTION ${s}.claim_keys_v1(
  p_owner bigint, p_lease_ms double precision, p_now_ms double precision, p_keys text[], p_counts integer[],
  p_are_heads boolean[], p_are_full boolean[], p_floor_due double precision[], p_floor_seqs bigint[],
  p_max_held integer[], p_max_stranded integer, p_max_strandings integer)
RETURNS TABLE (
  ${CLAIMED_COLUMNS})
${PLPGSQL}
DECLARE
  visited_before bigint := ${visits(s, ...INDEXES)};
  paused_ats bigint[] := '{}';
  ordered boolean;
  bucket integer;
  taken bigint[];
  taken_for integer[];
BEGIN
  IF EXISTS (SELECT FROM ${s}.paused WHERE scope = 'all') THEN RETURN; END IF;
  -- A claim that a crash of the server loses is made again. It survives the death of this process.
  PERFORM set_config('synchronous_commit', 'off', true);
  ${limitCounts(s)}
  IF EXISTS (SELECT FROM ${s}.paused) THEN
    paused_ats := ARRAY(SELECT w.at FROM unnest(p_keys) WITH ORDINALITY AS w(key, at)
      WHERE EXISTS (SELECT FROM ${s}.paused p WHERE p.scope = 'key' AND p.key = w.key));
  END IF;
  SELECT is_ordered INTO ordered FROM ${s}.meta;
  UPDATE ${s}.queue SET state = 3, strandings = strandings + 1, due_ms = least(due_ms, p_now_ms),
    owner = NULL, lease_ms = NULL
  WHERE seq IN (
    SELECT h.seq FROM ${WANTS} CROSS JOIN LATERAL (
      SELECT q.seq FROM ${s}.queue q
      WHERE q.state = 2 AND q.key = w.key AND q.lease_ms <= p_now_ms AND q.owner <> p_owner
      FOR UPDATE SKIP LOCKED
    ) AS h WHERE w.is_full AND ${UNPAUSED});
  IF coalesce(p_max_stranded, p_max_strandings) IS NOT NULL
    AND EXISTS (SELECT FROM ${s}.queue WHERE state = 1 AND due_ms <= p_now_ms) THEN
    -- Retries that were stranded before are suspects.
    UPDATE ${s}.queue SET state = 3 WHERE seq = ANY (ARRAY(
      SELECT r.seq FROM ${WANTS} CROSS JOIN LATERAL (
        SELECT q.seq, q.strandings FROM ${s}.queue q
        WHERE q.state - 0 = 1 AND q.key = w.key AND q.due_ms <= p_now_ms
        ORDER BY q.due_ms, q.seq LIMIT w.count FOR UPDATE SKIP LOCKED
      ) AS r WHERE r.strandings > 0 AND w.is_full AND ${UNPAUSED}));
  END IF;
  IF NOT ordered AND true = ANY (p_are_heads) THEN
    -- Claims of heads of the same keys wait for each other, and see what the other has claimed.
    FOR bucket IN
      SELECT DISTINCT abs(hashtext(w.key) % ${String(HEAD_LOCKS)}) FROM ${WANTS} WHERE w.is_head ORDER BY 1
    LOOP
      PERFORM pg_advisory_xact_lock(hashtext('${LOCK_OF_HEADS}${s}'), bucket);
    END LOOP;
  END IF;

  -- In a strict order, each key has one delivery that is not behind another. Where a suspect has no room, the next one follows.
  SELECT array_agg(c.seq ORDER BY c.at, c.nth), array_agg(c.at::integer ORDER BY c.at, c.nth) INTO taken, taken_for
  FROM (
    SELECT a.at, a.count, a.seq, row_number() OVER (PARTITION BY a.at ORDER BY a.nth) AS nth
    FROM (
      SELECT n.*, sum(n.is_suspect * (n.nth <= n.count)::integer) OVER (ORDER BY n.at, n.nth) AS suspects
      FROM (
        SELECT w.at, w.count, r.seq, r.is_suspect, row_number() OVER (PARTITION BY w.at ORDER BY r.due_ms, r.seq) AS nth
        FROM ${WANTS} CROSS JOIN LATERAL (
          SELECT * FROM (
            SELECT q.due_ms, q.seq, 1 AS is_suspect FROM ${s}.queue q
            WHERE q.state - 0 = 3 AND q.key = w.key AND w.is_full
              AND q.strandings <= coalesce(p_max_strandings, q.strandings)
            ORDER BY q.due_ms, q.seq LIMIT least(w.count, p_max_stranded) FOR UPDATE SKIP LOCKED) AS suspects
          UNION ALL SELECT * FROM (
            SELECT q.due_ms, q.seq, 0 FROM ${s}.queue q
            WHERE q.state - 0 = 1 AND q.key = w.key AND q.due_ms <= p_now_ms AND w.is_full
              AND (q.strandings = 0 OR coalesce(p_max_stranded, p_max_strandings) IS NULL)
            ORDER BY q.due_ms, q.seq LIMIT w.count FOR UPDATE SKIP LOCKED) AS retries
          UNION ALL SELECT * FROM (
            SELECT q.due_ms, q.seq, 0 FROM ${s}.queue q
            WHERE q.state = 0 AND q.key = w.key AND (q.due_ms, q.seq) > (w.floor_due, w.floor_seq)
            ORDER BY q.due_ms, q.seq LIMIT w.count FOR UPDATE SKIP LOCKED) AS ready
        ) AS r WHERE (ordered OR NOT w.is_head) AND ${UNPAUSED}
      ) AS n
    ) AS a WHERE a.is_suspect = 0 OR (a.nth <= a.count AND a.suspects <= coalesce(p_max_stranded, a.suspects))
    UNION ALL
    SELECT w.at, 1, h.seq, 1
    FROM ${WANTS} CROSS JOIN LATERAL (
      SELECT q.seq FROM ${s}.queue q
      WHERE q.seq = (${headOf(s, 'f.seq')})
        AND (q.state + 0 IN (0, 3) OR q.state + 0 = 1 AND q.due_ms <= p_now_ms)
        AND NOT ${isClaimed(s)}
      FOR UPDATE SKIP LOCKED
    ) AS h WHERE w.is_head AND NOT ordered AND ${UNPAUSED}
  ) AS c WHERE c.nth <= c.count;
  UPDATE ${s}.queue SET state = 2, owner = p_owner, lease_ms = p_now_ms + p_lease_ms, attempts = attempts + 1
  WHERE seq = ANY (taken);

  RETURN QUERY
  SELECT t.want, c.key, c.id, c.is_generated, c.sender, c.facts, c.received_ms, c.body, q.attempts, q.strandings,
    q.due_ms, q.seq::double precision, NULL::double precision, NULL::double precision
  FROM unnest(taken, taken_for) WITH ORDINALITY AS t(seq, want, at)
  JOIN ${s}.contents c ON c.seq = t.seq JOIN ${s}.queue q ON q.seq = t.seq ORDER BY t.at;
  RETURN QUERY
  SELECT w.at::integer, NULL::text, NULL::text, NULL::boolean, NULL::text, NULL::text, NULL::double precision,
    NULL::bytea, NULL::integer, NULL::integer, NULL::double precision, NULL::double precision,
    CASE WHEN w.is_head AND NOT ordered THEN CASE
        WHEN ${isClaimed(s)} THEN ${leaseOf(s, 'w.key')}
        ELSE (${headOf(s, `CASE f.state WHEN 1 THEN f.due_ms ELSE '-Infinity' END`)}) END
      WHEN ${firstOf(s, 'q.seq', 'q.state = 0 AND (q.due_ms, q.seq) > (w.floor_due, w.floor_seq)', 'w.key')}
        IS NOT NULL THEN '-Infinity'
      WHEN NOT w.is_full THEN NULL
      WHEN ${firstOf(s, 'q.seq', 'q.state - 0 = 3', 'w.key')} IS NOT NULL THEN '-Infinity'
      ELSE ${nextOf(s, 'w.key')} END,
    NULL::double precision
  FROM ${WANTS} WHERE ${UNPAUSED};
  want := 0;
  visited := ${visits(s, ...INDEXES)} - visited_before;
  RETURN NEXT;
END $$;

-- Gives the claims of dead owners to the next one.
CREATE FUNCTION ${s}.strand_dead_v1(p_dead bigint[]) RETURNS void
${PLPGSQL}
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE ${s}.queue SET state = 3, strandings = strandings + 1, owner = NULL, lease_ms = NULL
  WHERE seq IN (SELECT seq FROM ${s}.queue WHERE state = 2 AND owner = ANY (p_dead)
    FOR UPDATE SKIP LOCKED);
END $$;

-- Lists keys with something to claim, by skipping from key to key in an index. The last row has no time: its key is the last
-- one that was looked at, or null if there are no more.
CREATE FUNCTION ${s}.due_keys_v1(
  p_owner bigint, p_after text, p_limit integer, p_due_by_ms double precision) RETURNS TABLE (key text, next_ms double precision)
${PLPGSQL}
DECLARE
  one record;
  last_key text;
  listed integer := 0;
  passed integer := 0;
BEGIN
  IF NOT EXISTS (SELECT FROM ${s}.paused WHERE scope = 'all') THEN
    FOR one IN
      WITH RECURSIVE keys AS (
        (SELECT q.key FROM ${s}.queue q WHERE q.key || '' >= coalesce(p_after || chr(1), '')
          ORDER BY q.key || '', q.seq + 0 LIMIT 1)
        UNION ALL
        SELECT n.key FROM keys k CROSS JOIN LATERAL (
          SELECT q.key FROM ${s}.queue q WHERE q.key || '' > k.key ORDER BY q.key || '', q.seq + 0 LIMIT 1) AS n
      )
      SELECT k.key, CASE
        WHEN EXISTS (SELECT FROM ${s}.paused p WHERE p.scope = 'key' AND p.key = k.key) THEN NULL
        WHEN ${firstOf(s, 'q.seq', 'q.state = 0', 'k.key')} IS NOT NULL THEN '-Infinity'
        WHEN ${firstOf(s, 'q.seq', 'q.state - 0 = 3', 'k.key')} IS NOT NULL THEN '-Infinity'
        ELSE ${nextOf(s, 'k.key')} END AS next_ms
      FROM keys k
    LOOP
      IF listed >= p_limit OR passed >= greatest(p_limit, ${String(MAX_PASSED)}) THEN
        key := last_key;
        next_ms := NULL;
        RETURN NEXT;
        RETURN;
      END IF;
      last_key := one.key;
      IF one.next_ms <= p_due_by_ms THEN
        key := one.key;
        next_ms := one.next_ms;
        listed := listed + 1;
        RETURN NEXT;
      ELSE
        passed := passed + 1;
      END IF;
    END LOOP;
  END IF;
  key := NULL;
  next_ms := NULL;
  RETURN NEXT;
END $$;
`;
