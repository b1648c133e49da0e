import { PLPGSQL } from './plpgsql.ts';

const PORTION = 'p_limit bigint, p_max_bytes double precision';
const MOVED = 'TABLE (key text, id text, bytes double precision)';
const DEAD_ORDER = 'shelved_ms, seq';

/** The variables of {@link take}. */
const TAKEN = `seqs bigint[];
  keys text[];
  ids text[];
  sizes bigint[];
  total bigint;`;

/**
 * Locks the rows of a portion, in the order of the list: up to `p_limit`, and all but the first within `p_max_bytes`. Ends
 * the function if there are none.
 */
const take = (table: string, order: string, which: string): string => `
  SELECT array_agg(d.seq ORDER BY d.nth), array_agg(d.key ORDER BY d.nth), array_agg(d.id ORDER BY d.nth),
    array_agg(d.bytes ORDER BY d.nth), sum(d.bytes)
  INTO seqs, keys, ids, sizes, total
  FROM (
    SELECT *, sum(bytes) OVER (ORDER BY ${order}) AS bytes_so_far, row_number() OVER (ORDER BY ${order}) AS nth
    FROM (
      SELECT * FROM ${table} AS t
      WHERE (p_key IS NULL OR t.key = p_key) AND (p_id IS NULL OR t.id = p_id) AND ${which}
      ORDER BY ${order} LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) AS locked
  ) AS d WHERE d.nth = 1 OR d.bytes_so_far <= p_max_bytes;
  IF seqs IS NULL THEN RETURN; END IF;`;

const RETURN_TAKEN =
  'RETURN QUERY SELECT p.key, p.id, p.size::double precision FROM unnest(keys, ids, sizes) AS p(key, id, size);';

/** Puts the taken deliveries back into the queue. */
const queueAgain = (s: string): string => `
  IF (SELECT is_ordered FROM ${s}.meta) THEN
    INSERT INTO ${s}.heads AS h (key, seq)
    SELECT DISTINCT ON (p.key) p.key, p.seq FROM unnest(keys, seqs) WITH ORDINALITY AS p(key, seq, at)
    ORDER BY p.key, p.at
    ON CONFLICT (key) DO UPDATE SET seq = h.seq;
  END IF;
  INSERT INTO ${s}.queue (seq, key, state, due_ms, received_ms, bytes)
  SELECT c.seq, c.key,
    CASE WHEN m.is_ordered AND NOT EXISTS (SELECT FROM ${s}.heads h WHERE h.key = c.key AND h.seq = c.seq)
      THEN 4 ELSE 0 END,
    p_now_ms, c.received_ms, c.bytes
  FROM ${s}.contents c CROSS JOIN ${s}.meta m WHERE c.seq = ANY (seqs);`;

/** Functions on dead letters, completed deliveries and ids. */
export const finished = (s: string): string => `
CREATE FUNCTION ${s}.redrive_v1(
  p_id text, p_key text, ${PORTION}, p_up_to double precision, p_now_ms double precision) RETURNS ${MOVED}
${PLPGSQL}
DECLARE
  ${TAKEN}
BEGIN
  LOCK TABLE ${s}.queue IN ROW EXCLUSIVE MODE;
  ${take(`${s}.dead_letters`, DEAD_ORDER, 't.shelved_ms <= p_up_to')}
  DELETE FROM ${s}.dead_letters WHERE seq = ANY (seqs);
${queueAgain(s)}
  PERFORM ${s}.add_totals_v1(cardinality(seqs), total, -cardinality(seqs), -total, 0, 0, 0);
  ${RETURN_TAKEN}
END $$;

CREATE FUNCTION ${s}.purge_v1(
  p_id text, p_key text, ${PORTION}, p_up_to double precision, p_before_ms double precision) RETURNS ${MOVED}
${PLPGSQL}
DECLARE
  ${TAKEN}
BEGIN
  ${take(`${s}.dead_letters`, DEAD_ORDER, 't.shelved_ms <= p_up_to AND t.shelved_ms < p_before_ms')}
  DELETE FROM ${s}.dead_letters WHERE seq = ANY (seqs);
  DELETE FROM ${s}.ids i USING ${s}.contents c WHERE c.seq = ANY (seqs) AND i.hash = c.hash;
  DELETE FROM ${s}.contents WHERE seq = ANY (seqs);
  PERFORM ${s}.add_totals_v1(0, 0, -cardinality(seqs), -total, 0, 0, 0);
  ${RETURN_TAKEN}
END $$;

CREATE FUNCTION ${s}.replay_v1(
  p_id text, p_key text, ${PORTION}, p_up_to double precision, p_now_ms double precision) RETURNS ${MOVED}
${PLPGSQL}
DECLARE
  ${TAKEN}
  n_forgotten bigint;
BEGIN
  LOCK TABLE ${s}.queue IN ROW EXCLUSIVE MODE;
  ${take(`${s}.kept`, 'at', 't.at <= p_up_to')}
  WITH forgotten AS (
    UPDATE ${s}.ids i SET completed_ms = NULL FROM ${s}.contents c
    WHERE c.seq = ANY (seqs) AND i.hash = c.hash AND i.completed_ms IS NOT NULL RETURNING 1
  ) SELECT count(*) INTO n_forgotten FROM forgotten;
  DELETE FROM ${s}.kept WHERE seq = ANY (seqs);
${queueAgain(s)}
  PERFORM ${s}.add_totals_v1(cardinality(seqs), total, 0, 0, -n_forgotten, -cardinality(seqs), -total);
  ${RETURN_TAKEN}
END $$;

-- Deletes the oldest kept deliveries, by age and then by bytes. Ids that are no longer remembered go with them.
CREATE FUNCTION ${s}.drop_kept_v1(
  ${PORTION}, p_before_ms double precision, p_keep_bytes double precision) RETURNS ${MOVED}
${PLPGSQL}
DECLARE
  one record;
  seqs bigint[] := '{}';
  kept_bytes double precision := (SELECT sum(kept_bytes) FROM ${s}.totals);
  dropped_bytes bigint := 0;
BEGIN
  FOR one IN SELECT * FROM ${s}.kept ORDER BY at LIMIT p_limit FOR UPDATE SKIP LOCKED LOOP
    EXIT WHEN one.completed_ms >= p_before_ms AND kept_bytes - dropped_bytes <= p_keep_bytes;
    EXIT WHEN cardinality(seqs) > 0 AND dropped_bytes + one.bytes > p_max_bytes;
    seqs := seqs || one.seq;
    dropped_bytes := dropped_bytes + one.bytes;
    key := one.key;
    id := one.id;
    bytes := one.bytes;
    RETURN NEXT;
  END LOOP;
  IF cardinality(seqs) = 0 THEN RETURN; END IF;
  DELETE FROM ${s}.kept WHERE seq = ANY (seqs);
  DELETE FROM ${s}.ids i USING ${s}.contents c
  WHERE c.seq = ANY (seqs) AND i.hash = c.hash AND i.completed_ms IS NULL;
  DELETE FROM ${s}.contents WHERE seq = ANY (seqs);
  PERFORM ${s}.add_totals_v1(0, 0, 0, 0, 0, -cardinality(seqs), -dropped_bytes);
END $$;

-- Forgets completed ids, the oldest first. One whose delivery is kept stays a duplicate.
CREATE FUNCTION ${s}.forget_v1(
  p_before_ms double precision, p_keep double precision, p_limit bigint) RETURNS bigint
${PLPGSQL}
DECLARE
  hashes uuid[];
  n_excess bigint;
  n_forgotten bigint;
BEGIN
  SELECT least(p_limit, greatest(0, sum(remembered) - p_keep)) INTO n_excess FROM ${s}.totals;
  hashes := ARRAY(SELECT hash FROM (
    SELECT hash, completed_ms, row_number() OVER (ORDER BY completed_ms) AS nth FROM (
      SELECT hash, completed_ms FROM ${s}.ids WHERE completed_ms IS NOT NULL
      ORDER BY completed_ms LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) AS oldest
  ) AS counted WHERE completed_ms < p_before_ms OR nth <= n_excess);
  n_forgotten := cardinality(hashes);
  IF n_forgotten = 0 THEN RETURN 0; END IF;
  UPDATE ${s}.ids i SET completed_ms = NULL
  WHERE i.hash = ANY (hashes) AND EXISTS (SELECT FROM ${s}.kept k WHERE k.seq = i.seq);
  DELETE FROM ${s}.ids WHERE hash = ANY (hashes) AND completed_ms IS NOT NULL;
  PERFORM ${s}.add_totals_v1(0, 0, 0, 0, -n_forgotten, 0, 0);
  RETURN n_forgotten;
END $$;

CREATE FUNCTION ${s}.forget_id_v1(p_hash uuid) RETURNS boolean
${PLPGSQL}
DECLARE
  known record;
  kept_bytes bigint;
BEGIN
  SELECT * INTO known FROM ${s}.ids WHERE hash = p_hash FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM ${s}.kept WHERE seq = known.seq RETURNING bytes INTO kept_bytes;
  IF known.completed_ms IS NULL AND kept_bytes IS NULL THEN RETURN false; END IF;
  IF kept_bytes IS NOT NULL THEN DELETE FROM ${s}.contents WHERE seq = known.seq; END IF;
  DELETE FROM ${s}.ids WHERE hash = p_hash;
  PERFORM ${s}.add_totals_v1(0, 0, 0, 0, CASE WHEN known.completed_ms IS NULL THEN 0 ELSE -1 END,
    CASE WHEN kept_bytes IS NULL THEN 0 ELSE -1 END, coalesce(-kept_bytes, 0));
  RETURN true;
END $$;
`;
