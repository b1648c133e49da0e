import { FavoredLines } from './favored-lines.ts';
import { Line, type Payer, type Queued } from './line.ts';
import { Turns } from './turns.ts';

/** Who pays for which key; undefined where nothing is known, and a turn costs 1. */
type Payers = (key: string) => Payer | undefined;

/**
 * The queue that is fair between keys: each key has its own line, first in, first out, and {@link Turns} says whose
 * turn is next. With turns of equal cost that is one delivery of each key in turn.
 *
 * Every operation is O(1), also in the number of keys, and also leaving from the middle: the links live in the
 * deliveries themselves. A key that has nothing waiting is forgotten.
 */
export class FairQueue<T extends Queued<T>> {
  /** Deliveries that wait. */
  size = 0;
  /** The same in turns at the usual cost. */
  work = 0;
  /** The one that arrived first, whatever its key. */
  oldest: T | null = null;
  #youngest: T | null = null;
  // A Map and not an object: keys come from strangers, and `__proto__` is an ordinary one.
  readonly #lines = new Map<string, Line<T>>();
  readonly #turns = new Turns<Line<T>>();
  readonly #favored = new FavoredLines<Line<T>>();
  readonly #payerOf: Payers;

  constructor(payerOf: Payers = () => undefined) {
    this.#payerOf = payerOf;
  }

  /** Keys that have something waiting. */
  get keys(): number {
    return this.#lines.size;
  }

  /** Whether anything waits that has a turn: whose key may have another worker. */
  get hasTurns(): boolean {
    return this.#turns.size > 0;
  }

  /** While deliveries are shed, the senders that never repeat get more than their turns, up to half of the starts. */
  set isShedding(isShedding: boolean) {
    this.#favored.isOn = isShedding;
  }

  lineOf(key: string): Line<T> | undefined {
    return this.#lines.get(key);
  }

  /** All lines, in the order in which their keys came. It may be gone through while lines come and go. */
  lines(): IterableIterator<Line<T>> {
    return this.#lines.values();
  }

  /** @param isParked - its key may have no other worker now: a new line gets no turn before {@link unpark}. */
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
    if (item.isRepeated === false && !line.isParked) this.#favored.add(line);
    item.line = line;
    item.ahead = line.last;
    if (line.last === null) line.first = item;
    else line.last.behind = item;
    line.last = item;
    line.size += 1;
    line.work += line.cost;
    this.work += line.cost;

    item.older = this.#youngest;
    if (this.#youngest === null) this.oldest = item;
    else this.#youngest.younger = item;
    this.#youngest = item;
    this.size += 1;
  }

  /** The delivery whose turn it is, or null when nothing that waits has a turn. */
  peek(): T | null {
    return this.#next()?.first ?? null;
  }

  /** Lets the key whose turn it is wait for its next one. */
  pass(): void {
    const line = this.#turns.first();
    if (line === null) return;
    this.#turns.take(line);
    this.#moveTo(line, line.turn + 1);
  }

  /** Takes the delivery whose turn it is, or null when nothing that waits has a turn. */
  shift(payer?: Payer): T | null {
    const line = this.#next();
    if (line === null) return null;
    const item = line.first as T;
    if (payer !== undefined) this.#bind(line, payer);
    if (this.#favored.next() === null) this.#take(line, payer);
    this.#favored.started(line);
    this.remove(item);
    return item;
  }

  /** The line whose delivery starts next, or null. */
  #next(): Line<T> | null {
    for (let line = this.#favored.next(); line !== null; line = this.#favored.next()) {
      if (line.first?.isRepeated === false) return line;
      // The sender of its next delivery repeats.
      this.#favored.delete(line);
    }
    return this.#turns.first();
  }

  /** Takes the turn of the line. */
  #take(line: Line<T>, payer: Payer | undefined): void {
    this.#turns.take(line);
    const turn = this.#turns.within(line.turn + (payer?.cost ?? 1));
    if (payer !== undefined) payer.paidTo = turn;
    if (line.size > 1) this.#moveTo(line, turn);
  }

  /** Charges the turn of a delivery that starts without waiting, as if it had joined and been taken. */
  skip(payer: Payer): void {
    this.#turns.now = this.#firstTurn(payer);
    payer.paidTo = this.#turns.within(this.#turns.now + payer.cost);
  }

  /**
   * Charges a key that still waits what its turns have cost beyond what was taken for them; less than nothing gives it
   * back. Where no other key waits, nobody has lost anything; where the key itself has nothing waiting it takes less than
   * it might, and one long handling is no reason to let its next delivery wait for rounds.
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

  /** Takes the line of a payer's key out of the turns, if it has one. */
  park(payer: Payer): void {
    const line = payer.line as Line<T> | null;
    if (line === null || line.isParked) return;
    this.#turns.remove(line);
    this.#favored.delete(line);
    line.isParked = true;
  }

  /** Gives the line of a payer's key turns again. What it has not paid for yet it pays first. */
  unpark(payer: Payer): void {
    const line = payer.line as Line<T> | null;
    if (line?.isParked !== true) return;
    line.isParked = false;
    this.#turns.add(line);
    if (line.first?.isRepeated === false) this.#favored.add(line);
  }

  /**
   * How many deliveries are handled until one of `key` that joined now has its turn, itself counted: for each turn of its
   * key one of every other key, or all that wait if these are less.
   *
   * @param scale - how many deliveries a turn at the usual cost is.
   */
  turnsUntil(key: string, scale = 1): number {
    const line = this.#lines.get(key);
    const keys = line === undefined ? this.keys + 1 : this.keys;
    const cost = line?.cost ?? 1;
    const next = (line?.turn ?? this.#firstTurn(this.#payerOf(key))) - this.#turns.now;
    const turns = line === undefined ? next : Math.max(next, Math.min(1, cost)) + line.size * cost;
    const most = this.size + 1;
    // Every second start goes to one of the favored lines.
    const favored = this.#favored;
    const starts =
      favored.isOn && line !== undefined && favored.has(line) ? 2 * favored.size * (line.size + 1) : most;
    return Math.min(most, starts, Math.max(1, turns * keys * scale));
  }

  /** Takes a delivery out, wherever it stands. It must be in this queue. */
  remove(item: T): void {
    const line = item.line as Line<T>;
    if (item.ahead === null) line.first = item.behind;
    else item.ahead.behind = item.behind;
    if (item.behind === null) line.last = item.ahead;
    else item.behind.ahead = item.ahead;
    // What was reckoned for each may differ, since costs are learned; the average needs no room in the deliveries.
    const work = line.work / line.size;
    line.work -= work;
    line.size -= 1;
    this.size -= 1;
    this.work = this.size === 0 ? 0 : this.work - work;
    if (line.size === 0) {
      this.#lines.delete(line.key);
      this.#favored.delete(line);
      if (line.payer !== undefined) line.payer.line = null;
      if (!line.isParked) this.#turns.remove(line);
    }

    if (item.older === null) this.oldest = item.younger;
    else item.older.younger = item.younger;
    if (item.younger === null) this.#youngest = item.older;
    else item.younger.older = item.older;

    // Links that stay would keep every later delivery alive for as long as somebody holds this one.
    item.line = null;
    item.ahead = item.behind = item.older = item.younger = null;
  }

  /**
   * At the end of the round: a key that comes new waits until each other key has had its turn. One whose turns are
   * known to be cheap waits less, in proportion, and one that has not paid for its last turns yet waits longer.
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
