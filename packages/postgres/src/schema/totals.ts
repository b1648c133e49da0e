import { plpgsql } from './function.ts';
import { SLOTS } from './tables.ts';

/** Adds to a slot that no other transaction has locked. Call it last: other rows are locked before slots. */
export const addTotals = (s: string): string =>
  plpgsql(
    `${s}.add_totals_v1`,
    `p_depth bigint, p_bytes bigint, p_shelved bigint, p_shelved_bytes bigint, p_remembered bigint,
  p_kept bigint, p_kept_bytes bigint`,
    {
      returns: 'void',
      declare: 'my_slot integer;',
      body: `
  SELECT slot INTO my_slot FROM ${s}.totals LIMIT 1 FOR UPDATE SKIP LOCKED;
  UPDATE ${s}.totals SET depth = depth + p_depth, bytes = bytes + p_bytes, shelved = shelved + p_shelved,
    shelved_bytes = shelved_bytes + p_shelved_bytes, remembered = remembered + p_remembered,
    kept = kept + p_kept, kept_bytes = kept_bytes + p_kept_bytes
  WHERE slot = coalesce(my_slot, pg_backend_pid() % ${String(SLOTS)});`,
    },
  );
