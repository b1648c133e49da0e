import type { Windows } from '@webhook-backpressure/observe';
import { manualClock } from '@webhook-backpressure/core/testing';
import { Monitor } from '../../../packages/observe/src/alarms/monitor.ts';

/** A monitor without alarms, and its windows. */
export interface Measured {
  readonly monitor: Monitor;
  readonly read: (nowMs: number) => Windows;
}

export function measured(nowMs = 0): Measured {
  const clock = manualClock();
  const monitor = new Monitor(
    {
      clock,
      now: () => clock.now(),
      settings: () => false,
      depth: () => 0,
      isWaiting: () => false,
      read: () => ({ stalledMs: 0, endangered: 0, oldestAgeMs: 0, storeFailingMs: 0 }),
      emit: () => undefined,
    },
    nowMs,
  );
  return { monitor, read: (at) => monitor.read(at).windows };
}
