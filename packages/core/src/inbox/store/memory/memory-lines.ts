import { MinHeap, type Heaped } from '../../../base/min-heap.ts';
import type { ClaimOptions } from '../inbox-store.ts';

/** So many places at the front are left empty before the others move up. */
const LEAST_WASTE = 1000;

/** What is queued. */
export interface Lined extends Heaped {
  readonly key: string;
  /** In which it was put. */
  readonly order: number;
  attempts: number;
  strandings: number;
  dueMs: number;
}

/** Which of the deliveries that nobody has claimed may be claimed, and whose turn it is. */
export class MemoryLines<T extends Lined> {
  isPaused = false;
  readonly pausedKeys: Set<string> = new Set<string>();
  isOrdered = false;
  /** Due, without strandings; the keys that have any are in turn. */
  readonly #ready = new Map<string, MinHeap<T>>();
  readonly #turn = new KeyTurn();
  readonly #stranded = new Set<T>();
  /** For a retry, by when it is due. */
  readonly #delayed = new MinHeap<T>(isDueBefore);
  /** No retry is due later than this. */
  #latestMs = -Infinity;
  /** The same of keys that are paused: they must not stand in front of others. */
  readonly #asleep = new Map<string, Set<T>>();
  /** Where there is an order: the one of each key that may be claimed, or is, and those behind it. */
  readonly #heads = new Map<string, T>();
  readonly #behind = new Map<string, MinHeap<T>>();

  /** Puts one in line that is new, or was put back from the shelf. */
  add(entry: T): void {
    const { key } = entry;
    if (this.isOrdered && this.#heads.has(key)) {
      let line = this.#behind.get(key);
      if (line === undefined) {
        line = new MinHeap(isOlder);
        this.#behind.set(key, line);
      }
      line.push(entry);
      return;
    }
    if (this.isOrdered) this.#heads.set(key, entry);
    this.toFront(entry);
  }

  /** Puts one back that is due. */
  toFront(entry: T): void {
    if (entry.strandings > 0) {
      this.#stranded.add(entry);
      return;
    }
    const { key } = entry;
    let line = this.#ready.get(key);
    if (line === undefined) {
      line = new MinHeap(isDueBefore);
      this.#ready.set(key, line);
      this.#turn.push(key);
    }
    line.push(entry);
  }

  /** Puts one back that waits for a retry. */
  delay(entry: T): void {
    const { key, dueMs } = entry;
    this.#latestMs = Math.max(this.#latestMs, dueMs);
    if (!this.pausedKeys.has(key)) {
      this.#delayed.push(entry);
      return;
    }
    const asleep = this.#asleep.get(key) ?? new Set<T>();
    this.#asleep.set(key, asleep.add(entry));
  }

  /** One is finished: the next of its key may be its head. */
  leave(entry: T, nowMs: number): void {
    const { key } = entry;
    if (this.#heads.get(key) !== entry) return;
    const line = this.#behind.get(key);
    const next = line?.pop();
    if (line?.size === 0) this.#behind.delete(key);
    if (next === undefined) {
      this.#heads.delete(key);
      return;
    }
    this.#heads.set(key, next);
    if (next.attempts === 0) next.dueMs = Math.min(next.dueMs, nowMs);
    if (next.dueMs > nowMs) this.delay(next);
    else this.toFront(next);
  }

  take(count: number, { nowMs, maxStranded, except }: ClaimOptions): T[] {
    if (count <= 0) return [];
    for (let top = this.#delayed.top; top !== undefined && top.dueMs <= nowMs; top = this.#delayed.top) {
      this.#delayed.pop();
      this.toFront(top);
    }
    const taken = this.#takeStranded(Math.min(count, maxStranded), except);
    const passed: string[] = [];
    while (taken.length < count) {
      const key = this.#turn.shift();
      if (key === undefined) break;
      if (this.#isPassed(key, except)) {
        passed.push(key);
        continue;
      }
      const line = this.#ready.get(key);
      const first = line?.pop();
      if (first !== undefined) taken.push(first);
      if (line === undefined || line.size === 0) this.#ready.delete(key);
      else this.#turn.push(key);
    }
    this.#turn.unshift(passed);
    return taken;
  }

  /** When something can be taken next. */
  nextDueMs(except: ReadonlySet<string>): number {
    if (this.isPaused) return Infinity;
    const ready = this.#turn.find((key) => !this.#isPassed(key, except));
    if (ready !== undefined) return this.#ready.get(ready)?.top?.dueMs ?? Infinity;
    let next = this.#delayed.top?.dueMs ?? Infinity;
    for (const { key, dueMs } of this.#stranded) {
      if (!this.#isPassed(key, except)) next = Math.min(next, dueMs);
    }
    return next;
  }

  /** Whether anything has changed. */
  pause(key: string | null): boolean {
    const wasPaused = key === null ? this.isPaused : this.pausedKeys.has(key);
    if (wasPaused) return false;
    if (key === null) {
      this.isPaused = true;
      return true;
    }
    this.pausedKeys.add(key);
    for (const entry of this.#drain()) this.delay(entry);
    return true;
  }

  /** Whether anything has changed. */
  resume(key: string | null): boolean {
    if (key === null) {
      const wasPaused = this.isPaused;
      this.isPaused = false;
      return wasPaused;
    }
    if (!this.pausedKeys.delete(key)) return false;
    const asleep = this.#asleep.get(key) ?? [];
    this.#asleep.delete(key);
    for (const entry of asleep) this.#delayed.push(entry);
    return true;
  }

  /** Makes due at `nowMs` what waits for a retry after `afterMs`. */
  hasten({ afterMs, nowMs, limit }: { afterMs: number; nowMs: number; limit: number }): number {
    if (this.#latestMs <= afterMs) return 0;
    const asleep = [...this.#asleep.values()].flatMap((entries) => [...entries]);
    const waiting = this.#drain();
    const late = [...waiting, ...asleep].filter(({ dueMs }) => dueMs > afterMs).slice(0, limit);
    for (const entry of late) entry.dueMs = nowMs;
    for (const entry of waiting) this.#delayed.push(entry);
    this.#latestMs = [...waiting, ...asleep].reduce(
      (latest, { dueMs }) => Math.max(latest, dueMs),
      -Infinity,
    );
    return late.length;
  }

  /** Begins or ends the order of all that is there. */
  setOrdered(isOrdered: boolean, unclaimed: Iterable<T>, claimed: Iterable<T>, nowMs: number): void {
    if (isOrdered === this.isOrdered) return;
    this.isOrdered = isOrdered;
    this.#ready.clear();
    this.#turn.clear();
    this.#stranded.clear();
    this.#drain();
    this.#asleep.clear();
    this.#heads.clear();
    this.#behind.clear();
    if (isOrdered)
      for (const entry of claimed) if (!this.#heads.has(entry.key)) this.#heads.set(entry.key, entry);
    for (const entry of [...unclaimed].sort((a, b) => a.order - b.order)) {
      if (isOrdered && this.#heads.has(entry.key)) this.add(entry);
      else {
        if (isOrdered) this.#heads.set(entry.key, entry);
        if (entry.attempts > 0 && entry.dueMs > nowMs) this.delay(entry);
        else this.toFront(entry);
      }
    }
  }

  #takeStranded(most: number, except: ReadonlySet<string>): T[] {
    if (most <= 0 || this.#stranded.size === 0) return [];
    const candidates = [...this.#stranded].filter(({ key }) => !this.#isPassed(key, except));
    candidates.sort((a, b) => (isDueBefore(a, b) ? -1 : 1));
    const once = candidates.filter(({ strandings }) => strandings === 1).slice(0, most);
    const taken = once.length > 0 ? once : candidates.slice(0, 1);
    for (const entry of taken) this.#stranded.delete(entry);
    return taken;
  }

  #isPassed(key: string, except: ReadonlySet<string>): boolean {
    return except.has(key) || this.pausedKeys.has(key);
  }

  /** Takes out all that waits for a retry. */
  #drain(): T[] {
    const waiting: T[] = [];
    for (let top = this.#delayed.pop(); top !== undefined; top = this.#delayed.pop()) waiting.push(top);
    return waiting;
  }
}

function isDueBefore<T extends Lined>(a: T, b: T): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}

function isOlder<T extends Lined>(a: T, b: T): boolean {
  return a.order < b.order;
}

/** Keys in turn. A queue with a place where it begins: a Map or Set is slow to begin where much was taken from its front. */
class KeyTurn {
  #keys: string[] = [];
  #first = 0;

  push(key: string): void {
    this.#keys.push(key);
  }

  shift(): string | undefined {
    const key = this.#keys[this.#first];
    if (key === undefined) return undefined;
    this.#first += 1;
    if (this.#first > LEAST_WASTE && this.#first > this.#keys.length / 2) {
      this.#keys = this.#keys.slice(this.#first);
      this.#first = 0;
    }
    return key;
  }

  /** Puts keys back in front, in this order. */
  unshift(keys: readonly string[]): void {
    if (keys.length === 0) return;
    if (keys.length > this.#first) {
      this.#keys = [...keys, ...this.#keys.slice(this.#first)];
      this.#first = 0;
      return;
    }
    this.#first -= keys.length;
    for (const [at, key] of keys.entries()) this.#keys[this.#first + at] = key;
  }

  find(isMeant: (key: string) => boolean): string | undefined {
    for (let at = this.#first; at < this.#keys.length; at += 1) {
      const key = this.#keys[at] as string;
      if (isMeant(key)) return key;
    }
    return undefined;
  }

  clear(): void {
    this.#keys = [];
    this.#first = 0;
  }
}
