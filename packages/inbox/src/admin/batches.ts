import { storedBytes } from '../delivery/stored-bytes.ts';
import { nextTurn } from '../store-calls/next-turn.ts';
import type { Awaitable } from '../delivery/stored-delivery.ts';
import type { DeadLetterFilter, MovedDelivery, Portion } from '../store/store-admin.ts';
import { type Candidate, type DeliveryFilter, needsScan } from './delivery-filter.ts';
import type { FinishedList } from './finished-list.ts';
import { type Part, readPart, search } from './scan.ts';

/** Which deliveries of a list: those of an id, or all that match. */
export interface Choice {
  /** Null: any. */
  readonly id: string | null;
  /** With an id, only its key. */
  readonly filter: DeliveryFilter;
}

/** A call of the store that moves or deletes the first deliveries of an id, or of any with null. */
export type MoveCall = (
  id: string | null,
  which: DeadLetterFilter & Portion & { readonly upTo: number },
) => Awaitable<readonly MovedDelivery[]>;

/** Moves chosen deliveries in batches. Deliveries that join the list later are not moved. */
export interface Batches {
  /** Deliveries of the list at the time of the call: of the id or key, if one is given. */
  readonly total: number;
  /** Of those, how many were compared with the filter; without one, were moved. */
  readonly looked: number;
  /** How many are left to move, at most. */
  readonly remaining: number;
  readonly isDone: boolean;
  /** Moves a batch. Empty if there was none to move among the deliveries that were looked at. */
  next(portion: Portion): Promise<readonly MovedDelivery[]>;
}

export async function batchesOf<T extends Candidate>(
  list: FinishedList<T>,
  { id, filter }: Choice,
  move: MoveCall,
): Promise<Batches> {
  const { key } = filter;
  const scope = key === undefined ? {} : { key };
  const { count, upTo } = await list.count(id, scope);
  return needsScan(filter)
    ? new FoundBatches(list, filter, count, upTo, move)
    : new FirstBatches(count, (portion) => move(id, { ...scope, ...portion, upTo }));
}

/** Moves the first deliveries of a list, of one id or all. */
class FirstBatches implements Batches {
  readonly total: number;
  readonly #move: (portion: Portion) => Awaitable<readonly MovedDelivery[]>;
  #moved = 0;
  #isDone = false;

  constructor(total: number, move: (portion: Portion) => Awaitable<readonly MovedDelivery[]>) {
    this.total = total;
    this.#move = move;
  }

  get looked(): number {
    return this.#moved;
  }

  get remaining(): number {
    return Math.max(0, this.total - this.#moved);
  }

  get isDone(): boolean {
    return this.#isDone || this.#moved >= this.total;
  }

  async next({ limit, maxBytes }: Portion): Promise<readonly MovedDelivery[]> {
    const moved = await this.#move({ limit: Math.min(limit, this.remaining), maxBytes });
    this.#moved += moved.length;
    // Another process has moved the rest.
    this.#isDone = moved.length === 0;
    return moved;
  }
}

/**
 * Searches a list page by page, and moves what it finds by id and key. A delivery that another call has moved meanwhile is
 * not moved again, also if it has joined the list again since.
 */
class FoundBatches<T extends Candidate> implements Batches {
  readonly total: number;
  readonly #list: FinishedList<T>;
  readonly #filter: DeliveryFilter;
  readonly #upTo: number;
  readonly #move: MoveCall;
  #looked = 0;
  #found: readonly T[] = [];
  #next: number | undefined = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(list: FinishedList<T>, filter: DeliveryFilter, total: number, upTo: number, move: MoveCall) {
    this.total = total;
    this.#list = list;
    this.#filter = filter;
    this.#upTo = upTo;
    this.#move = move;
  }

  get looked(): number {
    return this.#looked;
  }

  get remaining(): number {
    return this.#found.length + Math.max(0, this.total - this.#looked);
  }

  get isDone(): boolean {
    return this.#next === undefined && this.#found.length === 0 && this.#failure === undefined;
  }

  async next({ limit, maxBytes }: Portion): Promise<readonly MovedDelivery[]> {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#found.length === 0) {
      await this.#search();
      return [];
    }
    let bytes = 0;
    const end = this.#found.findIndex((one, at) => {
      bytes += storedBytes({ ...one, rawBody: { byteLength: one.bodyBytes } });
      return at >= limit || (at > 0 && bytes > maxBytes);
    });
    const batch = end < 0 ? this.#found : this.#found.slice(0, end);
    this.#found = this.#found.slice(batch.length);
    return await this.#moveAll(batch);
  }

  async #search(): Promise<void> {
    if (this.#next === undefined) return;
    const { matched, looked, next } = await readPart(this.#list, this.#filter, this.#next);
    this.#looked += looked;
    this.#found = matched.map(([one]) => one);
    this.#next = next;
  }

  async #moveAll(batch: readonly T[]): Promise<readonly MovedDelivery[]> {
    const portion = { limit: 1, maxBytes: Infinity, upTo: this.#upTo };
    const ended = await Promise.allSettled(
      batch.map(async ({ id, key }) => await this.#move(id, { ...portion, key })),
    );
    const moved = ended.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const failed = ended.find((one) => one.status === 'rejected');
    if (failed !== undefined) {
      if (moved.length === 0) throw failed.reason;
      // The next call reports it: those that were moved must be counted.
      this.#failure = { error: failed.reason };
    }
    return moved;
  }
}

/** How many deliveries a dry run names. */
const NAMED = 10;

/** What a call would move. */
export interface Tried<T> {
  readonly count: number;
  readonly first: readonly T[];
}

/** Finds what {@link batchesOf} would move, and moves nothing. Stops early when `isStopped` says so. */
export async function tryOut<T extends Candidate>(
  list: FinishedList<T>,
  { id, filter }: Choice,
  isStopped: () => boolean,
): Promise<Tried<T>> {
  const { key } = filter;
  const scope = key === undefined ? {} : { key };
  if (id !== null) {
    const found = await list.get(id, scope);
    const { count } = await list.count(id, scope);
    if (found === undefined) return { count, first: [] };
    const { rawBody, ...rest } = found;
    return { count, first: [{ ...rest, bodyBytes: rawBody.byteLength } as unknown as T] };
  }
  if (!needsScan(filter)) {
    const { count } = await list.count(null, scope);
    return { count, first: (await search(list, filter, { after: 0, limit: NAMED })).deliveries };
  }
  const first: T[] = [];
  let count = 0;
  let next: number | undefined = 0;
  while (next !== undefined && !isStopped()) {
    const part: Part<T> = await readPart(list, filter, next);
    first.push(...part.matched.slice(0, NAMED - first.length).map(([one]) => one));
    count += part.matched.length;
    ({ next } = part);
    await nextTurn();
  }
  return { count, first };
}
