import { isMainThread } from 'node:worker_threads';
import { isLocked } from './sqlite-errors.ts';

/**
 * How long a call waits for the lock by default: a multiple of the commit time that this process has measured, between
 * two limits. On the main thread the wait blocks the event loop.
 */
const DEFAULT = isMainThread
  ? { commits: 20, leastMs: 250, mostMs: 5000 }
  : { commits: 200, leastMs: 10_000, mostMs: 60_000 };

/** The share of the wait that remains after a call has waited in vain. */
const SHORTENED = 0.1;

/** The poll interval as a share of a commit. SQLite's own pauses of up to 100 ms miss the gaps between commits. */
const POLL_PER_COMMIT = 1 / 8;
const MIN_POLL_MS = 0.2;
const MAX_POLL_MS = 2;
/** After a commit, this process leaves the lock to others for so many poll intervals, while others use the file. */
const YIELD_POLLS = 2;
/** Others use the file if they have committed within this time. */
const SHARED_MS = 1000;
/** The measured commit time falls by this factor when a commit is shorter. */
const DECAY = 0.95;

/** Blocks this thread without using the processor. */
export function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/**
 * Waits for the write lock of a file, and takes turns with other processes. SQLite gives the lock to the process that
 * polls at the right moment, which is usually the one that has just released it.
 */
export class LockWait {
  readonly #givenMs: number | undefined;
  readonly #now: () => number;
  readonly #sleep: (ms: number) => void;
  readonly #random: () => number;
  #commitMs = 0;
  #hasTimedOut = false;
  #sharedUntil = -Infinity;
  #yieldUntil = -Infinity;

  /** @param givenMs - how long a call waits; by default, a multiple of the commit time. */
  constructor(
    givenMs: number | undefined,
    parts: { now?: () => number; sleep?: (ms: number) => void; random?: () => number } = {},
  ) {
    this.#givenMs = givenMs;
    this.#now = parts.now ?? ((): number => performance.now());
    this.#sleep = parts.sleep ?? sleep;
    this.#random = parts.random ?? Math.random;
  }

  /** How long the next call waits. */
  get ms(): number {
    const { commits, leastMs, mostMs } = DEFAULT;
    const ms = this.#givenMs ?? Math.min(mostMs, Math.max(leastMs, commits * this.#commitMs));
    return this.#hasTimedOut ? ms * SHORTENED : ms;
  }

  /**
   * Calls `begin` until it gets the lock. If a call waits in vain, a process other than a store holds the lock for long,
   * so later calls wait less until one gets the lock.
   */
  acquire<T>(begin: () => T): T {
    const yieldMs = Math.min(this.#yieldUntil - this.#now(), YIELD_POLLS * MAX_POLL_MS);
    if (yieldMs > 0) this.#sleep(yieldMs);
    try {
      const result = this.retryWhileLocked(begin, this.ms);
      this.#hasTimedOut = false;
      return result;
    } catch (error) {
      if (isLocked(error)) this.#hasTimedOut = true;
      throw error;
    }
  }

  /** Calls `action` until it meets no lock, without taking turns. */
  retryWhileLocked<T>(action: () => T, ms: number): T {
    const endsAt = this.#now() + ms;
    for (;;) {
      try {
        return action();
      } catch (error) {
        if (!isLocked(error) || this.#now() >= endsAt) throw error;
      }
      this.#sleep(this.#pollMs * (0.5 + this.#random()));
    }
  }

  /** @param byOthers - whether another process has committed since the last commit of this one. */
  committed(tookMs: number, byOthers: boolean): void {
    const nowMs = this.#now();
    this.#commitMs = Math.max(tookMs, this.#commitMs * DECAY);
    if (byOthers) this.#sharedUntil = nowMs + SHARED_MS;
    this.#yieldUntil = nowMs < this.#sharedUntil ? nowMs + YIELD_POLLS * this.#pollMs : -Infinity;
  }

  get #pollMs(): number {
    return Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, this.#commitMs * POLL_PER_COMMIT));
  }
}
