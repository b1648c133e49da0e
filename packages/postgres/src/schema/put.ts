import { PLPGSQL, WAIT_FOR_DISK } from './plpgsql.ts';

/** Stores new deliveries. */
export const put = (s: string): string => `
-- Stores a batch. Rows of ids are locked in the order of their hashes, so that two batches that share ids never wait for
-- each other.
--
-- Far from a limit, a put counts in any slot, and puts of other connections are not seen until they commit. Near it, a
-- put locks all slots and sees every other. The distance is that of 16 puts of 64 deliveries, or a sixteenth.
CREATE FUNCTION ${s}.put_v1(
  p_hashes uuid[], p_keys text[], p_ids text[], p_are_generated boolean[], p_senders text[], p_facts text[],
  p_received_ms double precision[], p_sizes double precision[], p_sums double precision[],
  p_starts integer[], p_lengths integer[], p_bodies bytea, p_are_overflows boolean[], p_now_ms double precision,
  p_capacity double precision, p_max_bytes double precision,
  p_max_shelved double precision, p_max_shelved_bytes double precision,
  OUT results text[], OUT known_sums double precision[], OUT server_ms double precision, OUT first_slot integer,
  OUT visited bigint)
${PLPGSQL}
DECLARE
  n integer := cardinality(p_hashes);
  batch_bytes double precision := (SELECT coalesce(sum(size), 0) FROM unnest(p_sizes) size);
  seqs bigint[];
  fresh bigint[];
  ordered boolean;
  room record;
  is_near boolean;
  new_depth bigint := 0;
  new_bytes bigint := 0;
  new_shelved bigint := 0;
  new_shelved_bytes bigint := 0;
BEGIN
  ${WAIT_FOR_DISK}
  -- Waits for a change of the order to end, before the order is read.
  LOCK TABLE ${s}.queue IN ROW EXCLUSIVE MODE;
  SELECT m.is_ordered, m.first_slot INTO ordered, first_slot FROM ${s}.meta m;
  visited := -pg_stat_get_xact_tuples_returned('${s}.totals_pkey'::regclass);
  seqs := ARRAY(SELECT nextval('${s}.delivery_seq') FROM generate_series(1, n));
  WITH added AS (
    INSERT INTO ${s}.ids AS i (hash, seq, sum, is_generated)
    SELECT p.hash, p.seq, p.sum, p.is_generated
    FROM unnest(p_hashes, seqs, p_sums, p_are_generated) AS p(hash, seq, sum, is_generated)
    ORDER BY p.hash
    ON CONFLICT (hash) DO NOTHING
    RETURNING i.seq
  ) SELECT coalesce(array_agg(seq), '{}') INTO fresh FROM added;
  known_sums := ARRAY(
    SELECT i.sum FROM unnest(p_hashes) WITH ORDINALITY AS p(hash, at)
    LEFT JOIN ${s}.ids i ON i.hash = p.hash ORDER BY p.at);

  SELECT sum(depth) AS depth, sum(bytes) AS bytes, sum(shelved) AS shelved, sum(shelved_bytes) AS shelved_bytes
  INTO room FROM ${s}.totals t WHERE t.slot >= put_v1.first_slot;
  is_near := room.depth + n > p_capacity - greatest(1024, p_capacity / 16)
    OR room.bytes + batch_bytes > p_max_bytes * 15 / 16
    OR (true = ANY (p_are_overflows) AND (
      room.shelved + n > p_max_shelved - greatest(1024, p_max_shelved / 16)
      OR room.shelved_bytes + batch_bytes > p_max_shelved_bytes * 15 / 16));
  IF is_near THEN
    -- Heads are locked before slots everywhere.
    IF ordered THEN PERFORM 1 FROM ${s}.heads WHERE key = ANY (p_keys) ORDER BY key FOR UPDATE; END IF;
    PERFORM ${s}.lock_totals_v1();
    SELECT sum(depth) AS depth, sum(bytes) AS bytes, sum(shelved) AS shelved, sum(shelved_bytes) AS shelved_bytes
    INTO room FROM ${s}.totals t WHERE t.slot >= put_v1.first_slot;
  END IF;

  FOR at IN 1..n LOOP
    IF NOT seqs[at] = ANY (fresh) THEN
      results[at] := 'duplicate';
    ELSIF p_are_overflows[at] THEN
      IF room.shelved + new_shelved + 1 <= p_max_shelved
        AND room.shelved_bytes + new_shelved_bytes + p_sizes[at] <= p_max_shelved_bytes THEN
        results[at] := 'shelved';
        new_shelved := new_shelved + 1;
        new_shelved_bytes := new_shelved_bytes + p_sizes[at];
      ELSE
        results[at] := 'full';
      END IF;
    ELSIF room.depth + new_depth + 1 <= p_capacity AND room.bytes + new_bytes + p_sizes[at] <= p_max_bytes THEN
      results[at] := 'queued';
      new_depth := new_depth + 1;
      new_bytes := new_bytes + p_sizes[at];
    ELSE
      results[at] := 'full';
    END IF;
  END LOOP;

  IF 'full' = ANY (results) THEN
    DELETE FROM ${s}.ids i USING unnest(p_hashes, seqs, results) AS p(hash, seq, result)
    WHERE i.hash = p.hash AND i.seq = p.seq AND p.result = 'full';
  END IF;
  IF new_depth + new_shelved > 0 THEN
    INSERT INTO ${s}.contents (seq, hash, key, id, is_generated, sender, facts, received_ms, bytes, body)
    SELECT p.seq, p.hash, p.key, p.id, p.is_generated, p.sender, p.facts, p.received_ms, p.size,
      substring(p_bodies FROM p.start FOR p.length)
    FROM unnest(seqs, p_hashes, p_keys, p_ids, p_are_generated, p_senders, p_facts, p_received_ms, p_sizes,
      p_starts, p_lengths, results) AS p(seq, hash, key, id, is_generated, sender, facts, received_ms, size,
      start, length, result)
    WHERE p.result IN ('queued', 'shelved');
  END IF;
  IF ordered AND new_depth > 0 THEN
    -- Locks the head of the key: when it ends, it sees the new ones behind it.
    INSERT INTO ${s}.heads AS h (key, seq)
    SELECT p.key, min(p.seq) FROM unnest(p_keys, seqs, results) AS p(key, seq, result)
    WHERE p.result = 'queued' GROUP BY p.key ORDER BY p.key
    ON CONFLICT (key) DO UPDATE SET seq = h.seq;
  END IF;
  INSERT INTO ${s}.queue (seq, key, state, due_ms, received_ms, bytes)
  SELECT p.seq, p.key,
    CASE WHEN ordered AND NOT EXISTS (SELECT FROM ${s}.heads h WHERE h.key = p.key AND h.seq = p.seq)
      THEN 4 ELSE 0 END,
    p_now_ms, p.received_ms, p.size
  FROM unnest(seqs, p_keys, p_received_ms, p_sizes, results) AS p(seq, key, received_ms, size, result)
  WHERE p.result = 'queued';
  INSERT INTO ${s}.dead_letters (seq, key, id, reason, error, attempts, bytes, shelved_ms)
  SELECT p.seq, p.key, p.id, 'overflow', '', 0, p.size, p_now_ms
  FROM unnest(seqs, p_keys, p_ids, p_sizes, results) AS p(seq, key, id, size, result)
  WHERE p.result = 'shelved';
  IF new_depth + new_shelved > 0 THEN
    PERFORM ${s}.add_totals_v1(new_depth, new_bytes, new_shelved, new_shelved_bytes, 0, 0, 0);
  END IF;
  visited := visited + pg_stat_get_xact_tuples_returned('${s}.totals_pkey'::regclass);
  server_ms := extract(epoch FROM clock_timestamp()) * 1000;
END $$;
`;
