import { plpgsql } from './function.ts';
import { SLOTS } from './tables.ts';

/** Adds to a slot that no other transaction has locked. Call it last: other rows are locked before slots. */
export const addTotals = (s: string): string =>
  plpgsql(
    `${s}.add_totals_v1`,
    `p_depth bigint, p_bytes bigint, p_shelved bigint, p_shelved_bytes bigint, p_remembered bigint,
  p_kept bigint, p_kept_bytes bigint, p_drained bigint DEFAULT 0`,
    {
      returns: 'void',
      declare: `
  my_first integer;
  my_slot integer;`,
      body: `
  LOOP
    SELECT first_slot INTO my_first FROM ${s}.meta;
    SELECT slot INTO my_slot FROM ${s}.totals WHERE slot >= my_first LIMIT 1 FOR UPDATE SKIP LOCKED;
    UPDATE ${s}.totals SET depth = depth + p_depth, bytes = bytes + p_bytes, shelved = shelved + p_shelved,
      shelved_bytes = shelved_bytes + p_shelved_bytes, remembered = remembered + p_remembered,
      kept = kept + p_kept, kept_bytes = kept_bytes + p_kept_bytes, drained = drained + p_drained
    WHERE slot = coalesce(my_slot, my_first + pg_backend_pid() % ${String(SLOTS)});
    -- Not found: meanwhile the slots were replaced.
    EXIT WHEN FOUND;
  END LOOP;`,
    },
  );

/** Locks all slots, so that every put that has counted is seen and no other counts until the commit. */
export const lockTotals = (s: string): string =>
  plpgsql(`${s}.lock_totals_v1`, '', {
    returns: 'void',
    declare: 'locked integer;',
    body: `
  LOOP
    PERFORM 1 FROM ${s}.totals WHERE slot >= (SELECT first_slot FROM ${s}.meta) ORDER BY slot FOR UPDATE;
    GET DIAGNOSTICS locked = ROW_COUNT;
    -- Fewer: meanwhile the slots were replaced.
    EXIT WHEN locked = ${String(SLOTS)};
  END LOOP;`,
  });

/**
 * Replaces the slots by new rows. While a transaction is open, PostgreSQL keeps every earlier version of a row that the
 * transaction might read, and an update has to pass all of them: after 300,000 puts it would take 100 ms.
 */
export const replaceTotals = (s: string): string =>
  plpgsql(`${s}.replace_totals_v1`, 'p_first integer', {
    returns: 'void',
    body: `
  -- One of several that do it at the same time is enough.
  PERFORM 1 FROM ${s}.meta WHERE first_slot = p_first FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM ${s}.lock_totals_v1();
  INSERT INTO ${s}.totals
    (slot, depth, bytes, shelved, shelved_bytes, remembered, kept, kept_bytes, drained)
  SELECT slot + ${String(SLOTS)}, depth, bytes, shelved, shelved_bytes, remembered, kept, kept_bytes, drained
  FROM ${s}.totals WHERE slot >= p_first;
  DELETE FROM ${s}.totals WHERE slot < p_first + ${String(SLOTS)};
  UPDATE ${s}.meta SET first_slot = p_first + ${String(SLOTS)};`,
  });

/** The slots that are used, found by the index: a plan for a small table would read all earlier versions. */
export const slots = (s: string): string =>
  plpgsql(`${s}.slots_v1`, '', {
    returns: `SETOF ${s}.totals`,
    body: `
  RETURN QUERY SELECT * FROM ${s}.totals WHERE slot >= (SELECT first_slot FROM ${s}.meta);`,
  });
