import { MinHeap, type Heaped } from './min-heap.ts';

/** So many keys have an account of their own; all others share one. */
const MAX_ACCOUNTS = 1000;

/** The bookings of one key. */
interface Account extends Heaped {
  /** Undefined: of all keys that have none of their own. */
  readonly key: string | undefined;
  /** Up to here its time is booked, on the clock of the schedule. */
  until: number;
}

/**
 * The bookings: which seconds were given to refused deliveries to come back. They are a schedule, and not a level
 * that drains: a level divided by a rate tells thousands the same second when the rate is seen to rise by a
 * hundredth, and a booking cannot be called back.
 *
 * Each key books on an account of its own and takes an equal part of the rate, so that a flood of one key does not
 * push another key's return into the far future. There are at most 1,001 accounts, of the busiest keys and of all
 * others together, which bounds every step of the heap; its top is the account whose bookings are over first.
 */
export class Bookings {
  readonly #accounts = new Map<string, Account>();
  readonly #heap = new MinHeap<Account>((a, b) => a.until < b.until);
  readonly #rest: Account = { key: undefined, until: 0, heapIndex: -1 };
  /** How many were told to come in each second that is still ahead. */
  readonly #perSecond = new Map<number, number>();
  #nowMs = 0;
  #total = 0;
  /** How far the clock of the schedule is ahead of the intake's. */
  #pulledMs = 0;

  /** Bookings that are not due yet. */
  get total(): number {
    return this.#total;
  }

  /**
   * Lets time pass.
   *
   * @param speed - at least 1: how much faster the schedule empties, since not all that were booked come.
   * @returns how many bookings came due.
   */
  advance(nowMs: number, speed: number): number {
    this.#pulledMs += (nowMs - this.#nowMs) * (speed - 1);
    const due = this.#passSeconds(Math.floor(this.#nowMs / 1000), Math.floor(nowMs / 1000));
    this.#nowMs = nowMs;
    for (
      let first = this.#heap.top;
      first !== undefined && this.#aheadMs(first) <= 0;
      first = this.#heap.top
    ) {
      this.#close(first);
    }
    return due;
  }

  /**
   * When the next booking of this key is.
   *
   * @param earliestMs - not before: when the door opens.
   * @param spacingMs - the time of one return, at the rate of all keys together.
   */
  next(key: string, earliestMs: number, spacingMs: number): number {
    const account = this.#find(key, spacingMs);
    return account === undefined ? earliestMs : Math.max(earliestMs, this.#nowMs + this.#aheadMs(account));
  }

  /**
   * Books.
   *
   * @param atMs - what {@link next} said.
   * @param toldMs - when the sender was told to come, which is a little later.
   */
  add(key: string, atMs: number, spacingMs: number, toldMs: number): void {
    const account = this.#find(key, spacingMs) ?? this.#open(key, spacingMs);
    account.until = atMs + this.#pulledMs + spacingMs * this.#heap.size;
    this.#heap.moveBack(account);
    const second = Math.floor(toldMs / 1000);
    this.#perSecond.set(second, (this.#perSecond.get(second) ?? 0) + 1);
    this.#total += 1;
  }

  /**
   * Stretches or squeezes what is booked from now on, when the pace has changed for good: those who were told a
   * second keep it, and those who come now are told what the new pace allows.
   */
  rescale(factor: number): void {
    // The order in the heap stays as it is.
    for (const account of this.#accounts.values()) this.#rescale(account, factor);
    if (this.#rest.heapIndex >= 0) this.#rescale(this.#rest, factor);
  }

  /** Forgets all bookings: what was promised is worth nothing any more. */
  clear(): void {
    this.#accounts.clear();
    this.#heap.clear();
    this.#rest.heapIndex = -1;
    this.#perSecond.clear();
    this.#total = 0;
  }

  #rescale(account: Account, factor: number): void {
    account.until += this.#aheadMs(account) * (factor - 1);
  }

  #aheadMs(account: Account): number {
    return account.until - this.#pulledMs - this.#nowMs;
  }

  #passSeconds(from: number, to: number): number {
    const before = this.#total;
    if (to - from > this.#perSecond.size) {
      for (const [second, count] of this.#perSecond) if (second < to) this.#pass(second, count);
    } else {
      for (let second = from; second < to; second += 1) this.#pass(second, this.#perSecond.get(second) ?? 0);
    }
    return before - this.#total;
  }

  #pass(second: number, count: number): void {
    this.#perSecond.delete(second);
    this.#total -= count;
  }

  /** The account that a booking of this key goes to, unless one is to be opened for it. */
  #find(key: string, spacingMs: number): Account | undefined {
    const own = this.#accounts.get(key);
    if (own !== undefined || this.#accounts.size < MAX_ACCOUNTS || this.#canTakeOver(spacingMs)) return own;
    return this.#rest.heapIndex < 0 ? undefined : this.#rest;
  }

  #open(key: string, spacingMs: number): Account {
    if (this.#accounts.size >= MAX_ACCOUNTS && this.#canTakeOver(spacingMs)) this.#close(this.#heap.top);
    const isOwn = this.#accounts.size < MAX_ACCOUNTS;
    const account = isOwn ? { key, until: 0, heapIndex: 0 } : this.#rest;
    account.until = 0;
    if (isOwn) this.#accounts.set(key, account);
    this.#heap.push(account);
    return account;
  }

  /** Whether the least busy key has less than one booking ahead: it gives its account up to one that books now. */
  #canTakeOver(spacingMs: number): boolean {
    const { top } = this.#heap;
    return top?.key !== undefined && this.#aheadMs(top) < spacingMs * this.#heap.size;
  }

  /** Closes the account at the top of the heap. */
  #close(account: Account | undefined): void {
    if (account === undefined) return;
    this.#heap.pop();
    account.heapIndex = -1;
    if (account.key !== undefined) this.#accounts.delete(account.key);
  }
}
