import { changedOptions, type Options } from './changed-options.ts';
import type { Columns } from './history-columns.ts';
import { HistoryKeeper } from './history.ts';
import type { History } from './page-state.ts';
import { ratesBetween, type Counts } from './rates.ts';

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
