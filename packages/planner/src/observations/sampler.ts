import type { Clock } from '@webhook-backpressure/base';
import type { Intake } from '@webhook-backpressure/core';

/** Reads the intake at regular intervals of the run. */
export interface Sampler {
  readonly everyMs: number;
  read(intake: Intake, nowMs: number): void;
}

export function startSampling(sampler: Sampler, intake: Intake, clock: Clock): void {
  sampler.read(intake, clock.now());
  clock.setTimeout(() => {
    startSampling(sampler, intake, clock);
  }, sampler.everyMs);
}
