import type { InboxSnapshot } from '@webhook-backpressure/inbox';
import type { ObservedIntakeSnapshot, SenderSnapshot } from '@webhook-backpressure/observe';
import type { IntakeState, WindowFigures } from '@webhook-backpressure/core';
import type { InboxRates, IntakeRates, SenderRates } from './page-state.ts';

/** How the columns of a history are read: each by its name. */
export type Columns<S, R> = Readonly<Record<string, (snapshot: S, rates: R) => number | null>>;

/** The states, as a history keeps them: by their place in this list. */
export const STATES: readonly (IntakeState | SenderSnapshot['state'])[] = [
  ...(['accepting', 'shedding', 'stalled', 'closing', 'closed', 'opening', 'full'] as const),
];

type Shared = ObservedIntakeSnapshot | InboxSnapshot;

const SHARED: Columns<Shared, { arrivals: number; completed: number; refused: number }> = {
  state: ({ state }) => STATES.indexOf(state),
  depth: ({ depth }) => depth,
  highWater: ({ highWater }) => highWater,
  lowWater: ({ lowWater }) => lowWater,
  effectiveCapacity: ({ effectiveCapacity }) => effectiveCapacity,
  active: ({ active }) => active,
  arrivals: (_, { arrivals }) => arrivals,
  completed: (_, { completed }) => completed,
  refused: (_, { refused }) => refused,
  drainRate: ({ drainRate }) => drainRate,
  waitP50: (snapshot) => lastMinute(snapshot).waitMs.p50,
  waitP99: (snapshot) => lastMinute(snapshot).waitMs.p99,
  handlingP50: (snapshot) => lastMinute(snapshot).handlingMs.p50,
  handlingP99: (snapshot) => lastMinute(snapshot).handlingMs.p99,
  retryAfterP50: (snapshot) => lastMinute(snapshot).retryAfterSeconds.p50,
  retryAfterP99: (snapshot) => lastMinute(snapshot).retryAfterSeconds.p99,
  booked: ({ booked }) => booked,
};

/** The columns of an intake. */
export const INTAKE_COLUMNS: Columns<ObservedIntakeSnapshot, IntakeRates> = {
  ...SHARED,
  started: (_, { started }) => started,
};

/** The columns of an inbox. */
export const INBOX_COLUMNS: Columns<InboxSnapshot, InboxRates> = {
  ...SHARED,
  stored: (_, { stored }) => stored,
  bytes: ({ bytes }) => bytes,
  oldestAgeMs: ({ oldestAgeMs }) => oldestAgeMs,
  shelved: ({ shelved }) => shelved,
};

/** The columns of a sender. */
export const SENDER_COLUMNS: Columns<SenderSnapshot, SenderRates> = {
  state: ({ state }) => STATES.indexOf(state),
  depth: ({ depth }) => depth,
  inFlight: ({ inFlight }) => inFlight,
  accepted: (_, { accepted }) => accepted,
  attempts: (_, { attempts }) => attempts,
  delivered: (_, { delivered }) => delivered,
  limited: (_, { limited }) => limited,
  failed: (_, { failed }) => failed,
  oldestAgeMs: ({ oldestAgeMs }) => oldestAgeMs,
  shelved: ({ shelved }) => shelved,
};

function lastMinute({ windows }: Shared): WindowFigures {
  return windows.oneMinute.all;
}
