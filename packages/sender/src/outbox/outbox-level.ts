import { fairPlaces } from './fair-share.ts';

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
  readonly #incomingByEndpoint = new Map<string, number>();
  #added = 0;
  #addedBytes = 0;

  constructor(limits: OutboxLimits) {
    this.#limits = limits;
  }

  /**
   * Whether an event of this size has room.
   *
   * @param held - the places that its endpoint has.
   * @param holders - endpoints that have events.
   */
  fits(bytes: number, held: number, holders: number): boolean {
    const { capacity, maxBytes } = this.#limits;
    const free = capacity - this.depth - this.#incoming;
    const freeBytes = maxBytes - this.bytes - this.#incomingBytes;
    if (free < 1 || freeBytes < bytes) return false;
    // A store does not count the bytes of an endpoint. The scarcer of both limits the number of its events.
    return fairPlaces(held, Math.min(free, (freeBytes / maxBytes) * capacity), capacity, holders) > 0;
  }

  /** Whether an event of any endpoint has room, however many it has. */
  get isOpen(): boolean {
    return this.fits(1, this.#limits.capacity, 0);
  }

  /** Events of an endpoint that are being stored. */
  incomingOf(endpoint: string): number {
    return this.#incomingByEndpoint.get(endpoint) ?? 0;
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
  begin(endpoint: string, bytes: number): void {
    this.#incoming += 1;
    this.#incomingBytes += bytes;
    this.#incomingByEndpoint.set(endpoint, this.incomingOf(endpoint) + 1);
  }

  /** An event has been stored, or was not. */
  end(endpoint: string, bytes: number, isStored: boolean): void {
    this.#incoming -= 1;
    this.#incomingBytes -= bytes;
    const incoming = this.incomingOf(endpoint) - 1;
    if (incoming > 0) this.#incomingByEndpoint.set(endpoint, incoming);
    else this.#incomingByEndpoint.delete(endpoint);
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
