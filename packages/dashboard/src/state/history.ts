import type { Columns } from './history-columns.ts';
import { STATES } from './history-columns.ts';
import type { History } from './page-state.ts';
import { Ring } from './ring.ts';

/** 15 minutes, one sample a second. */
export const SAMPLES = 900;

/** The last samples of a source: typed columns, so that they take a fixed amount of memory. */
export class HistoryKeeper<S, R> {
  readonly #columns: Columns<S, R>;
  readonly #at = new Ring(SAMPLES);
  readonly #rings: readonly (readonly [name: string, ring: Ring])[];

  constructor(columns: Columns<S, R>) {
    this.#columns = columns;
    this.#rings = Object.keys(columns).map((name) => [name, new Ring(SAMPLES)]);
  }

  add(at: number, snapshot: S, rates: R): void {
    // All are read before one is added, so that an error leaves the columns equally long.
    const values = Object.values(this.#columns).map((read) => read(snapshot, rates));
    // The clock of the machine may be set back. Charts need times that do not fall.
    while ((this.#at.last ?? -Infinity) > at) {
      this.#at.removeLast();
      for (const [, ring] of this.#rings) ring.removeLast();
    }
    this.#at.add(at);
    for (const [place, [, ring]] of this.#rings.entries()) ring.add(values[place] ?? null);
  }

  read(): History {
    const series: [string, (number | string | null)[]][] = this.#rings.map(([name, ring]) => {
      const values = ring.read();
      return [name, name === 'state' ? values.map((place) => STATES[place ?? -1] ?? null) : values];
    });
    return { at: this.#at.read() as number[], series: Object.fromEntries(series) };
  }
}
