import type { Entry } from './entry.ts';

/** How many endpoints without events keep their last valid settings, for the case that the function fails. */
const MAX_IDLE = 10_000;

/** Endpoints without events, of which the least recently used is forgotten. */
export class IdleEntries {
  readonly #entries = new Set<Entry>();
  readonly #forget: (id: string) => void;

  constructor(forget: (id: string) => void) {
    this.#forget = forget;
  }

  add(entry: Entry): void {
    this.#entries.add(entry);
    if (this.#entries.size <= MAX_IDLE) return;
    for (const oldest of this.#entries) {
      this.#entries.delete(oldest);
      this.#forget(oldest.id);
      break;
    }
  }

  delete(entry: Entry): void {
    this.#entries.delete(entry);
  }
}
