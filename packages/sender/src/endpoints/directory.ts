import type { Awaitable } from '@webhook-backpressure/inbox';
import type { Scheduler, Task } from '@webhook-backpressure/inbox/store';
import { errorMessageOf, type Heaped, isThenable, MinHeap, readThrown } from '@webhook-backpressure/base';
import { areSame, type EndpointSettings } from '../options/endpoint-settings.ts';
import { Line } from './line.ts';
import { PermissionDenied } from './permissions.ts';

/** Calls of the function `endpoint` that run concurrently: it reads a database. */
const MAX_CALLS = 50;
const LIMIT_MS = 10_000;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
/** How many endpoints without events keep their last valid settings, for the case that the function fails. */
const MAX_IDLE = 10_000;

/** The knowledge about one endpoint. */
class Entry implements Heaped {
  readonly id: string;
  /** The last valid ones; null: there is no such endpoint; undefined: not known. */
  settings: EndpointSettings | null | undefined = undefined;
  /** When the last valid ones arrived; undefined: never. */
  answeredAtMs: number | undefined = undefined;
  /** Whether it has events. */
  isWanted = false;
  /** Whether the settings must not be used before the function was asked. */
  isBlocked = true;
  /** Whether a call runs. */
  isAsking = false;
  /** Whether it waits for a place among the concurrent calls. */
  isQueued = false;
  /** Whether the call that runs began before a refresh. */
  isOutdated = false;
  /** Calls that failed since the last one that did not. */
  failures = 0;
  /** Not asked before. */
  askAtMs = 0;
  /** -1 outside the heap of retries. */
  heapIndex = -1;

  constructor(id: string) {
    this.id = id;
  }
}

/** How a directory asks, and whom it tells. */
export interface DirectoryOptions {
  /**
   * Calls the function `endpoint`, and checks the result. Throws or rejects for invalid settings.
   *
   * @param before - the settings in use.
   */
  readonly ask: (
    id: string,
    before: EndpointSettings | null | undefined,
  ) => Awaitable<EndpointSettings | null>;
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
  readonly #options: DirectoryOptions;
  readonly #entries = new Map<string, Entry>();
  /** Endpoints without events. The least recently used is the first, and is forgotten first. */
  readonly #idle = new Set<Entry>();
  /** Entries that wait for a place: those without usable settings, and those whose settings are only old. */
  readonly #urgent = new Line<Entry>();
  readonly #stale = new Line<Entry>();
  readonly #retries = new MinHeap<Entry>((a, b) => a.askAtMs < b.askAtMs);
  readonly #timer: Task;
  #calls = 0;
  /** The endpoint whose function is on the stack. */
  #called: Entry | undefined;
  /** The endpoint whose settings are being read: its owner need not be told that they have changed. */
  #read: Entry | undefined;
  #isClosed = false;

  constructor(options: DirectoryOptions) {
    this.#options = options;
    this.#timer = options.scheduler.task(this.#retry);
  }

  /**
   * The settings to use now; null: there is no such endpoint; undefined: not known yet, `changed` is called when they are.
   * The endpoint has events from now on, until {@link release}.
   */
  get(id: string): EndpointSettings | null | undefined {
    const { nowMs } = this.#options.scheduler;
    const entry = this.#entries.get(id) ?? new Entry(id);
    this.#entries.set(id, entry);
    const isOld = entry.answeredAtMs === undefined || nowMs - entry.answeredAtMs >= this.#options.ttlMs;
    // While it was idle, its secret may have changed: its old settings are used only if the function fails.
    if (!entry.isWanted && isOld && entry.askAtMs <= nowMs) entry.isBlocked = true;
    entry.isWanted = true;
    this.#idle.delete(entry);
    if (isOld || entry.isBlocked) {
      this.#read = entry;
      this.#ask(entry);
      this.#read = undefined;
    }
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
    if (entry.isWanted) this.#ask(entry);
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

  #rest(entry: Entry): void {
    if (entry.settings === undefined) {
      this.#entries.delete(entry.id);
      return;
    }
    this.#idle.add(entry);
    if (this.#idle.size <= MAX_IDLE) return;
    for (const oldest of this.#idle) {
      this.#idle.delete(oldest);
      this.#entries.delete(oldest.id);
      return;
    }
  }

  #ask(entry: Entry): void {
    const { nowMs } = this.#options.scheduler;
    if (entry.isAsking || entry.isQueued || entry.askAtMs > nowMs || this.#isClosed) return;
    if (this.#calls < MAX_CALLS) {
      this.#call(entry);
      return;
    }
    entry.isQueued = true;
    (entry.isBlocked ? this.#urgent : this.#stale).push(entry);
  }

  #call(entry: Entry): void {
    entry.isAsking = true;
    const before = this.#called;
    this.#called = entry;
    let result: Awaitable<EndpointSettings | null>;
    try {
      result = this.#options.ask(entry.id, entry.settings);
    } catch (error) {
      this.#called = before;
      this.#failed(entry, error);
      return;
    }
    this.#called = before;
    if (isThenable(result)) this.#await(entry, result);
    else this.#answered(entry, result);
  }

  #await(entry: Entry, result: PromiseLike<EndpointSettings | null>): void {
    const { scheduler } = this.#options;
    this.#calls += 1;
    let isOver = false;
    /** Once: by the result, or by the time limit. */
    const end = (then: () => void): void => {
      if (isOver) return;
      isOver = true;
      limit.clear();
      this.#calls -= 1;
      if (!this.#isClosed) then();
      this.#next();
    };
    const fail = (error: unknown): void => {
      end(() => {
        this.#failed(entry, error);
      });
    };
    const limit = scheduler.task(() => {
      fail(new Error('endpoint() took longer than 10 s.'));
    });
    limit.set(scheduler.nowMs + LIMIT_MS);
    result.then((value) => {
      end(() => {
        this.#answered(entry, value);
      });
    }, fail);
  }

  #answered(entry: Entry, settings: EndpointSettings | null): void {
    const { settings: before, isBlocked } = entry;
    const isSame = before === settings || (before && settings !== null && areSame(before, settings)) === true;
    if (!isSame) entry.settings = settings;
    entry.failures = 0;
    entry.askAtMs = 0;
    entry.answeredAtMs = this.#options.scheduler.nowMs;
    this.#end(entry, !isSame || isBlocked);
  }

  #failed(entry: Entry, error: unknown): void {
    const { scheduler, random, failed } = this.#options;
    // That there was no endpoint is no reason to give events up while the function fails.
    if (entry.settings === null || readThrown(() => error instanceof PermissionDenied, false))
      entry.settings = undefined;
    const isKept = entry.settings !== undefined;
    const delayMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** entry.failures);
    entry.failures += 1;
    entry.askAtMs = scheduler.nowMs + delayMs * (0.5 + 0.5 * random());
    const { isBlocked } = entry;
    if (!isKept) entry.isBlocked = true;
    failed(entry.id, errorMessageOf(error), isKept);
    this.#end(entry, isBlocked, isKept);
  }

  /** @param isUsable - whether there are settings to use. */
  #end(entry: Entry, isNew: boolean, isUsable = true): void {
    entry.isAsking = false;
    const { isOutdated } = entry;
    entry.isOutdated = false;
    if (!entry.isWanted) {
      entry.isBlocked &&= isOutdated;
      this.#rest(entry);
    } else if (isOutdated) {
      entry.askAtMs = 0;
      this.#ask(entry);
    } else if (isUsable) {
      entry.isBlocked = false;
      if (isNew && entry !== this.#read) this.#options.changed(entry.id);
    } else {
      this.#retries.push(entry);
      this.#setTimer();
    }
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
    const { nowMs } = this.#options.scheduler;
    for (let { top } = this.#retries; top !== undefined && top.askAtMs <= nowMs; { top } = this.#retries) {
      this.#leaveRetries(top);
      this.#ask(top);
    }
    this.#setTimer();
  };

  /** Starts the calls that wait for a place. */
  #next(): void {
    while (this.#calls < MAX_CALLS && !this.#isClosed) {
      const entry = this.#urgent.take() ?? this.#stale.take();
      if (entry === undefined) return;
      entry.isQueued = false;
      if (entry.isWanted) this.#call(entry);
      else this.#rest(entry);
    }
  }
}
