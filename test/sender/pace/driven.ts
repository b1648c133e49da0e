import type { LearningPace } from '../../../packages/sender/src/pace/learning-pace.ts';

/** An endpoint that handles requests in `workers` places, and lets the others wait. */
export interface Modeled {
  readonly workers: number;
  readonly serviceMs: (nowMs: number) => number;
  /** Above so many requests in flight it refuses, with this Retry-After. */
  readonly most?: number;
  readonly retryAfterMs?: number;
}

/** The events so far. */
export interface Driven {
  successes: number;
  refusals: number;
  mostInFlight: number;
  /** In flight, at the end of each second. */
  readonly inFlight: number[];
}

interface Flight {
  readonly startedAtMs: number;
  readonly endsAtMs: number;
  readonly isRefused: boolean;
}

/** Sends without end as fast as the in-flight cap and the waits allow, from `fromMs` to `toMs`. */
export function drive(pace: LearningPace, endpoint: Modeled, fromMs: number, toMs: number): Driven {
  const driven: Driven = { successes: 0, refusals: 0, mostInFlight: 0, inFlight: [] };
  /** The first to end is the first. */
  const flights: Flight[] = [];
  /** When each worker is free, ascending. */
  const freeAtMs = new Array<number>(endpoint.workers).fill(fromMs);
  let now = fromMs;
  let nextSampleMs = fromMs + 1000;
  const start = (): void => {
    pace.pass(now);
    while (now >= pace.waitUntilMs && flights.length < pace.maxInFlight) {
      const isRefused = flights.length >= (endpoint.most ?? Infinity);
      let endsAtMs = now + 1;
      if (!isRefused) {
        endsAtMs = Math.max(now, freeAtMs.shift() as number) + endpoint.serviceMs(now);
        insert(freeAtMs, endsAtMs, (ms) => ms);
      }
      insert(flights, { startedAtMs: now, endsAtMs, isRefused }, (flight) => flight.endsAtMs);
      driven.mostInFlight = Math.max(driven.mostInFlight, flights.length);
    }
  };
  start();
  for (;;) {
    const wakeMs = pace.waitUntilMs > now ? pace.waitUntilMs : Infinity;
    const nextMs = Math.min(flights[0]?.endsAtMs ?? Infinity, wakeMs);
    for (; nextSampleMs <= Math.min(nextMs, toMs); nextSampleMs += 1000) driven.inFlight.push(flights.length);
    if (nextMs > toMs) return driven;
    now = nextMs;
    while (flights[0] !== undefined && flights[0].endsAtMs <= now) {
      const inFlight = flights.length;
      const { startedAtMs, isRefused } = flights.shift() as Flight;
      if (isRefused) {
        driven.refusals += 1;
        pace.limited(startedAtMs, endpoint.retryAfterMs, undefined, now);
      } else {
        driven.successes += 1;
        pace.succeeded(startedAtMs, now - startedAtMs, inFlight, undefined, now);
      }
    }
    start();
  }
}

/** Adds an item to sorted ones, behind those with the same time. */
function insert<T>(sorted: T[], item: T, timeOf: (item: T) => number): void {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(sorted[middle] as T) <= timeOf(item)) low = middle + 1;
    else high = middle;
  }
  sorted.splice(low, 0, item);
}

/** Seeded uniform numbers (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
