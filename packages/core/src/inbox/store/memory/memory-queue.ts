import { MinHeap, type Heaped } from '../../../base/min-heap.ts';
import type { ClaimOptions } from '../inbox-store.ts';
import { KeyRotation } from './key-rotation.ts';

/** An unfinished delivery, as the queue orders it. */
export interface QueuedEntry extends Heaped {
  readonly key: string;
  /** Position in the order of storing. */
  readonly order: number;
  attempts: number;
  strandings: number;
  dueMs: number;
}

/** The unclaimed deliveries of a memory store, and which of them is claimed next. */
export class MemoryQueue<T extends QueuedEntry> {
  isPaused = false;
  readonly pausedKeys: Set<string> = new Set<string>();
  isOrdered = false;
  /** Due deliveries without strandings. Their keys take turns. */
  readonly #ready = new Map<string, MinHeap<T>>();
  readonly #rotation = new KeyRotation();
  readonly #stranded = new Set<T>();
  /** Deliveries that wait for a retry, the earliest at the front. */
  readonly #delayed = new MinHeap<T>(isDueBefore);
  /** Upper bound of all due times. */
  #latestMs = -Infinity;
  /** Retries of paused keys, kept apart so that they do not block those of other keys. */
  readonly #pausedRetries = new Map<string, Set<T>>();
  /** When ordered: the head of each key, which may be claimed or is, and the deliveries behind it. */
  readonly #heads = new Map<string, T>();
  readonly #behind = new Map<string, MinHeap<T>>();

  /** Adds a delivery that is new or was redriven. */
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
    this.addDue(entry);
  }

  /** Adds a delivery that is due. */
  addDue(entry: T): void {
    if (entry.strandings > 0) {
      this.#stranded.add(entry);
      return;
    }
    const { key } = entry;
    let line = this.#ready.get(key);
    if (line === undefined) {
      line = new MinHeap(isDueBefore);
      this.#ready.set(key, line);
      this.#rotation.push(key);
    }
    line.push(entry);
  }

  /** Adds a delivery that waits for a retry. */
  delay(entry: T): void {
    const { key, dueMs } = entry;
    this.#latestMs = Math.max(this.#latestMs, dueMs);
    if (!this.pausedKeys.has(key)) {
      this.#delayed.push(entry);
      return;
    }
    const paused = this.#pausedRetries.get(key) ?? new Set<T>();
    this.#pausedRetries.set(key, paused.add(entry));
  }

  /** A delivery is finished: when ordered, the next one of its key becomes the head. */
  finish(entry: T, nowMs: number): void {
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
    else this.addDue(next);
  }

  take(count: number, { nowMs, maxStranded, except }: ClaimOptions): T[] {
    if (count <= 0) return [];
    for (let top = this.#delayed.top; top !== undefined && top.dueMs <= nowMs; top = this.#delayed.top) {
      this.#delayed.pop();
      this.addDue(top);
    }
    const taken = this.#takeStranded(Math.min(count, maxStranded), except);
    const skipped: string[] = [];
    while (taken.length < count) {
      const key = this.#rotation.shift();
      if (key === undefined) break;
      if (this.#isSkipped(key, except)) {
        skipped.push(key);
        continue;
      }
      const line = this.#ready.get(key);
      const first = line?.pop();
      if (first !== undefined) taken.push(first);
      if (line === undefined || line.size === 0) this.#ready.delete(key);
      else this.#rotation.push(key);
    }
    this.#rotation.unshift(skipped);
    return taken;
  }

  /** When the next delivery can be taken; Infinity for never. */
  nextDueMs(except: ReadonlySet<string>): number {
    if (this.isPaused) return Infinity;
    const ready = this.#rotation.find((key) => !this.#isSkipped(key, except));
    if (ready !== undefined) return this.#ready.get(ready)?.top?.dueMs ?? Infinity;
    let next = this.#delayed.top?.dueMs ?? Infinity;
    for (const { key, dueMs } of this.#stranded) {
      if (!this.#isSkipped(key, except)) next = Math.min(next, dueMs);
    }
    return next;
  }

  /** @returns whether this changed anything. */
  pause(key: string | null): boolean {
    const wasPaused = key === null ? this.isPaused : this.pausedKeys.has(key);
    if (wasPaused) return false;
    if (key === null) {
      this.isPaused = true;
      return true;
    }
    this.pausedKeys.add(key);
    for (const entry of this.#removeDelayed()) this.delay(entry);
    return true;
  }

  /** @returns whether this changed anything. */
  resume(key: string | null): boolean {
    if (key === null) {
      const wasPaused = this.isPaused;
      this.isPaused = false;
      return wasPaused;
    }
    if (!this.pausedKeys.delete(key)) return false;
    const paused = this.#pausedRetries.get(key) ?? [];
    this.#pausedRetries.delete(key);
    for (const entry of paused) this.#delayed.push(entry);
    return true;
  }

  /** Makes retries due at `nowMs` that are due after `afterMs`. */
  hasten({ afterMs, nowMs, limit }: { afterMs: number; nowMs: number; limit: number }): number {
    if (this.#latestMs <= afterMs) return 0;
    const paused = [...this.#pausedRetries.values()].flatMap((entries) => [...entries]);
    const waiting = this.#removeDelayed();
    const late = [...waiting, ...paused].filter(({ dueMs }) => dueMs > afterMs).slice(0, limit);
    for (const entry of late) entry.dueMs = nowMs;
    for (const entry of waiting) this.#delayed.push(entry);
    this.#latestMs = [...waiting, ...paused].reduce(
      (latest, { dueMs }) => Math.max(latest, dueMs),
      -Infinity,
    );
    return late.length;
  }

  /** Switches ordering within keys on or off. */
  setOrdered(isOrdered: boolean, unclaimed: Iterable<T>, claimed: Iterable<T>, nowMs: number): void {
    if (isOrdered === this.isOrdered) return;
    this.isOrdered = isOrdered;
    this.#ready.clear();
    this.#rotation.clear();
    this.#stranded.clear();
    this.#removeDelayed();
    this.#pausedRetries.clear();
    this.#heads.clear();
    this.#behind.clear();
    if (isOrdered)
      for (const entry of claimed) if (!this.#heads.has(entry.key)) this.#heads.set(entry.key, entry);
    for (const entry of [...unclaimed].sort((a, b) => a.order - b.order)) {
      if (isOrdered && this.#heads.has(entry.key)) this.add(entry);
      else {
        if (isOrdered) this.#heads.set(entry.key, entry);
        if (entry.attempts > 0 && entry.dueMs > nowMs) this.delay(entry);
        else this.addDue(entry);
      }
    }
  }

  #takeStranded(most: number, except: ReadonlySet<string>): T[] {
    if (most <= 0 || this.#stranded.size === 0) return [];
    const candidates = [...this.#stranded].filter(({ key }) => !this.#isSkipped(key, except));
    candidates.sort((a, b) => (isDueBefore(a, b) ? -1 : 1));
    const once = candidates.filter(({ strandings }) => strandings === 1).slice(0, most);
    const taken = once.length > 0 ? once : candidates.slice(0, 1);
    for (const entry of taken) this.#stranded.delete(entry);
    return taken;
  }

  #isSkipped(key: string, except: ReadonlySet<string>): boolean {
    return except.has(key) || this.pausedKeys.has(key);
  }

  /** Removes and returns all waiting retries. */
  #removeDelayed(): T[] {
    const waiting: T[] = [];
    for (let top = this.#delayed.pop(); top !== undefined; top = this.#delayed.pop()) waiting.push(top);
    return waiting;
  }
}

function isDueBefore<T extends QueuedEntry>(a: T, b: T): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}

function isOlder<T extends QueuedEntry>(a: T, b: T): boolean {
  return a.order < b.order;
}
