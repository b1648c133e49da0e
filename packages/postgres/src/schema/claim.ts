import { PLPGSQL, PLPGSQL_WITH_ONE_PLAN, visits } from './plpgsql.ts';

/** Bounds the time of a claim when very many retries are due, such as after a long outage. */
const MAX_PROMOTED = 1000;

/**
 * The oldest is searched among so many that were stored first. Deliveries are stored at most seconds after they were
 * received, so none of the others is older.
 */
const OLDEST_AMONG = 1000;

const IS_RETRY = 'state = 1 AND due_ms <= p_now_ms';
const IS_LOST = 'state = 2 AND owner <> p_owner AND (lease_ms <= p_now_ms OR owner = ANY (p_dead))';

/** Functions that claim from the keys in turn, and look at what may be claimed. */
export const claims = (s: string): string => `
-- Claims deliveries, a suspect first, then one of each key in turn, from the key after the cursor on.
--
-- A full claim considers every delivery. While a transaction is open, that takes ever longer: PostgreSQL keeps the index
-- entries of claimed deliveries, and a scan has to pass all of them. So the caller may ask for less: only deliveries stored
-- after p_after, or in a key only those behind its floor.
--
-- The last row has no key. It counts the visited index entries, and has the number of the delivery stored last.
CREATE FUNCTION ${s}.claim_v1(
  p_owner bigint, p_count integer, p_lease_ms double precision, p_now_ms double precision,
  p_max_stranded integer, p_except text[], p_cursor text, p_dead bigint[],
  p_is_full boolean, p_after bigint, p_floor_keys text[], p_floor_due double precision[], p_floor_seqs bigint[])
RETURNS TABLE (
  key text, id text, is_generated boolean, sender text, facts text, received_ms double precision, body bytea,
  attempt integer, strandings integer, is_turn boolean, due_ms double precision, seq double precision,
  visited double precision)
${PLPGSQL_WITH_ONE_PLAN}
DECLARE
  visited_before bigint := ${visits(s, 'ready', 'waiting', 'held')};
  is_paused boolean;
  skipped text[];
  has_retry boolean;
  has_lost boolean;
  has_suspect boolean;
  taken bigint[] := '{}';
  visits bigint[] := '{}';
  first_turn integer := 1;
  last_key text := p_cursor;
  end_key text := p_cursor;
  is_second boolean := p_cursor IS NULL;
  missing integer;
  keys text[];
  visited_ready bigint;
  found bigint[];
  found_visits bigint[];
  found_key text;
BEGIN
  SELECT coalesce(bool_or(scope = 'all'), false),
    p_except || coalesce(array_agg(key) FILTER (WHERE scope = 'key'), '{}')
  INTO is_paused, skipped FROM ${s}.paused;
  IF is_paused THEN RETURN; END IF;
  -- A claim that a crash of the server loses is made again. It survives the death of this process.
  PERFORM set_config('synchronous_commit', 'off', true);
  -- Most claims find none of these. Each statement that changes rows would take as long as claiming two of them.
  SELECT p_is_full AND EXISTS (SELECT FROM ${s}.queue WHERE ${IS_RETRY}),
    p_is_full AND EXISTS (SELECT FROM ${s}.queue WHERE ${IS_LOST}),
    EXISTS (SELECT FROM ${s}.queue WHERE state = 3)
  INTO has_retry, has_lost, has_suspect;
  IF has_retry THEN
    -- By arrays: a plan made while the queue was empty would join the found ones with all others.
    UPDATE ${s}.queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END WHERE seq = ANY (ARRAY(
      SELECT seq FROM ${s}.queue WHERE ${IS_RETRY}
      ORDER BY due_ms LIMIT greatest(p_count, ${String(MAX_PROMOTED)}) FOR UPDATE SKIP LOCKED));
  END IF;
  IF has_lost THEN
    UPDATE ${s}.queue SET state = 3, strandings = strandings + 1, due_ms = least(due_ms, p_now_ms),
      owner = NULL, lease_ms = NULL
    WHERE seq = ANY (ARRAY(SELECT seq FROM ${s}.queue WHERE ${IS_LOST} FOR UPDATE SKIP LOCKED));
  END IF;

  IF (has_retry OR has_lost OR has_suspect) AND least(p_count, p_max_stranded) > 0 THEN
    taken := ARRAY(SELECT seq FROM ${s}.queue
      WHERE state = 3 AND strandings = 1 AND key <> ALL (skipped)
      ORDER BY due_ms, seq LIMIT least(p_count, p_max_stranded) FOR UPDATE SKIP LOCKED);
    IF cardinality(taken) = 0 THEN
      taken := ARRAY(SELECT seq FROM ${s}.queue WHERE state = 3 AND key <> ALL (skipped)
        ORDER BY due_ms, seq LIMIT 1 FOR UPDATE SKIP LOCKED);
    END IF;
    first_turn := cardinality(taken) + 1;
  END IF;
  IF p_after IS NOT NULL THEN
    taken := taken || ARRAY(SELECT seq FROM ${s}.queue
      WHERE seq > p_after AND state = 0 AND key <> ALL (skipped)
      ORDER BY seq LIMIT p_count - cardinality(taken) FOR UPDATE SKIP LOCKED);
  END IF;
  IF cardinality(taken) > 0 THEN
    UPDATE ${s}.queue SET state = 2, owner = p_owner, lease_ms = p_now_ms + p_lease_ms, attempts = attempts + 1
    WHERE seq = ANY (taken);
  END IF;

  WHILE p_after IS NULL AND cardinality(taken) < p_count LOOP
    missing := p_count - cardinality(taken);
    -- The keys behind the last one, then those from the first on, until the end. Skips from key to key in the index,
    -- however many deliveries a key has. No key sorts between a key and the same with the first character behind it.
    keys := ARRAY(
      WITH RECURSIVE ring(key, at, is_second) AS (
        SELECT last_key COLLATE "C", 0, is_second
        UNION ALL
        SELECT n.key, r.at + 1, r.is_second OR n.key IS NULL
        FROM ring r CROSS JOIN LATERAL (
          SELECT min(f COLLATE "C") AS key FROM unnest(p_floor_keys) f WHERE r.key IS NULL OR f COLLATE "C" > r.key
        ) AS floor CROSS JOIN LATERAL (
          SELECT CASE WHEN floor.key IS NULL THEN (
            SELECT q.key FROM ${s}.queue q WHERE q.state = 0 AND q.key >= coalesce(r.key || chr(1), '')
            ORDER BY q.key, q.due_ms, q.seq LIMIT 1)
          ELSE coalesce((
            SELECT q.key FROM ${s}.queue q
            WHERE q.state = 0 AND q.key >= coalesce(r.key || chr(1), '') AND q.key < floor.key
            ORDER BY q.key, q.due_ms, q.seq LIMIT 1), floor.key) END AS key
          -- Looks once: it would be made part of each expression that has its key.
          OFFSET 0
        ) AS n
        WHERE CASE WHEN r.is_second THEN n.key <= coalesce(end_key, n.key) ELSE true END
      ) SELECT key FROM ring WHERE at > 0 AND key IS NOT NULL AND key <> ALL (skipped) LIMIT missing);
    EXIT WHEN cardinality(keys) = 0;
    visited_ready := ${visits(s, 'ready')};
    -- The first of each key, then the second of each. The sum of all is what is missing.
    SELECT array_agg(c.seq ORDER BY c.nth, c.at), array_agg(c.visited ORDER BY c.nth, c.at),
      (array_agg(c.key ORDER BY c.nth DESC, c.at DESC))[1]
    INTO found, found_visits, found_key FROM (
      SELECT k.key, k.at, r.nth, r.seq, r.visited - lag(r.visited, 1, visited_ready) OVER (ORDER BY k.at, r.nth) AS visited
      FROM unnest(keys) WITH ORDINALITY AS k(key, at)
      LEFT JOIN unnest(p_floor_keys, p_floor_due, p_floor_seqs) AS f(key, due_ms, seq) ON f.key = k.key
      CROSS JOIN LATERAL (
        SELECT n.seq, n.visited, row_number() OVER () AS nth FROM (
          SELECT q.seq, ${visits(s, 'ready')} AS visited FROM ${s}.queue q
          WHERE q.state = 0 AND q.key = k.key
            AND (q.due_ms, q.seq) > (coalesce(f.due_ms, '-Infinity'), coalesce(f.seq, 0))
          ORDER BY q.due_ms, q.seq
          LIMIT missing / cardinality(keys) + CASE WHEN k.at <= missing % cardinality(keys) THEN 1 ELSE 0 END
          FOR UPDATE SKIP LOCKED) AS n
      ) AS r
    ) AS c;
    IF found IS NULL THEN
      -- Other transactions have locked their deliveries, or none are behind their floors. Later keys may have some.
      found_key := keys[cardinality(keys)];
      is_second := is_second OR found_key COLLATE "C" <= last_key;
      last_key := found_key;
      CONTINUE;
    END IF;
    UPDATE ${s}.queue SET state = 2, owner = p_owner, lease_ms = p_now_ms + p_lease_ms, attempts = attempts + 1
    WHERE seq = ANY (found);
    visits[cardinality(taken) + 1 : cardinality(taken) + cardinality(found)] := found_visits;
    taken := taken || found;
    last_key := found_key;
    end_key := found_key;
    is_second := false;
  END LOOP;

  RETURN QUERY
  SELECT c.key, c.id, c.is_generated, c.sender, c.facts, c.received_ms, c.body, q.attempts, q.strandings,
    t.at >= first_turn, q.due_ms, q.seq::double precision, coalesce(visits[t.at], 0)::double precision
  FROM unnest(taken) WITH ORDINALITY AS t(seq, at)
  JOIN ${s}.contents c ON c.seq = t.seq JOIN ${s}.queue q ON q.seq = t.seq ORDER BY t.at;
  seq := coalesce(pg_sequence_last_value('${s}.delivery_seq'::regclass), 0);
  visited := ${visits(s, 'ready', 'waiting', 'held')} - visited_before;
  RETURN NEXT;
END $$;

-- When the next delivery can be claimed; -Infinity: now. Counts the visited index entries.
CREATE FUNCTION ${s}.next_due_v1(
  p_owner bigint, p_except text[], OUT due_ms double precision, OUT visited double precision)
${PLPGSQL}
DECLARE
  before bigint := ${visits(s, 'ready', 'waiting', 'held')};
  skipped text[];
  next_key text;
BEGIN
  visited := 0;
  IF EXISTS (SELECT FROM ${s}.paused WHERE scope = 'all') THEN RETURN; END IF;
  skipped := p_except || ARRAY(SELECT key FROM ${s}.paused WHERE scope = 'key');
  SELECT key INTO next_key FROM ${s}.queue WHERE state = 0 ORDER BY key, queue.due_ms, seq LIMIT 1;
  WHILE FOUND AND next_key = ANY (skipped) LOOP
    SELECT key INTO next_key FROM ${s}.queue WHERE state = 0 AND key > next_key
    ORDER BY key, queue.due_ms, seq LIMIT 1;
  END LOOP;
  IF FOUND THEN
    due_ms := '-Infinity';
  ELSE
    due_ms := least(
      (SELECT min(q.due_ms) FROM ${s}.queue q WHERE state = 1),
      (SELECT min(q.due_ms) FROM ${s}.queue q WHERE state = 3 AND key <> ALL (skipped)),
      (SELECT min(lease_ms) FROM ${s}.queue WHERE state = 2 AND owner <> p_owner));
  END IF;
  visited := ${visits(s, 'ready', 'waiting', 'held')} - before;
END $$;

-- What no total counts: claimed deliveries, and when the oldest was received.
CREATE FUNCTION ${s}.counts_v1(
  OUT in_flight double precision, OUT oldest_ms double precision, OUT visited double precision)
${PLPGSQL}
DECLARE
  before bigint := ${visits(s, 'held', 'pkey')};
BEGIN
  SELECT count(*) INTO in_flight FROM ${s}.queue WHERE state = 2;
  SELECT min(received_ms) INTO oldest_ms
  FROM (SELECT received_ms FROM ${s}.queue ORDER BY seq LIMIT ${String(OLDEST_AMONG)}) AS oldest;
  visited := ${visits(s, 'held', 'pkey')} - before;
END $$;
`;
