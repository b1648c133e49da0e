import { effectiveCapacity, Gate } from '../gate.ts';
import type { InboxSettings } from './inbox-settings.ts';
import type { StoreStats } from './inbox-store.ts';

/** How many deliveries, and of how many bytes. */
interface Amount {
  readonly key: string;
  readonly bytes: number;
}

/** The depth of one key, as {@link statusOf} looks at it. */
interface KeyDepth {
  readonly size: number;
}

/**
 * How full the inbox is, known in memory, and whether it sheds: by count or by bytes, each with two marks. What is on
 * its way into the store counts already, so that those that arrive together do not all see the same free place.
 */
export class Level {
  depth = 0;
  bytes = 0;
  readonly #counts = new Gate();
  readonly #sizes = new Gate();
  readonly #byKey = new Map<string, number>();
  #comingCount = 0;
  #comingBytes = 0;

  get shedding(): boolean {
    return this.#counts.shedding || this.#sizes.shedding;
  }

  get highWater(): number {
    return this.#counts.high;
  }

  get lowWater(): number {
    return this.#counts.low;
  }

  get effectiveCapacity(): number {
    return this.#counts.effectiveCapacity;
  }

  /** The depth at which shedding ends, by whichever mark is further away. */
  get target(): number {
    if (this.bytes <= this.#sizes.low || this.bytes === 0) return this.lowWater;
    return Math.min(this.lowWater, Math.floor((this.depth * this.#sizes.low) / this.bytes));
  }

  /** What {@link statusOf} asks for. */
  get size(): number {
    return this.depth;
  }

  get keys(): number {
    return this.#byKey.size;
  }

  lineOf(key: string): KeyDepth | undefined {
    const size = this.#byKey.get(key);
    return size === undefined ? undefined : { size };
  }

  fill(stats: Pick<StoreStats, 'depth' | 'bytes'>, depthByKey: ReadonlyMap<string, number>): void {
    this.correct(stats);
    for (const [key, depth] of depthByKey) this.#byKey.set(key, depth);
  }

  /** What the store says is right: another process may share it. */
  correct({ depth, bytes }: Pick<StoreStats, 'depth' | 'bytes'>): void {
    this.depth = depth;
    this.bytes = bytes;
    if (depth === 0) this.#byKey.clear();
  }

  measure({ intake, longestWaitMs, maxBytes }: InboxSettings, drainRate: number | null): void {
    const { capacity, highWaterMark, lowWaterMark } = intake;
    this.#counts.resize(effectiveCapacity(capacity, longestWaitMs, drainRate), highWaterMark, lowWaterMark);
    this.#sizes.resize(maxBytes, highWaterMark, lowWaterMark);
  }

  /** Opens or closes. Whether that changed anything. */
  judge(): boolean {
    const before = this.shedding;
    this.#counts.judge(this.depth + this.#comingCount);
    this.#sizes.judge(this.bytes + this.#comingBytes);
    return this.shedding !== before;
  }

  /** Whether there is no place left even in the reserve. */
  get isFull(): boolean {
    const { effectiveCapacity: capacity } = this.#sizes;
    return (
      this.depth + this.#comingCount >= this.#counts.effectiveCapacity ||
      this.bytes + this.#comingBytes >= capacity
    );
  }

  /**
   * Whether a delivery of this key may use half of the reserve: the key has no part in the burst. As in an intake, it
   * holds less than half of an equal share of the low-water mark.
   */
  isSmall(key: string): boolean {
    const held = this.#byKey.get(key);
    const keys = this.#byKey.size + (held === undefined ? 1 : 0);
    const half = this.#counts.high + (this.#counts.effectiveCapacity - this.#counts.high) / 2;
    const isRoomy = this.depth + this.#comingCount < half && !this.#sizes.shedding;
    return isRoomy && (held ?? 0) + 1 < this.#counts.low / keys / 2;
  }

  /** A delivery is being put. */
  begin({ key, bytes }: Amount): void {
    this.#comingCount += 1;
    this.#comingBytes += bytes;
    this.#count(key, 1);
  }

  /** It has been put, or has not. */
  end(amount: Amount, isStored: boolean): void {
    this.#comingCount -= 1;
    this.#comingBytes -= amount.bytes;
    this.#count(amount.key, -1);
    if (isStored) this.add(amount);
  }

  add({ key, bytes }: Amount): void {
    this.depth += 1;
    this.bytes += bytes;
    this.#count(key, 1);
  }

  /** A delivery is finished. */
  remove({ key, bytes }: Amount): void {
    this.depth = Math.max(0, this.depth - 1);
    this.bytes = Math.max(0, this.bytes - bytes);
    this.#count(key, -1);
  }

  /** What is on its way counts here too. */
  #count(key: string, change: 1 | -1): void {
    const left = (this.#byKey.get(key) ?? 0) + change;
    if (left > 0) this.#byKey.set(key, left);
    else this.#byKey.delete(key);
  }
}
