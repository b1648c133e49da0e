import { BackpressureError } from '@webhook-backpressure/base';

/** The error of a failed delivery; undefined when it was processed. */
export type BatchResult = { readonly error: unknown } | undefined;

/**
 * Reads what `processBatch` returned: in an array, an `Error`, a promise that rejects or a rejected result of
 * `Promise.allSettled` is a failure, and anything else is a success. Any other value than an array means that all
 * deliveries were processed.
 *
 * @throws BackpressureError `ERR_WBP_BATCH` for an array of another length: it is not clear which deliveries it means.
 */
export async function batchResults(returned: unknown, count: number): Promise<readonly BatchResult[]> {
  if (!Array.isArray(returned)) return Array.from<undefined>({ length: count });
  const results = returned as readonly unknown[];
  if (results.length !== count) {
    throw new BackpressureError(
      'ERR_WBP_BATCH',
      `processBatch() returned an array of ${String(results.length)} for ${String(count)} deliveries. Return nothing, or one result for each.`,
    );
  }
  // A function that maps deliveries to promises may forget to await them.
  const settled = await Promise.allSettled(results);
  return settled.map((one) => (one.status === 'rejected' ? { error: one.reason } : failureIn(one.value)));
}

function failureIn(value: unknown): BatchResult {
  if (value instanceof Error || Object.prototype.toString.call(value) === '[object Error]')
    return { error: value };
  if (typeof value !== 'object' || value === null) return undefined;
  const { status, reason } = value as { readonly status?: unknown; readonly reason?: unknown };
  return status === 'rejected' && 'reason' in value ? { error: reason } : undefined;
}
