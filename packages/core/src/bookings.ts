import { MinHeap, type Heaped } from './min-heap.ts';

/** So many keys have an account of their own; all others share one. */
const MAX_ACCOUNTS = 1000;

/** The bookings of one key. */
interface Account extends Heaped {
  readonly key: string | undefined;
  /** How far the virtual time has to come until the last of its bookings is due. */
  finish: number;
}

/**
 * The bookings: how many refused deliveries were given a second to come back and are not due yet. A shadow bucket
 * for each key, and all of them drain together at the rate ρ that is left for returns, each at an equal part, so
 * that a flood of one key does not push another key's return into the far future.
 *
 * Fair draining in O(1) for any rate: virtual time counts what every account has drained so far, so an account is
 * only the virtual time of its last booking (as in weighted fair queueing: Demers, Keshav and Shenker, 1989). The
 * heap has at most 1,001 entries, which bounds every step, and its top is the account that is empty first.
 */
export class Bookings {
  readonly #accounts = new Map<string, Account>();
  readonly #heap = new MinHeap<Account>((a, b) => a.finish < b.finish);
  readonly #rest: Account = { key: undefined, finish: 0, heapIndex: -1 };
  #virtual = 0;
  #total = 0;
  #nowMs = 0;

  /** Bookings that are not due yet. */
  get total(): number {
    return this.#total;
  }

  /**
   * Lets time pass.
   *
   * @param rate - ρ, bookings per second, all keys together.
   * @returns how many came due.
   */
  advance(nowMs: number, rate: number): number {
    let left = ((nowMs - this.#nowMs) / 1000) * rate;
    this.#nowMs = nowMs;
    const before = this.#total;
    for (let first = this.#heap.top; first !== undefined && left > 0; first = this.#heap.top) {
      const accounts = this.#heap.size;
      const untilEmpty = (first.finish - this.#virtual) * accounts;
      if (untilEmpty > left) {
        this.#virtual += left / accounts;
        this.#total -= left;
        break;
      }
      this.#virtual = first.finish;
      this.#total -= untilEmpty;
      left -= untilEmpty;
      this.#close(first);
    }
    if (this.#heap.size === 0) this.#total = 0;
    return before - this.#total;
  }

  /** How many bookings come due before a new one of this key would, of all keys. */
  ahead(key: string): number {
    const account = this.#accountOf(key);
    if (account === undefined) return 0;
    return (account.finish - this.#virtual) * this.#heap.size;
  }

  add(key: string): void {
    const account = this.#accountOf(key) ?? this.#open(key);
    account.finish += 1;
    this.#heap.moveBack(account);
    this.#total += 1;
  }

  /** Forgets all bookings: what was promised is worth nothing any more. */
  clear(): void {
    this.#accounts.clear();
    this.#heap.clear();
    this.#rest.heapIndex = -1;
    this.#total = 0;
  }

  /** The account that a booking of this key goes to, if it exists already. */
  #accountOf(key: string): Account | undefined {
    const own = this.#accounts.get(key);
    if (own !== undefined || this.#accounts.size < MAX_ACCOUNTS || this.#canTakeOver()) return own;
    return this.#rest.heapIndex < 0 ? undefined : this.#rest;
  }

  /** Whether the least busy account has less than the one booking with which a new one begins. */
  #canTakeOver(): boolean {
    const { top } = this.#heap;
    return top !== undefined && top !== this.#rest && top.finish - this.#virtual < 1;
  }

  #open(key: string): Account {
    const isOwn = this.#accounts.size < MAX_ACCOUNTS || this.#canTakeOver();
    if (isOwn && this.#accounts.size >= MAX_ACCOUNTS) {
      const { top } = this.#heap;
      if (top !== undefined) {
        this.#total -= top.finish - this.#virtual;
        this.#close(top);
      }
    }
    const account = isOwn ? { key, finish: 0, heapIndex: 0 } : this.#rest;
    account.finish = this.#virtual;
    if (isOwn) this.#accounts.set(key, account);
    this.#heap.push(account);
    return account;
  }

  /** Closes the account at the top of the heap. */
  #close(account: Account): void {
    this.#heap.pop();
    account.heapIndex = -1;
    if (account.key !== undefined) this.#accounts.delete(account.key);
  }
}
