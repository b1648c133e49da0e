import type { Awaitable } from '@webhook-backpressure/inbox';
import { errorMessageOf, type Scheduler } from '@webhook-backpressure/inbox/store';
import { isThenable, MinHeap } from '@webhook-backpressure/base';
import type { EndpointSettings } from '../options/settings.ts';
import { CallLimit } from './call-limit.ts';
import { Entry } from './entry.ts';
import { IdleEntries } from './idle-entries.ts';
import { Line } from './line.ts';
import { areSame } from './same-settings.ts';

/** Calls of the function `endpoint` that run concurrently: it reads a database. */
const MAX_CALLS = 50;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/** The parts of a directory. */
export interface DirectoryParts {
  /** The function `endpoint`. */
  readonly ask: (id: string) => Awaitable<unknown>;
  /** Throws for invalid settings. */
  readonly check: (value: unknown) => EndpointSettings | null;
  readonly ttlMs: number;
  readonly scheduler: Scheduler;
  readonly random: () => number;
  /** The settings of an endpoint have arrived or changed: read them again. Not called from within {@link EndpointDirectory.get}. */
  readonly changed: (id: string) => void;
  /** A call failed. `isKept`: the last valid settings stay in use. */
  readonly failed: (id: string, error: string, isKept: boolean) => void;
}

/**
 * The settings of endpoints, by the function `endpoint` of the user. It is asked once per endpoint at a time, at most 50
 * times concurrently; endpoints without settings come first. A call that throws, takes longer than 10 s or returns invalid
 * settings is repeated after 1 s, doubling to 60 s; meanwhile the last valid settings stay in use.
 */
export class EndpointDirectory {
  readonly #parts: DirectoryParts;
  readonly #entries = new Map<string, Entry>();
  readonly #idle = new IdleEntries((id) => this.#entries.delete(id));
  /** Entries without usable settings, and those whose settings are only old. */
  readonly #urgent = new Line<Entry>();
  readonly #stale = new Line<Entry>();
  readonly #retries = new MinHeap<Entry>((a, b) => a.askAtMs < b.askAtMs);
  readonly #limit: CallLimit;
  readonly #timer;
  #calls = 0;
  /** The endpoint whose function is on the stack. */
  #called: Entry | undefined;
  #isClosed = false;

  constructor(parts: DirectoryParts) {
    this.#parts = parts;
    this.#limit = new CallLimit(parts.scheduler);
    this.#timer = parts.scheduler.task(this.#retry);
  }

  /**
   * The settings to use now; null: there is no such endpoint; undefined: not known yet, `changed` is called when they are.
   * The endpoint has events from now on, until {@link release}.
   */
  get(id: string): EndpointSettings | null | undefined {
    const nowMs = this.#parts.scheduler.nowMs;
    const entry = this.#entries.get(id) ?? this.#add(id);
    const isOld = entry.answeredAtMs === undefined || nowMs - entry.answeredAtMs >= this.#parts.ttlMs;
    // While it was idle, its secret may have changed: its old settings are used only if the function fails.
    if (!entry.isWanted && isOld && entry.askAtMs <= nowMs) entry.isBlocked = true;
    entry.isWanted = true;
    this.#idle.delete(entry);
    if (isOld || entry.isBlocked) this.#ask(entry, nowMs, true);
    return entry.isBlocked ? undefined : entry.settings;
  }

  /** Asks again before the next attempt. */
  refresh(id: string): void {
    const entry = this.#entries.get(id);
    // From within its own call the function would be called without an end.
    if (entry === undefined || entry === this.#called) return;
    entry.isBlocked = true;
    entry.failures = 0;
    entry.askAtMs = 0;
    // A call that began earlier may return the settings from before the change.
    entry.isOutdated = entry.isAsking;
    this.#leaveRetries(entry);
    if (entry.isWanted) this.#ask(entry, this.#parts.scheduler.nowMs, false);
  }

  /** The endpoint has no events. Its settings are kept for a while. */
  release(id: string): void {
    const entry = this.#entries.get(id);
    if (entry?.isWanted !== true) return;
    entry.isWanted = false;
    this.#leaveRetries(entry);
    if (!entry.isAsking && !entry.isQueued) this.#rest(entry);
  }

  /** How many endpoints are known or asked for. */
  get size(): number {
    return this.#entries.size;
  }

  /** Asks no more. Results of running calls are ignored. */
  close(): void {
    this.#isClosed = true;
    this.#timer.clear();
  }

  #add(id: string): Entry {
    const entry = new Entry(id);
    this.#entries.set(id, entry);
    return entry;
  }

  #rest(entry: Entry): void {
    if (entry.settings === undefined) this.#entries.delete(entry.id);
    else this.#idle.add(entry);
  }

  /** @param isRead - whether the owner reads the settings after this call anyway. */
  #ask(entry: Entry, nowMs: number, isRead: boolean): void {
    if (entry.isAsking || entry.isQueued || entry.askAtMs > nowMs || this.#isClosed) return;
    if (this.#calls < MAX_CALLS) {
      this.#call(entry, isRead);
      return;
    }
    entry.isQueued = true;
    (entry.isBlocked ? this.#urgent : this.#stale).push(entry);
  }

  #call(entry: Entry, isRead: boolean): void {
    let result: unknown;
    let isAsync: boolean;
    entry.isAsking = true;
    const before = this.#called;
    this.#called = entry;
    try {
      result = this.#parts.ask(entry.id);
      isAsync = isThenable(result);
    } catch (error) {
      this.#failed(entry, error, isRead);
      return;
    } finally {
      this.#called = before;
    }
    if (isAsync) this.#await(entry, result);
    else this.#answered(entry, result, isRead);
  }

  #await(entry: Entry, result: unknown): void {
    this.#calls += 1;
    let isOver = false;
    /** Once: by the result, or by the time limit. */
    const end = (then: () => void): void => {
      if (isOver) return;
      isOver = true;
      this.#limit.stop(expire);
      this.#calls -= 1;
      if (!this.#isClosed) then();
      this.#next();
    };
    const expire = (): void => {
      end(() => {
        this.#failed(entry, new Error('endpoint() took longer than 10 s.'), false);
      });
    };
    this.#limit.start(expire);
    Promise.resolve(result).then(
      (value) => {
        end(() => {
          this.#answered(entry, value, false);
        });
      },
      (error: unknown) => {
        end(() => {
          this.#failed(entry, error, false);
        });
      },
    );
  }

  #answered(entry: Entry, value: unknown, isRead: boolean): void {
    let settings: EndpointSettings | null;
    try {
      settings = this.#parts.check(value);
    } catch (error) {
      this.#failed(entry, error, isRead);
      return;
    }
    const { settings: before, isBlocked } = entry;
    const isSame = before === settings || (before && settings !== null && areSame(before, settings));
    if (isSame !== true) entry.settings = settings;
    entry.failures = 0;
    entry.askAtMs = 0;
    entry.answeredAtMs = this.#parts.scheduler.nowMs;
    this.#end(entry, isRead || (isSame === true && !isBlocked));
  }

  #failed(entry: Entry, error: unknown, isRead: boolean): void {
    const { scheduler, random, failed } = this.#parts;
    // That there was no endpoint is no reason to give events up while the function fails.
    if (entry.settings === null) entry.settings = undefined;
    const isKept = entry.settings !== undefined;
    const delayMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(entry.failures, 30));
    entry.failures += 1;
    entry.askAtMs = scheduler.nowMs + delayMs * (0.5 + 0.5 * random());
    const { isBlocked } = entry;
    if (!isKept) entry.isBlocked = true;
    failed(entry.id, errorMessageOf(error), isKept);
    this.#end(entry, isRead || !isBlocked, isKept);
  }

  /** @param isUsable - whether there are settings to use. */
  #end(entry: Entry, isQuiet: boolean, isUsable = true): void {
    entry.isAsking = false;
    const { isOutdated } = entry;
    entry.isOutdated = false;
    if (!entry.isWanted) {
      entry.isBlocked &&= isOutdated;
      this.#rest(entry);
      return;
    }
    if (isOutdated) {
      entry.askAtMs = 0;
      this.#ask(entry, this.#parts.scheduler.nowMs, isQuiet);
      return;
    }
    if (!isUsable) {
      this.#retries.push(entry);
      this.#setTimer();
      return;
    }
    entry.isBlocked = false;
    if (!isQuiet) this.#parts.changed(entry.id);
  }

  #leaveRetries(entry: Entry): void {
    if (entry.heapIndex >= 0) this.#retries.remove(entry);
    entry.heapIndex = -1;
  }

  #setTimer(): void {
    const { top } = this.#retries;
    if (top !== undefined) this.#timer.set(top.askAtMs);
  }

  readonly #retry = (): void => {
    const { nowMs } = this.#parts.scheduler;
    for (let { top } = this.#retries; top !== undefined && top.askAtMs <= nowMs; { top } = this.#retries) {
      this.#leaveRetries(top);
      this.#ask(top, nowMs, false);
    }
    this.#setTimer();
  };

  /** Starts the calls that wait for a place. */
  #next(): void {
    while (this.#calls < MAX_CALLS && !this.#isClosed) {
      const entry = this.#urgent.take() ?? this.#stale.take();
      if (entry === undefined) return;
      entry.isQueued = false;
      if (entry.isWanted) this.#call(entry, false);
      else this.#rest(entry);
    }
  }
}
