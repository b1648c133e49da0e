import { isThenable, showWarning } from '@webhook-backpressure/base';
import { type BucketLimit, type Buckets, LocalBuckets, type TokenGrant } from '@webhook-backpressure/fleet';
import type { InboxState } from '../capacity/inbox-state.ts';
import { askLimits, CAUTIOUS } from '../options/key-limits.ts';
import { LIMITS_MS, type Turn, UNKNOWN } from './key-turns.ts';

/** Buckets without a token say when there is one, and it may be there already. */
const MIN_WAIT_MS = 1;
/** The delay of the next try when buckets reject, although they should not. */
const RECHECK_MS = 250;

/** Asks for the limits of keys, and takes and returns the tokens of their rates. */
export class KeyTokens {
  readonly #inbox: InboxState;
  readonly #buckets: Buckets;
  #hasWarned = false;

  constructor(inbox: InboxState) {
    const { fixtures, clock, random } = inbox;
    this.#inbox = inbox;
    this.#buckets = fixtures.buckets ?? new LocalBuckets();
    this.#buckets.open?.({ clock, random, listener: () => undefined });
  }

  /** Asks for the limits of a key, if they may have changed. */
  ask(turn: Turn, nowMs: number): void {
    const { settings, fixtures } = this.#inbox;
    const { limits } = settings;
    if (nowMs - turn.askedAtMs < LIMITS_MS || limits === undefined) return;
    turn.askedAtMs = nowMs;
    const answer = askLimits(limits, turn.key, fixtures.isOrdered === true);
    if (typeof answer !== 'string') {
      // A faster rate may have a token now.
      if (!isSame(answer.rate, turn.limit.rate)) turn.tokenAtMs = -Infinity;
      turn.limit = answer;
      return;
    }
    if (turn.limit === UNKNOWN) turn.limit = CAUTIOUS;
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    showWarning(
      'WBP_LIMITS_FAILED',
      `The function limits failed for a key: ${answer} The last limits of the key apply, or else one delivery at a time and one per second. This is reported once.`,
    );
  }

  /** Takes tokens for the key, and notes when there are more. Returns how many it got. */
  take(turn: Turn, count: number, rate: BucketLimit): number | PromiseLike<number> {
    const grant = this.#buckets.take(bucketOf(turn.key), count, rate);
    if (!isThenable(grant)) return this.#granted(turn, count, grant);
    return grant
      .then(undefined, () => ({ taken: 0, waitMs: RECHECK_MS }))
      .then((one) => this.#granted(turn, count, one));
  }

  /** Tokens that were taken are used now. Returns how many may be: the claims in between may have taken long. */
  use(key: string, count: number, rate: BucketLimit): number | PromiseLike<number> {
    const usable = this.#buckets.use?.(bucketOf(key), count, rate) ?? count;
    return isThenable(usable) ? usable.then(undefined, () => 0) : usable;
  }

  giveBack(key: string, count: number, rate: BucketLimit): void {
    this.#buckets.giveBack(bucketOf(key), count, rate);
  }

  /** No process that shares the buckets starts anything of the key. */
  pause(key: string, forMs: number, rate: BucketLimit): void {
    this.#buckets.pause(bucketOf(key), forMs, rate);
  }

  forget(key: string): void {
    this.#buckets.forget(bucketOf(key));
  }

  /** Releases timers. */
  close(): void {
    this.#buckets.close?.();
  }

  #granted(turn: Turn, wanted: number, { taken, waitMs }: TokenGrant): number {
    if (taken < wanted) turn.tokenAtMs = this.#inbox.now() + Math.max(MIN_WAIT_MS, waitMs);
    return taken;
  }
}

/** Other inboxes and senders may use the same server. */
function bucketOf(key: string): string {
  return `inbox:${key}`;
}

function isSame(a: BucketLimit | undefined, b: BucketLimit | undefined): boolean {
  return a?.amount === b?.amount && a?.periodMs === b?.periodMs && a?.burst === b?.burst;
}
