import { MinHeap } from '../min-heap.ts';
import { isBefore, isLineBefore, Line, type Entry, type Slot } from './memory-line.ts';

/** After a long night very many keys may be due, and the process stands still until all of them have a turn. */
const TURNS_AT_ONCE = 1000;

/** Everything of a memory store that waits. No call looks at all of it. */
export class MemoryLines {
  readonly #byKey = new Map<string, Line>();
  /** Those that take turns, in their order. */
  readonly #turns = new Map<string, Line>();
  /** Those that will. */
  readonly #future = new MinHeap<Slot<Line>>(isLineBefore);
  readonly #all = new MinHeap<Slot<Line>>(isLineBefore);
  readonly #stranded = new MinHeap<Entry>(isBefore);
  /** What waits for a retry, the latest due first. */
  readonly #retries = new MinHeap<Slot<Entry>>((a, b) => isBefore(b.of, a.of));

  /** @param isDue - whether it is due whatever the clock says. */
  add(entry: Entry, isDue: boolean): void {
    if (!isDue) {
      entry.isRetry = true;
      this.#retries.push(entry.turn);
    }
    this.#place(entry, isDue);
  }

  /** When the first one is due. */
  get dueMs(): number {
    return Math.min(this.#all.top?.of.dueMs ?? Infinity, this.#stranded.top?.dueMs ?? Infinity);
  }

  /** Takes one that was stranded before, if one is due. */
  takeStranded(nowMs: number): Entry | undefined {
    const { top } = this.#stranded;
    return top !== undefined && top.dueMs <= nowMs ? this.#took(this.#stranded.pop()) : undefined;
  }

  /** Takes what is due, up to `count`, the keys in turn. */
  take(count: number, nowMs: number): Entry[] {
    this.#giveTurns(Math.max(count, TURNS_AT_ONCE), nowMs);
    const taken: Entry[] = [];
    for (const [key, line] of this.#turns) {
      if (taken.length >= count) break;
      // To the end of the turns; the loop comes by again there.
      this.#turns.delete(key);
      if (isDue(line, nowMs)) {
        const entry = line.entries.pop();
        if (entry !== undefined) taken.push(this.#took(entry));
        this.#moved(line);
      }
      if (line.entries.size === 0) this.#forget(line);
      else if (isDue(line, nowMs)) this.#turns.set(key, line);
      else this.#awaitTurn(line);
    }
    return taken;
  }

  /** Makes due at `nowMs` what waits for a retry that is due after `afterMs`, up to `limit`. */
  hasten(afterMs: number, nowMs: number, limit: number): number {
    const late: Entry[] = [];
    for (let top = this.#retries.top; top !== undefined && late.length < limit; top = this.#retries.top) {
      const entry = top.of;
      if (entry.dueMs <= afterMs) break;
      this.#withdraw(entry);
      late.push(entry);
    }
    for (const entry of late) {
      entry.dueMs = nowMs;
      this.add(entry, false);
    }
    return late.length;
  }

  /** What has never been tried is due at `nowMs`, wherever the clock was when it was put. */
  bringForward(entry: Entry, nowMs: number): void {
    if (entry.dueMs <= nowMs) return;
    this.#withdraw(entry);
    entry.dueMs = nowMs;
    this.add(entry, true);
  }

  #place(entry: Entry, isDue: boolean): void {
    if (entry.strandings > 0) {
      this.#stranded.push(entry);
      return;
    }
    const { key } = entry.delivery;
    let line = this.#byKey.get(key);
    if (line === undefined) {
      line = new Line(key);
      this.#byKey.set(key, line);
      this.#all.push(line.inAll);
      this.#future.push(line.inFuture);
    }
    line.entries.push(entry);
    this.#moved(line);
    if (isDue && !line.hasTurn) this.#giveTurn(line);
  }

  #withdraw(entry: Entry): void {
    this.#took(entry);
    if (entry.strandings > 0) {
      this.#stranded.remove(entry);
      return;
    }
    const line = this.#byKey.get(entry.delivery.key);
    if (line === undefined) return;
    line.entries.remove(entry);
    this.#moved(line);
    if (line.entries.size > 0) return;
    this.#turns.delete(line.key);
    this.#forget(line);
  }

  #took<E extends Entry | undefined>(entry: E): E {
    if (entry?.isRetry === true) {
      this.#retries.remove(entry.turn);
      entry.isRetry = false;
    }
    return entry;
  }

  /** Its first one may be another one by now. */
  #moved(line: Line): void {
    const dueMs = line.entries.top?.dueMs ?? Infinity;
    if (dueMs === line.dueMs) return;
    this.#all.remove(line.inAll);
    if (!line.hasTurn) this.#future.remove(line.inFuture);
    line.dueMs = dueMs;
    this.#all.push(line.inAll);
    if (!line.hasTurn) this.#future.push(line.inFuture);
  }

  #giveTurns(most: number, nowMs: number): void {
    for (let given = 0; given < most; given += 1) {
      const line = this.#future.top?.of;
      if (line === undefined || line.dueMs > nowMs) return;
      this.#giveTurn(line);
    }
  }

  #giveTurn(line: Line): void {
    this.#future.remove(line.inFuture);
    line.hasTurn = true;
    this.#turns.set(line.key, line);
  }

  #awaitTurn(line: Line): void {
    line.hasTurn = false;
    this.#future.push(line.inFuture);
  }

  /** For a line that is empty, and has left the turns. */
  #forget(line: Line): void {
    this.#all.remove(line.inAll);
    if (!line.hasTurn) this.#future.remove(line.inFuture);
    this.#byKey.delete(line.key);
  }
}

/** What has never been tried is due whatever the clock says by now. */
function isDue({ entries: { top } }: Line, nowMs: number): boolean {
  return top !== undefined && (!top.isRetry || top.dueMs <= nowMs);
}
