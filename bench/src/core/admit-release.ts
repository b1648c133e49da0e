import { createIntake } from '@webhook-backpressure/core';
import pLimit from 'p-limit';
import { idAt, keyAt, type Run } from './runs.ts';

/** Admits a delivery, which starts immediately, and releases it: the cost of a delivery without a burst. */
export function admitRelease(): Run {
  const intake = createIntake();
  return (count) => {
    for (let i = 0; i < count; i += 1) {
      const admission = intake.admit({ key: keyAt(i), id: idAt(i) });
      if (!admission.admitted || admission.permit instanceof Promise) throw new Error('There is contention.');
      admission.permit.release();
    }
  };
}

/** The same by p-limit alone: a task that starts immediately and does nothing. */
export function limitTask(): Run {
  const limit = pLimit(10);
  const handle = (delivery: { key: string; id: string }): string => delivery.id;
  return async (count) => {
    for (let i = 0; i < count; i += 1) await limit(handle, { key: keyAt(i), id: idAt(i) });
  };
}
