import type { InboxSettings } from '../options/inbox-settings.ts';
import type { Settlement, StoreStats } from '../store/inbox-store.ts';

/** Where a finished delivery is stored: in the dead-letter queue, or kept after its completion. */
export type FinishedKind = 'shelved' | 'kept';

type FinishedLimits = Pick<
  InboxSettings,
  'maxShelved' | 'maxShelvedBytes' | 'keepCompletedMs' | 'maxKeptBytes'
>;

interface Usage {
  count: number;
  bytes: number;
}

/**
 * How many dead letters and kept deliveries are stored, and whether there is room for more: the store's counts of the last
 * few seconds plus this process's changes since. Changes by other processes on the same store appear a few seconds later.
 */
export class FinishedUsage {
  readonly shelved: Usage = { count: 0, bytes: 0 };
  readonly kept: Usage = { count: 0, bytes: 0 };
  /** The part of both that is being stored. */
  readonly #expected: Record<FinishedKind, Usage> = {
    shelved: { count: 0, bytes: 0 },
    kept: { count: 0, bytes: 0 },
  };
  readonly #settings: () => FinishedLimits;

  constructor(settings: () => FinishedLimits) {
    this.#settings = settings;
  }

  learn({ shelved, shelvedBytes, kept, keptBytes }: StoreStats): void {
    const { shelved: toShelf, kept: toKept } = this.#expected;
    Object.assign(this.shelved, { count: shelved + toShelf.count, bytes: shelvedBytes + toShelf.bytes });
    Object.assign(this.kept, { count: kept + toKept.count, bytes: keptBytes + toKept.bytes });
  }

  add(where: FinishedKind, bytes: number): void {
    this[where].count += 1;
    this[where].bytes += bytes;
  }

  /** Reserves room for a claim that is about to be settled. @returns a function to call with whether it was. */
  expect(settlement: Settlement, bytes: number): (hasEnded: boolean) => void {
    const isKept = settlement.as === 'completed' && settlement.keep;
    const where = settlement.as === 'dead' ? 'shelved' : isKept ? 'kept' : undefined;
    if (where === undefined) return () => undefined;
    this.add(where, bytes);
    const expected = this.#expected[where];
    expected.count += 1;
    expected.bytes += bytes;
    return (hasEnded) => {
      expected.count -= 1;
      expected.bytes -= bytes;
      if (!hasEnded) this.remove(where, [{ bytes }]);
    };
  }

  remove(where: FinishedKind, gone: readonly { readonly bytes: number }[]): void {
    const usage = this[where];
    for (const { bytes } of gone) {
      usage.count = Math.max(0, usage.count - 1);
      usage.bytes = Math.max(0, usage.bytes - bytes);
    }
  }

  /** Whether a delivery whose last attempt failed fits into the dead-letter queue. */
  canShelve(bytes: number): boolean {
    const { maxShelved, maxShelvedBytes } = this.#settings();
    return this.shelved.count < maxShelved && this.shelved.bytes + bytes <= maxShelvedBytes;
  }

  /** Whether a completed delivery is to be kept. */
  canKeep(bytes: number): boolean {
    const { keepCompletedMs, maxKeptBytes } = this.#settings();
    return keepCompletedMs > 0 && this.kept.bytes + bytes <= maxKeptBytes;
  }
}
