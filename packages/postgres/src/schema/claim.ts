import { plpgsql } from './function.ts';

/** Bounds the time of a claim when very many retries are due, such as after a long outage. */
const MAX_PROMOTED = 1000;

/** Claims deliveries, a suspect first, then one of each key in turn, from the key after the cursor on. */
export const claim = (s: string): string =>
  plpgsql(
    `${s}.claim_v1`,
    `p_owner bigint, p_count integer, p_lease_ms double precision, p_now_ms double precision,
  p_max_stranded integer, p_except text[], p_cursor text, p_dead bigint[]`,
    {
      returns: `TABLE (
  key text, id text, is_generated boolean, sender text, facts text, received_ms double precision, body bytea,
  attempt integer, strandings integer, is_turn boolean)`,
      declare: `
  skipped text[];
  taken bigint[] := '{}';
  suspects integer := 0;
  last_key text := p_cursor;
  next_key text;
  next_seq bigint;
  is_any_left boolean := true;`,
      body: `
  IF EXISTS (SELECT FROM ${s}.paused WHERE scope = 'all') THEN RETURN; END IF;
  -- A claim that a crash of the server loses is made again. It survives the death of this process.
  PERFORM set_config('synchronous_commit', 'off', true);
  skipped := p_except || ARRAY(SELECT key FROM ${s}.paused WHERE scope = 'key');
  UPDATE ${s}.queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END WHERE seq IN (
    SELECT seq FROM ${s}.queue WHERE state = 1 AND due_ms <= p_now_ms
    ORDER BY due_ms LIMIT greatest(p_count, ${String(MAX_PROMOTED)}) FOR UPDATE SKIP LOCKED);
  UPDATE ${s}.queue SET state = 3, strandings = strandings + 1, due_ms = least(due_ms, p_now_ms),
    owner = NULL, lease_ms = NULL
  WHERE seq IN (
    SELECT seq FROM ${s}.queue WHERE state = 2 AND owner <> p_owner
      AND (lease_ms <= p_now_ms OR owner = ANY (p_dead))
    FOR UPDATE SKIP LOCKED);

  IF least(p_count, p_max_stranded) > 0 THEN
    taken := ARRAY(SELECT seq FROM ${s}.queue
      WHERE state = 3 AND strandings = 1 AND key <> ALL (skipped)
      ORDER BY due_ms, seq LIMIT least(p_count, p_max_stranded) FOR UPDATE SKIP LOCKED);
    IF cardinality(taken) = 0 THEN
      taken := ARRAY(SELECT seq FROM ${s}.queue WHERE state = 3 AND key <> ALL (skipped)
        ORDER BY due_ms, seq LIMIT 1 FOR UPDATE SKIP LOCKED);
    END IF;
    suspects := cardinality(taken);
    UPDATE ${s}.queue SET state = 2, owner = p_owner, lease_ms = p_now_ms + p_lease_ms, attempts = attempts + 1
    WHERE seq = ANY (taken);
  END IF;

  WHILE cardinality(taken) < p_count LOOP
    -- Skips from key to key in the index, however many deliveries a key has.
    IF last_key IS NULL THEN
      SELECT key INTO next_key FROM ${s}.queue WHERE state = 0 ORDER BY key, due_ms, seq LIMIT 1;
    ELSE
      SELECT key INTO next_key FROM ${s}.queue WHERE state = 0 AND key > last_key
      ORDER BY key, due_ms, seq LIMIT 1;
    END IF;
    IF NOT FOUND THEN
      EXIT WHEN last_key IS NULL OR NOT is_any_left;
      last_key := NULL;
      is_any_left := false;
      CONTINUE;
    END IF;
    last_key := next_key;
    CONTINUE WHEN next_key = ANY (skipped);
    SELECT seq INTO next_seq FROM ${s}.queue WHERE state = 0 AND key = next_key
    ORDER BY due_ms, seq LIMIT 1 FOR UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND;
    UPDATE ${s}.queue SET state = 2, owner = p_owner, lease_ms = p_now_ms + p_lease_ms, attempts = attempts + 1
    WHERE seq = next_seq;
    taken := taken || next_seq;
    is_any_left := true;
  END LOOP;

  RETURN QUERY
  SELECT c.key, c.id, c.is_generated, c.sender, c.facts, c.received_ms, c.body, q.attempts, q.strandings,
    t.at > suspects
  FROM unnest(taken) WITH ORDINALITY AS t(seq, at)
  JOIN ${s}.contents c ON c.seq = t.seq JOIN ${s}.queue q ON q.seq = t.seq ORDER BY t.at;`,
    },
  );

/** When the next delivery can be claimed; -Infinity: now. */
export const nextDue = (s: string): string =>
  plpgsql(`${s}.next_due_v1`, 'p_owner bigint, p_except text[]', {
    returns: 'double precision',
    declare: `
  skipped text[];
  next_key text;`,
    body: `
  IF EXISTS (SELECT FROM ${s}.paused WHERE scope = 'all') THEN RETURN NULL; END IF;
  skipped := p_except || ARRAY(SELECT key FROM ${s}.paused WHERE scope = 'key');
  SELECT key INTO next_key FROM ${s}.queue WHERE state = 0 ORDER BY key, due_ms, seq LIMIT 1;
  WHILE FOUND AND next_key = ANY (skipped) LOOP
    SELECT key INTO next_key FROM ${s}.queue WHERE state = 0 AND key > next_key
    ORDER BY key, due_ms, seq LIMIT 1;
  END LOOP;
  IF FOUND THEN RETURN '-Infinity'; END IF;
  RETURN least(
    (SELECT min(due_ms) FROM ${s}.queue WHERE state = 1),
    (SELECT min(due_ms) FROM ${s}.queue WHERE state = 3 AND key <> ALL (skipped)),
    (SELECT min(lease_ms) FROM ${s}.queue WHERE state = 2 AND owner <> p_owner));`,
  });
