import { FairQueue } from '../queue/fair-queue.ts';
import type { Line, Queued } from '../queue/line.ts';

/** The maximum number of reservations. */
const MAX_RESERVATIONS = 10_000;
/** A reservation is due from this long before its booked second … */
const EARLY_MS = 1000;
/** … until this long after it. */
const LATE_MS = 60_000;
/** How many keys are checked to find one that holds more than its share. */
const LOOKED_AT = 8;

/** A booked retry whose key and delivery id are known. A retry in time may use the queue's reserve. */
export class Reservation implements Queued<Reservation> {
  readonly id: string;
  readonly key: string;
  readonly dueMs: number;
  /** Whether its retry has been counted as kept or missed. */
  isCounted = false;
  line: Line<Reservation> | null = null;
  ahead: Reservation | null = null;
  behind: Reservation | null = null;
  older: Reservation | null = null;
  younger: Reservation | null = null;

  constructor(key: string, id: string, dueMs: number) {
    this.id = id;
    this.key = key;
    this.dueMs = dueMs;
  }

  /** Whether a retry at `nowMs` is on time. */
  isDue(nowMs: number): boolean {
    return nowMs >= this.dueMs - EARLY_MS && nowMs <= this.dueMs + LATE_MS;
  }

  isLapsed(nowMs: number): boolean {
    return nowMs > this.dueMs + LATE_MS;
  }
}

/**
 * The reservations. Each belongs to one key and one delivery id and is used once. At most 10,000 are kept, and no key
 * holds more than its equal share, so that replayed or invented ids of one key cannot displace those of another. The
 * oldest reservation of a key is dropped first.
 */
export class Reservations {
  /** By key, then by id: a combined string would have to be built and hashed on each refusal. */
  readonly #byKey = new Map<string, Map<string, Reservation>>();
  /** The same, ordered by age and by key in turn. */
  readonly #queue = new FairQueue<Reservation>();

  get size(): number {
    return this.#queue.size;
  }

  find(key: string, id: string): Reservation | undefined {
    return this.#byKey.get(key)?.get(id);
  }

  add(key: string, id: string, dueMs: number, nowMs: number): void {
    const { oldest } = this.#queue;
    if (oldest?.isLapsed(nowMs) === true) this.forget(oldest);
    const line = this.#queue.lineOf(key);
    const share = Math.floor(MAX_RESERVATIONS / (this.#queue.keys + (line === undefined ? 1 : 0)));
    if (line !== undefined && line.size >= Math.max(1, share)) this.forget(line.first);
    else if (this.#queue.size >= MAX_RESERVATIONS) this.forget(this.#findAbove(share));
    const reservation = new Reservation(key, id, dueMs);
    let byId = this.#byKey.get(key);
    if (byId === undefined) {
      byId = new Map();
      this.#byKey.set(key, byId);
    }
    byId.set(id, reservation);
    this.#queue.push(reservation);
  }

  forget(reservation: Reservation | null | undefined): void {
    if (reservation == null) return;
    const byId = this.#byKey.get(reservation.key);
    byId?.delete(reservation.id);
    if (byId?.size === 0) this.#byKey.delete(reservation.key);
    this.#queue.remove(reservation);
  }

  /** The oldest reservation of a key that holds more than its share, if one is found soon. */
  #findAbove(share: number): Reservation | null {
    for (let looked = 0; looked < LOOKED_AT; looked += 1) {
      const candidate = this.#queue.peek();
      if (candidate?.line != null && candidate.line.size > share) return candidate;
      this.#queue.pass();
    }
    return this.#queue.oldest;
  }
}
