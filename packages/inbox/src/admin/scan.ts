import type { Awaitable, StoredDelivery } from '../delivery/stored-delivery.ts';
import { nextTurn } from '../store-calls/next-turn.ts';
import type { PageQuery, StoredPage } from '../store/store-admin.ts';
import { type Candidate, type Comparison, type DeliveryFilter, matches } from './delivery-filter.ts';

/** How many deliveries are read at a time: some megabytes at most, because lists have no bodies. */
const SCANNED = 1000;
/** How many a search reads first: most of its first page, if many match. */
const FIRST_SCANNED = 50;

/** Decrypts a delivery; rejects if it cannot. */
export type Decrypt = (stored: StoredDelivery) => Awaitable<StoredDelivery>;

/** A list of a store that can be searched. */
export interface Searchable<T extends Candidate> extends Comparison<T> {
  readonly page: (query: PageQuery) => Awaitable<StoredPage<T>>;
}

/** The delivery with its body, decrypted. One that cannot be decrypted matches neither an event nor a text. */
export async function decrypted(
  found: Awaitable<StoredDelivery | undefined>,
  decrypt: Decrypt,
): Promise<StoredDelivery | undefined> {
  const stored = await found;
  if (stored?.sealedBy === undefined) return stored;
  try {
    return await decrypt(stored);
  } catch {
    return undefined;
  }
}

/** Deliveries of one page that match, with their positions in it. */
export interface Part<T> {
  readonly matched: readonly (readonly [one: T, at: number])[];
  readonly looked: number;
  readonly next: number | undefined;
}

/** Reads a page of a list, and compares its deliveries. */
export async function readPart<T extends Candidate>(
  list: Searchable<T>,
  filter: DeliveryFilter,
  after: number,
  limit: number = SCANNED,
): Promise<Part<T>> {
  const { deliveries, next } = await list.page({ key: filter.key, after, limit });
  const matched: (readonly [T, number])[] = [];
  // One after the other: bodies may be large.
  for (const [at, one] of deliveries.entries()) if (await matches(filter, one, list)) matched.push([one, at]);
  return { matched, looked: deliveries.length, next };
}

/** Searches a list until `limit` deliveries are found, the list ends, or `isStopped` says so. */
export async function search<T extends Candidate>(
  list: Searchable<T>,
  filter: DeliveryFilter,
  { after, limit }: Pick<PageQuery, 'after' | 'limit'>,
  isStopped: () => boolean = () => false,
): Promise<StoredPage<T>> {
  const found: T[] = [];
  let next: number | undefined = after;
  let size = Math.min(SCANNED, Math.max(FIRST_SCANNED, limit));
  while (next !== undefined && found.length < limit && !isStopped()) {
    const part: Part<T> = await readPart(list, filter, next, size);
    const spare = part.matched[limit - found.length];
    if (spare !== undefined) {
      // Read again up to the last that fits, because only the end of a page can be continued from.
      size = (part.matched[limit - found.length - 1]?.[1] ?? 0) + 1;
      continue;
    }
    found.push(...part.matched.map(([one]) => one));
    ({ next } = part);
    size = Math.min(SCANNED, 2 * size);
    await nextTurn();
  }
  return { deliveries: found, next };
}
