import { BackpressureError, errorMessageOf, show } from '@webhook-backpressure/base';
import type { PutResult } from '../store/receiving-store.ts';

/**
 * Why a call of the store failed.
 *
 * - `store`: the store does not work
 * - `value`: one delivery holds something that cannot be stored
 * - `unknown`: the error does not say
 */
export type StoreFault = 'store' | 'value' | 'unknown';

export function storeFaultOf(error: unknown): StoreFault {
  if (!(error instanceof BackpressureError)) return 'unknown';
  return error.code === 'ERR_WBP_STORE_VALUE' ? 'value' : 'store';
}

/** The error for a delivery that the store rejects while it stores the others of its batch. */
export function valueError(error: unknown): BackpressureError {
  if (error instanceof BackpressureError) return error;
  const sentence = `The store cannot store a delivery: ${errorMessageOf(error)}`;
  return new BackpressureError('ERR_WBP_STORE_VALUE', sentence, { cause: error });
}

/** Any other result of a store is an error, and never acknowledged. */
export function checkedPut(result: unknown): PutResult {
  if (result === 'stored' || result === 'duplicate' || result === 'conflict' || result === 'full')
    return result;
  throw new Error(`The store returned ${show(result)} for a put.`);
}
