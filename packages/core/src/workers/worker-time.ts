import type { Payer } from '../queue/line.ts';
import { DEAREST } from '../queue/turns.ts';

/** A key's mean is that of about so many of its last deliveries; what a turn really took is settled afterwards. */
const KEY_MEMORY = 16;
/** What so few deliveries have taken is not taken for usual. */
const TYPICAL_FROM = 4;
/**
 * By chance alone the mean of so few is often off by a third. Up to this factor from the mean of all, a turn costs 1, so
 * that keys whose handlers are alike come in turn.
 */
const ALIKE = 2;
/** Likewise the mean of all. It is the unit of costs: were it quick, a dear turn would be reckoned in another. */
const MEMORY = 1000;
/** And of the last ones: where handlers have become slower or faster, costs are still reckoned in what was usual. */
const RECENT = 64;
/** What was held is forgotten after one to two of these: long enough to see a slow handler, short enough to forgive. */
const WINDOW_MS = 10_000;
/** Idle keys that are remembered: those that had two deliveries handled, one after another … */
const KNOWN_KEYS = 800;
/** … and those that have had one. Whoever invents keys fills only these. */
const NEW_KEYS = 200;

/**
 * Worker time held lately. It is written at each start and each end, so it only adds; what has been held so far by those
 * that run is worked out when somebody asks.
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
    // At rest the sum is set right: fractions that were added and taken away leave a little.
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

/** A mean of the last handling times. */
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

/** What a key has cost in worker time. */
export class Account extends Meter implements Payer {
  readonly key: string;
  /** The mean of its handling times, in milliseconds, and of how many it is. */
  meanMs = 0;
  samples = 0;
  /** That mean as a multiple of everybody's; 1 while it is not known, or much the same. */
  cost = 1;
  paidTo = 0;
  line: Payer['line'] = null;
  /** What has been charged for the deliveries that are being handled. */
  charged = 0;
  list: Accounts | null = null;
  previous: Account | null = null;
  next: Account | null = null;

  /** Of the logarithms of its handling times, while its key may have only so many workers. */
  #logs: Mean | undefined;

  constructor(key: string) {
    super();
    this.key = key;
  }

  /**
   * What a delivery usually takes, in milliseconds; 0 before the fourth. One that took 600 times as long changes it by
   * half, so that it is no reason to refuse those after it.
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
 * The worker time of each key: how long its deliveries take, and how much of the workers' time they have held lately.
 *
 * Keys that hold workers are all known, and there are no more of them than workers. Of the others 1,000 are
 * remembered, those that were handled last; of these 200 are kept for keys of which one delivery has been handled, so
 * that 100,000 invented keys push out one another and not those that come again and again.
 */
export class WorkerTime {
  readonly #byKey = new Map<string, Account>();
  readonly #busy = new Accounts();
  readonly #known = new Accounts();
  readonly #new = new Accounts();
  readonly #all = new Meter();
  readonly #mean = new Mean(MEMORY);
  readonly #recent = new Mean(RECENT);
  /** Most deliveries are of the key that came before. */
  #latest: Account | undefined;

  /** What a delivery takes as far as is known, in milliseconds: the mean of all, or what those that run have had. */
  usualMs(nowMs: number): number {
    return this.#mean.ms || this.#all.heldMs(nowMs) / Math.max(1, this.#all.active) || 1;
  }

  /** What a turn at the usual cost takes now, as a multiple of what a delivery takes now; 1 while they are alike. */
  get scale(): number {
    return this.#recent.ms > 0 ? alike(this.#mean.ms / this.#recent.ms) : 1;
  }

  /** Who pays for the turns of a key, and at which cost now. */
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

  /** Accounts of the keys that hold workers now. */
  *busy(): IterableIterator<Account> {
    for (let account = this.#busy.first; account !== null; account = account.next) yield account;
  }

  /** Worker time that all have held lately, in milliseconds. */
  heldMs(nowMs: number): number {
    return this.#all.heldMs(nowMs);
  }

  /** A delivery of the key gets a worker. */
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
    // At the cost of its last end: here a division would be the dearest step.
    account.charged += account.cost;
    account.begin(nowMs);
    this.#all.begin(nowMs);
    return account;
  }

  /**
   * It gives the worker back. Returns what it has cost beyond what was charged, less than nothing if it was less.
   *
   * @param teaches - whether it ended by itself, so that its handling time says how long such a delivery takes.
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

  /** The cost of an account, which also changes with the mean of all. */
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

/** A handling time as a multiple of the mean of all, so bounded that no key can be starved by it, nor take all turns. */
function costOf(tookMs: number, { ms }: Mean): number {
  return ms > 0 ? Math.min(DEAREST, Math.max(1 / DEAREST, tookMs / ms)) : 1;
}

function alike(ratio: number): number {
  return ratio < ALIKE && ratio > 1 / ALIKE ? 1 : ratio;
}
