import { checkBoolean, checkInteger, invalid } from '@webhook-backpressure/base';
import type { HistoryEvent } from './history-event.ts';

const CODE = 'ERR_WBP_HISTORY';
/** A sum of fractions of tokens may be off by so much. */
const TOLERANCE = 1e-6;
/** Limits of rates are kept on a clock of whole microseconds. */
const TICK_MS = 0.001;

/** The limits and the counts of all deliveries, of a key, of a worker, or of a key within a worker. */
class Scope {
  /** Whose they are, as a part of a sentence. */
  readonly whose: string;
  concurrency = Infinity;
  capacity = Infinity;
  perSecond = Infinity;
  burst = 1;
  running = 0;
  unfinished = 0;
  /** Undefined: the rate has not been used. */
  #tokens: number | undefined;
  #countedMs = 0;

  constructor(key?: string, worker?: string) {
    const ofKey = key === undefined ? '' : ` of the key ${JSON.stringify(key)}`;
    this.whose = worker === undefined ? ofKey : `${ofKey} in the worker ${JSON.stringify(worker)}`;
  }

  /** Takes a token. Returns whether there was one. */
  take(atMs: number): boolean {
    if (this.perSecond === Infinity) return true;
    const passedMs = Math.max(0, atMs - this.#countedMs);
    const tokens = Math.min(this.burst, (this.#tokens ?? this.burst) + (passedMs * this.perSecond) / 1000);
    this.#countedMs = Math.max(this.#countedMs, atMs);
    this.#tokens = tokens - 1;
    return tokens + (TICK_MS * this.perSecond) / 1000 >= 1 - TOLERANCE;
  }

  limitRate(perSecond: number | null, burst: number): void {
    this.perSecond = perSecond ?? Infinity;
    this.burst = burst;
    // Starts before the change do not count.
    this.#tokens = undefined;
  }
}

/** A limit that was exceeded, as the end of a sentence. */
export interface Excess {
  readonly rule: 'capacity' | 'concurrency' | 'rate';
  readonly what: string;
}

/** Until when something must not start, and the event that said it. */
interface Pause {
  readonly untilMs: number;
  readonly at: number;
}

/** Counts runs, starts and unfinished deliveries, and compares them with the limits of a history. */
export class HistoryLimits {
  isExclusive = false;
  readonly #scopes = new Map<string, Scope>();
  readonly #ordered = new Map<string, boolean>();
  readonly #pauses = new Map<string, Pause>();

  /** Applies an event `limits`. */
  apply(event: HistoryEvent, at: number): void {
    const { key, worker, concurrency, capacity, perSecond, burst = 1, ordered, exclusive } = event;
    const name = (field: string): string => `events[${String(at)}].${field}`;
    const scope = this.#scope(key ?? undefined, worker);
    if (worker !== undefined && (capacity !== undefined || ordered !== undefined)) {
      throw invalid(CODE, name('worker'), 'absent beside capacity and ordered', worker);
    }
    if (concurrency !== undefined) {
      if (concurrency !== null) checkInteger(CODE, name('concurrency'), concurrency, 0);
      scope.concurrency = concurrency ?? Infinity;
    }
    if (capacity !== undefined) {
      if (capacity !== null) checkInteger(CODE, name('capacity'), capacity, 0);
      scope.capacity = capacity ?? Infinity;
    }
    if (perSecond !== undefined) {
      if (perSecond !== null && !(perSecond > 0))
        throw invalid(CODE, name('perSecond'), 'above 0', perSecond);
      if (!(burst >= 1)) throw invalid(CODE, name('burst'), 'a number of at least 1', burst);
      scope.limitRate(perSecond, burst);
    }
    if (ordered !== undefined) {
      checkBoolean(CODE, name('ordered'), ordered);
      this.#ordered.set(scopeName(key ?? undefined), ordered);
    }
    if (exclusive !== undefined) {
      checkBoolean(CODE, name('exclusive'), exclusive);
      this.isExclusive = exclusive;
    }
  }

  isOrdered(key: string): boolean {
    return this.#ordered.get(scopeName(key)) ?? this.#ordered.get(scopeName()) ?? false;
  }

  /** Applies an event `retry-after`. */
  pause(untilMs: number, at: number, key: string, id?: string): void {
    const name = JSON.stringify(id === undefined ? [key] : [key, id]);
    if (untilMs > (this.#pauses.get(name)?.untilMs ?? -Infinity)) this.#pauses.set(name, { untilMs, at });
  }

  /** The pauses during which a delivery would start. */
  pausesAt(atMs: number, key: string, id: string): Pause[] {
    const pauses = [JSON.stringify([key]), JSON.stringify([key, id])].map((name) => this.#pauses.get(name));
    return pauses.filter((pause) => pause !== undefined && atMs < pause.untilMs) as Pause[];
  }

  /** The number of unfinished deliveries. */
  get unfinished(): number {
    return this.#scope().unfinished;
  }

  /** A run has begun. Returns the limits that it exceeds. */
  started(key: string, worker: string, atMs: number): Excess[] {
    const found: Excess[] = [];
    for (const scope of this.#scopesOf(key, worker)) {
      const { whose } = scope;
      scope.running += 1;
      if (scope.running > scope.concurrency) {
        const what = `${String(scope.running)} runs${whose} at the same time, and the limit is ${String(scope.concurrency)}`;
        found.push({ rule: 'concurrency', what });
      }
      if (!scope.take(atMs)) {
        const what = `more starts${whose} than ${String(scope.perSecond)} per second, and a burst of ${String(scope.burst)}`;
        found.push({ rule: 'rate', what });
      }
    }
    return found;
  }

  /** A run is over. */
  ended(key: string, worker: string): void {
    for (const scope of this.#scopesOf(key, worker)) scope.running -= 1;
  }

  /** A delivery is unfinished from now on. Returns the limits that it exceeds. */
  opened(key: string): Excess[] {
    const found: Excess[] = [];
    for (const scope of this.#deliveryScopesOf(key)) {
      const { whose } = scope;
      scope.unfinished += 1;
      if (scope.unfinished <= scope.capacity) continue;
      const what = `${String(scope.unfinished)} unfinished deliveries${whose}, and the limit is ${String(scope.capacity)}`;
      found.push({ rule: 'capacity', what });
    }
    return found;
  }

  /** A delivery is not unfinished any more. */
  closed(key: string): void {
    for (const scope of this.#deliveryScopesOf(key)) scope.unfinished -= 1;
  }

  #scope(key?: string, worker?: string): Scope {
    const name = scopeName(key, worker);
    let scope = this.#scopes.get(name);
    if (scope === undefined) this.#scopes.set(name, (scope = new Scope(key, worker)));
    return scope;
  }

  #deliveryScopesOf(key: string): Scope[] {
    return [this.#scope(), this.#scope(key)];
  }

  #scopesOf(key: string, worker: string): Scope[] {
    return [...this.#deliveryScopesOf(key), this.#scope(undefined, worker), this.#scope(key, worker)];
  }
}

/** Different for any two scopes. */
function scopeName(key?: string, worker?: string): string {
  return JSON.stringify([key ?? null, worker ?? null]);
}
