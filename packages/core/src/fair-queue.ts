/** What a delivery needs to stand in the {@link FairQueue}: its key, and room for the queue's own links. */
export interface Queued<T> {
  readonly key: string;
  line: Line<T> | null;
  /** Its neighbours in the line of its key. */
  ahead: T | null;
  behind: T | null;
  /** Its neighbours among all that wait, in the order of arrival. */
  older: T | null;
  younger: T | null;
}

/** The deliveries of one key, first in, first out. It exists only while something waits in it. */
export class Line<T> {
  size = 0;
  /** How many of its deliveries hold a place of the reserve. */
  reserved = 0;
  /** And how many of these because they are entitled to it. */
  entitled = 0;
  first: T | null = null;
  last: T | null = null;
  /** Its neighbours in the ring of lines. */
  previous: Line<T> = this;
  next: Line<T> = this;
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }
}

/**
 * The queue that is fair between keys: deficit round robin, which with deliveries of equal cost and a quantum of
 * one is one delivery of each key in turn (Shreedhar and Varghese, "Efficient fair queuing using deficit round
 * robin", 1995). Within a key, first in, first out.
 *
 * Every operation is O(1), also in the number of keys, and also leaving from the middle: the links live in the
 * deliveries themselves. A key that has nothing waiting is forgotten.
 */
export class FairQueue<T extends Queued<T>> {
  /** Deliveries that wait. */
  size = 0;
  /** The one that arrived first, whatever its key. */
  oldest: T | null = null;
  #youngest: T | null = null;
  // A Map and not an object: keys come from strangers, and `__proto__` is an ordinary one.
  readonly #lines = new Map<string, Line<T>>();
  /** The line whose turn is next. */
  #turn: Line<T> | null = null;

  /** Keys that have something waiting. */
  get keys(): number {
    return this.#lines.size;
  }

  lineOf(key: string): Line<T> | undefined {
    return this.#lines.get(key);
  }

  push(item: T): void {
    let line = this.#lines.get(item.key);
    if (line === undefined) {
      line = new Line<T>(item.key);
      this.#lines.set(item.key, line);
      this.#joinRing(line);
    }
    item.line = line;
    item.ahead = line.last;
    if (line.last === null) line.first = item;
    else line.last.behind = item;
    line.last = item;
    line.size += 1;

    item.older = this.#youngest;
    if (this.#youngest === null) this.oldest = item;
    else this.#youngest.younger = item;
    this.#youngest = item;
    this.size += 1;
  }

  /** The delivery whose turn it is, or null when nothing waits. */
  peek(): T | null {
    return this.#turn === null ? null : this.#turn.first;
  }

  /** Lets the key whose turn it is wait for its next one. */
  pass(): void {
    if (this.#turn !== null) this.#turn = this.#turn.next;
  }

  /** Takes the delivery whose turn it is, or null when nothing waits. */
  shift(): T | null {
    const line = this.#turn;
    if (line === null) return null;
    this.#turn = line.next;
    const item = line.first as T;
    this.remove(item);
    return item;
  }

  /** Takes a delivery out, wherever it stands. It must be in this queue. */
  remove(item: T): void {
    const line = item.line as Line<T>;
    if (item.ahead === null) line.first = item.behind;
    else item.ahead.behind = item.behind;
    if (item.behind === null) line.last = item.ahead;
    else item.behind.ahead = item.ahead;
    line.size -= 1;
    if (line.size === 0) {
      this.#lines.delete(line.key);
      this.#leaveRing(line);
    }

    if (item.older === null) this.oldest = item.younger;
    else item.older.younger = item.younger;
    if (item.younger === null) this.#youngest = item.older;
    else item.younger.older = item.older;
    this.size -= 1;

    // Links that stay would keep every later delivery alive for as long as somebody holds this one.
    item.line = null;
    item.ahead = item.behind = item.older = item.younger = null;
  }

  /** At the end of the round: a key that comes new waits until each other key has had its turn. */
  #joinRing(line: Line<T>): void {
    const turn = this.#turn;
    if (turn === null) {
      this.#turn = line;
      return;
    }
    line.previous = turn.previous;
    line.next = turn;
    turn.previous.next = line;
    turn.previous = line;
  }

  #leaveRing(line: Line<T>): void {
    if (line.next === line) {
      this.#turn = null;
      return;
    }
    line.previous.next = line.next;
    line.next.previous = line.previous;
    if (this.#turn === line) this.#turn = line.next;
  }
}
