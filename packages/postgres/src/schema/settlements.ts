import { PLPGSQL, PLPGSQL_WITH_ONE_PLAN, WAIT_FOR_DISK } from './plpgsql.ts';

/** The rows of claims that are held by the owner. {@link HELD} is in the order of storing, in which rows are locked. */
const IS_HELD = 'q.seq = h.seq AND q.state + 0 = 2 AND q.owner = p_owner AND q.attempts = h.attempt';

const HELD = `(SELECT * FROM unnest(p_seqs, p_attempts, p_kinds, p_retry_ms, p_flags)
      WITH ORDINALITY AS p(seq, attempt, kind, retry_ms, is_flagged, at) ORDER BY seq, at OFFSET 0) AS h`;

/** Functions that end and extend claims, and change the order of the queue. */
export const settlements = (s: string): string => `
-- Ends claims that are still held. The rows are locked in the order of storing, before heads and slots.
--
-- p_call: a number of the owner. A call that was made before only returns what it has returned then. So the owner can repeat
-- a call whose answer was lost: whatever happened to the deliveries since, it learns which claims it has ended, and ends
-- none that was made later. p_done: calls that are not repeated any more. Null within a transaction of the application.
--
-- state + 0 keeps the plan from the index of held claims: while a transaction is open, that has the entries of all claims
-- that have ended.
CREATE FUNCTION ${s}.settle_v1(
  p_owner bigint, p_call bigint, p_done bigint[], p_now_ms double precision, p_seqs bigint[], p_attempts integer[], p_kinds text[],
  p_retry_ms double precision[], p_errors text[], p_flags boolean[], OUT held boolean[])
${PLPGSQL_WITH_ONE_PLAN}
DECLARE
  ats bigint[] := '{}';
  ordered boolean;
  finished record;
  n_remembered bigint := 0;
  n_shelved bigint := 0;
  shelved_bytes bigint := 0;
  n_kept bigint := 0;
  kept_bytes bigint := 0;
BEGIN
  ${WAIT_FOR_DISK}
  IF p_call IS NOT NULL THEN
    IF cardinality(p_done) > 0 THEN
      DELETE FROM ${s}.settle_calls WHERE owner = p_owner AND call = ANY (p_done);
    END IF;
    INSERT INTO ${s}.settle_calls (owner, call) VALUES (p_owner, p_call) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      SELECT coalesce(c.held, array_fill(true, ARRAY[cardinality(p_seqs)])) INTO held
      FROM ${s}.settle_calls c WHERE c.owner = p_owner AND c.call = p_call;
      RETURN;
    END IF;
  END IF;
  LOCK TABLE ${s}.queue IN ROW EXCLUSIVE MODE;
  SELECT is_ordered INTO ordered FROM ${s}.meta;
  -- Most settlements are completions, which need none of these.
  IF 'completed' <> ANY (p_kinds) THEN
    PERFORM FROM ${HELD} CROSS JOIN LATERAL (SELECT FROM ${s}.queue q WHERE ${IS_HELD} FOR UPDATE) AS q;
    WITH back AS (
      UPDATE ${s}.queue q SET owner = NULL, lease_ms = NULL,
        attempts = attempts - CASE WHEN h.kind = 'released' OR h.is_flagged THEN 1 ELSE 0 END,
        state = CASE WHEN h.retry_ms IS NOT NULL THEN 1 WHEN strandings > 0 THEN 3 ELSE 0 END,
        due_ms = coalesce(h.retry_ms, least(due_ms, p_now_ms))
      FROM ${HELD} WHERE h.kind IN ('failed', 'released') AND ${IS_HELD} RETURNING h.at
    ) SELECT coalesce(array_agg(at), '{}') INTO ats FROM back;
  END IF;
  WITH gone AS (
    DELETE FROM ${s}.queue q USING ${HELD} WHERE h.kind IN ('completed', 'dead') AND ${IS_HELD}
    RETURNING h.at, h.kind, h.is_flagged, q.seq, q.key, q.bytes
  ) SELECT count(*) AS count, sum(bytes)::bigint AS bytes, array_agg(at) AS ats, array_agg(seq) AS seqs,
    array_agg(key) AS keys, array_agg(seq) FILTER (WHERE kind = 'completed' AND NOT is_flagged) AS emptied
  INTO finished FROM gone;
  ats := ats || finished.ats;
  held := array_fill(false, ARRAY[cardinality(p_seqs)]);
  FOR at IN 1..coalesce(cardinality(ats), 0) LOOP held[ats[at]] := true; END LOOP;
  IF p_call IS NOT NULL AND false = ANY (held) THEN
    UPDATE ${s}.settle_calls c SET held = settle_v1.held WHERE c.owner = p_owner AND c.call = p_call;
  END IF;
  IF finished.count = 0 THEN RETURN; END IF;

  IF 'dead' = ANY (p_kinds) THEN
    WITH added AS (
      INSERT INTO ${s}.dead_letters (seq, key, id, reason, error, attempts, bytes, shelved_ms)
      SELECT c.seq, c.key, c.id, 'dead', p_errors[h.at], p_attempts[h.at], c.bytes, p_now_ms
      FROM unnest(finished.ats, finished.seqs) AS h(at, seq) JOIN ${s}.contents c ON c.seq = h.seq
      WHERE p_kinds[h.at] = 'dead'
      RETURNING bytes
    ) SELECT count(*), coalesce(sum(bytes), 0) INTO n_shelved, shelved_bytes FROM added;
  END IF;
  IF true = ANY (p_flags) THEN
    WITH added AS (
      INSERT INTO ${s}.kept (seq, key, id, attempts, bytes, completed_ms)
      SELECT c.seq, c.key, c.id, p_attempts[h.at], c.bytes, p_now_ms
      FROM unnest(finished.ats, finished.seqs) AS h(at, seq) JOIN ${s}.contents c ON c.seq = h.seq
      WHERE p_kinds[h.at] = 'completed' AND p_flags[h.at] ORDER BY h.at
      RETURNING seq, bytes
    ), remembered AS (
      UPDATE ${s}.ids SET completed_ms = p_now_ms WHERE hash = ANY (ARRAY(
        SELECT c.hash FROM added a JOIN ${s}.contents c ON c.seq = a.seq WHERE NOT c.is_generated))
      RETURNING 1
    ) SELECT count(*), coalesce(sum(bytes), 0), (SELECT count(*) FROM remembered)
    INTO n_kept, kept_bytes, n_remembered FROM added;
  END IF;
  WITH emptied AS (
    DELETE FROM ${s}.contents WHERE seq = ANY (finished.emptied) RETURNING hash, is_generated
  ), forgotten AS (
    DELETE FROM ${s}.ids WHERE hash = ANY (ARRAY(SELECT hash FROM emptied WHERE is_generated))
  ), remembered AS (
    UPDATE ${s}.ids SET completed_ms = p_now_ms
    WHERE hash = ANY (ARRAY(SELECT hash FROM emptied WHERE NOT is_generated)) RETURNING 1
  ) SELECT n_remembered + count(*) INTO n_remembered FROM remembered;
  IF ordered THEN
    PERFORM ${s}.end_heads_v1(finished.keys, finished.seqs, p_now_ms);
  END IF;
  PERFORM ${s}.add_totals_v1(-finished.count, -finished.bytes, n_shelved, shelved_bytes, n_remembered,
    n_kept, kept_bytes, finished.count);
END $$;

-- Makes the next delivery of each key its head, where the head has ended. Call it with the queue's lock.
CREATE FUNCTION ${s}.end_heads_v1(p_keys text[], p_seqs bigint[], p_now_ms double precision) RETURNS void
${PLPGSQL}
DECLARE
  ended_key text;
  next_seq bigint;
BEGIN
  FOR ended_key IN
    SELECT p.key FROM unnest(p_keys, p_seqs) AS p(key, seq) ORDER BY p.key
  LOOP
    -- Waits for a put behind it, so that the next statement sees what that put has stored.
    DELETE FROM ${s}.heads WHERE key = ended_key AND seq = ANY (p_seqs);
    CONTINUE WHEN NOT FOUND;
    SELECT seq INTO next_seq FROM ${s}.queue WHERE state = 4 AND key = ended_key ORDER BY seq LIMIT 1;
    CONTINUE WHEN NOT FOUND;
    INSERT INTO ${s}.heads (key, seq) VALUES (ended_key, next_seq);
    UPDATE ${s}.queue SET
      state = CASE WHEN attempts > 0 AND due_ms > p_now_ms THEN 1 WHEN strandings > 0 THEN 3 ELSE 0 END,
      due_ms = CASE WHEN attempts = 0 THEN least(due_ms, p_now_ms) ELSE due_ms END
    WHERE seq = next_seq;
  END LOOP;
END $$;

-- Extends claims that are still held.
CREATE FUNCTION ${s}.renew_v1(
  p_owner bigint, p_lease_ms double precision, p_seqs bigint[], p_attempts integer[], OUT held boolean[])
${PLPGSQL}
DECLARE
  ats bigint[];
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM 1 FROM ${s}.queue WHERE seq = ANY (p_seqs) ORDER BY seq FOR UPDATE;
  WITH renewed AS (
    UPDATE ${s}.queue q SET lease_ms = p_lease_ms
    FROM unnest(p_seqs, p_attempts) WITH ORDINALITY AS h(seq, attempt, at) WHERE ${IS_HELD} RETURNING h.at
  ) SELECT coalesce(array_agg(at), '{}') INTO ats FROM renewed;
  held := ARRAY(SELECT at = ANY (ats) FROM generate_series(1, cardinality(p_seqs)) AS at);
END $$;

-- Converts the queue when the order changes. Waits for puts and settlements, and they wait for it.
CREATE FUNCTION ${s}.set_order_v1(p_is_ordered boolean, p_now_ms double precision) RETURNS void
${PLPGSQL}
BEGIN
  IF (SELECT is_ordered FROM ${s}.meta) = p_is_ordered THEN RETURN; END IF;
  LOCK TABLE ${s}.queue IN EXCLUSIVE MODE;
  IF (SELECT is_ordered FROM ${s}.meta) = p_is_ordered THEN RETURN; END IF;
  UPDATE ${s}.meta SET is_ordered = p_is_ordered;
  DELETE FROM ${s}.heads;
  IF p_is_ordered THEN
    -- A delivery that is being handled stays the head.
    INSERT INTO ${s}.heads (key, seq)
    SELECT key, coalesce(min(CASE WHEN state = 2 THEN seq END), min(seq)) FROM ${s}.queue GROUP BY key;
    UPDATE ${s}.queue q SET state = 4 FROM ${s}.heads h
    WHERE q.state IN (0, 1, 3) AND h.key = q.key AND h.seq <> q.seq;
  ELSE
    UPDATE ${s}.queue SET
      state = CASE WHEN attempts > 0 AND due_ms > p_now_ms THEN 1 WHEN strandings > 0 THEN 3 ELSE 0 END,
      due_ms = CASE WHEN attempts = 0 THEN least(due_ms, p_now_ms) ELSE due_ms END
    WHERE state = 4;
  END IF;
END $$;

-- Gives back the claims of an owner, and forgets its calls, and those of owners that died long ago.
CREATE FUNCTION ${s}.leave_v1(p_owner bigint, p_now_ms double precision) RETURNS void
${PLPGSQL}
BEGIN
  DELETE FROM ${s}.settle_calls WHERE owner = p_owner OR made_at < now() - interval '1 day';
  UPDATE ${s}.queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END, attempts = attempts - 1,
    due_ms = least(due_ms, p_now_ms), owner = NULL, lease_ms = NULL
  WHERE state = 2 AND owner = p_owner;
END $$;
`;
