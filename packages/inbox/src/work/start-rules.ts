import { invalidResult, MAX_RETRY_AFTER_MS } from '@webhook-backpressure/base';
import type { InboxState } from '../capacity/inbox-state.ts';
import { inboxDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import type { HandlerRun } from './handler-run.ts';

/** Decides whether a claimed delivery may start: not before its time, and not after its time to live. */
export class StartRules {
  readonly #inbox: InboxState;
  readonly #ttlMs: InboxOptions['ttlMs'];

  constructor(inbox: InboxState, ttlMs: InboxOptions['ttlMs']) {
    this.#inbox = inbox;
    this.#ttlMs = ttlMs;
  }

  /**
   * When to claim the delivery again, in ms since 1970; undefined when it may start now. At most a day ahead: maintenance
   * takes a later due time for one of a clock that was ahead.
   */
  heldUntilMs({ notBeforeMs = 0 }: ClaimedDelivery): number | undefined {
    const nowMs = this.#inbox.wall.trustedMs();
    return notBeforeMs > nowMs ? Math.min(notBeforeMs, nowMs + MAX_RETRY_AFTER_MS) : undefined;
  }

  /** The error of a delivery that is not started any more: it has no attempt left, or has expired. Else undefined. */
  lastErrorOf({ claimed, countedAttempts }: HandlerRun): string | undefined {
    if (countedAttempts > this.#inbox.settings.retry.attempts)
      return `The process ended during the last of ${String(countedAttempts - 1)} attempts, or retry.attempts was lowered since.`;
    return this.heldUntilMs(claimed) === undefined ? this.expiryOf(claimed) : undefined;
  }

  /**
   * The error of a delivery that was not started within its time to live, else undefined.
   *
   * @param opened - the decrypted delivery. Without it, only a time to live that is a number is checked.
   * @throws BackpressureError `ERR_WBP_CALLBACK` when `ttlMs` returns something else than a number.
   */
  expiryOf(claimed: ClaimedDelivery, opened?: ClaimedDelivery): string | undefined {
    // A later attempt, and one whose process ended: it was started.
    if (this.#ttlMs === undefined || claimed.attempt > 1) return undefined;
    const ttlMs = this.#ttlOf(opened);
    if (ttlMs === undefined) return undefined;
    const { receivedAtMs, notBeforeMs = 0 } = claimed;
    const ageMs = this.#inbox.wall.trustedMs() - Math.max(receivedAtMs, notBeforeMs);
    return ageMs > ttlMs ? `Expired: it was not started within ttlMs (${String(ttlMs)} ms).` : undefined;
  }

  #ttlOf(opened: ClaimedDelivery | undefined): number | undefined {
    if (typeof this.#ttlMs !== 'function') return this.#ttlMs;
    if (opened === undefined) return undefined;
    const ttlMs: unknown = this.#ttlMs(inboxDelivery(opened));
    if (typeof ttlMs === 'number' && ttlMs >= 0) return ttlMs;
    throw invalidResult('ERR_WBP_CALLBACK', 'ttlMs', 'a number of milliseconds of at least 0', ttlMs);
  }
}
