import type { InboxSnapshot } from '@webhook-backpressure/inbox';
import type { IntakeSnapshot } from '@webhook-backpressure/core';
import type { OutboxSnapshot } from '@webhook-backpressure/observe';
import { HistoryKeeper, type Columns } from './history.ts';
import type { History, InboxRates, IntakeRates, OutboxRates } from './page-state.ts';

/** Totals of which the page shows how many there were per second. */
type Counts<R> = { readonly [name in keyof R]: number };

/** The options of a snapshot: plain data. */
export type Options = Readonly<Record<string, unknown>>;

/** How a kind of source is read. */
export interface Reading<S, R extends Counts<R>> {
  readonly snapshot: () => S;
  readonly counts: (snapshot: S) => R;
  readonly columns: Columns<S, R>;
}

/** A source on the page. */
export interface View<S, R> {
  readonly snapshot: S;
  readonly rates: R;
  readonly history?: History;
}

/** A source of the page: its last second, and its last 15 minutes. */
export class WatchedSource<
  S extends { readonly options?: object; readonly state: string },
  R extends Counts<R>,
> {
  readonly #reading: Reading<S, R>;
  readonly #history: HistoryKeeper<S, R>;
  #snapshot: S;
  #counts: R;
  #rates: R;
  #options: Options;

  constructor(reading: Reading<S, R>) {
    this.#reading = reading;
    this.#history = new HistoryKeeper(reading.columns);
    this.#snapshot = reading.snapshot();
    this.#counts = reading.counts(this.#snapshot);
    this.#rates = ratesBetween(this.#counts, this.#counts, 0);
    this.#options = optionsOf(this.#snapshot);
  }

  /** Reads the source, as happens once a second. */
  sample(at: number, elapsedMs: number): void {
    const snapshot = this.#reading.snapshot();
    const counts = this.#reading.counts(snapshot);
    this.#rates = ratesBetween(this.#counts, counts, elapsedMs);
    this.#counts = counts;
    this.#snapshot = snapshot;
    this.#history.add(at, snapshot, this.#rates);
  }

  /**
   * The options that were changed since the last call, with their new values; undefined when none was.
   *
   * @param snapshot - the last sample by default.
   */
  takeChange(snapshot: S = this.#snapshot): Options | undefined {
    const options = optionsOf(snapshot);
    const changed = changedOptions(this.#options, options);
    this.#options = options;
    return changed;
  }

  /** Reads the options that are in force now, and which of them were changed since the last look. */
  readOptions(): { readonly options: Options; readonly changed: Options | undefined } {
    const snapshot = this.#reading.snapshot();
    return { options: optionsOf(snapshot), changed: this.takeChange(snapshot) };
  }

  /** Whether it was closed at the last sample. */
  get isClosed(): boolean {
    return this.#snapshot.state === 'closed';
  }

  /** The last sample. */
  get last(): View<S, R> {
    return { snapshot: this.#snapshot, rates: this.#rates };
  }

  /** The source at this moment, and its history. One that cannot be read is shown as of its last sample. */
  get now(): View<S, R> {
    return { snapshot: this.#readNow(), rates: this.#rates, history: this.#history.read() };
  }

  #readNow(): S {
    try {
      return this.#reading.snapshot();
    } catch {
      // Reported once a second by `sample`. The other sources must be shown nevertheless.
      return this.#snapshot;
    }
  }
}

/** A sender has no options that can be changed. */
function optionsOf({ options = {} }: { readonly options?: object }): Options {
  return options as Options;
}

/** What an intake has counted since it was created. */
export function intakeCounts({ totals }: IntakeSnapshot): IntakeRates {
  const { arrivals, started, completed } = totals;
  return { arrivals, started, completed, refused: sum(totals.refused) };
}

/** What an inbox has counted since it was created. */
export function inboxCounts({ totals }: InboxSnapshot): InboxRates {
  const { arrivals, stored, completed } = totals;
  return { arrivals, stored, completed, refused: sum(totals.refused) };
}

/** The counts of a sender since it was created. */
export function senderCounts({ totals }: OutboxSnapshot): OutboxRates {
  const { accepted, attempts, delivered, limited, failed } = totals;
  return { accepted, attempts, delivered, limited, failed };
}

/** The counts per second between two readings. */
function ratesBetween<R extends Counts<R>>(before: R, after: R, elapsedMs: number): R {
  const perSecond = elapsedMs > 0 ? 1000 / elapsedMs : 0;
  const rates = Object.entries<number>(after).map(([name, count]) => {
    const earlier = (before as Record<string, number>)[name] as number;
    return [name, Math.round(Math.max(0, count - earlier) * perSecond * 100) / 100];
  });
  return Object.fromEntries(rates) as R;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** The options that differ, with their new values; undefined when none does. An option that is gone is null. */
function changedOptions(before: Options, after: Options): Options | undefined {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => !isSame(before[name], after[name]));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]));
}

/** Compares JSON data. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => isSame((a as Options)[name], (b as Options)[name]))
  );
}
