import { Monitor } from '../alarms/monitor.ts';
import type { Listeners } from '../delivery/events.ts';
import type { Clock } from '../time/clock.ts';
import type { Dispatcher } from '../workers/dispatcher.ts';
import type { Settings } from './options.ts';

/** The parts of an intake that its monitor reads. */
export interface IntakeMonitorParts {
  readonly clock: Clock;
  readonly now: () => number;
  readonly dispatcher: Dispatcher;
  readonly listeners: Listeners;
  readonly settings: () => Settings;
  /** How many senders are close to disabling the endpoint. */
  readonly endangered: (nowMs: number) => number;
}

/** Measures the windows of an intake, and judges its alarms. */
export function intakeMonitor(parts: IntakeMonitorParts, nowMs: number): Monitor {
  const { dispatcher, listeners, settings, endangered } = parts;
  const { queue, drain } = dispatcher;
  return new Monitor(
    {
      ...{ clock: parts.clock, now: parts.now, listeners },
      settings: () => settings().alarms,
      depth: () => queue.size,
      // While deliveries are queued or handled, the timer of their deadlines calls `step`.
      isWaiting: () => false,
      read: (at) => ({
        stalledMs: drain.isStalled(at) ? drain.gapMs(at) : 0,
        endangered: endangered(at),
        ...{ oldestAgeMs: 0, storeFailingMs: 0 },
      }),
      emit: (at, event) => {
        listeners.emit(at, event);
      },
    },
    nowMs,
  );
}
