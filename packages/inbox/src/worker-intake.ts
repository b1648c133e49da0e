import { DAY_MS } from '@webhook-backpressure/base';
import { BoundedIntake, resolveOptions } from '@webhook-backpressure/core/extend';
import type { Intake } from '@webhook-backpressure/core';
import type { InboxFixtures, InboxSettings } from './options/inbox-settings.ts';

/** The workers' intake revokes a permit this time after `maxHandlingMs`, in case a run has not ended itself. */
const BACKSTOP_MS = 60_000;

/** The intake that runs the handlers of claimed deliveries. */
export function createWorkerIntake({ clock, random }: InboxFixtures, settings: InboxSettings): Intake {
  const { concurrency, drainRate } = settings;
  const options = {
    ...{ concurrency, drainRate, clock, random },
    // Every claimed delivery must be admitted: a refused one would be given back and claimed again immediately.
    capacity: Number.MAX_SAFE_INTEGER,
    ...{ maxWaitMs: DAY_MS, highWaterMark: 1, maxHandlingMs: backstop(settings) },
  };
  return new BoundedIntake(resolveOptions(options));
}

/** After which time the intake revokes a permit. */
export function backstop({ maxHandlingMs }: InboxSettings): number {
  return Math.min(DAY_MS, maxHandlingMs + BACKSTOP_MS);
}
