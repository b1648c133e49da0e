import { createIntake, type Admission } from '@webhook-backpressure/core';
import { PausedClock } from './paused-clock.ts';
import { idAt, type Run } from './runs.ts';

const DAY_MS = 86_400_000;

/** Admits and releases while `depth` deliveries of `keys` keys wait: each one passes through the whole queue. */
export function admitReleaseIn({ depth, keys }: { depth: number; keys: number }): Run {
  const clock = new PausedClock();
  const intake = createIntake({
    clock,
    concurrency: 1,
    capacity: 2 * depth + 10,
    maxWaitMs: DAY_MS,
    maxHandlingMs: DAY_MS,
  });
  const names = Array.from({ length: keys }, (_, i) => `key-${i.toString(36)}`);
  let admitted = 0;
  const admit = (): Admission => {
    const admission = intake.admit({ key: names[admitted % keys] as string, id: idAt(admitted) });
    if (!admission.admitted) throw new Error(`It was refused: ${admission.reason}.`);
    admitted += 1;
    return admission;
  };
  // The keys come in turn and are served in turn, so the oldest is the one that runs.
  const ring = Array.from({ length: depth + 1 }, admit);
  let oldest = 0;

  return async (count) => {
    clock.go();
    for (let i = 0; i < count; i += 1) {
      const permit = await (ring[oldest] as Admission).permit;
      if (!permit.admitted) throw new Error('It was taken out.');
      ring[oldest] = admit();
      oldest = (oldest + 1) % ring.length;
      permit.release();
    }
    clock.pause();
    if (intake.snapshot().depth !== depth) throw new Error('The depth has changed.');
  };
}
