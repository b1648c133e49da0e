import { plpgsql } from './function.ts';

/** Converts the queue when the order changes. Waits for puts and settlements, and they wait for it. */
export const setOrder = (s: string): string =>
  plpgsql(`${s}.set_order_v1`, 'p_is_ordered boolean, p_now_ms double precision', {
    returns: 'void',
    body: `
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
  END IF;`,
  });

/** Gives back the claims of an owner. */
export const leave = (s: string): string =>
  plpgsql(`${s}.leave_v1`, 'p_owner bigint, p_now_ms double precision', {
    returns: 'void',
    body: `
  UPDATE ${s}.queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END, attempts = attempts - 1,
    due_ms = least(due_ms, p_now_ms), owner = NULL, lease_ms = NULL
  WHERE state = 2 AND owner = p_owner;`,
  });
