import type { Refused, Situation } from './situation.ts';

/** Retries are counted in steps of this many milliseconds, about the lateness of clients and networks … */
const STEP_MS = 100;
const STEPS_PER_S = 1000 / STEP_MS;
/** … for 15 minutes, the default of the longest Retry-After. Retries further ahead are not counted. */
const STEPS = 15 * 60 * STEPS_PER_S;
/** The queue is simulated from two seconds before a retry, when it is taken to be empty, … */
const BEFORE = 2 * STEPS_PER_S;
/** … until a second after it. */
const AFTER = STEPS_PER_S;
/** How many seconds are tried for one retry. */
const TRIES = 9;

/** The queue that retries join. */
export interface RetryRoom {
  /** How many it holds. */
  readonly places: number;
  /** How many retries leave it per second. */
  readonly perSecond: number;
}

/** The queue that a retry of this delivery joins, if it holds less than a second of retries; otherwise null. */
export function tightRoom(
  { id }: Refused,
  { high = Infinity, capacity = Infinity, drainRate, gapFactor }: Situation,
  steadyRate: number,
  perSecond: number,
): RetryRoom | null {
  // A retry that is on time may use the reserve.
  const places = id === undefined ? high : capacity;
  // During a stall and some seconds longer, the drain rate is low, and the places with it.
  const isTight = gapFactor === 1 && places * steadyRate < perSecond * (drainRate ?? 0);
  return isTight ? { places, perSecond } : null;
}

/**
 * When retries are expected, within a second. Retry-After is in whole seconds, so deliveries that are refused at one
 * moment are retried at the same moment of a later second: a hundred that are booked for one second arrive within a
 * fraction of it. A queue that holds less than a second of retries has no room for all of them, and is empty for the rest
 * of that second.
 */
export class ExpectedRetries {
  /** A ring. */
  #counts: Uint16Array | undefined;
  /** The first step that has not passed. */
  #step = 0;

  /** Notes a retry that is expected at `atMs`. */
  note(atMs: number, nowMs: number): void {
    const counts = this.#advance(nowMs);
    const step = Math.floor(atMs / STEP_MS);
    if (step < this.#step || step >= this.#step + STEPS) return;
    const at = step % STEPS;
    counts[at] = (counts[at] ?? 0) + 1;
  }

  /**
   * The first number of seconds from `fromS` on after which the queue has room for one more retry; `fromS` if it has none
   * after each of the nine that are tried.
   */
  firstWithRoom(fromS: number, nowMs: number, room: RetryRoom): number {
    this.#advance(nowMs);
    const first = Math.floor(nowMs / STEP_MS + fromS * STEPS_PER_S);
    if (first + TRIES * STEPS_PER_S + AFTER >= this.#step + STEPS) return fromS;
    for (let tried = 0; tried < TRIES; tried += 1)
      if (this.#hasRoom(first + tried * STEPS_PER_S, room)) return fromS + tried;
    return fromS;
  }

  /** Drops all expectations. */
  clear(): void {
    this.#counts?.fill(0);
  }

  /** Whether the queue stays within its places if one more retry arrives in this step. */
  #hasRoom(step: number, { places, perSecond }: RetryRoom): boolean {
    const counts = this.#counts as Uint16Array;
    const perStep = perSecond / STEPS_PER_S;
    let queued = 0;
    for (let at = Math.max(this.#step, step - BEFORE); at < step + AFTER; at += 1) {
      const arrived = (counts[at % STEPS] ?? 0) + (at === step ? 1 : 0);
      queued = Math.max(0, queued - perStep) + arrived;
      if (at >= step && queued > places + perStep) return false;
    }
    return true;
  }

  #advance(nowMs: number): Uint16Array {
    this.#counts ??= new Uint16Array(STEPS);
    const step = Math.floor(nowMs / STEP_MS);
    const passed = Math.min(STEPS, step - this.#step);
    for (let back = 1; back <= passed; back += 1) this.#counts[(step - back) % STEPS] = 0;
    this.#step = Math.max(this.#step, step);
    return this.#counts;
  }
}
