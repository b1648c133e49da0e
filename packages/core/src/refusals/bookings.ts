import { MinHeap, type Heaped } from '../base/min-heap.ts';

/** So many keys have an account of their own. */
const MAX_ACCOUNTS = 1000;
/** So many of the keys in the line are remembered. */
const MAX_REMEMBERED = 1000;

/** The bookings of a key that booked more than once. */
interface Account extends Heaped {
  readonly key: string;
  /** Up to here its time is booked, on the clock of the schedule. */
  until: number;
}

/**
 * The bookings: which seconds were given to refused deliveries to come back. They are a schedule, and not a level
 * that drains: a level divided by a rate tells thousands the same second when the rate is seen to rise by a
 * hundredth, and a booking cannot be called back.
 *
 * A key that books again gets an account, and the accounts share the rate in equal parts, so that a flood of one key
 * does not push another key's return into the far future. All other bookings follow one another in a line, which
 * has half of the rate while there are accounts: a burst of thousands of keys is spread as if it were of one, and a
 * flood of keys that were invented for one delivery each takes that half and no more. There are at most 1,000
 * accounts, which bounds every step of the heap; its top is the account whose bookings are over first.
 */
export class Bookings {
  readonly #accounts = new Map<string, Account>();
  readonly #heap = new MinHeap<Account>((a, b) => a.until < b.until);
  /** The last keys that booked in the line, and up to where the time of each is booked. */
  readonly #inLine = new Map<string, number>();
  /** The same in the order of their booking, in a ring: the oldest key of a Map that shrinks at its front is slow to find. */
  readonly #ring: string[] = [];
  #ringAt = 0;
  /** Up to here the line is booked, on the clock of the schedule. */
  #lineUntil = 0;
  /** Up to here some account is booked. */
  #accountsUntil = 0;
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
      first !== undefined && this.#aheadMs(first.until) <= 0;
      first = this.#heap.top
    ) {
      this.#heap.pop();
      this.#accounts.delete(first.key);
    }
    return due;
  }

  /** Whether the key was refused lately. */
  knows(key: string): boolean {
    return this.#accounts.has(key) || this.#inLine.has(key);
  }

  /**
   * When the next booking of this key is.
   *
   * @param earliestMs - not before: when the door opens.
   */
  next(key: string, earliestMs: number): number {
    const until = this.#accounts.get(key)?.until ?? this.#untilInLine(key) ?? this.#lineUntil;
    return Math.max(earliestMs, this.#nowMs + this.#aheadMs(until));
  }

  /**
   * Books what {@link next} said.
   *
   * @param spacingMs - the time of one return, at the rate of all keys together.
   * @param toldMs - when the sender was told to come, which is a little later.
   * @param leastMs - the least time between two returns of this key.
   */
  add(key: string, earliestMs: number, spacingMs: number, toldMs: number, leastMs = 0): void {
    const at = this.next(key, earliestMs) + this.#pulledMs;
    const isSecond = this.#untilInLine(key) !== undefined;
    const account = isSecond ? this.#open(key) : this.#accounts.get(key);
    if (account === undefined) this.#join(key, at, earliestMs + this.#pulledMs, spacingMs, leastMs);
    else {
      const isShared = this.#lineUntil - at > 2 * spacingMs;
      account.until = at + Math.max(leastMs, spacingMs * this.#accounts.size * (isShared ? 2 : 1));
      this.#accountsUntil = Math.max(this.#accountsUntil, account.until);
      this.#heap.moveBack(account);
    }
    const second = Math.floor(toldMs / 1000);
    this.#perSecond.set(second, (this.#perSecond.get(second) ?? 0) + 1);
    this.#total += 1;
  }

  /** Notes a key that was told a second which is not booked: when it comes again, it is no new one. */
  meet(key: string, toldMs: number): void {
    if (!this.#accounts.has(key) && !this.#inLine.has(key)) this.#remember(key, toldMs + this.#pulledMs);
  }

  /**
   * Stretches or squeezes what is booked from now on, when the pace has changed for good: those who were told a
   * second keep it, and those who come now are told what the new pace allows.
   */
  rescale(factor: number): void {
    const rescaled = (until: number): number => until + this.#aheadMs(until) * (factor - 1);
    // The order in the heap stays as it is.
    for (const account of this.#accounts.values()) account.until = rescaled(account.until);
    for (const [key, until] of this.#inLine) this.#inLine.set(key, rescaled(until));
    this.#lineUntil = rescaled(this.#lineUntil);
    this.#accountsUntil = rescaled(this.#accountsUntil);
  }

  /** Forgets all bookings: what was promised is worth nothing any more. */
  clear(): void {
    this.#accounts.clear();
    this.#heap.clear();
    this.#inLine.clear();
    this.#ring.length = 0;
    this.#ringAt = 0;
    this.#lineUntil = 0;
    this.#accountsUntil = 0;
    this.#perSecond.clear();
    this.#total = 0;
  }

  #aheadMs(until: number): number {
    return until - this.#pulledMs - this.#nowMs;
  }

  /** Up to where a key is booked that is to get an account now; undefined for all others. */
  #untilInLine(key: string): number | undefined {
    return this.#accounts.size < MAX_ACCOUNTS ? this.#inLine.get(key) : undefined;
  }

  #open(key: string): Account {
    this.#inLine.delete(key);
    const account = { key, until: 0, heapIndex: 0 };
    this.#accounts.set(key, account);
    this.#heap.push(account);
    return account;
  }

  #join(key: string, at: number, earliest: number, spacingMs: number, leastMs: number): void {
    this.#lineUntil = at + spacingMs * (this.#accountsUntil > at ? 2 : 1);
    // The second round of a key comes after the first one of those that are in line now, as far as they are real.
    const inLine = Math.min(MAX_REMEMBERED, (this.#lineUntil - earliest) / spacingMs);
    this.#remember(key, at + Math.max(leastMs, spacingMs * inLine));
  }

  #remember(key: string, until: number): void {
    const oldest = this.#ring[this.#ringAt];
    if (oldest !== undefined) this.#inLine.delete(oldest);
    this.#ring[this.#ringAt] = key;
    this.#ringAt = (this.#ringAt + 1) % MAX_REMEMBERED;
    this.#inLine.set(key, until);
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
}
