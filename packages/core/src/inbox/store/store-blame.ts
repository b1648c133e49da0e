import { BackpressureError, thrownText } from '../../errors.ts';

/**
 * Whose fault it is that a call of the store has failed.
 *
 * - `store`: any other batch would have failed as well
 * - `value`: something of one delivery cannot be kept
 * - `unknown`: by a store that does not say
 */
export type Blame = 'store' | 'value' | 'unknown';

export function blameOf(error: unknown): Blame {
  if (!(error instanceof BackpressureError)) return 'unknown';
  return error.code === 'ERR_WBP_STORE_VALUE' ? 'value' : 'store';
}

/** What a delivery is refused with when the store has kept all that were with it. */
export function valueError(error: unknown): BackpressureError {
  if (error instanceof BackpressureError) return error;
  const reason = error instanceof Error ? error.message : thrownText(error);
  return new BackpressureError('ERR_WBP_STORE_VALUE', `The store cannot keep a delivery: ${reason}`, {
    cause: error,
  });
}
