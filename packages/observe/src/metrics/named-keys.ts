import type { Attributes } from './metric.ts';

/** The value of `key`, `sender` and `endpoint` above the limit. */
const OTHER = 'other';
/** The value of `sender` for deliveries whose sender was not recognized. */
const UNKNOWN_SENDER = 'unknown';

/** What is kept for one combination of key and sender. */
export interface Named<T> {
  readonly key: string;
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
  readonly #labels: readonly [key: string, sender?: string];
  readonly #create: () => T;
  readonly #bySender = new Map<string, Map<string | undefined, Named<T>>>();
  readonly #named: Named<T>[] = [];

  /**
   * @param limit - with 0, all share one value, whose attributes are `base`.
   * @param base - the attributes that all have.
   * @param labels - the names of the attributes. Without that of the sender, it is not used.
   */
  constructor(
    limit: number,
    base: Attributes,
    labels: readonly [key: string, sender?: string],
    create: () => T,
  ) {
    this.#limit = limit;
    this.#base = base;
    this.#labels = labels;
    this.#create = create;
    const attributes = limit === 0 ? base : this.#attributesOf(OTHER, OTHER);
    this.other = { key: OTHER, attributes: Object.freeze(attributes), value: create() };
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
    const attributes = this.#attributesOf(key, sender ?? UNKNOWN_SENDER);
    const named = { key, attributes: Object.freeze(attributes), value: this.#create() };
    this.#named.push(named);
    const senders = this.#bySender.get(key);
    if (senders === undefined) this.#bySender.set(key, new Map([[sender, named]]));
    else senders.set(sender, named);
    return named;
  }

  #attributesOf(key: string, sender: string): Attributes {
    const [keyLabel, senderLabel] = this.#labels;
    const attributes = { ...this.#base, [keyLabel]: key };
    return senderLabel === undefined ? attributes : { ...attributes, [senderLabel]: sender };
  }
}
