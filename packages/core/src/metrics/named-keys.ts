import type { Attributes } from './metric.ts';

/** The value of `key` and `sender` for combinations above the limit. */
const OTHER = 'other';
/** The value of `sender` for deliveries whose sender was not recognized. */
const UNKNOWN_SENDER = 'unknown';

/** What is kept for one combination of key and sender. */
export interface Named<T> {
  readonly attributes: Attributes;
  readonly value: T;
}

/**
 * Keeps a value for each of the first combinations of key and sender, up to `limit`, and one for all others. Keys can come
 * from requests, so their number is bounded, and a place is never given to another key.
 */
export class NamedKeys<T> {
  readonly other: Named<T>;
  readonly #limit: number;
  readonly #base: Attributes;
  readonly #create: () => T;
  readonly #bySender = new Map<string, Map<string | undefined, Named<T>>>();
  readonly #named: Named<T>[] = [];

  /**
   * @param limit - with 0, all share one value, whose attributes are `base`.
   * @param base - the attributes that all have.
   */
  constructor(limit: number, base: Attributes, create: () => T) {
    this.#limit = limit;
    this.#base = base;
    this.#create = create;
    const attributes = limit === 0 ? base : { ...base, key: OTHER, sender: OTHER };
    this.other = { attributes: Object.freeze(attributes), value: create() };
  }

  /** The first ones, in the order of their arrival. */
  get named(): readonly Named<T>[] {
    return this.#named;
  }

  of(key: string, sender: string | undefined): Named<T> {
    if (this.#limit === 0) return this.other;
    const known = this.#bySender.get(key)?.get(sender);
    if (known !== undefined) return known;
    if (this.#named.length >= this.#limit || key === OTHER) return this.other;
    const attributes = { ...this.#base, key, sender: sender ?? UNKNOWN_SENDER };
    const named = { attributes: Object.freeze(attributes), value: this.#create() };
    this.#named.push(named);
    const senders = this.#bySender.get(key);
    if (senders === undefined) this.#bySender.set(key, new Map([[sender, named]]));
    else senders.set(sender, named);
    return named;
  }
}
