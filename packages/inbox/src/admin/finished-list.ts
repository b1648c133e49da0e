import type { FinishedKind } from '../capacity/finished-usage.ts';
import type { Awaitable, StoredDelivery } from '../delivery/stored-delivery.ts';
import type {
  Counted,
  DeadLetterFilter,
  ListedCompleted,
  ListedDelivery,
  StoreAdmin,
} from '../store/store-admin.ts';
import type { Candidate } from './delivery-filter.ts';
import { type Decrypt, decrypted, type Searchable } from './scan.ts';

/** The dead letters or the kept deliveries of a store. */
export interface FinishedList<T extends Candidate> extends Searchable<T> {
  readonly kind: FinishedKind;
  readonly count: (id: string | null, scope: DeadLetterFilter) => Awaitable<Counted>;
  readonly get: (
    id: string,
    scope: DeadLetterFilter,
  ) => Awaitable<(Omit<T, 'bodyBytes'> & StoredDelivery) | undefined>;
}

export function deadLetterList(
  store: Pick<StoreAdmin, 'scanDeadLetters' | 'getDeadLetter' | 'countDeadLetters'>,
  decrypt: Decrypt,
): FinishedList<ListedDelivery> {
  return {
    kind: 'deadLetters',
    page: (query) => store.scanDeadLetters(query),
    whole: ({ id, key }) => decrypted(store.getDeadLetter(id, { key }), decrypt),
    endedMs: ({ deadAtMs }) => deadAtMs,
    count: (id, scope) => store.countDeadLetters(id, scope),
    get: (id, scope) => store.getDeadLetter(id, scope),
  };
}

export function completedList(
  store: Pick<StoreAdmin, 'listCompleted' | 'getCompleted' | 'countCompleted'>,
  decrypt: Decrypt,
): FinishedList<ListedCompleted> {
  return {
    kind: 'kept',
    page: (query) => store.listCompleted(query),
    whole: ({ id, key }) => decrypted(store.getCompleted(id, { key }), decrypt),
    endedMs: ({ completedAtMs }) => completedAtMs,
    count: (id, scope) => store.countCompleted(id, scope),
    get: (id, scope) => store.getCompleted(id, scope),
  };
}
