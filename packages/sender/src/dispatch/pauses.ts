import { BackpressureError } from '@webhook-backpressure/base';
import type { InboxStore } from '@webhook-backpressure/inbox';
import type { SenderReport } from '../watch/sender-report.ts';

/** The most paused endpoints: the store lists all of them with its counts. */
const MOST_PAUSED = 1000;

export interface PauseParts {
  readonly store: InboxStore;
  readonly report: SenderReport;
  /** Called when this endpoint, or with null everything, was paused or resumed, by any process. */
  readonly changed: (id: string | null) => void;
}

/** The pauses by operators. The store keeps them, for all processes and after restarts. */
export class Pauses {
  readonly #parts: PauseParts;
  #keys: ReadonlySet<string> = new Set<string>();
  #isAll = false;
  /** Changes by this process that the counts of the store may lack. */
  readonly #recent = new Map<string, boolean>();

  constructor(parts: PauseParts) {
    this.#parts = parts;
  }

  /** Whether everything is paused. */
  get isAll(): boolean {
    return this.#isAll;
  }

  /** The endpoints that are paused on their own. */
  get ids(): ReadonlySet<string> {
    return this.#keys;
  }

  has(id: string): boolean {
    return this.#isAll || (this.#keys.size > 0 && this.#keys.has(id));
  }

  async pause(id: string): Promise<void> {
    const { store, report, changed } = this.#parts;
    if (this.#keys.size >= MOST_PAUSED && !this.#keys.has(id)) {
      const most = MOST_PAUSED.toLocaleString('en');
      throw new BackpressureError('ERR_WBP_PAUSE', `At most ${most} endpoints can be paused.`);
    }
    const isNew = await store.pause(id);
    this.#keys = new Set(this.#keys).add(id);
    this.#recent.set(id, true);
    if (isNew) report.emit({ type: 'paused', endpoint: id });
    changed(id);
  }

  /** @returns whether it was paused. */
  async resume(id: string): Promise<boolean> {
    const { store, report, changed } = this.#parts;
    const wasPaused = await store.resume(id);
    const keys = new Set(this.#keys);
    keys.delete(id);
    this.#keys = keys;
    this.#recent.set(id, false);
    if (wasPaused) report.emit({ type: 'resumed', endpoint: id });
    changed(id);
    return wasPaused;
  }

  /** Adopts the pauses that the store has listed. */
  learn(found: ReadonlySet<string>, isAll: boolean): void {
    const { changed } = this.#parts;
    const before = this.#keys;
    const keys = new Set(found);
    // The counts may have been read before a change of this process.
    for (const [id, isPaused] of this.#recent) {
      if (keys.has(id) === isPaused) this.#recent.delete(id);
      else if (isPaused) keys.add(id);
      else keys.delete(id);
    }
    this.#keys = keys;
    if (isAll !== this.#isAll) {
      this.#isAll = isAll;
      changed(null);
    }
    for (const id of before) if (!keys.has(id)) changed(id);
    for (const id of keys) if (!before.has(id)) changed(id);
  }
}
