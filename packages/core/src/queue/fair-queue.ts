import { KeyLoads, type KeyLoad } from './key-loads.ts';
import { Turns, turnsPer, type Turning } from './turns.ts';

/** A queued delivery, with room for the links of the queue. */
export interface Queued<T> {
  readonly key: string;
  /** Whether its sender says that it never retries. */
  readonly isUnrepeated: boolean;
  /** What is known of its key, from start to end. */
  load: KeyLoad | null;
  line: Line<T> | null;
  /** Its neighbors in the line of its key. */
  ahead: T | null;
  behind: T | null;
  /** Its neighbors among all queued deliveries, in the order of arrival. */
  older: T | null;
  younger: T | null;
}

/** The queued deliveries of one key, first in, first out. */
export class Line<T> implements Turning<Line<T>> {
  size = 0;
  /** Those that are never retried. */
  unrepeated = 0;
  first: T | null = null;
  last: T | null = null;
  /** See {@link Turning}. */
  turn = 0;
  previous: Line<T> = this;
  next: Line<T> = this;
  /** Its key has as many workers as it may have, so the line has no turns. */
  isParked = false;
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }
}

/**
 * The queue that is fair between keys. Each key has its own line, and the lines take turns. A turn costs what the key's
 * deliveries take ({@link KeyLoads}), so that a key with slow handlers gets as much worker time as the others, and not as
 * many starts. With handlers of similar speed the keys alternate.
 *
 * A forger of headers can claim to be many senders that never retry. So the keys with such deliveries together get at
 * most half of the turns while other keys have queued deliveries: a turn costs them as much more as they are more.
 *
 * Every operation but `limit` is O(1), also in the number of keys, including removal from the middle: the links are in the
 * deliveries. A key without queued deliveries has no line.
 */
export class FairQueue<T extends Queued<T>> {
  /** Queued deliveries. */
  size = 0;
  /** Those that are never retried, and the keys that have some. */
  unrepeated = 0;
  unrepeatedKeys = 0;
  /** The one that arrived first, whatever its key. */
  oldest: T | null = null;
  /** About the longest line: the last one that grew to at least the size of the one before; null after it was empty. */
  longest: Line<T> | null = null;
  readonly loads: KeyLoads = new KeyLoads();
  #youngest: T | null = null;
  // Not an object: keys come from senders, and `__proto__` must be an ordinary key.
  readonly #lines = new Map<string, Line<T>>();
  readonly #turns = new Turns<Line<T>>();
  /** How many workers one key may have. */
  #mostPerKey: number;

  constructor(mostPerKey?: number) {
    this.#mostPerKey = mostPerKey ?? Infinity;
  }

  /** Keys that have queued deliveries. */
  get keys(): number {
    return this.#lines.size;
  }

  /** Whether a queued delivery has a turn: its key may have another worker. */
  get hasTurns(): boolean {
    return this.#turns.size > 0;
  }

  lineOf(key: string): Line<T> | undefined {
    return this.#lines.get(key);
  }

  /** Whether a key holds an equal share of the queue or more: then it is part of the cause of refusals. */
  holdsShare(key: string): boolean {
    const line = this.#lines.get(key);
    return line !== undefined && line.size * this.#lines.size >= this.size;
  }

  /** Whether the deliveries of another key take at least twice as long as those of `key`, and have all `workers`. */
  isBlocked(key: string, workers: number): boolean {
    const slow = this.oldest?.key;
    if (slow === undefined || slow === key || workers === 1 || this.loads.active(slow) < workers)
      return false;
    const { samples = 0, meanMs = 0 } = this.loads.of(key) ?? {};
    return samples > 0 && (this.loads.of(slow)?.meanMs ?? 0) >= 2 * meanMs;
  }

  /** Whether the key has all the workers it may have. */
  isAtLimit(key: string): boolean {
    return this.#mostPerKey !== Infinity && this.loads.active(key) >= this.#mostPerKey;
  }

  /** Changes the most workers of one key. Keys without queued deliveries are checked when they next have one. */
  limit(mostPerKey: number): void {
    if (mostPerKey === this.#mostPerKey) return;
    this.#mostPerKey = mostPerKey;
    for (const line of this.#lines.values()) this.#park(line, this.isAtLimit(line.key));
  }

  push(item: T): void {
    let line = this.#lines.get(item.key);
    if (line === undefined) {
      line = new Line<T>(item.key);
      this.#lines.set(item.key, line);
      if (item.isUnrepeated) this.#countUnrepeated(line, 1);
      line.turn = this.#firstTurn(this.loads.of(item.key), this.#priceOf(item));
      line.isParked = this.isAtLimit(item.key);
      if (!line.isParked) this.#turns.add(line);
    } else if (item.isUnrepeated) this.#countUnrepeated(line, 1);
    item.line = line;
    item.ahead = line.last;
    if (line.last === null) line.first = item;
    else line.last.behind = item;
    line.last = item;
    line.size += 1;
    if (this.longest === null || line.size >= this.longest.size) this.longest = line;

    item.older = this.#youngest;
    if (this.#youngest === null) this.oldest = item;
    else this.#youngest.younger = item;
    this.#youngest = item;
    this.size += 1;
  }

  /** The delivery whose turn it is, or null if no queued delivery has a turn. */
  peek(): T | null {
    return this.#turns.first()?.first ?? null;
  }

  /** Removes a delivery of this queue, also from the middle. */
  remove(item: T): void {
    const line = item.line as Line<T>;
    if (item.ahead === null) line.first = item.behind;
    else item.ahead.behind = item.behind;
    if (item.behind === null) line.last = item.ahead;
    else item.behind.ahead = item.ahead;
    line.size -= 1;
    if (item.isUnrepeated) this.#countUnrepeated(line, -1);
    if (line.size === 0) {
      this.#lines.delete(line.key);
      if (this.longest === line) this.longest = null;
      if (!line.isParked) this.#turns.remove(line);
    }

    if (item.older === null) this.oldest = item.younger;
    else item.older.younger = item.younger;
    if (item.younger === null) this.#youngest = item.older;
    else item.younger.older = item.older;
    this.size -= 1;

    // Remaining links would keep every later delivery in memory for as long as this one.
    item.line = null;
    item.ahead = item.behind = item.older = item.younger = null;
  }

  /**
   * A delivery starts: the one that {@link peek} returned, which leaves the queue, or one that has not been queued. Its
   * key pays for a turn.
   */
  start(item: T): void {
    const { line } = item;
    const load = this.loads.start(item.key);
    item.load = load;
    const turn = line === null ? this.#firstTurn(load, 1) : line.turn;
    if (turn > this.#turns.now) this.#turns.now = turn;
    load.paidTo = turn + load.cost;
    if (line === null) return;
    load.paidTo = turn + load.cost * this.#priceOf(item);
    this.remove(item);
    if (line.size === 0) return;
    this.#turns.remove(line);
    line.turn = load.paidTo;
    this.#turns.add(line);
    this.#park(line, load.active >= this.#mostPerKey);
  }

  /**
   * The handling of a delivery has ended.
   *
   * @param teaches - whether it took as long as its work takes, and was not interrupted.
   */
  end(item: T, tookMs: number, teaches: boolean): void {
    const load = item.load as KeyLoad;
    item.load = null;
    this.loads.end(load, tookMs, teaches);
    const line = this.#lines.get(item.key);
    if (line !== undefined) this.#park(line, load.active >= this.#mostPerKey);
  }

  /**
   * How many deliveries start until one of `key` that joined now has its turn, including that one: for each of its own
   * line one of every other key, and at most all queued deliveries.
   */
  turnsUntil(key: string, isUnrepeated: boolean): number {
    const size = this.#lines.get(key)?.size ?? 0;
    return Math.min(this.size + 1, (size + 1) * turnsPer(this, size === 0, isUnrepeated));
  }

  /** How long a delivery of `key` that joined now would wait for a worker of its key, in ms; 0 without a limit. */
  ownWaitMs(key: string): number {
    if (this.#mostPerKey === Infinity) return 0;
    const before = (this.#lines.get(key)?.size ?? 0) + this.loads.active(key) + 1 - this.#mostPerKey;
    return Math.max(0, before * this.spacingMs(key));
  }

  /** The usual time between two starts of a key whose workers are limited, in milliseconds; 0 without a limit. */
  spacingMs(key: string): number {
    return (this.loads.of(key)?.meanMs ?? 0) / this.#mostPerKey;
  }

  /**
   * One usual turn from now: a new key waits until each other key has had its turn. A key whose turns are known to be
   * cheap waits less, in proportion, and one that still has to pay for its last turns waits longer.
   */
  #firstTurn(load: KeyLoad | undefined, price: number): number {
    const { now } = this.#turns;
    return load === undefined ? now + price : Math.max(now + Math.min(1, load.cost) * price, load.paidTo);
  }

  /** The factor of the cost of its turn: see {@link FairQueue}. */
  #priceOf({ isUnrepeated }: T): number {
    if (!isUnrepeated) return 1;
    const others = this.keys - this.unrepeatedKeys;
    return others > 0 ? Math.max(1, this.unrepeatedKeys / others) : 1;
  }

  #countUnrepeated(line: Line<T>, by: 1 | -1): void {
    const before = line.unrepeated;
    line.unrepeated += by;
    this.unrepeated += by;
    this.unrepeatedKeys += Number(line.unrepeated > 0) - Number(before > 0);
  }

  #park(line: Line<T>, isParked: boolean): void {
    if (isParked === line.isParked) return;
    line.isParked = isParked;
    if (isParked) this.#turns.remove(line);
    else this.#turns.add(line);
  }
}
