import type {
  ObservedInboxSnapshot,
  ObservedIntakeSnapshot,
  OutboxSnapshot,
  WindowFigures,
} from '@webhook-backpressure/observe';
import type { IntakeState } from '@webhook-backpressure/core';
import type { History, InboxRates, IntakeRates, OutboxRates } from './page-state.ts';

/** How the columns of a history are read: each by its name. */
export type Columns<S, R> = Readonly<Record<string, (snapshot: S, rates: R) => number | null>>;

/** The states, as a history keeps them: by their place in this list. */
const STATES: readonly (IntakeState | OutboxSnapshot['state'])[] = [
  'accepting',
  'shedding',
  'stalled',
  'closing',
  'closed',
  'opening',
  'full',
];

type Shared = ObservedIntakeSnapshot | ObservedInboxSnapshot;

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
  waitP50: (snapshot) => lastSlice(snapshot).waitMs.p50,
  waitP99: (snapshot) => lastSlice(snapshot).waitMs.p99,
  handlingP50: (snapshot) => lastSlice(snapshot).handlingMs.p50,
  handlingP99: (snapshot) => lastSlice(snapshot).handlingMs.p99,
  retryAfterP50: (snapshot) => lastSlice(snapshot).retryAfterSeconds.p50,
  retryAfterP99: (snapshot) => lastSlice(snapshot).retryAfterSeconds.p99,
  booked: ({ booked }) => booked,
};

/** The columns of an intake. */
export const INTAKE_COLUMNS: Columns<ObservedIntakeSnapshot, IntakeRates> = {
  ...SHARED,
  started: (_, { started }) => started,
};

/** The columns of an inbox. */
export const INBOX_COLUMNS: Columns<ObservedInboxSnapshot, InboxRates> = {
  ...SHARED,
  stored: (_, { stored }) => stored,
  bytes: ({ bytes }) => bytes,
  oldestAgeMs: ({ oldestAgeMs }) => oldestAgeMs,
  deadLetters: ({ deadLetters }) => deadLetters,
};

/** The columns of a sender. */
export const OUTBOX_COLUMNS: Columns<OutboxSnapshot, OutboxRates> = {
  state: ({ state }) => STATES.indexOf(state),
  depth: ({ depth }) => depth,
  inFlight: ({ inFlight }) => inFlight,
  accepted: (_, { accepted }) => accepted,
  attempts: (_, { attempts }) => attempts,
  delivered: (_, { delivered }) => delivered,
  limited: (_, { limited }) => limited,
  failed: (_, { failed }) => failed,
  oldestAgeMs: ({ oldestAgeMs }) => oldestAgeMs,
  deadLetters: ({ deadLetters }) => deadLetters,
};

/** 15 minutes, one sample a second. */
export const SAMPLES = 900;

/** The last samples of a source, as columns of equal length. */
export class HistoryKeeper<S, R> {
  readonly #columns: Columns<S, R>;
  readonly #at: number[] = [];
  readonly #series: ReadonlyMap<string, (number | null)[]>;

  constructor(columns: Columns<S, R>) {
    this.#columns = columns;
    this.#series = new Map(Object.keys(columns).map((name) => [name, []]));
  }

  add(at: number, snapshot: S, rates: R): void {
    // All are read before one is added, so that an error leaves the columns equally long.
    const values = Object.values(this.#columns).map((read) => read(snapshot, rates));
    const all = [this.#at, ...this.#series.values()];
    // The clock of the machine may be set back. Charts need times that do not fall.
    while ((this.#at.at(-1) ?? -Infinity) > at) for (const column of all) column.pop();
    if (this.#at.length === SAMPLES) for (const column of all) column.shift();
    this.#at.push(at);
    for (const [place, column] of [...this.#series.values()].entries()) column.push(values[place] ?? null);
  }

  read(): History {
    const series = [...this.#series].map(([name, values]) => [
      name,
      values.map((value) => (name === 'state' ? (STATES[value ?? -1] ?? null) : rounded(value))),
    ]);
    return { at: [...this.#at], series: Object.fromEntries(series) as History['series'] };
  }
}

/** Three decimals: more would double the size of a history, and no chart shows them. JSON has no other numbers. */
function rounded(value: number | null): number | null {
  return value === null || !Number.isFinite(value) ? null : Math.round(value * 1000) / 1000;
}

function lastSlice({ windows }: Shared): WindowFigures {
  return windows.lastSlice;
}
