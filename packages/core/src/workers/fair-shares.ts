import type { Favor } from '../delivery/favor.ts';
import { FairQueue } from '../queue/fair-queue.ts';
import type { Queued } from '../queue/line.ts';
import { WorkerTime, type Account } from './worker-time.ts';

/** A delivery that knows the account its worker is charged to. */
interface Sharing<T> extends Queued<T> {
  account: Account | null;
}

/**
 * Shares the workers between the keys: a turn costs what a key's deliveries take, no key has more than
 * `maxConcurrencyPerKey` workers, and a key that takes its equal share or more is known to be part of the cause.
 */
export class FairShares<T extends Sharing<T>> {
  readonly #time = new WorkerTime();
  readonly queue: FairQueue<T> = new FairQueue<T>(this.#time.payerOf);
  /** How many workers one key may have. */
  #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** The part of the workers that one key may have. */
  shareOf(workers: number): number {
    return Math.min(1, this.#most / workers);
  }

  /** Changes the limit. Only keys that hold workers can be at it. */
  limit(most: number): void {
    if (most === this.#most) return;
    this.#most = most;
    for (const account of this.#time.busy()) {
      if (account.active >= most) this.queue.park(account);
      else this.queue.unpark(account);
    }
  }

  isAtLimit(key: string): boolean {
    if (this.#most === Infinity) return false;
    return (this.#time.of(key)?.active ?? 0) >= this.#most;
  }

  /** Queues a delivery. */
  push(item: T): void {
    this.queue.push(item, this.isAtLimit(item.key));
  }

  /** A delivery starts without being queued. */
  skip(item: T, nowMs: number): void {
    this.queue.skip(this.#take(item, nowMs));
  }

  /** The delivery whose turn it is starts: the one that {@link FairQueue.peek} returns. */
  shift(item: T, nowMs: number): void {
    const account = this.#take(item, nowMs);
    this.queue.shift(account);
    if (account.active >= this.#most) this.queue.park(account);
  }

  /** The handling of a delivery has ended. `teaches`: see {@link WorkerTime.give}. */
  end(item: T, nowMs: number, tookMs: number, teaches: boolean): void {
    const { account } = item;
    if (account === null) return;
    item.account = null;
    const cost = this.#time.give(account, nowMs, tookMs, teaches);
    if (teaches && this.#most !== Infinity) account.learnTypical(tookMs);
    this.queue.correct(account, cost);
    if (account.active < this.#most) this.queue.unpark(account);
  }

  /** What a turn at the usual cost takes now, in deliveries. */
  get scale(): number {
    return this.#time.scale;
  }

  /**
   * How many deliveries start until one of `key` that joined now has its turn, including that one.
   *
   * @param joining - see {@link FairQueue.turnsUntil}.
   */
  turnsUntil(key: string, joining?: Favor): number {
    return this.queue.turnsUntil(key, this.#time.scale, joining);
  }

  /**
   * How long a delivery of `key` that joined now would be queued, in milliseconds: until its turn at the drain rate, and
   * until one of its key's workers is free if these are limited.
   */
  waitMs(key: string, drainRate: number, joining?: Favor): number {
    return Math.max((this.turnsUntil(key, joining) / drainRate) * 1000, this.ownWaitMs(key));
  }

  /** The part of that wait that is due to the limit of its key, in milliseconds; 0 without a limit. */
  ownWaitMs(key: string): number {
    const account = this.#most === Infinity ? undefined : this.#time.of(key);
    if (account === undefined) return 0;
    const before = (this.queue.lineOf(key)?.size ?? 0) + account.active + 1 - this.#most;
    return Math.max(0, (before * account.typicalMs) / this.#most);
  }

  /** The mean handling time of the key, in milliseconds; 0 while it is not known. */
  handlingMs(key: string): number {
    return this.#time.of(key)?.meanMs ?? 0;
  }

  /** The shortest time between two starts of a key whose workers are limited, in milliseconds; 0 without a limit. */
  spacingMs(key: string): number {
    return this.#most === Infinity ? 0 : (this.#time.of(key)?.typicalMs ?? 0) / this.#most;
  }

  /**
   * Whether a key is part of the cause of refusals: it has an equal share of the work or more. The work is the recent
   * worker time and the expected worker time of the queue, so a tenant with fast handlers is not blamed for one with slow
   * handlers. A key that is alone is compared with half of the work.
   */
  isCause(key: string, nowMs: number): boolean {
    const { queue } = this;
    const line = queue.lineOf(key);
    const unitMs = this.#time.usualMs(nowMs);
    const own = (this.#time.of(key)?.heldMs(nowMs) ?? 0) + (line?.work ?? 0) * unitMs;
    const all = this.#time.heldMs(nowMs) + queue.work * unitMs;
    const keys = Math.max(2, queue.keys + (line === undefined ? 1 : 0));
    // With a tolerance of a millionth, since sums of fractions are compared.
    return own > 0 && own * keys >= all * 0.999_999;
  }

  #take(item: T, nowMs: number): Account {
    const account = this.#time.take(item.key, nowMs);
    item.account = account;
    return account;
  }
}
