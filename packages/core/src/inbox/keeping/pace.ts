import type { Intake } from '../../intake/intake.ts';

/** So many attempts are remembered, fading. */
const MEMORY = 100;
/** An inbox whose attempts all fail is not one that takes for ever: something is being repaired. */
const LEAST_SHARE = 0.05;
/** A longer time between two attempts tells nothing of how fast the workers are. */
const LONG_GAP_MS = 1000;

/** How fast deliveries leave the inbox: what its workers sustain, less the attempts that have to be made again. */
export class Pace {
  readonly #intake: Pick<Intake, 'snapshot'>;
  #finishedShare = 1;
  #progressMs = 0;
  #measuredMs = 0;

  constructor(intake: Pick<Intake, 'snapshot'>) {
    this.#intake = intake;
  }

  /** Deliveries per second; null before the first attempt has ended. */
  get drainRate(): number | null {
    const { drainRate } = this.#intake.snapshot();
    return drainRate === null ? null : drainRate * Math.max(LEAST_SHARE, this.#finishedShare);
  }

  get isStalled(): boolean {
    return this.#intake.snapshot().state === 'stalled';
  }

  /** For how many seconds attempts have been ending. */
  get measuredS(): number {
    return this.#measuredMs / 1000;
  }

  /** Milliseconds since an attempt ended. */
  gapMs(nowMs: number): number {
    return nowMs - this.#progressMs;
  }

  /** Something is to be done again, after nothing was. */
  resume(nowMs: number): void {
    this.#progressMs = nowMs;
  }

  /** Notes the end of an attempt. */
  note(isFinished: boolean, nowMs: number): void {
    this.#finishedShare += (Number(isFinished) - this.#finishedShare) / MEMORY;
    this.#measuredMs += Math.min(LONG_GAP_MS, nowMs - this.#progressMs);
    this.#progressMs = nowMs;
  }
}
