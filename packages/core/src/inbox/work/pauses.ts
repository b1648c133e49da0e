import { BackpressureError, invalid } from '../../errors.ts';
import type { InboxReport } from '../report/inbox-report.ts';
import type { InboxStore } from '../store/inbox-store.ts';

/** So many keys can be paused: each claim has to pass over them. */
const MAX_KEYS = 1000;

/** What the pauses work with. */
export interface PauseParts {
  readonly store: InboxStore;
  readonly report: InboxReport;
  /** This key, or with null everything, is paused from now on. */
  readonly paused: (key: string | null) => void;
  /** Something else may be claimed than before. Resolves when the snapshot shows it. */
  readonly changed: () => Promise<void>;
}

/** Pausing and resuming as its user sees it. The store is where it is kept, for every process that uses it. */
export class Pauses {
  readonly #parts: PauseParts;

  constructor(parts: PauseParts) {
    this.#parts = parts;
  }

  async pause(...key: readonly [key?: string]): Promise<void> {
    const { store, report, paused, changed } = this.#parts;
    const which = checkedKey(key);
    if (which !== null) {
      const { pausedKeys } = await store.stats();
      if (pausedKeys.length >= MAX_KEYS && !pausedKeys.includes(which)) {
        throw new BackpressureError(
          'ERR_WBP_PAUSE',
          `At most ${MAX_KEYS.toLocaleString('en')} keys can be paused.`,
        );
      }
    }
    const isNew = await store.pause(which);
    paused(which);
    if (isNew) report.emit({ type: 'paused', key: which });
    await changed();
  }

  async resume(...key: readonly [key?: string]): Promise<void> {
    const { store, report, changed } = this.#parts;
    const which = checkedKey(key);
    const wasPaused = await store.resume(which);
    if (wasPaused) report.emit({ type: 'resumed', key: which });
    await changed();
  }
}

/** Where the key is not understood, or is not known, nothing is done: left out, it means everything. */
function checkedKey(given: readonly [key?: string]): string | null {
  if (given.length === 0) return null;
  const [key] = given;
  if (typeof key !== 'string') throw invalid('ERR_WBP_PAUSE', 'key', 'a string if it is given', key);
  return key;
}
