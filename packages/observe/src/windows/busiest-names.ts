import { type Heaped, MinHeap } from '@webhook-backpressure/base';
import { COUNTS, SlicedFigures, type WindowName } from './sliced-figures.ts';
import type { NamedFigures } from './windows.ts';

/** How many names are counted in an epoch by default. */
export const COUNTERS = 100;
/** How many are reported. */
const REPORTED = 20;

const OTHER_COUNTS = [COUNTS.refused, COUNTS.completed, COUNTS.failed] as const;

class Entry implements Heaped {
  name = '';
  /** An upper bound of its arrivals in the current epoch: the bound of the entry it replaced is included. */
  bound = 0;
  heapIndex = 0;
  isCounted = false;
  /** Whether it was counted at the end of the last epoch. */
  wasCounted = false;
  readonly figures: SlicedFigures = new SlicedFigures();
}

/**
 * The busiest names in bounded memory: the Space-Saving algorithm (Metwally, Agrawal and El Abbadi, 2005), once for each
 * epoch of five minutes. A window lies in two epochs, so the names of the last one stay until the current one ends.
 *
 * With m counters, a name with more than 1/m of an epoch's arrivals is counted at the end of it, and a name that enters
 * late has missed at most 1/m of them. So a name with more than 1/m of the arrivals of the last ten minutes is present, and
 * its figures lack at most that many. The algorithm's own counts, which include those of replaced names, only decide which
 * name is replaced. The figures of a name start at zero: none of another name are in them.
 */
export class BusiestNames {
  readonly #entries = new Map<string, Entry>();
  readonly #counted = new MinHeap<Entry>((a, b) => a.bound < b.bound);
  /** Entries to use again: under a flood of new names, each of them would otherwise allocate 8 KiB. */
  readonly #spare: Entry[] = [];

  readonly #counters: number;

  /** @param counters - how many names are counted in an epoch. */
  constructor(counters: number = COUNTERS) {
    this.#counters = counters;
  }

  /** How many names have figures: at most twice as many as there are counters. */
  get size(): number {
    return this.#entries.size;
  }

  /** The figures of a name of which a delivery has arrived. */
  arrived(name: string): SlicedFigures {
    const entry = this.#entries.get(name) ?? this.#add(name);
    if (entry.isCounted) {
      entry.bound += 1;
      this.#counted.moveBack(entry);
    } else {
      this.#begin(entry);
    }
    return entry.figures;
  }

  /** The figures of a name, if it has any. */
  find(name: string): SlicedFigures | undefined {
    return this.#entries.get(name)?.figures;
  }

  /** Calls back for each name that has figures. */
  forEach(action: (name: string, figures: SlicedFigures) => void): void {
    for (const { name, figures } of this.#entries.values()) action(name, figures);
  }

  endSlice(slice: number): void {
    for (const { figures } of this.#entries.values()) figures.endSlice(slice);
  }

  endEpoch(): void {
    for (const entry of this.#entries.values()) {
      if (!entry.isCounted) this.#forget(entry);
      entry.wasCounted = entry.isCounted;
      entry.isCounted = false;
    }
    this.#counted.clear();
  }

  clear(): void {
    for (const entry of this.#entries.values()) this.#forget(entry);
    this.#counted.clear();
  }

  /** The names with the most arrivals in a window. */
  read(window: WindowName): NamedFigures[] {
    const found: { readonly entry: Entry; readonly arrivals: number }[] = [];
    for (const entry of this.#entries.values()) {
      const arrivals = entry.figures.countIn(window, COUNTS.arrivals);
      const isActive = arrivals > 0 || OTHER_COUNTS.some((what) => entry.figures.countIn(window, what) > 0);
      if (isActive) found.push({ entry, arrivals });
    }
    found.sort((a, b) => b.arrivals - a.arrivals);
    return found
      .slice(0, REPORTED)
      .map(({ entry: { name, figures } }) => ({ name, ...figures.read(window) }));
  }

  #add(name: string): Entry {
    const entry = this.#spare.pop() ?? new Entry();
    entry.name = name;
    this.#entries.set(name, entry);
    return entry;
  }

  /** Counts a name from now on, in place of the least one if there is no counter left. */
  #begin(entry: Entry): void {
    entry.bound = 1;
    if (this.#counted.size >= this.#counters) {
      const least = this.#counted.pop() as Entry;
      least.isCounted = false;
      entry.bound += least.bound;
      if (!least.wasCounted) this.#forget(least);
    }
    entry.isCounted = true;
    this.#counted.push(entry);
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry.name);
    entry.figures.clear();
    entry.isCounted = entry.wasCounted = false;
    this.#spare.push(entry);
  }
}
