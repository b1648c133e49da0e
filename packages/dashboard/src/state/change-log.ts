import type { Change } from './page-state.ts';

/** How many changes are kept. */
const KEPT = 100;

/** The last changes of options and dead letters. */
export class ChangeLog {
  readonly #changes: Change[] = [];

  add(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length > KEPT) this.#changes.shift();
  }

  read(): readonly Change[] {
    return [...this.#changes];
  }
}
