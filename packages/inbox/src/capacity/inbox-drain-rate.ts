import { glanceAt } from '@webhook-backpressure/base';
import type { Intake } from '@webhook-backpressure/core';

/** The share of finished attempts is averaged over about this many. */
const MEMORY = 100;
/** A lower bound: an inbox whose attempts all fail is expected to recover. */
const LEAST_SHARE = 0.05;
/** A longer gap between two attempts says nothing about the speed of the workers. */
const LONG_GAP_MS = 1000;

/** The drain rate of an inbox: deliveries per second that its workers finish, attempts that must be repeated not counted. */
export class InboxDrainRate {
  readonly #intake: Pick<Intake, 'snapshot'>;
  #finishedShare = 1;
  #progressMs = 0;
  #measuredMs = 0;

  constructor(intake: Pick<Intake, 'snapshot'>) {
    this.#intake = intake;
  }

  /** Null before the first attempt has ended. */
  get perSecond(): number | null {
    const { drainRate } = glanceAt(this.#intake);
    return drainRate === null ? null : drainRate * Math.max(LEAST_SHARE, this.#finishedShare);
  }

  get isStalled(): boolean {
    return glanceAt(this.#intake).state === 'stalled';
  }

  /** The measured time in seconds. */
  get measuredS(): number {
    return this.#measuredMs / 1000;
  }

  /** Milliseconds since an attempt ended. */
  gapMs(nowMs: number): number {
    return nowMs - this.#progressMs;
  }

  /** Starts the measurement again after a time without work. */
  resume(nowMs: number): void {
    this.#progressMs = nowMs;
  }

  /** Records the end of an attempt. */
  note(isFinished: boolean, nowMs: number): void {
    this.#finishedShare += (Number(isFinished) - this.#finishedShare) / MEMORY;
    this.#measuredMs += Math.min(LONG_GAP_MS, nowMs - this.#progressMs);
    this.#progressMs = nowMs;
  }
}
