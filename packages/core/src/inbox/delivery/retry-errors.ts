import { DAY_MS } from '../../checks.ts';
import { invalid } from '../../errors.ts';

/** Of the registry that all copies of this package share: an error of one copy is recognised by another. */
const UNRECOVERABLE = Symbol.for('webhook-backpressure.unrecoverable');
const RETRY_AFTER = Symbol.for('webhook-backpressure.retry-after');

/** The longest delay that a handler can ask for, in milliseconds. */
export const LONGEST_ASKED_MS: number = DAY_MS;

/**
 * Thrown by `process`: no other attempt would succeed, so the delivery goes to the shelf immediately, whatever attempts
 * it has left.
 */
export class Unrecoverable extends Error {
  /** @param message - kept on the shelf as the error of the delivery. */
  constructor(message?: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'Unrecoverable';
    Object.defineProperty(this, UNRECOVERABLE, { value: true });
  }
}

/**
 * Thrown by `process`: the attempt has failed, and the next one is made when this time has passed, in place of the
 * delay of `retry`. It counts as an attempt, so after the last one the delivery goes to the shelf.
 */
export class RetryAfter extends Error {
  /** From 0 to 86,400. */
  readonly seconds: number;

  /**
   * @param seconds - from 0 to 86,400. The next attempt is never made earlier; it may be later when all workers are busy.
   * @throws BackpressureError `ERR_WBP_RETRY_SECONDS` for anything else: the attempt then fails with that error, and the
   * delay of `retry` applies.
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

/** What a handler has thrown, as far as it decides what follows. */
export interface Wish {
  readonly isUnrecoverable: boolean;
  /** The delay that it asked for; undefined where it asked for none. */
  readonly delayMs: number | undefined;
}

/** Anything may have been thrown, also an object whose properties throw when they are read. */
export function wishOf(error: unknown): Wish {
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
    // It says nothing that could be read.
  }
  return { isUnrecoverable: false, delayMs: undefined };
}

function isDelay(seconds: unknown): seconds is number {
  return typeof seconds === 'number' && seconds >= 0 && seconds * 1000 <= LONGEST_ASKED_MS;
}
