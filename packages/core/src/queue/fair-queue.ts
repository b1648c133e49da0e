import type { Favor } from '../delivery/favor.ts';
import { FavoredLines } from './favored-lines.ts';
import { Line, type Payer, type Queued } from './line.ts';
import { Turns } from './turns.ts';

/** The account of a key; undefined where nothing is known, and a turn costs 1. */
type Payers = (key: string) => Payer | undefined;

/**
 * The queue that is fair between keys: each key has its own line, first in, first out, and {@link Turns} decides which
 * line is next. With turns of equal cost, the keys alternate.
 *
 * Every operation is O(1), also in the number of keys, including removal from the middle: the links are in the
 * deliveries. A key without queued deliveries is forgotten.
 */
export class FairQueue<T extends Queued<T>> {
  /** Queued deliveries. */
  size = 0;
  /** Queued deliveries in turns at the usual cost. */
  work = 0;
  /** Queued deliveries of senders that never retry. */
  unrepeated = 0;
  /** The one that arrived first, whatever its key. */
  oldest: T | null = null;
  #youngest: T | null = null;
  // Not an object: keys come from senders, and `__proto__` must be an ordinary key.
  readonly #lines = new Map<string, Line<T>>();
  readonly #turns = new Turns<Line<T>>();
  readonly #favored = new FavoredLines<Line<T>>();
  readonly #payerOf: Payers;

  constructor(payerOf: Payers = () => undefined) {
    this.#payerOf = payerOf;
  }

  /** Keys that have queued deliveries. */
  get keys(): number {
    return this.#lines.size;
  }

  /** Whether a queued delivery has a turn: its key may have another worker. */
  get hasTurns(): boolean {
    return this.#turns.size > 0;
  }

  /** While shedding, senders that never retry get more than their turns. See {@link FavoredLines}. */
  set isShedding(isShedding: boolean) {
    this.#favored.isOn = isShedding;
  }

  /**
   * The next delivery of a key starts before its turn. A key at its limit of workers waits for one of them.
   *
   * @returns whether the key has queued deliveries.
   */
  hurry(key: string): boolean {
    const line = this.#lines.get(key);
    if (line?.isParked === false) this.#favored.hurry(line);
    return line !== undefined;
  }

  isHurried(line: Line<T>): boolean {
    return this.#favored.isHurried(line);
  }

  lineOf(key: string): Line<T> | undefined {
    return this.#lines.get(key);
  }

  /** All lines, in the order in which their keys joined. Lines may be added and removed during the iteration. */
  lines(): IterableIterator<Line<T>> {
    return this.#lines.values();
  }

  /** @param isParked - the key has all the workers it may have: a new line gets no turns before {@link unpark}. */
  push(item: T, isParked = false): void {
    let line = this.#lines.get(item.key);
    if (line === undefined) {
      line = new Line<T>(item.key);
      const payer = this.#payerOf(item.key);
      if (payer !== undefined) this.#bind(line, payer);
      line.turn = this.#firstTurn(payer);
      line.isParked = isParked;
      this.#lines.set(item.key, line);
      if (!isParked) this.#turns.add(line);
    }
    item.line = line;
    item.ahead = line.last;
    if (line.last === null) {
      line.first = item;
      this.#favor(line);
    } else line.last.behind = item;
    line.last = item;
    line.size += 1;
    line.work += line.cost;
    this.work += line.cost;
    if (isUnrepeated(item)) this.unrepeated += 1;

    item.older = this.#youngest;
    if (this.#youngest === null) this.oldest = item;
    else this.#youngest.younger = item;
    this.#youngest = item;
    this.size += 1;
  }

  /** The delivery whose turn it is, or null if no queued delivery has a turn. */
  peek(): T | null {
    return (this.#favored.next(this.#turns.size) ?? this.#turns.first())?.first ?? null;
  }

  /** Skips the key whose turn it is. */
  pass(): void {
    const line = this.#turns.first();
    if (line === null) return;
    this.#turns.take(line);
    this.#moveTo(line, line.turn + 1);
  }

  /** Removes the delivery whose turn it is; null if no queued delivery has a turn. */
  shift(payer?: Payer): T | null {
    const favored = this.#favored.next(this.#turns.size);
    const line = favored ?? this.#turns.first();
    if (line === null) return null;
    const item = line.first as T;
    if (payer !== undefined) this.#bind(line, payer);
    if (favored === null) this.#take(line, payer);
    this.#favored.started(line);
    this.remove(item);
    return item;
  }

  /** Favors a line by its next delivery. */
  #favor(line: Line<T>): void {
    if (line.first === null || line.isParked) this.#favored.delete(line);
    else this.#favored.place(line, line.first.favor ?? 'none');
  }

  /** Takes the turn of the line. */
  #take(line: Line<T>, payer: Payer | undefined): void {
    this.#turns.take(line);
    const turn = this.#turns.within(line.turn + (payer?.cost ?? 1));
    if (payer !== undefined) payer.paidTo = turn;
    if (line.size > 1) this.#moveTo(line, turn);
  }

  /** Charges the turn of a delivery that starts without being queued, as if it had joined and been taken. */
  skip(payer: Payer): void {
    this.#turns.now = this.#firstTurn(payer);
    payer.paidTo = this.#turns.within(this.#turns.now + payer.cost);
  }

  /**
   * Charges a key that has queued deliveries what its turns cost beyond the estimate; a negative cost is a refund. If no
   * other key is queued, none has lost anything. If the key itself is not queued it takes less than its share, so one
   * long handling must not delay its next delivery by rounds.
   */
  correct(payer: Payer, cost: number): void {
    const line = payer.line as Line<T> | null;
    if (line === null) {
      if (cost < 0) payer.paidTo += cost;
      return;
    }
    if (this.#lines.size === 1) return;
    if (line.isParked) line.turn += cost;
    else this.#turns.shift(line, line.turn + cost);
    payer.paidTo = line.turn;
  }

  /** Removes the line of a payer's key from the turns, if there is one. */
  park(payer: Payer): void {
    const line = payer.line as Line<T> | null;
    if (line === null || line.isParked) return;
    this.#turns.remove(line);
    line.isParked = true;
    this.#favor(line);
  }

  /** Gives the line of a payer's key turns again, after those that it still has to pay for. */
  unpark(payer: Payer): void {
    const line = payer.line as Line<T> | null;
    if (line?.isParked !== true) return;
    line.isParked = false;
    this.#turns.add(line);
    this.#favor(line);
  }

  /**
   * How many deliveries are started until one of `key` that joined now has its turn, including that one: for each turn of
   * its key one of every other key, and at most all queued deliveries.
   *
   * @param scale - how many deliveries a turn at the usual cost is worth.
   * @param joining - the favor of that delivery.
   */
  turnsUntil(key: string, scale = 1, joining: Favor = 'none'): number {
    const line = this.#lines.get(key);
    const keys = line === undefined ? this.keys + 1 : this.keys;
    const cost = line?.cost ?? 1;
    const next = (line?.turn ?? this.#firstTurn(this.#payerOf(key))) - this.#turns.now;
    const turns = line === undefined ? next : Math.max(next, Math.min(1, cost)) + line.size * cost;
    const most = this.size + 1;
    const starts = this.#favored.startsUntil(line, line?.favor ?? joining);
    return Math.min(most, starts, Math.max(1, turns * keys * scale));
  }

  /** Removes a delivery of this queue, also from the middle. */
  remove(item: T): void {
    const line = item.line as Line<T>;
    const isFirst = item.ahead === null;
    if (item.ahead === null) line.first = item.behind;
    else item.ahead.behind = item.behind;
    if (item.behind === null) line.last = item.ahead;
    else item.behind.ahead = item.ahead;
    // Each may have been added at another cost, since costs are learned; the average needs no room in the deliveries.
    const work = line.work / line.size;
    line.work -= work;
    line.size -= 1;
    this.size -= 1;
    this.work = this.size === 0 ? 0 : this.work - work;
    if (isUnrepeated(item)) this.unrepeated -= 1;
    if (isFirst) this.#favor(line);
    if (line.size === 0) {
      this.#lines.delete(line.key);
      if (line.payer !== undefined) line.payer.line = null;
      if (!line.isParked) this.#turns.remove(line);
    }

    if (item.older === null) this.oldest = item.younger;
    else item.older.younger = item.younger;
    if (item.younger === null) this.#youngest = item.older;
    else item.younger.older = item.older;

    // Remaining links would keep every later delivery in memory for as long as this one.
    item.line = null;
    item.ahead = item.behind = item.older = item.younger = null;
  }

  /**
   * At the end of the round: a new key waits until each other key has had its turn. A key whose turns are known to be
   * cheap waits less, in proportion, and one that still has to pay for its last turns waits longer.
   */
  #firstTurn(payer: Payer | undefined): number {
    const { now } = this.#turns;
    return payer === undefined ? now + 1 : Math.max(now + Math.min(1, payer.cost), payer.paidTo);
  }

  #bind(line: Line<T>, payer: Payer): void {
    line.cost = payer.cost;
    line.payer = payer;
    payer.line = line;
  }

  #moveTo(line: Line<T>, turn: number): void {
    this.#turns.remove(line);
    line.turn = turn;
    this.#turns.add(line);
  }
}

function isUnrepeated({ favor }: Queued<unknown>): boolean {
  return favor !== undefined && favor !== 'none';
}
