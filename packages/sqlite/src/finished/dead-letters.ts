import type {
  ListedDelivery,
  MovedDelivery,
  DeadLetterFilter,
  StoredDeadLetter,
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
import { chosen, oldest, remove, DEAD_LETTERS, type Which } from './finished.ts';

type DeathRow = readonly [attempts: number, reason: 'dead' | 'overflow', error: string, deadAtMs: number];

const DEATH = 't.attempts, t.reason, t.error, t.shelved_ms';

export function listDeadLetters(
  connection: Connection,
  page: DeadLetterFilter & { readonly limit: number; readonly offset: number },
): readonly ListedDelivery[] {
  const columns = `${DEATH}, length(c.body), ${FACTS}`;
  const end = ['LIMIT ? OFFSET ?', [page.limit, page.offset]] as const;
  const rows = oldest(connection, DEAD_LETTERS, columns, null, page, end);
  return (rows as [...DeathRow, number, ...FactsRow][]).map(
    ([attempts, reason, error, deadAtMs, bodyBytes, ...facts]) => ({
      ...factsOf(facts),
      bodyBytes,
      ...deathOf([attempts, reason, error, deadAtMs]),
    }),
  );
}

export function getDeadLetter(
  connection: Connection,
  id: string,
  scope: DeadLetterFilter,
): StoredDeadLetter | undefined {
  const rows = oldest(connection, DEAD_LETTERS, `${DEATH}, ${CONTENTS}`, id, scope, ['LIMIT 1', []]);
  const [row] = rows as [...DeathRow, ...ContentsRow][];
  if (row === undefined) return undefined;
  const [attempts, reason, error, deadAtMs, ...contents] = row;
  return { ...deliveryOf(contents), ...deathOf([attempts, reason, error, deadAtMs]) };
}

export function purge(
  connection: Connection,
  id: string | null,
  which: Which & { readonly beforeMs?: number | undefined },
): readonly MovedDelivery[] {
  const { beforeMs = Infinity } = which;
  return counted(connection, (changes) =>
    chosen(connection, DEAD_LETTERS, id, which)
      .filter(([, , , , deadAtMs]) => deadAtMs < beforeMs)
      .map((row) => remove(connection, DEAD_LETTERS, row, changes)),
  );
}

function deathOf([attempts, reason, error, deadAtMs]: DeathRow): Omit<
  StoredDeadLetter,
  keyof StoredDelivery
> {
  return { attempts, reason, error: decodeText(error), deadAtMs };
}
