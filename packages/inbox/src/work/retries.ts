import { retryAfterMsOf } from '@webhook-backpressure/base';
import type { InboxSettings } from '../options/inbox-settings.ts';

/** In the global registry, so that every copy of this package recognizes the errors of the others. */
const UNRECOVERABLE = Symbol.for('webhook-backpressure.unrecoverable');

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
      const { [UNRECOVERABLE]: isUnrecoverable } = error as { [UNRECOVERABLE]?: unknown };
      if (isUnrecoverable === true) return { isUnrecoverable, delayMs: undefined };
      return { isUnrecoverable: false, delayMs: retryAfterMsOf(error) };
    }
  } catch {
    // A getter of the thrown value threw, so the value names no retry: the ordinary delay applies.
  }
  return { isUnrecoverable: false, delayMs: undefined };
}

/**
 * The shortest delay as a fraction of the longest: a delay near 0 would repeat a call to a service that has just failed.
 * Above it delays are random, so that deliveries that failed together are not retried together.
 */
const FLOOR = 0.5;
/** After this number of doublings any first delay exceeds the longest one. Without the limit 0 × ∞ would be NaN. */
const MAX_DOUBLINGS = 60;
/** After this time its key is expected to be gone: the dead-letter queue keeps the delivery without filling the inbox. */
const KEY_WAIT_MS = 259_200_000;
/** How late a delivery may be handled after its key was deployed. */
const MAX_KEY_DELAY_MS = 60_000;

/** The delay after the n-th attempt in whole milliseconds: random, from half of a bound that doubles each time. */
export function retryDelayMs(attempt: number, retry: InboxSettings['retry'], random: () => number): number {
  const doublings = Math.min(MAX_DOUBLINGS, attempt - 1);
  const boundMs = Math.min(retry.maxDelayMs, retry.firstDelayMs * 2 ** doublings);
  return spread(boundMs, random);
}

/**
 * The delay after an attempt without the encryption key, by the age of the delivery: a deployment may bring the key within
 * seconds or days. Undefined after three days: the attempt counts.
 */
export function missingKeyDelayMs(
  ageMs: number,
  { firstDelayMs, maxDelayMs }: InboxSettings['retry'],
  random: () => number,
): number | undefined {
  if (ageMs >= KEY_WAIT_MS) return undefined;
  return spread(Math.min(maxDelayMs, MAX_KEY_DELAY_MS, Math.max(firstDelayMs, ageMs)), random);
}

function spread(boundMs: number, random: () => number): number {
  return Math.floor(boundMs * (FLOOR + (1 - FLOOR) * random()));
}
