import type { ActiveAlarm, IntakeState, Windows } from '@webhook-backpressure/core';
import type { FillLevel } from './capacity/fill-level.ts';
import type { FinishedUsage } from './capacity/finished-usage.ts';
import type { DrainReading } from './capacity/drain-reading.ts';
import type { InboxReport } from './events/inbox-report.ts';
import type { InboxSnapshot } from './inbox.ts';
import type { CurrentInboxOptions } from './options/current-inbox-options.ts';
import type { InboxSettings } from './options/inbox-settings.ts';
import type { InboxRole } from './options/roles.ts';
import type { InboxRefuser } from './receive/inbox-refuser.ts';
import type { StoreStats } from './store/inbox-store.ts';
import type { InboxWorkers } from './work/inbox-workers.ts';

/** The parts of an inbox that a snapshot reads. */
export interface SnapshotParts {
  readonly role: InboxRole;
  readonly level: FillLevel;
  readonly inboxRate: DrainReading;
  readonly refuser: InboxRefuser;
  readonly workers: InboxWorkers;
  readonly finished: FinishedUsage;
  readonly report: InboxReport;
}

/** What the inbox itself knows. */
export interface SnapshotFacts {
  readonly now: number;
  readonly state: IntakeState;
  readonly concurrency: number;
  readonly oldestAgeMs: number;
  readonly isStoreFailing: boolean;
  /** Undefined until the store is open. */
  readonly stats: StoreStats | undefined;
  readonly settings: InboxSettings;
  readonly options: CurrentInboxOptions;
  readonly windows: Windows;
  readonly alarms: readonly ActiveAlarm[];
}

/** Composes a snapshot. Advance the bookings before. */
export function inboxSnapshot(parts: SnapshotParts, facts: SnapshotFacts): InboxSnapshot {
  const { role, level, inboxRate, refuser, workers, finished, report } = parts;
  const { now, state, concurrency, oldestAgeMs, isStoreFailing, stats } = facts;
  const { settings, options, windows, alarms } = facts;
  const { depth, bytes, keys, effectiveCapacity, highWater, lowWater } = level;
  const { failingSinceMs, failingKeys } = workers.outages;
  const { shelved, kept } = finished;
  const { seconds } = refuser.retryAfter;
  return {
    role,
    state,
    depth,
    active: workers.active,
    bytes,
    shelved: shelved.count,
    shelvedBytes: shelved.bytes,
    kept: kept.count,
    keptBytes: kept.bytes,
    capacity: settings.capacity,
    effectiveCapacity,
    maxBytes: settings.maxBytes,
    highWater,
    lowWater,
    concurrency,
    drainRate: inboxRate.perSecond,
    oldestAgeMs,
    booked: seconds.total,
    bookedAhead: seconds.ahead(),
    keys,
    outageMs: failingSinceMs === undefined ? null : now - failingSinceMs,
    failingKeys,
    isPaused: stats?.isPaused ?? false,
    pausedKeys: stats?.pausedKeys ?? [],
    isStoreFailing,
    endangered: refuser.endangered(now),
    options,
    totals: report.read(refuser.retryAfter.promises.counts),
    windows,
    alarms,
  };
}
