import { keptIdOf } from '../delivery/delivery.ts';
import type { Arrival } from '../delivery/arrival.ts';

/** A retry is on time from this long before its booked second … */
const EARLY_MS = 1000;
/** … until this long after it. */
const LATE_MS = 60_000;
/** The promises are kept in two generations of so many: the older half is forgotten. */
const GENERATION = 5000;

interface Promised {
  readonly key: string;
  readonly dueMs: number;
  /** Whether its retry has been counted. */
  isCounted: boolean;
}

/**
 * The booked retries of deliveries with an id. A retry on time may use the reserve, once. An early one is told the time
 * that is left, so that a sender that ignores Retry-After books one second and not one with each attempt.
 *
 * Ids come from senders. Without the key of the delivery that was promised, an id is worth nothing.
 */
export class Promises {
  /** Retries on time that were admitted, and refused again, each counted at its first arrival. */
  readonly counts: { kept: number; missed: number } = { kept: 0, missed: 0 };
  #latest = new Map<string, Promised>();
  #older = new Map<string, Promised>();

  /** When the retry of this delivery is expected; undefined if it has not been promised. */
  dueMs(arrival: Arrival): number | undefined {
    return this.#find(arrival)?.dueMs;
  }

  entitles(arrival: Arrival): boolean {
    const promised = this.#find(arrival);
    return promised !== undefined && isOnTime(promised, arrival.nowMs);
  }

  admitted(arrival: Arrival): void {
    const promised = this.#find(arrival);
    if (promised === undefined) return;
    this.#count('kept', promised, arrival.nowMs);
    const { id = '' } = arrival.delivery;
    this.#latest.delete(id);
    this.#older.delete(id);
  }

  refused(arrival: Arrival, { retryAfterSeconds }: { readonly retryAfterSeconds: number }): void {
    const id = keptIdOf(arrival.delivery);
    if (id === undefined) return;
    const { key, nowMs } = arrival;
    const promised = this.#find(arrival);
    if (promised !== undefined) {
      this.#count('missed', promised, nowMs);
      if (nowMs < promised.dueMs) return;
    }
    if (this.#latest.size >= GENERATION) {
      this.#older = this.#latest;
      this.#latest = new Map();
    }
    this.#latest.set(id, { key, dueMs: nowMs + retryAfterSeconds * 1000, isCounted: false });
  }

  #find({ delivery: { id }, key }: Arrival): Promised | undefined {
    if (id === undefined) return undefined;
    const promised = this.#latest.get(id) ?? this.#older.get(id);
    return promised?.key === key ? promised : undefined;
  }

  #count(outcome: 'kept' | 'missed', promised: Promised, nowMs: number): void {
    if (promised.isCounted || !isOnTime(promised, nowMs)) return;
    promised.isCounted = true;
    this.counts[outcome] += 1;
  }
}

function isOnTime({ dueMs }: Promised, nowMs: number): boolean {
  return nowMs >= dueMs - EARLY_MS && nowMs <= dueMs + LATE_MS;
}
