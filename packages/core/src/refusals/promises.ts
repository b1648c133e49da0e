import { Generations } from '@webhook-backpressure/base';
import type { Arrival } from '../delivery/arrival.ts';
import { keptIdOf } from '../delivery/delivery.ts';
import type { Rule } from './rule.ts';

/** A retry is on time from this long before its booked second … */
const EARLY_MS = 1000;
/** … until this long after it. */
const LATE_MS = 60_000;
/** So many promises are kept, and at most twice as many. */
const KEPT = 5000;

interface Promised {
  readonly name: string;
  readonly dueMs: number;
  /** Whether its retry has been counted. */
  isCounted: boolean;
}

/**
 * The booked retries of deliveries with an id. A retry on time may use the reserve, once. An early retry gets the time that
 * is left, so that a sender that ignores Retry-After books one slot and not one with each attempt.
 */
export class Promises implements Rule {
  /** Retries on time that were admitted, and refused again, each counted at its first arrival. */
  readonly counts: { kept: number; missed: number } = { kept: 0, missed: 0 };
  readonly #byName = new Generations<Promised>(KEPT);
  /** The last arrival and its name: a refusal asks four times, and to hash a new string each time takes a third of it. */
  #last: Arrival | undefined;
  #lastName: string | undefined;

  /** When the retry of this delivery is expected; undefined if it has not been booked. */
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
    this.#byName.delete(promised.name);
  }

  /** Notes that a delivery is refused, perhaps although it arrived on time. Called before it is booked again. */
  missed(arrival: Arrival): void {
    const promised = this.#find(arrival);
    if (promised !== undefined) this.#count('missed', promised, arrival.nowMs);
  }

  /** Notes when the retry of a refused delivery is expected. */
  add(arrival: Arrival, dueMs: number): void {
    const name = this.#nameOf(arrival);
    if (name !== undefined) this.#byName.set(name, { name, dueMs, isCounted: false });
  }

  #nameOf(arrival: Arrival): string | undefined {
    if (arrival !== this.#last) {
      this.#last = arrival;
      this.#lastName = nameOf(arrival);
    }
    return this.#lastName;
  }

  #find(arrival: Arrival): Promised | undefined {
    // Without booked retries, which is most of the time, no name is made and hashed: that takes a quarter of an admission.
    if (this.#byName.isEmpty) return undefined;
    const name = this.#nameOf(arrival);
    return name === undefined ? undefined : this.#byName.get(name);
  }

  #count(outcome: 'kept' | 'missed', promised: Promised, nowMs: number): void {
    if (promised.isCounted || !isOnTime(promised, nowMs)) return;
    promised.isCounted = true;
    this.counts[outcome] += 1;
  }
}

/** Two senders may use the same ids, so the name contains the key. Undefined without an id. */
function nameOf({ key, delivery }: Arrival): string | undefined {
  const id = delivery.id === undefined ? undefined : keptIdOf(delivery);
  return id === undefined ? undefined : `${String(key.length)} ${key}${id}`;
}

function isOnTime({ dueMs }: Promised, nowMs: number): boolean {
  return nowMs >= dueMs - EARLY_MS && nowMs <= dueMs + LATE_MS;
}
