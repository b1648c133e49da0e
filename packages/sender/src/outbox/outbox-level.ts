/** The limits of an outbox. */
export interface OutboxLimits {
  readonly capacity: number;
  readonly maxBytes: number;
}

/** The events that this process has stored. */
interface OwnChanges {
  readonly added: number;
  readonly addedBytes: number;
}

/** Dead letters are put back up to this share of the capacity, so that `send` still has room. */
const LOW_WATER = 0.5;
/** The most events in transit to or from the store: a smaller difference proves nothing. */
const IN_TRANSIT = 512;

/** How full the outbox is. Events that are being stored count, so that concurrent calls do not use the same free place. */
export class OutboxLevel {
  /** Unfinished events. */
  depth = 0;
  bytes = 0;
  readonly #limits: OutboxLimits;
  #incoming = 0;
  #incomingBytes = 0;
  #added = 0;
  #addedBytes = 0;

  constructor(limits: OutboxLimits) {
    this.#limits = limits;
  }

  /** Whether an event of this size has room. */
  fits(bytes: number): boolean {
    const { capacity, maxBytes } = this.#limits;
    return this.depth + this.#incoming < capacity && this.bytes + this.#incomingBytes + bytes <= maxBytes;
  }

  /** How many dead letters may be put back: many up to half of the capacity, a single one while any event has room. */
  room(mark: 'low' | 'high'): { readonly count: number; readonly bytes: number } {
    const share = mark === 'low' ? LOW_WATER : 1;
    return {
      count: Math.floor(this.#limits.capacity * share) - this.depth - this.#incoming,
      bytes: Math.floor(this.#limits.maxBytes * share) - this.bytes - this.#incomingBytes,
    };
  }

  /** An event is being stored. */
  begin(bytes: number): void {
    this.#incoming += 1;
    this.#incomingBytes += bytes;
  }

  /** An event has been stored, or was not. */
  end(bytes: number, isStored: boolean): void {
    this.#incoming -= 1;
    this.#incomingBytes -= bytes;
    if (isStored) this.add({ bytes });
  }

  add({ bytes }: { readonly bytes: number }): void {
    this.depth += 1;
    this.bytes += bytes;
    this.#added += 1;
    this.#addedBytes += bytes;
  }

  /** An event is delivered, or a dead letter. */
  remove(bytes: number): void {
    this.depth = Math.max(0, this.depth - 1);
    this.bytes = Math.max(0, this.bytes - bytes);
  }

  /** Pass it to {@link adopt} with the counts of the store, which were read afterwards. */
  get ownChanges(): OwnChanges {
    return { added: this.#added, addedBytes: this.#addedBytes };
  }

  /**
   * Adopts the counts of the store. Events that this process has stored since the call began count on top, although the
   * counts may contain them: the level may be too high until the next reading, but not too low.
   *
   * @param isExact - nothing was in transit to or from the store.
   * @returns whether the counts prove that another process uses the store.
   */
  adopt(
    counts: { readonly depth: number; readonly bytes: number },
    before: OwnChanges,
    isExact = false,
  ): boolean {
    const depth = counts.depth + this.#added - before.added;
    const isShared = Math.abs(depth - this.depth) > (isExact ? 0 : IN_TRANSIT);
    this.depth = depth;
    this.bytes = counts.bytes + this.#addedBytes - before.addedBytes;
    return isShared;
  }
}
