import type { InboxSettings } from '../options/inbox-settings.ts';
import type { Settlement, StoreStats } from '../store/inbox-store.ts';

/** Where a finished delivery is stored: in the dead-letter queue, or kept after its completion. */
export type FinishedKind = 'deadLetters' | 'kept';

type FinishedLimits = Pick<
  InboxSettings,
  'maxDeadLetters' | 'maxDeadLetterBytes' | 'keepCompletedMs' | 'maxKeptBytes'
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
  readonly deadLetters: Usage = { count: 0, bytes: 0 };
  readonly kept: Usage = { count: 0, bytes: 0 };
  /** The part of both that is being stored. */
  readonly #expected: Record<FinishedKind, Usage> = {
    deadLetters: { count: 0, bytes: 0 },
    kept: { count: 0, bytes: 0 },
  };
  readonly #settings: () => FinishedLimits;

  constructor(settings: () => FinishedLimits) {
    this.#settings = settings;
  }

  learn({ deadLetters, deadLetterBytes, retained: kept, retainedBytes: keptBytes }: StoreStats): void {
    const { deadLetters: toDeadLetters, kept: toKept } = this.#expected;
    Object.assign(this.deadLetters, {
      count: deadLetters + toDeadLetters.count,
      bytes: deadLetterBytes + toDeadLetters.bytes,
    });
    Object.assign(this.kept, { count: kept + toKept.count, bytes: keptBytes + toKept.bytes });
  }

  add(where: FinishedKind, bytes: number): void {
    this[where].count += 1;
    this[where].bytes += bytes;
  }

  /** Reserves room for a claim that is about to be settled. @returns a function to call with whether it was. */
  expect(settlement: Settlement, bytes: number): (hasEnded: boolean) => void {
    const isKept = settlement.as === 'completed' && settlement.keep;
    const where = settlement.as === 'dead' ? 'deadLetters' : isKept ? 'kept' : undefined;
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
  canKeepDeadLetter(bytes: number): boolean {
    const { maxDeadLetters, maxDeadLetterBytes } = this.#settings();
    return this.deadLetters.count < maxDeadLetters && this.deadLetters.bytes + bytes <= maxDeadLetterBytes;
  }

  /** Whether a completed delivery is to be kept. */
  canKeep(bytes: number): boolean {
    const { keepCompletedMs, maxKeptBytes } = this.#settings();
    return keepCompletedMs > 0 && this.kept.bytes + bytes <= maxKeptBytes;
  }
}
