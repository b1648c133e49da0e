import type { Intake, IntakeSnapshot } from '@webhook-backpressure/core';
import type { Inbox, InboxSnapshot } from '@webhook-backpressure/inbox';
import type { ObservationReading } from './observation.ts';
import { observationOf } from './observe.ts';

/** A snapshot of an intake, with its windows and alarms. */
export interface ObservedIntakeSnapshot extends IntakeSnapshot, ObservationReading {}

const NO_FIGURES = {
  ...{ arrivals: 0, refused: 0, refusedRatio: 0, completed: 0, failed: 0 },
  waitMs: { p50: null, p99: null },
  handlingMs: { p50: null, p99: null },
  retryAfterSeconds: { p50: null, p99: null },
};
const NO_WINDOW = { seconds: 0, all: NO_FIGURES, keys: [], senders: [] };
/** The reading of an intake that is not of this package. */
const UNOBSERVED: ObservationReading = {
  windows: { oneMinute: NO_WINDOW, fiveMinutes: NO_WINDOW },
  alarms: [],
};

/** Reads snapshots that have windows and alarms: those of an inbox have, and to those of an intake its observation adds them. */
export function observedSnapshots(source: Intake): () => ObservedIntakeSnapshot;
/** The same of an inbox. */
export function observedSnapshots(source: Inbox): () => InboxSnapshot;
export function observedSnapshots(source: Intake | Inbox): () => ObservedIntakeSnapshot | InboxSnapshot {
  const observation = observationOf(source);
  return () => {
    // First, since it may report an alarm, whose listeners may do anything.
    const reading = observation?.read() ?? UNOBSERVED;
    const snapshot = source.snapshot();
    return 'windows' in snapshot ? snapshot : { ...snapshot, ...reading };
  };
}
