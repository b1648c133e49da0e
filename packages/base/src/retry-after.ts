import { DAY_MS } from './checks.ts';
import { invalid } from './errors.ts';

/** In the global registry, so that every copy of this package recognizes the errors of the others. */
const RETRY_AFTER = Symbol.for('webhook-backpressure.retry-after');

/** The longest delay of a `RetryAfter`, in milliseconds. */
export const MAX_RETRY_AFTER_MS: number = DAY_MS;

/**
 * Thrown by `process` to retry the delivery after this time instead of the delay of `retry`. The attempt counts, so after
 * the last one the delivery moves to the dead-letter queue.
 */
export class RetryAfter extends Error {
  /** From 0 to 86,400. */
  readonly seconds: number;

  /**
   * @param seconds - from 0 to 86,400. The retry starts then, or later if all workers are busy.
   * @throws BackpressureError `ERR_WBP_RETRY_SECONDS` for any other value: the attempt then fails with that error, and
   * the delay of `retry` applies.
   */
  constructor(seconds: number, message?: string, options?: { cause?: unknown }) {
    if (!isDelay(seconds)) {
      throw invalid('ERR_WBP_RETRY_SECONDS', 'seconds', 'a number of seconds from 0 to 86,400', seconds);
    }
    super(message ?? `The handler asked for another attempt after ${String(seconds)} s.`, options);
    this.name = 'RetryAfter';
    this.seconds = seconds;
    Object.defineProperty(this, RETRY_AFTER, { value: true });
  }
}

/** The delay of a `RetryAfter` in milliseconds; undefined for any other object. A getter of it may throw. */
export function retryAfterMsOf(thrown: object): number | undefined {
  const marks = thrown as { [RETRY_AFTER]?: unknown; seconds?: unknown };
  if (marks[RETRY_AFTER] !== true) return undefined;
  const { seconds } = marks;
  return isDelay(seconds) ? Math.ceil(seconds * 1000) : undefined;
}

function isDelay(seconds: unknown): seconds is number {
  return typeof seconds === 'number' && seconds >= 0 && seconds * 1000 <= MAX_RETRY_AFTER_MS;
}
