import { effectiveCapacity, longestSpan } from '@webhook-backpressure/core/extend';
import type { InboxSettings } from '../options/inbox-settings.ts';
import type { StoreStats } from '../store/inbox-store.ts';
import { KeyUsage, Gauge } from './gauge.ts';

/** A delivery, as the fill level counts it. */
interface Sized {
  readonly key: string;
  readonly bytes: number;
}

/** What this process has added to the store and finished in it, since the inbox was created. */
export interface OwnChanges {
  readonly added: number;
  readonly addedBytes: number;
  readonly finished: number;
}

/** The most deliveries in transit to or from the store: a smaller difference proves nothing. */
export const IN_TRANSIT = 512;

/** What one key uses. */
class KeyShare {
  readonly count: KeyUsage = new KeyUsage();
  readonly bytes: KeyUsage = new KeyUsage();
}

/** A delivery that is being stored. */
export interface IncomingAmount extends Sized {
  readonly share: KeyShare;
}

/**
 * How full the inbox is, and whether it sheds: by deliveries or by bytes, each with two marks and a reserve. Deliveries
 * that are being stored count too, so that concurrent arrivals do not all use the same free place.
 */
export class FillLevel {
  readonly #byKey = new Map<string, KeyShare>();
  readonly #counts: Gauge = this.#measureOf('count');
  readonly #sizes: Gauge = this.#measureOf('bytes');
  /** What this process has added to the store, and finished in it. */
  #added = 0;
  #addedBytes = 0;
  #finished = 0;

  get depth(): number {
    return this.#counts.stored;
  }

  get bytes(): number {
    return this.#sizes.stored;
  }

  get shedding(): boolean {
    return this.#counts.gate.shedding || this.#sizes.gate.shedding;
  }

  get highWater(): number {
    return this.#counts.gate.high;
  }

  get lowWater(): number {
    return this.#counts.gate.low;
  }

  get effectiveCapacity(): number {
    return this.#counts.gate.effectiveCapacity;
  }

  /** The depth at which shedding ends, by the mark that is further away. */
  get target(): number {
    const { low } = this.#sizes.gate;
    if (this.bytes <= low || this.bytes === 0) return this.lowWater;
    return Math.min(this.lowWater, Math.floor((this.depth * low) / this.bytes));
  }

  /** The low-water marks of the options: up to here deliveries may be redriven. */
  get redriveMarks(): { readonly depth: number; readonly bytes: number } {
    return { depth: this.#counts.gate.lowest, bytes: this.#sizes.gate.lowest };
  }

  /** How much may be redriven. Below 1 in either measure: nothing at present. */
  room(mark: 'low' | 'high'): { readonly count: number; readonly bytes: number } {
    return { count: this.#counts.room(mark), bytes: this.#sizes.room(mark) };
  }

  /** Keys that use it. */
  get keys(): number {
    return this.#byKey.size;
  }

  /** Whether a key holds an equal share of the inbox or more, deliveries that are being stored included. */
  holdsShare(key: string): boolean {
    const share = this.#byKey.get(key);
    return share !== undefined && share.count.size * this.#byKey.size >= this.depth;
  }

  fill(stats: Pick<StoreStats, 'depth' | 'bytes'>, depthByKey: ReadonlyMap<string, number>): void {
    this.correct(stats);
    this.correctKeys(depthByKey);
  }

  /**
   * Adopts the store's counts, which other processes may change. Returns whether they prove that another process uses the
   * store; then the counts of the keys are out of date.
   *
   * @param isExact - nothing is in transit to or from the store.
   */
  correct({ depth, bytes }: Pick<StoreStats, 'depth' | 'bytes'>, isExact = true): boolean {
    const isShared = Math.abs(depth - this.depth) > (isExact ? 0 : IN_TRANSIT);
    this.#counts.stored = depth;
    this.#sizes.stored = bytes;
    if (depth === 0) this.correctKeys(new Map());
    return isShared;
  }

  /** Separates the changes of this process from those of others in the counts of the store. */
  get ownChanges(): OwnChanges {
    return { added: this.#added, addedBytes: this.#addedBytes, finished: this.#finished };
  }

  /**
   * Adopts the counts of a store that other processes use too. What this process has stored since the call began counts on
   * top, although the counts may contain it: the level may be too high until the next reading, but not too low.
   *
   * @param before - {@link ownChanges} when the call began.
   */
  adopt({ depth, bytes }: Pick<StoreStats, 'depth' | 'bytes'>, before: OwnChanges): void {
    this.#counts.stored = depth + this.#added - before.added;
    this.#sizes.stored = bytes + this.#addedBytes - before.addedBytes;
    if (this.depth === 0) this.correctKeys(new Map());
  }

  /** Adopts the store's counts of the keys, which lack deliveries in transit. */
  correctKeys(depthByKey: ReadonlyMap<string, number>): void {
    for (const [key, share] of this.#byKey) if (!depthByKey.has(key)) this.#forget(key, share);
    for (const [key, depth] of depthByKey) {
      const { count, bytes } = this.#shareOf(key);
      if (count.size === depth) continue;
      // A store counts a key's deliveries in an index, but would have to read every row to sum up their bytes. The average
      // size is precise enough for a share of the reserve, the only use of this number.
      const share = this.depth === 0 ? 0 : depth / this.depth;
      this.#counts.leave(count, count.size - depth);
      this.#sizes.leave(bytes, bytes.size - Math.round(share * this.bytes));
    }
  }

  /** Recalculates the marks. */
  resize(settings: InboxSettings, drainRate: number | null): void {
    const { capacity, maxBytes, maxWaitMs = Infinity, highWaterMark, lowWaterMark } = settings;
    this.#counts.gate.resize({
      effectiveCapacity: effectiveCapacity(capacity, maxWaitMs, drainRate),
      ...{ highWaterMark, lowWaterMark, span: longestSpan(drainRate) },
    });
    this.#sizes.gate.resize({
      ...{ effectiveCapacity: maxBytes, highWaterMark, lowWaterMark },
      span: this.depth === 0 ? Infinity : longestSpan(drainRate, this.bytes / this.depth),
    });
  }

  /** Opens or closes the gates. Returns whether shedding began or ended. */
  judge(): boolean {
    const before = this.shedding;
    this.#counts.gate.judge(this.#counts.size);
    this.#sizes.gate.judge(this.#sizes.size);
    return this.shedding !== before;
  }

  /**
   * Why a delivery that is not verified yet would be refused, if so. Does not count it.
   *
   * @param key - undefined while unknown: its key may use so little that the reserve is open to it.
   */
  shortage(key: string | undefined, isEntitled: boolean): 'full' | 'shedding' | undefined {
    if (this.isFull) return 'full';
    if (key === undefined) return undefined;
    const isOpen = this.#counts.isOpenTo(key, isEntitled) && this.#sizes.isOpenTo(key, isEntitled);
    return isOpen ? undefined : 'shedding';
  }

  /**
   * Why a verified delivery is refused, if so.
   *
   * @param isEntitled - whether the delivery itself may use the reserve, whatever its key uses.
   */
  ask(
    key: string,
    isEntitled: boolean,
    nowMs: number,
    isKeeping: boolean,
    isNear: boolean,
  ): 'full' | 'shedding' | undefined {
    const byCount = this.#counts.ask(key, isEntitled, nowMs, isKeeping, isNear);
    const bySize = this.#sizes.ask(key, isEntitled, nowMs, isKeeping, isNear);
    if (this.isFull || byCount === 'full' || bySize === 'full') return 'full';
    return byCount === 'shedding' || bySize === 'shedding' ? 'shedding' : undefined;
  }

  /** A delivery is being stored. */
  begin({ key, bytes }: Sized): IncomingAmount {
    const share = this.#shareOf(key);
    this.#counts.begin(share.count, 1);
    this.#sizes.begin(share.bytes, bytes);
    return { key, bytes, share };
  }

  /** A delivery has been stored, or could not be. */
  end({ key, bytes, share }: IncomingAmount, isStored: boolean): void {
    this.#counts.incoming -= 1;
    this.#sizes.incoming -= bytes;
    if (!isStored) {
      this.#counts.leave(share.count, 1);
      this.#sizes.leave(share.bytes, bytes);
      if (this.#byKey.get(key) === share && share.count.size === 0) this.#forget(key, share);
      return;
    }
    this.#grow(bytes);
    // The key was forgotten if the store was empty meanwhile.
    if (this.#byKey.get(key) !== share) this.#enlarge(this.#shareOf(key), bytes);
  }

  add({ key, bytes }: Sized): void {
    this.#grow(bytes);
    this.#enlarge(this.#shareOf(key), bytes);
  }

  /** A delivery is finished. */
  remove({ key, bytes }: Sized): void {
    this.#finished += 1;
    this.#counts.stored = Math.max(0, this.depth - 1);
    this.#sizes.stored = Math.max(0, this.bytes - bytes);
    const share = this.#byKey.get(key);
    if (share === undefined) return;
    this.#counts.leave(share.count, 1);
    this.#sizes.leave(share.bytes, bytes);
    if (share.count.size === 0) this.#forget(key, share);
  }

  /** Whether no delivery at all is accepted. */
  get isFull(): boolean {
    return this.#counts.isFull || this.#sizes.isFull;
  }

  #measureOf(measure: keyof KeyShare): Gauge {
    const byKey = this.#byKey;
    const usages = {
      get size() {
        return byKey.size;
      },
      of: (key: string) => byKey.get(key)?.[measure],
    };
    return new Gauge(usages);
  }

  #grow(bytes: number): void {
    this.#counts.stored += 1;
    this.#sizes.stored += bytes;
    this.#added += 1;
    this.#addedBytes += bytes;
  }

  #enlarge(share: KeyShare, bytes: number): void {
    share.count.size += 1;
    share.bytes.size += bytes;
  }

  #shareOf(key: string): KeyShare {
    let share = this.#byKey.get(key);
    if (share === undefined) {
      share = new KeyShare();
      this.#byKey.set(key, share);
    }
    return share;
  }

  #forget(key: string, { count, bytes }: KeyShare): void {
    this.#counts.leave(count, Infinity);
    this.#sizes.leave(bytes, Infinity);
    this.#byKey.delete(key);
  }
}
