import type {
  ListedDelivery,
  MovedDelivery,
  ShelfScope,
  ShelvedDelivery,
  StoredDelivery,
} from '@webhook-backpressure/inbox';
import type { Connection } from '../connection/connection.ts';
import {
  CONTENTS,
  decodeText,
  deliveryOf,
  FACTS,
  factsOf,
  type ContentsRow,
  type FactsRow,
} from '../tables/contents.ts';
import { counted } from '../tables/totals.ts';
import { chosen, oldest, remove, SHELF, type Which } from './finished.ts';

type ShelvingRow = readonly [
  attempts: number,
  reason: 'dead' | 'overflow',
  error: string,
  shelvedAtMs: number,
];

const SHELVING = 't.attempts, t.reason, t.error, t.shelved_ms';

export function listShelved(
  connection: Connection,
  page: ShelfScope & { readonly limit: number; readonly offset: number },
): readonly ListedDelivery[] {
  const columns = `${SHELVING}, length(c.body), ${FACTS}`;
  const end = ['LIMIT ? OFFSET ?', [page.limit, page.offset]] as const;
  const rows = oldest(connection, SHELF, columns, null, page, end);
  return (rows as [...ShelvingRow, number, ...FactsRow][]).map(
    ([attempts, reason, error, shelvedAtMs, bodyBytes, ...facts]) => ({
      ...factsOf(facts),
      bodyBytes,
      ...shelvingOf([attempts, reason, error, shelvedAtMs]),
    }),
  );
}

export function getShelved(
  connection: Connection,
  id: string,
  scope: ShelfScope,
): ShelvedDelivery | undefined {
  const rows = oldest(connection, SHELF, `${SHELVING}, ${CONTENTS}`, id, scope, ['LIMIT 1', []]);
  const [row] = rows as [...ShelvingRow, ...ContentsRow][];
  if (row === undefined) return undefined;
  const [attempts, reason, error, shelvedAtMs, ...contents] = row;
  return { ...deliveryOf(contents), ...shelvingOf([attempts, reason, error, shelvedAtMs]) };
}

export function purge(
  connection: Connection,
  id: string | null,
  which: Which & { readonly beforeMs?: number | undefined },
): readonly MovedDelivery[] {
  const { beforeMs = Infinity } = which;
  return counted(connection, (changes) =>
    chosen(connection, SHELF, id, which)
      .filter(([, , , , shelvedAtMs]) => shelvedAtMs < beforeMs)
      .map((row) => remove(connection, SHELF, row, changes)),
  );
}

function shelvingOf([attempts, reason, error, shelvedAtMs]: ShelvingRow): Omit<
  ShelvedDelivery,
  keyof StoredDelivery
> {
  return { attempts, reason, error: decodeText(error), shelvedAtMs };
}
