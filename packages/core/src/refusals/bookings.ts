import { MinHeap, type Heaped } from '../base/min-heap.ts';

/** The maximum number of keys with their own account. */
const MAX_ACCOUNTS = 1000;
/** The maximum number of keys remembered in the line. */
const MAX_REMEMBERED = 1000;

/** The schedule is shown in steps of this many seconds … */
const STEP_S = 10;
/** … for this many steps: 15 minutes. */
const STEPS = 90;
const NONE_AHEAD: readonly number[] = Object.freeze(new Array<number>(STEPS).fill(0));

/** The bookings of a key that has booked more than once. */
interface Account extends Heaped {
  readonly key: string;
  /** The end of its bookings, on the schedule's clock. */
  until: number;
}

/**
 * The bookings: a booking is the time that a refused delivery was assigned for its retry. Bookings form a schedule and
 * not a level that drains: a level divided by a rate assigns the same second to thousands as soon as the measured rate
 * rises by a hundredth, and a booking cannot be revoked.
 *
 * A key that books again gets an account. Accounts share the rate equally, so that a flood of one key does not postpone
 * another key's retries. All other bookings follow one another in one line, which gets half of the rate while there are
 * accounts: a burst of thousands of keys is spread like a burst of one key, and a flood of keys invented for one
 * delivery each takes at most that half. There are at most 1,000 accounts, which bounds every heap operation; the top
 * of the heap is the account whose bookings end first.
 */
export class Bookings {
  readonly #accounts = new Map<string, Account>();
  readonly #heap = new MinHeap<Account>((a, b) => a.until < b.until);
  /** The last keys that booked in the line, and the end of each key's bookings. */
  readonly #inLine = new Map<string, number>();
  /** The same keys in booking order, as a ring: finding the oldest key of a Map that shrinks at its front is slow. */
  readonly #ring: string[] = [];
  #ringAt = 0;
  /** The end of the line's bookings, on the schedule's clock. */
  #lineUntil = 0;
  /** The latest end of any account's bookings. */
  #accountsUntil = 0;
  /** The number of bookings in each future second. */
  readonly #perSecond = new Map<number, number>();
  #nowMs = 0;
  #total = 0;
  /** How far the schedule's clock is ahead of the intake's clock. */
  #pulledMs = 0;

  /** The number of bookings that are not due yet. */
  get total(): number {
    return this.#total;
  }

  /**
   * Advances the schedule to `nowMs`.
   *
   * @param speed - at least 1: how much faster the schedule drains because some senders do not keep their bookings.
   * @returns the number of bookings that came due.
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

  /** The number of bookings in each 10 s of the next 15 minutes; the first counts the current second too. */
  ahead(): readonly number[] {
    if (this.#total === 0) return NONE_AHEAD;
    const counts = NONE_AHEAD.slice();
    const first = Math.floor(this.#nowMs / 1000);
    const note = (second: number, count: number): void => {
      const step = Math.max(0, Math.ceil((second - first) / STEP_S) - 1);
      if (step < STEPS) counts[step] = (counts[step] ?? 0) + count;
    };
    if (this.#perSecond.size <= STEPS * STEP_S) {
      for (const [second, count] of this.#perSecond) note(second, count);
    } else {
      for (let ahead = 0; ahead <= STEPS * STEP_S; ahead += 1)
        note(first + ahead, this.#perSecond.get(first + ahead) ?? 0);
    }
    return counts;
  }

  /** Whether the key was refused recently. */
  knows(key: string): boolean {
    return this.#accounts.has(key) || this.#inLine.has(key);
  }

  /**
   * The time of this key's next booking.
   *
   * @param earliestMs - the lower bound: when shedding is expected to end.
   */
  next(key: string, earliestMs: number): number {
    const until = this.#accounts.get(key)?.until ?? this.#untilInLine(key) ?? this.#lineUntil;
    return Math.max(earliestMs, this.#nowMs + this.#aheadMs(until));
  }

  /**
   * Books the time that {@link next} returned.
   *
   * @param spacingMs - the time per retry, at the rate of all keys together.
   * @param assignedMs - the time sent to the sender, which is slightly later.
   * @param leastMs - the minimum time between two retries of this key.
   */
  add(key: string, earliestMs: number, spacingMs: number, assignedMs: number, leastMs = 0): void {
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
    const second = Math.floor(assignedMs / 1000);
    this.#perSecond.set(second, (this.#perSecond.get(second) ?? 0) + 1);
    this.#total += 1;
  }

  /** Notes a key that was assigned a second without a booking, so that its retry does not count as a new key. */
  noteKey(key: string, assignedMs: number): void {
    if (!this.#accounts.has(key) && !this.#inLine.has(key)) this.#remember(key, assignedMs + this.#pulledMs);
  }

  /**
   * Corrects the schedule of a key by bookings of other receivers, and by what is wrong with those of this one.
   *
   * @param ms - the time that they take at the rate of the fleet; negative if bookings have taken too much.
   */
  shift(key: string, ms: number): void {
    const now = this.#nowMs + this.#pulledMs;
    const account = this.#accounts.get(key) ?? (ms > 0 ? this.#openFor(key) : undefined);
    if (account === undefined) {
      this.#lineUntil = Math.max(
        now,
        Math.max(now, this.#lineUntil) + ms * (this.#accountsUntil > now ? 2 : 1),
      );
      return;
    }
    const at = Math.max(now, account.until);
    const factor = this.#accounts.size * (this.#lineUntil > at ? 2 : 1);
    account.until = Math.max(now, at + ms * factor);
    this.#accountsUntil =
      this.#accounts.size === 1 ? account.until : Math.max(this.#accountsUntil, account.until);
    this.#heap.remove(account);
    this.#heap.push(account);
  }

  /** How far ahead of now the bookings extend: of so many accounts with most, and under the empty key of the line. */
  farthest(accounts: number): (readonly [key: string, ms: number])[] {
    const ahead = [...this.#accounts.values()].map(({ key, until }) => [key, this.#aheadMs(until)] as const);
    const most = ahead.sort(([, a], [, b]) => b - a).slice(0, accounts);
    return [...most, ['', Math.max(0, this.#aheadMs(this.#lineUntil))] as const];
  }

  /** Takes over how far ahead the bookings of a key extend at another receiver. */
  takeOver(key: string, aheadMs: number): void {
    const until = this.#nowMs + this.#pulledMs + aheadMs;
    const account = this.#accounts.get(key) ?? this.#openFor(key);
    if (account === undefined) this.#lineUntil = Math.max(this.#lineUntil, until);
    else {
      account.until = Math.max(account.until, until);
      this.#accountsUntil = Math.max(this.#accountsUntil, account.until);
      this.#heap.moveBack(account);
    }
  }

  /**
   * Stretches or compresses the schedule after a lasting change of pace. Assigned seconds stay; new bookings follow
   * the new pace.
   */
  rescale(factor: number): void {
    const rescaled = (until: number): number => until + this.#aheadMs(until) * (factor - 1);
    // This does not change the order of the heap.
    for (const account of this.#accounts.values()) account.until = rescaled(account.until);
    for (const [key, until] of this.#inLine) this.#inLine.set(key, rescaled(until));
    this.#lineUntil = rescaled(this.#lineUntil);
    this.#accountsUntil = rescaled(this.#accountsUntil);
  }

  /** Drops all bookings. */
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

  /** The end of a key's bookings in the line, if the key gets an account now; undefined for all other keys. */
  #untilInLine(key: string): number | undefined {
    return this.#accounts.size < MAX_ACCOUNTS ? this.#inLine.get(key) : undefined;
  }

  /** An account for bookings of other receivers; undefined for keys that have none and for an unknown key. */
  #openFor(key: string): Account | undefined {
    return key === '' || this.#accounts.size >= MAX_ACCOUNTS ? undefined : this.#open(key);
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
    // A key's second booking comes after the first bookings of the keys now in line, as far as those are real.
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
