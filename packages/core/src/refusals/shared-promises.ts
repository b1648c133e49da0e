/** The maximum number of promises of other receivers. */
const MAX_PROMISES = 50_000;
/** A promise is due from this long before its second, which is known only to within a beat, … */
const EARLY_MS = 4000;
/** … until this long after it. */
const LATE_MS = 60_000;
/** How many old promises are looked at for each new one. */
const LOOKED_AT = 2;

/** A promise that another receiver has given, or a promise that was used there. */
export class SharedPromise {
  readonly hash: number;
  readonly dueMs: number;
  /** Whether another receiver has admitted its retry. */
  isUsed: boolean;
  /** Whether its retry has been counted as kept or missed. */
  isCounted = false;

  constructor(hash: number, dueMs: number, isUsed: boolean) {
    this.hash = hash;
    this.dueMs = dueMs;
    this.isUsed = isUsed;
  }

  /** Whether a retry at `nowMs` is on time. */
  isDue(nowMs: number): boolean {
    return !this.isUsed && nowMs >= this.dueMs - EARLY_MS && nowMs <= this.dueMs + LATE_MS;
  }

  isLapsed(nowMs: number): boolean {
    return nowMs > this.dueMs + LATE_MS;
  }
}

/**
 * The promises of other receivers, by the hash of their key and delivery id. At most 50,000 are kept; the one that was
 * learned first is dropped first. No receiver gives more than 10,000 promises, each key no more than its share.
 */
export class SharedPromises {
  readonly #byHash = new Map<number, SharedPromise>();
  /** The same in the order in which they were learned, as a ring. */
  readonly #ring: (SharedPromise | undefined)[] = [];
  #first = 0;
  #count = 0;

  get size(): number {
    return this.#byHash.size;
  }

  find(hash: number): SharedPromise | undefined {
    return this.#byHash.get(hash);
  }

  add(hash: number, dueMs: number, nowMs: number): void {
    this.#put(new SharedPromise(hash, dueMs, false), nowMs);
  }

  /** Notes that another receiver has admitted the retry of a promise, which this one may have given. */
  use(hash: number, nowMs: number): void {
    const known = this.#byHash.get(hash);
    if (known === undefined) this.#put(new SharedPromise(hash, nowMs, true), nowMs);
    else known.isUsed = true;
  }

  forget(hash: number): void {
    this.#byHash.delete(hash);
  }

  #put(promise: SharedPromise, nowMs: number): void {
    for (let looked = 0; looked < LOOKED_AT; looked += 1) {
      const oldest = this.#count === 0 ? undefined : this.#ring[this.#first];
      if (oldest === undefined) break;
      const isCurrent = this.#byHash.get(oldest.hash) === oldest;
      if (isCurrent && !oldest.isLapsed(nowMs) && this.#count < MAX_PROMISES) break;
      if (isCurrent) this.#byHash.delete(oldest.hash);
      this.#ring[this.#first] = undefined;
      this.#first = (this.#first + 1) % MAX_PROMISES;
      this.#count -= 1;
    }
    this.#ring[(this.#first + this.#count) % MAX_PROMISES] = promise;
    this.#count += 1;
    this.#byHash.set(promise.hash, promise);
  }
}
