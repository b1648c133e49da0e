import type { InboxStore, KeyClaim, KeyWant } from '@webhook-backpressure/inbox';
import { LEASE_MS, type StoreHealth } from '@webhook-backpressure/inbox/store';
import type { BucketLimit } from '../buckets/buckets.ts';
import type { Destination } from './destination.ts';

/** The most wants of a call. */
const MOST_WANTS = 1000;

/** The claim that is made for an endpoint. */
export interface Want {
  readonly destination: Destination;
  readonly count: number;
  readonly isHeadOnly: boolean;
  /** Tokens that were taken for it; 0 to move its events to the dead-letter queue. */
  readonly tokens: number;
  /** The limit that they were taken from. */
  readonly limit: BucketLimit | undefined;
}

export interface ClaimingParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly wallMs: () => number;
  readonly claimed: (want: Want, claim: KeyClaim) => void;
  /** The call failed. Nothing was claimed, or the leases run out. */
  readonly failed: (want: Want) => void;
}

/** Claims events: in one call for all endpoints that got tokens, and one call at a time, during which the next wants gather. */
export class Claiming {
  readonly #parts: ClaimingParts;
  #wants: Want[] = [];
  #running: Promise<void> | undefined;
  #tokens = 0;

  constructor(parts: ClaimingParts) {
    this.#parts = parts;
  }

  /** Tokens whose events are not claimed yet. */
  get tokens(): number {
    return this.#tokens;
  }

  add(want: Want): void {
    this.#tokens += want.tokens;
    this.#wants.push(want);
    this.#running ??= this.#run();
  }

  /** Resolves when no call is in progress. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    // The other endpoints of this turn are added before.
    await Promise.resolve();
    while (this.#wants.length > 0) {
      const wants = this.#wants.splice(0, MOST_WANTS);
      await this.#claim(wants);
    }
    this.#running = undefined;
  }

  async #claim(wants: readonly Want[]): Promise<void> {
    const { store, health, wallMs, claimed, failed } = this.#parts;
    let results: readonly KeyClaim[];
    try {
      const keys = wants.map(({ destination: { id }, count, isHeadOnly }): KeyWant => {
        return { key: id, count, isHeadOnly };
      });
      results = await store.claimKeys(keys, { leaseMs: LEASE_MS, nowMs: wallMs() });
      if (results.length !== wants.length) throw new Error('The store must return one result for each key.');
      health.worked();
    } catch (error) {
      health.failed('claim', error);
      for (const want of wants) {
        this.#tokens -= want.tokens;
        failed(want);
      }
      return;
    }
    for (const [at, want] of wants.entries()) {
      this.#tokens -= want.tokens;
      claimed(want, results[at] as KeyClaim);
    }
  }
}
