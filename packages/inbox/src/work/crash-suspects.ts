import type { KeyClaimOptions } from '../store/inbox-store.ts';

/** With fewer attempts, an innocent delivery cannot afford the attempt that a second stranding costs. */
const MIN_ATTEMPTS = 3;
/** With claims by key: a group follows the one before immediately. After so long, the next follows another crash. */
const QUIET_MS = 1000;

/** Which suspects a claim by keys may return. */
export type SuspectRoom = Pick<KeyClaimOptions, 'maxStranded' | 'maxStrandings'>;

/**
 * Limits how many deliveries that were in flight when a process died run concurrently, because one of them may have killed
 * it. First one runs; after each group that the process survives, the next group is twice as large. If the process dies
 * again, only that group is suspect, and a store returns deliveries stranded more than once one at a time.
 */
export class CrashSuspects {
  readonly #now: () => number;
  #size = 1;
  #running = 0;
  /** The size of the current group, including ended ones. */
  #count = 0;
  /** Whether more may join the group: none has ended, and the last claim returned all that were asked for. */
  #isFilling = false;
  #isClean = true;
  /** Whether one of the group was stranded more than once. It ran alone, and so does the next one. */
  #isAlone = false;
  #endedMs = -Infinity;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether no group runs. */
  get isResting(): boolean {
    return this.#running === 0;
  }

  /** How many may be claimed now. */
  room(attempts: number): number {
    if (this.#running === 0 && this.#now() - this.#endedMs >= QUIET_MS) this.#size = 1;
    const size = attempts < MIN_ATTEMPTS ? 1 : this.#size;
    if (this.#running === 0) return size;
    return this.#isFilling ? Math.max(0, size - this.#count) : 0;
  }

  /** How many a claim by keys may return. One that was stranded again begins alone. */
  roomByKey(attempts: number): SuspectRoom {
    const maxStranded = this.room(attempts);
    const mayBeAlone = this.#running === 0 && maxStranded === 1;
    return { maxStranded, maxStrandings: mayBeAlone ? undefined : 1 };
  }

  /** A claim for up to `room` suspects returned `count`, which have begun. */
  claimed(room: number, count: number): void {
    if (count >= room) return;
    this.#isFilling = false;
    // None waits.
    if (this.#running === 0) this.#size = 1;
  }

  began(strandings: number): void {
    if (this.#running === 0) {
      this.#count = 0;
      this.#isFilling = true;
      this.#isClean = true;
      this.#isAlone = strandings > 1;
    }
    if (strandings > 1) this.#isFilling = false;
    this.#running += 1;
    this.#count += 1;
  }

  /** @param isClean - the attempt was made, and the process survived. */
  ended(isClean: boolean): void {
    this.#running -= 1;
    this.#isFilling = false;
    if (!isClean) this.#isClean = false;
    if (this.#running > 0) return;
    this.#endedMs = this.#now();
    this.#size = this.#isClean && !this.#isAlone ? 2 * this.#count : 1;
  }
}
