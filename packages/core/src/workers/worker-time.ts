import type { Payer } from '../queue/line.ts';
import { MAX_TURN_COST } from '../queue/turns.ts';

/** The mean of a key is that of about this many of its last deliveries. What a turn really took is charged afterwards. */
const KEY_MEMORY = 16;
/** From this many deliveries on, a typical handling time is known. */
const TYPICAL_FROM = 4;
/**
 * The mean of so few is often off by a third by chance alone. Within this factor of the mean of all, a turn costs 1, so
 * that keys with similar handlers alternate.
 */
const ALIKE = 2;
/** The memory of the mean of all. It is slow because it is the unit of costs, which should not change between turns. */
const MEMORY = 1000;
/** The memory of the recent mean of all, which shows how much slower or faster than that unit handlers have become. */
const RECENT = 64;
/** Held worker time is forgotten after one to two windows: long enough to notice a slow handler, short enough to forgive. */
const WINDOW_MS = 10_000;
/** How many idle keys with two or more handled deliveries are remembered. */
const KNOWN_KEYS = 800;
/** And how many with one. Invented keys fill only these. */
const NEW_KEYS = 200;

/**
 * Recent worker time. Each start and end only adds to sums; the time of running deliveries is computed when it is read.
 */
class Meter {
  /** Workers held now. */
  active = 0;
  /** The times of their starts, added up. */
  #startsMs = 0;
  #window = 0;
  #thisMs = 0;
  #lastMs = 0;

  begin(nowMs: number): void {
    this.active += 1;
    this.#startsMs += nowMs;
  }

  end(nowMs: number, tookMs: number): void {
    this.active -= 1;
    // At rest the sum is reset: adding and subtracting fractions leaves a remainder.
    this.#startsMs = this.active === 0 ? 0 : this.#startsMs - (nowMs - tookMs);
    this.#turnTo(nowMs);
    this.#thisMs += tookMs;
  }

  heldMs(nowMs: number): number {
    this.#turnTo(nowMs);
    const fresh = 1 - (nowMs / WINDOW_MS - this.#window);
    return this.active * nowMs - this.#startsMs + this.#thisMs + this.#lastMs * fresh;
  }

  #turnTo(nowMs: number): void {
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window === this.#window) return;
    this.#lastMs = window === this.#window + 1 ? this.#thisMs : 0;
    this.#thisMs = 0;
    this.#window = window;
  }
}

/** A mean of recent handling times. */
class Mean {
  ms = 0;
  samples = 0;
  readonly #memory: number;

  constructor(memory: number) {
    this.#memory = memory;
  }

  learn(tookMs: number): void {
    if (this.samples < this.#memory) this.samples += 1;
    this.ms += (tookMs - this.ms) / this.samples;
  }
}

/** The worker time of a key. */
export class Account extends Meter implements Payer {
  readonly key: string;
  /** The mean of its handling times, in milliseconds, and the number of its samples. */
  meanMs = 0;
  samples = 0;
  /** That mean as a multiple of the mean of all keys; 1 while it is unknown or similar. */
  cost = 1;
  paidTo = 0;
  line: Payer['line'] = null;
  /** The sum charged for the deliveries that are being handled. */
  charged = 0;
  list: Accounts | null = null;
  previous: Account | null = null;
  next: Account | null = null;

  /** The mean logarithm of its handling times, while workers are limited per key. */
  #logs: Mean | undefined;

  constructor(key: string) {
    super();
    this.key = key;
  }

  /**
   * The typical handling time in milliseconds; 0 before the fourth delivery. One delivery that takes 600 times as long
   * changes it only by half, so the next ones are not refused for it.
   */
  get typicalMs(): number {
    if (this.#logs === undefined || this.#logs.samples < TYPICAL_FROM) return 0;
    return Math.round(Math.exp(this.#logs.ms) - 1);
  }

  learnTypical(tookMs: number): void {
    this.#logs ??= new Mean(KEY_MEMORY);
    this.#logs.learn(Math.log(tookMs + 1));
  }

  learn(tookMs: number): void {
    if (this.samples < KEY_MEMORY) this.samples += 1;
    this.meanMs += (tookMs - this.meanMs) / this.samples;
  }
}

/** Accounts in the order in which they joined. */
class Accounts {
  size = 0;
  first: Account | null = null;
  #last: Account | null = null;

  add(account: Account): void {
    account.list = this;
    account.previous = this.#last;
    if (this.#last === null) this.first = account;
    else this.#last.next = account;
    this.#last = account;
    this.size += 1;
  }

  remove(account: Account): void {
    if (account.previous === null) this.first = account.next;
    else account.previous.next = account.next;
    if (account.next === null) this.#last = account.previous;
    else account.next.previous = account.previous;
    account.list = account.previous = account.next = null;
    this.size -= 1;
  }
}

/**
 * The worker time of each key: how long its deliveries take, and how much worker time they have held recently.
 *
 * All keys that hold workers are known; there are at most as many as workers. Of the others, the 1,000 that were handled
 * last are remembered. 200 of these places are for keys with one handled delivery, so 100,000 invented keys push out each
 * other and not the keys of regular senders.
 */
export class WorkerTime {
  readonly #byKey = new Map<string, Account>();
  readonly #busy = new Accounts();
  readonly #known = new Accounts();
  readonly #new = new Accounts();
  readonly #all = new Meter();
  readonly #mean = new Mean(MEMORY);
  readonly #recent = new Mean(RECENT);
  /** Most deliveries have the same key as the one before. */
  #latest: Account | undefined;

  /** The usual handling time in milliseconds: the mean of all, or before the first end, the mean age of those running. */
  usualMs(nowMs: number): number {
    return this.#mean.ms || this.#all.heldMs(nowMs) / Math.max(1, this.#all.active) || 1;
  }

  /** What a turn at the usual cost takes now, as a multiple of a recent delivery; 1 while they are similar. */
  get scale(): number {
    return this.#recent.ms > 0 ? alike(this.#mean.ms / this.#recent.ms) : 1;
  }

  /** The account of a key, with its present cost. */
  readonly payerOf = (key: string): Account | undefined => {
    const account = this.of(key);
    if (account !== undefined) this.#reckon(account);
    return account;
  };

  readonly of = (key: string): Account | undefined => {
    const latest = this.#latest;
    if (latest?.key === key && latest.list !== null) return latest;
    return this.#byKey.get(key);
  };

  /** The accounts of keys that hold workers. */
  *busy(): IterableIterator<Account> {
    for (let account = this.#busy.first; account !== null; account = account.next) yield account;
  }

  /** The recent worker time of all keys, in milliseconds. */
  heldMs(nowMs: number): number {
    return this.#all.heldMs(nowMs);
  }

  /** A delivery of the key starts. */
  take(key: string, nowMs: number): Account {
    let account = this.of(key);
    if (account === undefined) {
      account = new Account(key);
      this.#byKey.set(key, account);
    }
    this.#latest = account;
    if (account.list !== this.#busy) {
      account.list?.remove(account);
      this.#busy.add(account);
    }
    // At the cost as of its last end: a division would be the most expensive step here.
    account.charged += account.cost;
    account.begin(nowMs);
    this.#all.begin(nowMs);
    return account;
  }

  /**
   * A delivery of the account ends. Returns its cost minus what was charged.
   *
   * @param teaches - whether it ended by itself, so that its handling time counts toward the mean.
   */
  give(account: Account, nowMs: number, tookMs: number, teaches: boolean): number {
    const charged = account.charged / account.active;
    account.charged -= charged;
    account.end(nowMs, tookMs);
    this.#all.end(nowMs, tookMs);
    if (teaches) {
      account.learn(tookMs);
      this.#mean.learn(tookMs);
      this.#recent.learn(tookMs);
    }
    this.#reckon(account);
    if (account.active === 0) this.#rest(account);
    return costOf(tookMs, this.#mean) - charged;
  }

  /** Updates the cost of an account, which also changes with the mean of all. */
  #reckon(account: Account): void {
    if (account.samples > 0) account.cost = alike(costOf(account.meanMs, this.#mean));
  }

  #rest(account: Account): void {
    account.charged = 0;
    this.#busy.remove(account);
    const isKnown = account.samples > 1;
    const list = isKnown ? this.#known : this.#new;
    list.add(account);
    if (list.size <= (isKnown ? KNOWN_KEYS : NEW_KEYS)) return;
    const forgotten = list.first as Account;
    list.remove(forgotten);
    this.#byKey.delete(forgotten.key);
  }
}

/** A handling time as a multiple of the mean of all, bounded so that no key starves or takes all turns. */
function costOf(tookMs: number, { ms }: Mean): number {
  return ms > 0 ? Math.min(MAX_TURN_COST, Math.max(1 / MAX_TURN_COST, tookMs / ms)) : 1;
}

function alike(ratio: number): number {
  return ratio < ALIKE && ratio > 1 / ALIKE ? 1 : ratio;
}
