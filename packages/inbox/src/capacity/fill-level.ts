import {
  effectiveCapacity,
  Gate,
  longestSpan,
  Reserve,
  type ReserveQueue,
} from '@webhook-backpressure/core/extend';
import type { InboxSettings } from '../options/inbox-settings.ts';
import type { StoreStats } from '../store/inbox-store.ts';

/** How long a key counts as asking for the reserve. */
const ASKING_MS = 60_000;

/** A delivery, as the fill level counts it. */
interface Sized {
  readonly key: string;
  readonly bytes: number;
}

/** What this process has added to the store and finished in it. */
export interface OwnChanges {
  readonly added: number;
  readonly addedBytes: number;
  readonly finished: number;
}

/** The most deliveries in transit to or from the store: a smaller difference proves nothing. */
export const IN_TRANSIT = 512;

/** What one key uses, deliveries that are being stored included. */
class KeyShare {
  readonly count: { size: number } = { size: 0 };
  readonly bytes: { size: number } = { size: 0 };

  /** Adds a delivery, or subtracts one. What is known of a key may be an estimate, and never becomes negative. */
  add(count: number, bytes: number): void {
    this.count.size = Math.max(0, this.count.size + count);
    this.bytes.size = Math.max(0, this.bytes.size + bytes);
  }
}

/** How much is stored and unfinished, or being stored, by one measure: its gate with its marks, and the reserve above. */
class Gauge implements ReserveQueue {
  readonly gate: Gate = new Gate();
  readonly reserve: Reserve = new Reserve(this, this.gate);
  stored = 0;
  incoming = 0;
  readonly #byKey: ReadonlyMap<string, KeyShare>;
  readonly #measure: 'count' | 'bytes';

  constructor(byKey: ReadonlyMap<string, KeyShare>, measure: 'count' | 'bytes') {
    this.#byKey = byKey;
    this.#measure = measure;
  }

  get size(): number {
    return this.stored + this.incoming;
  }

  get keys(): number {
    return this.#byKey.size;
  }

  lineOf(key: string): { readonly size: number } | undefined {
    return this.#byKey.get(key)?.[this.#measure];
  }

  /** How much may be added below a mark: `high` keeps the gate open, `low` leaves room for new deliveries. */
  room(mark: 'low' | 'high'): number {
    const { lowest, high } = this.gate;
    // Even if there is no room below the mark, one delivery at a time is allowed.
    const most = mark === 'low' ? lowest : high - 1;
    return this.size === 0 ? Math.max(1, most) : most - this.size;
  }
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
  shedding = false;
  readonly #byKey = new Map<string, KeyShare>();
  readonly #counts = new Gauge(this.#byKey, 'count');
  readonly #sizes = new Gauge(this.#byKey, 'bytes');
  readonly #gauges = [this.#counts, this.#sizes];
  #added = 0;
  #addedBytes = 0;
  #finished = 0;

  get depth(): number {
    return this.#counts.stored;
  }

  get bytes(): number {
    return this.#sizes.stored;
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
    for (const key of this.#byKey.keys()) if (!depthByKey.has(key)) this.#byKey.delete(key);
    for (const [key, depth] of depthByKey) {
      const known = this.#shareOf(key);
      if (known.count.size === depth) continue;
      // A store counts a key's deliveries in an index, but would have to read every row to sum up their bytes. The average
      // size is precise enough for a share of the reserve, the only use of this number.
      const share = this.depth === 0 ? 0 : depth / this.depth;
      known.count.size = depth;
      known.bytes.size = Math.round(share * this.bytes);
    }
  }

  resize(settings: InboxSettings, drainRate: number | null): void {
    const { capacity, maxBytes, maxWaitMs = Infinity, highWaterMark, lowWaterMark } = settings;
    this.#counts.gate.resize({
      effectiveCapacity: effectiveCapacity(capacity, maxWaitMs, drainRate),
      highWaterMark,
      lowWaterMark,
      span: longestSpan(drainRate),
    });
    this.#sizes.gate.resize({
      effectiveCapacity: maxBytes,
      highWaterMark,
      lowWaterMark,
      span: this.depth === 0 ? Infinity : longestSpan(drainRate, this.bytes / this.depth),
    });
  }

  /** Opens or closes the gates. Returns whether shedding began or ended. */
  judge(): boolean {
    const before = this.shedding;
    this.#counts.gate.judge(this.#counts.size);
    this.#sizes.gate.judge(this.#sizes.size);
    this.shedding = this.#counts.gate.shedding || this.#sizes.gate.shedding;
    return this.shedding !== before;
  }

  get isFull(): boolean {
    return (
      this.#counts.size >= this.#counts.gate.effectiveCapacity ||
      this.#sizes.size >= this.#sizes.gate.effectiveCapacity
    );
  }

  /**
   * Why a delivery that is not verified yet would be refused, if so. Does not count it.
   *
   * @param key - undefined while unknown: its key may use so little that the reserve is open to it.
   */
  shortage(key: string | undefined, isEntitled: boolean): 'full' | 'shedding' | undefined {
    if (this.isFull) return 'full';
    if (key === undefined) return undefined;
    const shuts = ({ gate, reserve }: Gauge): boolean => gate.shedding && !reserve.isOpenTo(key, isEntitled);
    return this.#gauges.some(shuts) ? 'shedding' : undefined;
  }

  /**
   * Why a verified delivery is refused, if so. Its key counts as asking for the reserve.
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
    const answers = this.#gauges.map(({ gate, reserve }) =>
      gate.shedding ? reserve.ask(key, isEntitled, nowMs, ASKING_MS, isKeeping, isNear) : 'open',
    );
    if (this.isFull || answers.includes('full')) return 'full';
    return answers.includes('shedding') ? 'shedding' : undefined;
  }

  begin({ key, bytes }: Sized): IncomingAmount {
    const share = this.#shareOf(key);
    this.#counts.incoming += 1;
    this.#sizes.incoming += bytes;
    share.add(1, bytes);
    return { key, bytes, share };
  }

  /** A delivery has been stored, or could not be. */
  end({ key, bytes, share }: IncomingAmount, isStored: boolean): void {
    this.#counts.incoming -= 1;
    this.#sizes.incoming -= bytes;
    this.#leave(key, share, bytes);
    // To a new share if the key was forgotten, because the store was empty meanwhile.
    if (isStored) this.add({ key, bytes });
  }

  /** A delivery has been stored, or put back. */
  add({ key, bytes }: Sized): void {
    this.#counts.stored += 1;
    this.#sizes.stored += bytes;
    this.#added += 1;
    this.#addedBytes += bytes;
    this.#shareOf(key).add(1, bytes);
  }

  /** A delivery is finished. */
  remove({ key, bytes }: Sized): void {
    this.#finished += 1;
    this.#counts.stored = Math.max(0, this.depth - 1);
    this.#sizes.stored = Math.max(0, this.bytes - bytes);
    const share = this.#byKey.get(key);
    if (share !== undefined) this.#leave(key, share, bytes);
  }

  #leave(key: string, share: KeyShare, bytes: number): void {
    share.add(-1, -bytes);
    if (share.count.size === 0 && this.#byKey.get(key) === share) this.#byKey.delete(key);
  }

  #shareOf(key: string): KeyShare {
    const share = this.#byKey.get(key) ?? new KeyShare();
    this.#byKey.set(key, share);
    return share;
  }
}
