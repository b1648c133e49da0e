import {
  createIntake,
  type Admission,
  type Intake,
  type IntakeOptions,
  type Permit,
  type Refusal,
} from '@webhook-backpressure/core';

const HOUR_MS = 3_600_000;

/** Options with which deliveries end only by {@link Saturated.complete}, and none fits into the reserve. */
export const SATURATED: IntakeOptions = {
  concurrency: 1,
  capacity: 1000,
  highWaterMark: 1,
  lowWaterMark: 0.999,
  maxWaitMs: HOUR_MS,
  maxHandlingMs: HOUR_MS,
};

/**
 * Keeps an intake shedding: its queue is full of its own deliveries, which complete one at a time, so that the
 * drain rate is known and every refusal goes the whole way, its booking included.
 */
export class Saturated {
  readonly intake: Intake;
  #current: Permit | Refusal | undefined;
  readonly #waiting: Admission[] = [];

  constructor(intake: Intake = createIntake(SATURATED)) {
    this.intake = intake;
  }

  /** Completes one, and fills the queue again once the gate is open. */
  async complete(): Promise<void> {
    if (this.#current?.admitted === true) this.#current.release();
    while (this.intake.snapshot().state === 'accepting') {
      const admission = this.intake.admit({ key: 'held' });
      if (!admission.admitted) break;
      this.#waiting.push(admission);
    }
    this.#current = await this.#waiting.shift()?.permit;
  }
}
