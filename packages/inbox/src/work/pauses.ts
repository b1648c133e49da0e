import { BackpressureError, invalid } from '@webhook-backpressure/base';
import type { InboxReport } from '../events/inbox-report.ts';
import type { InboxStore } from '../store/inbox-store.ts';

/** The most paused keys, because each claim has to skip them. */
const MAX_KEYS = 1000;

export interface PauseParts {
  readonly store: InboxStore;
  readonly report: InboxReport;
  /** Called when this key, or with null everything, is paused. */
  readonly paused: (key: string | null) => void;
  /** Called after a change. Resolves when the snapshot shows it. */
  readonly changed: () => Promise<void>;
}

/** Implements `pause` and `resume`. The store keeps the pauses, for every process that uses it. */
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

/** Rejects an invalid or undefined key, because an absent one means everything. */
function checkedKey(given: readonly [key?: string]): string | null {
  if (given.length === 0) return null;
  const [key] = given;
  if (typeof key !== 'string') throw invalid('ERR_WBP_PAUSE', 'key', 'a string if it is given', key);
  return key;
}
