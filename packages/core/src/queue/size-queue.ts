import { invalid } from '@webhook-backpressure/base';

/**
 * Computes the size of a queue: capacity = longest acceptable wait × drain rate.
 *
 * @param options - `latencyBudgetMs`: the longest acceptable wait, in milliseconds, above 0. `drainRate`: completions
 * per second that the workers sustain, above 0. `bytesPerItem`: the memory of one queued delivery, in bytes, at least 0:
 * about 1 KiB for the objects of this library and of the framework, plus the body if a parser reads it first. In
 * addition, Node buffers up to 64 KiB of unread body for each queued request.
 * @returns `capacity` in deliveries, at least 1, and `memoryBytes`, the memory of a full queue.
 * @throws BackpressureError `ERR_WBP_SIZE_QUEUE`
 *
 * @example
 * ```ts
 * sizeQueue({ latencyBudgetMs: 2000, drainRate: 200, bytesPerItem: 1024 }) // { capacity: 400, memoryBytes: 409600 }
 * ```
 */
export function sizeQueue(options: { latencyBudgetMs: number; drainRate: number; bytesPerItem: number }): {
  capacity: number;
  memoryBytes: number;
} {
  const { latencyBudgetMs, drainRate, bytesPerItem } = options;
  const check = (name: string, value: number, isAllowed: boolean, rule: string): void => {
    if (!Number.isFinite(value) || !isAllowed) throw invalid('ERR_WBP_SIZE_QUEUE', name, rule, value);
  };
  check('latencyBudgetMs', latencyBudgetMs, latencyBudgetMs > 0, 'a number of milliseconds above 0');
  check('drainRate', drainRate, drainRate > 0, 'a number of completions per second above 0');
  check('bytesPerItem', bytesPerItem, bytesPerItem >= 0, 'a number of bytes of at least 0');
  const capacity = Math.max(1, Math.floor((latencyBudgetMs * drainRate) / 1000));
  return { capacity, memoryBytes: Math.ceil(capacity * bytesPerItem) };
}
