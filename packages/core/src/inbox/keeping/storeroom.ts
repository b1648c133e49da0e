import type { InboxSettings } from '../settings/inbox-settings.ts';
import type { Settlement, StoreStats } from '../store/inbox-store.ts';

/** What is stored beside the unfinished: on the shelf, or kept after its completion. */
export type Aside = 'shelved' | 'kept';

interface Amount {
  count: number;
  bytes: number;
}

/**
 * How much is on the shelf and how much is kept, and whether there is room for more. It is known from the store, as of
 * the last few seconds, and from what this process has done since; what others on the same store do may make it wrong
 * by as much as they do in that time.
 */
export class Storeroom {
  readonly shelved: Amount = { count: 0, bytes: 0 };
  readonly kept: Amount = { count: 0, bytes: 0 };
  /** The part of both that is on its way into the store. */
  readonly #expected: Record<Aside, Amount> = {
    shelved: { count: 0, bytes: 0 },
    kept: { count: 0, bytes: 0 },
  };
  readonly #settings: () => InboxSettings;

  constructor(settings: () => InboxSettings) {
    this.#settings = settings;
  }

  learn({ shelved, shelvedBytes, kept, keptBytes }: StoreStats): void {
    const { shelved: toShelf, kept: toKept } = this.#expected;
    Object.assign(this.shelved, { count: shelved + toShelf.count, bytes: shelvedBytes + toShelf.bytes });
    Object.assign(this.kept, { count: kept + toKept.count, bytes: keptBytes + toKept.bytes });
  }

  enter(where: Aside, bytes: number): void {
    this[where].count += 1;
    this[where].bytes += bytes;
  }

  /** A claim is about to end in this way: its place is taken from now on. @returns to be told whether it has. */
  expect(settlement: Settlement, bytes: number): (hasEnded: boolean) => void {
    const isKept = settlement.as === 'completed' && settlement.keep;
    const where = settlement.as === 'dead' ? 'shelved' : isKept ? 'kept' : undefined;
    if (where === undefined) return () => undefined;
    this.enter(where, bytes);
    const expected = this.#expected[where];
    expected.count += 1;
    expected.bytes += bytes;
    return (hasEnded) => {
      expected.count -= 1;
      expected.bytes -= bytes;
      if (!hasEnded) this.leave(where, [{ bytes }]);
    };
  }

  leave(where: Aside, gone: readonly { readonly bytes: number }[]): void {
    const amount = this[where];
    for (const { bytes } of gone) {
      amount.count = Math.max(0, amount.count - 1);
      amount.bytes = Math.max(0, amount.bytes - bytes);
    }
  }

  /** Whether a delivery whose last attempt has failed finds a place on the shelf. */
  canShelve(bytes: number): boolean {
    const { maxShelved, maxShelvedBytes } = this.#settings();
    return this.shelved.count < maxShelved && this.shelved.bytes + bytes <= maxShelvedBytes;
  }

  /** Whether a delivery that is completed is to be kept. */
  canKeep(bytes: number): boolean {
    const { keepCompletedMs, maxKeptBytes } = this.#settings();
    return keepCompletedMs > 0 && this.kept.bytes + bytes <= maxKeptBytes;
  }
}
