import type { InboxDelivery } from '../delivery/inbox-delivery.ts';
import { pathOf } from '../delivery/request-facts.ts';
import type { Awaitable, StoredDelivery } from '../delivery/stored-delivery.ts';
import { nextTurn } from '../store-calls/next-turn.ts';
import type { PageQuery, StoredPage, WithoutBody } from '../store/store-admin.ts';

/**
 * A delivery in a list, without its body. If it is encrypted, `encryptedBy` is the id of its key, and `method`, `url`,
 * `path`, `params`, `context` and `headers` are empty; `get` returns them.
 */
export type Listed<T> = Omit<T, 'rawBody' | 'text' | 'json'> & {
  /** The size of the body; of an encrypted delivery, of all that is encrypted. */
  readonly bodyBytes: number;
  readonly encryptedBy: string | undefined;
};

/** A page of a list. */
export interface Page<T> {
  /** The deliveries of this page. */
  readonly deliveries: readonly T[];
  /** The `after` of the next page; undefined on the last one. */
  readonly next: number | undefined;
}

/** A stored delivery as lists show it. */
export function listed(stored: Omit<StoredDelivery, 'rawBody'> & WithoutBody): Listed<InboxDelivery> {
  const { id, key, sender, request, context, headers, receivedAtMs, bodyBytes, sealedBy } = stored;
  const { method, url, params } = request;
  return {
    ...{ id, key, sender, method, url, path: pathOf(url), params, context, headers },
    ...{ receivedAt: new Date(receivedAtMs), bodyBytes, encryptedBy: sealedBy },
  };
}

/** Asks until the page is full or the list ends: one call of the store reads a bounded number of deliveries. */
export async function fullPage<T, R>(
  { key, limit, after }: PageQuery,
  ask: (query: PageQuery) => Awaitable<StoredPage<T>>,
  map: (one: T) => R,
): Promise<Page<R>> {
  const deliveries: R[] = [];
  let next: number | undefined = after;
  while (next !== undefined && deliveries.length < limit) {
    const page: StoredPage<T> = await ask({ key, limit: limit - deliveries.length, after: next });
    deliveries.push(...page.deliveries.map(map));
    ({ next } = page);
    if (next !== undefined && deliveries.length < limit) await nextTurn();
  }
  return { deliveries, next };
}
