import { MinHeap } from '@webhook-backpressure/base';
import type { ClaimOptions, KeyWant } from '../inbox-store.ts';
import { isDueBefore, KeyLine, type QueuedEntry } from './key-line.ts';
import { KeyRotation } from './key-rotation.ts';

/** Which retries are made due. */
interface Hastening {
  readonly key?: string | undefined;
  readonly afterMs: number;
  readonly nowMs: number;
  readonly limit: number;
}

/** The unfinished deliveries of a memory store, and which of them is claimed next. */
export class MemoryQueue<T extends QueuedEntry> {
  isPaused = false;
  readonly pausedKeys: Set<string> = new Set<string>();
  isOrdered = false;
  /** In the order of their numbers. */
  readonly #lines = new Map<string, KeyLine<T>>();
  #lastNumber = 0;
  /** Keys that have a ready delivery. */
  readonly #rotation = new KeyRotation<T>();
  /** Keys that have a retry and are not paused, the one with the earliest at the front. */
  readonly #retrying = new MinHeap<KeyLine<T>>((a, b) => a.retryMs < b.retryMs);
  readonly #stranded = new Set<T>();
  /** Upper bound of the due times of all retries. */
  #latestMs = -Infinity;

  /** Adds a delivery that is new or was redriven. */
  add(entry: T): void {
    const { key } = entry;
    let line = this.#lines.get(key);
    if (line === undefined) {
      this.#lastNumber += 1;
      line = new KeyLine(key, this.#lastNumber);
      this.#lines.set(key, line);
    }
    if (this.isOrdered && line.head !== undefined) {
      line.enter(entry, 'behind');
      return;
    }
    if (this.isOrdered) line.head = entry;
    line.enter(entry, 'ready');
    this.#rotation.add(line);
  }

  /** Makes a delivery due. */
  makeDue(entry: T): void {
    const line = this.#lineOf(entry);
    this.#moveDue(line, entry);
    this.#update(line);
  }

  /** Lets a delivery wait for a retry. */
  delay(entry: T): void {
    const line = this.#lineOf(entry);
    line.move(entry, 'delayed');
    this.#latestMs = Math.max(this.#latestMs, entry.dueMs);
    this.#update(line);
  }

  /** A claimed delivery is finished: when ordered, the next one of its key becomes the head. */
  finish(entry: T, nowMs: number): void {
    const line = this.#lineOf(entry);
    line.leave(entry);
    if (line.size === 0) {
      this.#lines.delete(entry.key);
      return;
    }
    if (line.head !== entry) return;
    line.head = line.firstBehind;
    if (line.head !== undefined) this.#endWait(line.head, nowMs);
  }

  take(count: number, { nowMs, maxStranded, except }: ClaimOptions): T[] {
    if (count <= 0) return [];
    this.#endDelays(nowMs);
    const taken = this.#takeStranded(Math.min(count, maxStranded), except);
    let line = this.#rotation.first;
    while (line !== undefined && taken.length < count) {
      const { next, ready } = line;
      const first = this.#isSkipped(line.key, except) ? undefined : ready.top;
      if (first === undefined) {
        line = next;
        continue;
      }
      line.move(first, 'claimed');
      taken.push(first);
      this.#rotation.delete(line);
      if (ready.size > 0) this.#rotation.add(line);
      // At the end of the rotation there is only this key left that is not skipped, if it has more.
      line = next ?? (ready.size > 0 ? line : undefined);
    }
    return taken;
  }

  /** Takes deliveries of one key. */
  takeOf({ key, count, isHeadOnly }: KeyWant, nowMs: number): T[] {
    const line = this.#isStopped(key) ? undefined : this.#lines.get(key);
    if (line === undefined) return [];
    const taken: T[] = [];
    while (taken.length < count) {
      const next = this.#nextOf(line, isHeadOnly);
      if (next === undefined || (next.place === 'delayed' && next.dueMs > nowMs)) break;
      this.#stranded.delete(next);
      line.move(next, 'claimed');
      taken.push(next);
    }
    if (taken.length > 0) this.#update(line);
    return taken;
  }

  /** When the next delivery of a key can be taken; Infinity for never. */
  nextDueOf(key: string, isHeadOnly: boolean): number {
    const line = this.#isStopped(key) ? undefined : this.#lines.get(key);
    return (line && this.#nextOf(line, isHeadOnly)?.dueMs) ?? Infinity;
  }

  /** The claimed deliveries of a key that is not paused. */
  claimedOf(key: string): Iterable<T> {
    return (this.#isStopped(key) ? undefined : this.#lines.get(key))?.claimed ?? [];
  }

  /** The keys that entered the queue after the one with this number, each with its number. */
  *keysAfter(number: number): Generator<readonly [key: string, number: number]> {
    for (const line of this.#lines.values()) if (line.number > number) yield [line.key, line.number];
  }

  /** When the next delivery can be taken; Infinity for never. */
  nextDueMs(except: ReadonlySet<string>): number {
    if (this.isPaused) return Infinity;
    const ready = this.#rotation.find(({ key }) => !this.#isSkipped(key, except));
    if (ready !== undefined) return ready.ready.top?.dueMs ?? Infinity;
    let next = this.#retrying.top?.retryMs ?? Infinity;
    for (const { key, dueMs } of this.#stranded) {
      if (!this.#isSkipped(key, except)) next = Math.min(next, dueMs);
    }
    return next;
  }

  /** @returns whether this changed anything. */
  pause(key: string | null): boolean {
    const wasPaused = key === null ? this.isPaused : this.pausedKeys.has(key);
    if (key === null) this.isPaused = true;
    else this.#updateAfter(key, () => this.pausedKeys.add(key));
    return !wasPaused;
  }

  /** @returns whether this changed anything. */
  resume(key: string | null): boolean {
    const wasPaused = key === null ? this.isPaused : this.pausedKeys.has(key);
    if (key === null) this.isPaused = false;
    else this.#updateAfter(key, () => this.pausedKeys.delete(key));
    return wasPaused;
  }

  /** Makes retries due at `nowMs` that are due after `afterMs`, of one key or of all. */
  hasten({ key, afterMs, nowMs, limit }: Hastening): number {
    if (this.#latestMs <= afterMs) return 0;
    if (key !== undefined) {
      const line = this.#lines.get(key);
      return line === undefined ? 0 : this.#hastenIn(line, afterMs, nowMs, limit);
    }
    let hastened = 0;
    let latestMs = -Infinity;
    for (const line of this.#lines.values()) {
      hastened += this.#hastenIn(line, afterMs, nowMs, limit - hastened);
      for (const { dueMs } of line.delayed) latestMs = Math.max(latestMs, dueMs);
    }
    this.#latestMs = latestMs;
    return hastened;
  }

  #hastenIn(line: KeyLine<T>, afterMs: number, nowMs: number, limit: number): number {
    const late = [...line.delayed].filter(({ dueMs }) => dueMs > afterMs).slice(0, limit);
    for (const entry of late) line.changeDue(entry, nowMs);
    this.#update(line);
    return late.length;
  }

  /** Makes unclaimed deliveries due that were never tried. */
  makeUntriedDue(entries: Iterable<T>, nowMs: number): void {
    for (const entry of entries) {
      if (entry.attempts > 0 || entry.dueMs <= nowMs || entry.place === 'claimed') continue;
      const line = this.#lineOf(entry);
      line.changeDue(entry, nowMs);
      this.#update(line);
    }
  }

  /** Switches ordering within keys on or off. `entries`: all unfinished deliveries. */
  setOrdered(isOrdered: boolean, entries: Iterable<T>, nowMs: number): void {
    if (isOrdered === this.isOrdered) return;
    this.isOrdered = isOrdered;
    for (const line of this.#lines.values()) line.head = undefined;
    const all = [...entries].sort((a, b) => a.order - b.order);
    const claimed = all.filter(({ place }) => place === 'claimed');
    const unclaimed = all.filter(({ place }) => place !== 'claimed');
    // A delivery that is being handled stays the head.
    if (isOrdered) for (const entry of [...claimed, ...unclaimed]) this.#lineOf(entry).head ??= entry;
    for (const entry of unclaimed) {
      const line = this.#lineOf(entry);
      if (!isOrdered && entry.place === 'behind') this.#endWait(entry, nowMs);
      if (!isOrdered || line.head === entry) continue;
      this.#stranded.delete(entry);
      line.move(entry, 'behind');
      this.#update(line);
    }
  }

  #takeStranded(most: number, except: ReadonlySet<string>): T[] {
    if (most <= 0 || this.#stranded.size === 0) return [];
    const candidates = [...this.#stranded].filter(({ key }) => !this.#isSkipped(key, except));
    candidates.sort((a, b) => (isDueBefore(a, b) ? -1 : 1));
    const once = candidates.filter(({ strandings }) => strandings === 1).slice(0, most);
    const taken = once.length > 0 ? once : candidates.slice(0, 1);
    for (const entry of taken) {
      this.#stranded.delete(entry);
      this.#lineOf(entry).move(entry, 'claimed');
    }
    return taken;
  }

  #isSkipped(key: string, except: ReadonlySet<string>): boolean {
    return except.has(key) || this.pausedKeys.has(key);
  }

  #isStopped(key: string): boolean {
    return this.isPaused || this.pausedKeys.has(key);
  }

  /** The delivery of a key to take next, if it is due. */
  #nextOf(line: KeyLine<T>, isHeadOnly: boolean): T | undefined {
    if (!isHeadOnly && !this.isOrdered) return line.earliest();
    if (!line.isIdle) return undefined;
    return this.isOrdered ? line.head : line.oldest();
  }

  /** Makes retries ready that are due. */
  #endDelays(nowMs: number): void {
    for (
      let line = this.#retrying.top;
      line !== undefined && line.retryMs <= nowMs;
      line = this.#retrying.top
    ) {
      for (
        let first = line.firstDelayed;
        first !== undefined && first.dueMs <= nowMs;
        first = line.firstDelayed
      )
        this.#moveDue(line, first);
      this.#update(line);
    }
  }

  /** A delivery is no longer behind. */
  #endWait(entry: T, nowMs: number): void {
    // One without attempts is due, even if the clock was ahead when it was stored.
    if (entry.attempts === 0) entry.dueMs = Math.min(entry.dueMs, nowMs);
    if (entry.dueMs > nowMs) this.delay(entry);
    else this.makeDue(entry);
  }

  #moveDue(line: KeyLine<T>, entry: T): void {
    if (entry.strandings > 0) this.#stranded.add(entry);
    line.move(entry, entry.strandings > 0 ? 'stranded' : 'ready');
  }

  #lineOf({ key }: T): KeyLine<T> {
    const line = this.#lines.get(key);
    if (line === undefined) throw new Error(`The queue has no delivery of the key ${key}.`);
    return line;
  }

  #updateAfter(key: string, change: () => void): void {
    change();
    const line = this.#lines.get(key);
    if (line !== undefined) this.#update(line);
  }

  /** Restores the place of a key among the others. Call it for each change of the ready or delayed ones. */
  #update(line: KeyLine<T>): void {
    if (line.ready.size > 0) this.#rotation.add(line);
    else this.#rotation.delete(line);
    const first = line.firstDelayed;
    const retryMs = first === undefined || this.pausedKeys.has(line.key) ? Infinity : first.dueMs;
    if (retryMs === line.retryMs) return;
    if (line.retryMs !== Infinity) this.#retrying.remove(line);
    line.retryMs = retryMs;
    if (retryMs !== Infinity) this.#retrying.push(line);
  }
}
