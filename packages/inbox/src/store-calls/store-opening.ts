import type { InboxStore, OpenedStore } from '../store/inbox-store.ts';
import type { StoreHealth } from './store-health.ts';

export interface StoreOpeningParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly wallMs: () => number;
  /** Undefined: the order of the store stays as it is. */
  readonly isOrdered: boolean | undefined;
  /** Whether to go on trying. */
  readonly isWanted: () => boolean;
  /** Called when the store is open. */
  readonly opened: (found: OpenedStore) => void;
  /** Called after each attempt that fails. */
  readonly failed?: () => void;
}

/** Opens the store of an inbox, again and again until it succeeds. */
export class StoreOpening {
  readonly #parts: StoreOpeningParts;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: StoreOpeningParts) {
    this.#parts = parts;
  }

  /**
   * Throws what `open` throws synchronously. After a rejection it is called again. Returns false, and leaves the store
   * closed, in the build of an app, which would otherwise process the deliveries of production.
   */
  begin(): boolean {
    if (isBuilding()) return false;
    const { opened } = this.#parts;
    const found = this.#open();
    if (found instanceof Promise) this.#running = this.#openLater(found);
    else opened(found);
    return true;
  }

  /** Resolves when no call is in progress. */
  ended(): Promise<void> {
    return this.#running;
  }

  async #openLater(first: Promise<OpenedStore>): Promise<void> {
    const { health, isWanted, opened, failed } = this.#parts;
    for (let opening = first; ; opening = this.#again()) {
      try {
        opened(await opening);
        health.worked();
        return;
      } catch (error) {
        health.failed('open', error);
        failed?.();
        await health.rest();
      }
      // A store that opens after the inbox has closed would stay open.
      if (!isWanted()) return;
    }
  }

  async #again(): Promise<OpenedStore> {
    return await this.#open();
  }

  #open(): ReturnType<InboxStore['open']> {
    const { store, wallMs, isOrdered } = this.#parts;
    return isOrdered === undefined ? store.open(wallMs()) : store.open(wallMs(), { isOrdered });
  }
}

interface Runtime {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
}

/**
 * Whether a framework builds the app in this process or thread: Next.js, or SvelteKit. They load the modules of routes while
 * they build, and set these variables there only.
 */
export function isBuilding(): boolean {
  const env = (globalThis as Runtime).process?.env;
  return env?.['NEXT_PHASE'] === 'phase-production-build' || env?.['SVELTEKIT_FORK'] === 'true';
}
