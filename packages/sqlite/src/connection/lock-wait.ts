import { isMainThread } from 'node:worker_threads';
import { isLocked } from './failure.ts';

/**
 * How long a call waits for the lock where nobody has said so, in commits of the file as this process has seen them, and
 * in milliseconds at least and at most. On the main thread the event loop stands still meanwhile.
 */
const DEFAULT = isMainThread
  ? { commits: 20, leastMs: 250, mostMs: 5000 }
  : { commits: 200, leastMs: 10_000, mostMs: 60_000 };

/** Of the time that a call waits, when the one before it has waited in vain. */
const IMPATIENCE = 0.1;

/** The lock is looked at so often, as a part of a commit: SQLite's own pauses of up to 100 ms miss the moment in between. */
const LOOK_PER_COMMIT = 1 / 8;
const LEAST_LOOK_MS = 0.2;
const MOST_LOOK_MS = 2;
/** Who has just committed leaves the lock alone for so many looks, while others use the file. */
const POLITE_LOOKS = 2;
/** Others use the file when they have committed something since then. */
const SHARED_MS = 1000;
/** Of the commit time that is known, what a shorter commit leaves. */
const FORGET = 0.95;

/** Stands still, without using the processor. */
export function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/**
 * Waits for the lock that all processes on a file share, and leaves it to the others in turn. SQLite gives it to whoever
 * looks at the right moment, which is mostly the one that has just had it.
 */
export class Patience {
  readonly #givenMs: number | undefined;
  readonly #now: () => number;
  readonly #sleep: (ms: number) => void;
  readonly #random: () => number;
  #commitMs = 0;
  #isImpatient = false;
  #sharedUntil = -Infinity;
  #politeUntil = -Infinity;

  /** @param givenMs - how long a call waits; undefined: as long as commits on this file make sensible. */
  constructor(
    givenMs: number | undefined,
    parts: { now?: () => number; sleep?: (ms: number) => void; random?: () => number } = {},
  ) {
    this.#givenMs = givenMs;
    this.#now = parts.now ?? ((): number => performance.now());
    this.#sleep = parts.sleep ?? sleep;
    this.#random = parts.random ?? Math.random;
  }

  /** How long a call waits now. */
  get ms(): number {
    const { commits, leastMs, mostMs } = DEFAULT;
    const ms = this.#givenMs ?? Math.min(mostMs, Math.max(leastMs, commits * this.#commitMs));
    return this.#isImpatient ? ms * IMPATIENCE : ms;
  }

  /**
   * What `begin` returns, which is called until nobody else has the lock. Who waits in vain is held up by something else
   * than the short commits of other stores: so the calls after it do not wait for long, until one has got the lock.
   */
  lock<T>(begin: () => T): T {
    const politeMs = Math.min(this.#politeUntil - this.#now(), POLITE_LOOKS * MOST_LOOK_MS);
    if (politeMs > 0) this.#sleep(politeMs);
    try {
      const result = this.until(begin, this.ms);
      this.#isImpatient = false;
      return result;
    } catch (error) {
      if (isLocked(error)) this.#isImpatient = true;
      throw error;
    }
  }

  /** The same for what needs no turn. */
  until<T>(action: () => T, ms: number): T {
    const endsAt = this.#now() + ms;
    for (;;) {
      try {
        return action();
      } catch (error) {
        if (!isLocked(error) || this.#now() >= endsAt) throw error;
      }
      this.#sleep(this.#lookMs * (0.5 + this.#random()));
    }
  }

  /** A commit has ended. `byOthers`: somebody else has committed since the last one. */
  committed(tookMs: number, byOthers: boolean): void {
    const nowMs = this.#now();
    this.#commitMs = Math.max(tookMs, this.#commitMs * FORGET);
    if (byOthers) this.#sharedUntil = nowMs + SHARED_MS;
    this.#politeUntil = nowMs < this.#sharedUntil ? nowMs + POLITE_LOOKS * this.#lookMs : -Infinity;
  }

  get #lookMs(): number {
    return Math.min(MOST_LOOK_MS, Math.max(LEAST_LOOK_MS, this.#commitMs * LOOK_PER_COMMIT));
  }
}
