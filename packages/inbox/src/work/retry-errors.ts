import { DAY_MS, invalid } from '@webhook-backpressure/base';

/** In the global registry, so that every copy of this package recognizes the errors of the others. */
const UNRECOVERABLE = Symbol.for('webhook-backpressure.unrecoverable');
const RETRY_AFTER = Symbol.for('webhook-backpressure.retry-after');

/** The longest delay of a `RetryAfter`, in milliseconds. */
export const LONGEST_RETRY_AFTER_MS: number = DAY_MS;

/**
 * Thrown by `process` when no retry would succeed: the delivery moves to the dead-letter queue immediately, regardless of
 * the attempts it has left.
 */
export class Unrecoverable extends Error {
  /** @param message - kept as the error of the dead letter. */
  constructor(message?: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'Unrecoverable';
    Object.defineProperty(this, UNRECOVERABLE, { value: true });
  }
}

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

/** What a thrown error says about the retry. */
export interface RetryInstruction {
  readonly isUnrecoverable: boolean;
  /** The delay of a `RetryAfter`; undefined for any other error. */
  readonly delayMs: number | undefined;
}

/** Reads a thrown value, which may be anything, even an object whose getters throw. */
export function retryInstructionOf(error: unknown): RetryInstruction {
  try {
    if (typeof error === 'object' && error !== null) {
      const marks = error as { [UNRECOVERABLE]?: unknown; [RETRY_AFTER]?: unknown; seconds?: unknown };
      if (marks[UNRECOVERABLE] === true) return { isUnrecoverable: true, delayMs: undefined };
      const { seconds } = marks;
      if (marks[RETRY_AFTER] === true && isDelay(seconds)) {
        return { isUnrecoverable: false, delayMs: Math.ceil(seconds * 1000) };
      }
    }
  } catch {
    // A getter of the thrown value threw, so the value names no retry: the ordinary delay applies.
  }
  return { isUnrecoverable: false, delayMs: undefined };
}

function isDelay(seconds: unknown): seconds is number {
  return typeof seconds === 'number' && seconds >= 0 && seconds * 1000 <= LONGEST_RETRY_AFTER_MS;
}
