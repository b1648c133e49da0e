import { FairQueue } from '../queue/fair-queue.ts';
import type { Line, Queued } from '../queue/line.ts';

/** So many promises are kept. */
const MAX_PROMISES = 10_000;
/** A promise is due from so long before its booking … */
const EARLY_MS = 1000;
/** … until so long after it. */
const LATE_MS = 60_000;
/** So many keys are looked at to find one that holds more than its share. */
const LOOKED_AT = 8;

/** A booking whose key and delivery id are known. */
export class BookedReturn implements Queued<BookedReturn> {
  readonly id: string;
  readonly key: string;
  readonly dueMs: number;
  line: Line<BookedReturn> | null = null;
  ahead: BookedReturn | null = null;
  behind: BookedReturn | null = null;
  older: BookedReturn | null = null;
  younger: BookedReturn | null = null;

  constructor(key: string, id: string, dueMs: number) {
    this.id = id;
    this.key = key;
    this.dueMs = dueMs;
  }

  /** Whether its delivery, coming now, has kept the time. */
  isDue(nowMs: number): boolean {
    return nowMs >= this.dueMs - EARLY_MS && nowMs <= this.dueMs + LATE_MS;
  }

  isLapsed(nowMs: number): boolean {
    return nowMs > this.dueMs + LATE_MS;
  }
}

/**
 * The promises: each belongs to a key and a delivery id, and is used once. At most 10,000 are kept, and no key
 * holds more than its equal share of them, so that replayed or invented ids of one key cannot push out those of
 * another; of a key, the oldest is forgotten first.
 */
export class Promises {
  /** By key, and then by id: a name made of both would have to be built and hashed at each refusal. */
  readonly #byKey = new Map<string, Map<string, BookedReturn>>();
  /** The same in order of age and, for each key, in turn. */
  readonly #queue = new FairQueue<BookedReturn>();

  get size(): number {
    return this.#queue.size;
  }

  find(key: string, id: string): BookedReturn | undefined {
    return this.#byKey.get(key)?.get(id);
  }

  add(key: string, id: string, dueMs: number, nowMs: number): void {
    const { oldest } = this.#queue;
    if (oldest?.isLapsed(nowMs) === true) this.forget(oldest);
    const line = this.#queue.lineOf(key);
    const share = Math.floor(MAX_PROMISES / (this.#queue.keys + (line === undefined ? 1 : 0)));
    if (line !== undefined && line.size >= Math.max(1, share)) this.forget(line.first);
    else if (this.#queue.size >= MAX_PROMISES) this.forget(this.#findAbove(share));
    const promise = new BookedReturn(key, id, dueMs);
    let byId = this.#byKey.get(key);
    if (byId === undefined) {
      byId = new Map();
      this.#byKey.set(key, byId);
    }
    byId.set(id, promise);
    this.#queue.push(promise);
  }

  forget(promise: BookedReturn | null | undefined): void {
    if (promise == null) return;
    const byId = this.#byKey.get(promise.key);
    byId?.delete(promise.id);
    if (byId?.size === 0) this.#byKey.delete(promise.key);
    this.#queue.remove(promise);
  }

  /** The oldest promise of a key that holds more than its share, if one is found soon. */
  #findAbove(share: number): BookedReturn | null {
    for (let looked = 0; looked < LOOKED_AT; looked += 1) {
      const candidate = this.#queue.peek();
      if (candidate?.line != null && candidate.line.size > share) return candidate;
      this.#queue.pass();
    }
    return this.#queue.oldest;
  }
}
