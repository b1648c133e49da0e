import { Monitor } from '@webhook-backpressure/core/extend';
import type { Clock } from '@webhook-backpressure/base';
import type { DrainReading } from './capacity/drain-reading.ts';
import type { FillLevel } from './capacity/fill-level.ts';
import type { InboxSettings } from './options/inbox-settings.ts';
import type { InboxReport } from './events/inbox-report.ts';
import type { InboxRefuser } from './receive/inbox-refuser.ts';
import type { StoreHealth } from './store-calls/store-health.ts';

/** The parts of an inbox that its monitor reads. */
export interface InboxMonitorParts {
  readonly clock: Clock;
  readonly now: () => number;
  readonly report: InboxReport;
  readonly level: FillLevel;
  readonly ownRate: DrainReading;
  readonly inboxRate: DrainReading;
  readonly refuser: InboxRefuser;
  readonly healths: readonly StoreHealth[];
  readonly settings: () => InboxSettings;
  readonly oldestAgeMs: () => number;
}

/** Measures the windows of an inbox, and judges its alarms. */
export function inboxMonitor(parts: InboxMonitorParts, nowMs: number): Monitor {
  const { clock, now, report, level, ownRate, inboxRate, refuser, healths, settings, oldestAgeMs } = parts;
  const failingMs = (): number => Math.max(...healths.map((health) => health.failingMs));
  return new Monitor(
    {
      ...{ clock, now, listeners: report.listeners },
      settings: () => settings().alarms,
      depth: () => level.depth,
      isWaiting: () => level.depth > 0,
      read: (at) => ({
        stalledMs: Math.max(...[ownRate, inboxRate].map((rate) => (rate.isStalled ? rate.gapMs(at) : 0))),
        endangered: refuser.endangered(at).length,
        oldestAgeMs: oldestAgeMs(),
        storeFailingMs: failingMs(),
      }),
      emit: (at, event) => {
        report.listeners.emit(at, event);
      },
    },
    nowMs,
  );
}
