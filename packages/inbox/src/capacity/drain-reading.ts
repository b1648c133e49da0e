import type { InboxDrainRate } from './inbox-drain-rate.ts';
import type { StoreDrainRate } from './store-drain-rate.ts';

/** How fast deliveries are finished. */
export interface DrainReading {
  /** Deliveries per second; null while unknown. */
  readonly perSecond: number | null;
  readonly isStalled: boolean;
  /** For how many seconds that rate has been measured. */
  readonly measuredS: number;
  /** Milliseconds since a delivery was finished, or an attempt ended. */
  gapMs(nowMs: number): number;
}

/** The rate of this inbox's workers, or of all workers on the store while others use it too. */
export class CurrentDrainRate implements DrainReading {
  readonly #own: InboxDrainRate;
  readonly #store: StoreDrainRate;
  readonly #isShared: () => boolean;

  constructor(own: InboxDrainRate, store: StoreDrainRate, isShared: () => boolean) {
    this.#own = own;
    this.#store = store;
    this.#isShared = isShared;
  }

  get perSecond(): number | null {
    // Until the store's rate is known, the own one is a lower bound of it.
    return (this.#isShared() ? this.#store.perSecond : null) ?? this.#own.perSecond;
  }

  get isStalled(): boolean {
    return this.#current.isStalled;
  }

  get measuredS(): number {
    return this.#current.measuredS;
  }

  gapMs(nowMs: number): number {
    return this.#current.gapMs(nowMs);
  }

  get #current(): DrainReading {
    return this.#isShared() ? this.#store : this.#own;
  }
}
