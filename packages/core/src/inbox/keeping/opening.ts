import type { InboxStore, OpenedStore } from '../store/inbox-store.ts';
import type { StoreHealth } from './store-health.ts';

/** What the opening works with. */
export interface OpeningParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly wallMs: () => number;
  readonly isOrdered: boolean;
  /** Whether somebody still waits for it. */
  readonly isWanted: () => boolean;
  /** The store is open. */
  readonly opened: (found: OpenedStore) => void;
}

/** Opens the store of an inbox. */
export class Opening {
  readonly #parts: OpeningParts;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: OpeningParts) {
    this.#parts = parts;
  }

  /** What the store throws immediately is thrown to whoever made the inbox; what it rejects with is tried again. */
  begin(): void {
    const { opened } = this.#parts;
    const found = this.#ask();
    if (found instanceof Promise) this.#running = this.#openLater(found);
    else opened(found);
  }

  /** Resolves when no attempt is under way. */
  ended(): Promise<void> {
    return this.#running;
  }

  async #openLater(first: Promise<OpenedStore>): Promise<void> {
    const { health, isWanted, opened } = this.#parts;
    for (let opening = first; isWanted(); opening = this.#again()) {
      try {
        opened(await opening);
        health.worked();
        return;
      } catch (error) {
        health.failed('open', error);
        await health.rest();
      }
    }
  }

  async #again(): Promise<OpenedStore> {
    return await this.#ask();
  }

  #ask(): ReturnType<InboxStore['open']> {
    const { store, wallMs, isOrdered } = this.#parts;
    return store.open(wallMs(), { isOrdered });
  }
}
