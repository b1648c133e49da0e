import { effectiveCapacity } from '../../queue/gate.ts';
import type { InboxSettings } from '../settings/inbox-settings.ts';
import type { StoreStats } from '../store/inbox-store.ts';
import { Holding, Measure } from './measure.ts';

/** How many deliveries, and of how many bytes. */
interface Amount {
  readonly key: string;
  readonly bytes: number;
}

/** So many may be on their way to the store or back: what differs by no more is no sign of anything. */
const ON_THE_WAY = 512;

/** What one key has. */
class Share {
  readonly count: Holding = new Holding();
  readonly bytes: Holding = new Holding();
}

/** What is being put. */
export interface Coming extends Amount {
  readonly share: Share;
  /** Whether it holds places of the reserve, by either measure. */
  readonly isReserved: { readonly count: boolean; readonly bytes: boolean };
}

/**
 * How full the inbox is, known in memory, and whether it sheds: by count or by bytes, each with two marks and a
 * reserve. What is on its way into the store counts already, so that those that arrive together do not all see the
 * same free place.
 */
export class Level {
  readonly #byKey = new Map<string, Share>();
  readonly #counts: Measure = this.#measureOf('count');
  readonly #sizes: Measure = this.#measureOf('bytes');

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

  /** The depth at which shedding ends, by whichever mark is further away. */
  get target(): number {
    const { low } = this.#sizes.gate;
    if (this.bytes <= low || this.bytes === 0) return this.lowWater;
    return Math.min(this.lowWater, Math.floor((this.depth * low) / this.bytes));
  }

  /** Where shedding ends, in deliveries and in bytes. */
  get lowWaterMarks(): { readonly depth: number; readonly bytes: number } {
    return { depth: this.lowWater, bytes: this.#sizes.gate.low };
  }

  /** How much may be put back among the stored. Less than one of either: nothing now. */
  room(mark: 'low' | 'high'): { readonly count: number; readonly bytes: number } {
    return { count: this.#counts.room(mark), bytes: this.#sizes.room(mark) };
  }

  /** What {@link holdsShare} asks for. */
  get size(): number {
    return this.depth;
  }

  get keys(): number {
    return this.#byKey.size;
  }

  /** What {@link holdsShare} asks for; what is on its way counts. */
  lineOf(key: string): { readonly size: number } | undefined {
    return this.#byKey.get(key)?.count;
  }

  fill(stats: Pick<StoreStats, 'depth' | 'bytes'>, depthByKey: ReadonlyMap<string, number>): void {
    this.correct(stats);
    this.correctKeys(depthByKey);
  }

  /**
   * What the store says is right: another process may share it. Returns whether one does, by what it says; then nobody
   * here knows any more what each key has.
   *
   * @param isWhole - nothing is on its way to the store or back.
   */
  correct({ depth, bytes }: Pick<StoreStats, 'depth' | 'bytes'>, isWhole = true): boolean {
    const isShared = Math.abs(depth - this.depth) > (isWhole ? 0 : ON_THE_WAY);
    this.#counts.stored = depth;
    this.#sizes.stored = bytes;
    if (depth === 0) this.correctKeys(new Map());
    return isShared;
  }

  /** What the store says of each key is right as well, but for what is on its way. */
  correctKeys(depthByKey: ReadonlyMap<string, number>): void {
    for (const [key, share] of this.#byKey) if (!depthByKey.has(key)) this.#forget(key, share);
    for (const [key, depth] of depthByKey) {
      const { count, bytes } = this.#shareOf(key);
      if (count.size === depth) continue;
      // A store counts a key's deliveries in its index; to add up their bytes it would have to read every row. Deliveries
      // of the average size are near enough for a share of the reserve, which is all that this is asked for.
      const share = this.depth === 0 ? 0 : depth / this.depth;
      this.#counts.leave(count, count.size - depth);
      this.#sizes.leave(bytes, bytes.size - Math.round(share * this.bytes));
    }
  }

  measure({ intake, longestWaitMs, maxBytes }: InboxSettings, drainRate: number | null): void {
    const { capacity, highWaterMark, lowWaterMark } = intake;
    this.#counts.gate.resize(
      effectiveCapacity(capacity, longestWaitMs, drainRate),
      highWaterMark,
      lowWaterMark,
    );
    this.#sizes.gate.resize(maxBytes, highWaterMark, lowWaterMark);
  }

  /** Opens or closes. Whether that changed anything. */
  judge(): boolean {
    const before = this.shedding;
    if (this.#counts.judge()) for (const { count } of this.#byKey.values()) this.#counts.empty(count);
    if (this.#sizes.judge()) for (const { bytes } of this.#byKey.values()) this.#sizes.empty(bytes);
    return this.shedding !== before;
  }

  /**
   * Why a delivery would find no place, if so. For those that are not verified yet: nothing is counted.
   *
   * @param key - undefined while it is not known: any key may be one that holds little.
   */
  shortage(key: string | undefined, isEntitled: boolean): 'full' | 'shedding' | undefined {
    if (this.#isFull) return 'full';
    if (key === undefined) return undefined;
    const isOpen = this.#counts.isOpenTo(key, isEntitled) && this.#sizes.isOpenTo(key, isEntitled);
    return isOpen ? undefined : 'shedding';
  }

  /**
   * Why there is no place for a genuine delivery of this key, if so.
   *
   * @param isEntitled - whether it may use the reserve on its own account.
   */
  ask(key: string, isEntitled: boolean, nowMs: number): 'full' | 'shedding' | undefined {
    const byCount = this.#counts.ask(key, isEntitled, nowMs);
    const bySize = this.#sizes.ask(key, isEntitled, nowMs);
    if (this.#isFull || byCount === 'full' || bySize === 'full') return 'full';
    return byCount === 'shedding' || bySize === 'shedding' ? 'shedding' : undefined;
  }

  /** A delivery is being put. */
  begin({ key, bytes }: Amount, isEntitled: boolean): Coming {
    const share = this.#shareOf(key);
    const isReserved = {
      count: this.#counts.begin(share.count, 1, isEntitled),
      bytes: this.#sizes.begin(share.bytes, bytes, isEntitled),
    };
    return { key, bytes, share, isReserved };
  }

  /** It has been put, or has not. */
  end({ key, bytes, share, isReserved }: Coming, isStored: boolean): void {
    this.#counts.coming -= 1;
    this.#sizes.coming -= bytes;
    if (!isStored) {
      this.#counts.undo(share.count, 1, isReserved.count);
      this.#sizes.undo(share.bytes, bytes, isReserved.bytes);
      if (this.#byKey.get(key) === share && share.count.size === 0) this.#forget(key, share);
      return;
    }
    this.#counts.stored += 1;
    this.#sizes.stored += bytes;
    // The store may have been empty meanwhile.
    if (this.#byKey.get(key) !== share) this.#enlarge(this.#shareOf(key), bytes);
  }

  add({ key, bytes }: Amount): void {
    this.#counts.stored += 1;
    this.#sizes.stored += bytes;
    this.#enlarge(this.#shareOf(key), bytes);
  }

  /** A delivery is finished. */
  remove({ key, bytes }: Amount): void {
    this.#counts.stored = Math.max(0, this.depth - 1);
    this.#sizes.stored = Math.max(0, this.bytes - bytes);
    const share = this.#byKey.get(key);
    if (share === undefined) return;
    this.#counts.leave(share.count, 1);
    this.#sizes.leave(share.bytes, bytes);
    if (share.count.size === 0) this.#forget(key, share);
  }

  get #isFull(): boolean {
    return this.#counts.isFull || this.#sizes.isFull;
  }

  #measureOf(measure: keyof Share): Measure {
    const byKey = this.#byKey;
    return new Measure({
      get size() {
        return byKey.size;
      },
      of: (key) => byKey.get(key)?.[measure],
    });
  }

  #enlarge(share: Share, bytes: number): void {
    share.count.size += 1;
    share.bytes.size += bytes;
  }

  #shareOf(key: string): Share {
    let share = this.#byKey.get(key);
    if (share === undefined) {
      share = new Share();
      this.#byKey.set(key, share);
    }
    return share;
  }

  #forget(key: string, { count, bytes }: Share): void {
    this.#counts.leave(count, Infinity);
    this.#sizes.leave(bytes, Infinity);
    this.#byKey.delete(key);
  }
}
