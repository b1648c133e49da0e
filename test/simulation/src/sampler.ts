import type { Intake } from '@webhook-backpressure/core';

/** Looks at the intake at regular moments of the run. */
export interface Sampler {
  readonly everyMs: number;
  look(intake: Intake, nowMs: number): void;
}
