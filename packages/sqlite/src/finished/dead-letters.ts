import { decodeText, encodeText } from '@webhook-backpressure/inbox/store';
import type {
  ListedDelivery,
  MovedDelivery,
  PageQuery,
  DeadLetterFilter,
  StoredDeadLetter,
  StoredDelivery,
  StoredPage,
} from '@webhook-backpressure/inbox';
import type { Connection } from '../connection/connection.ts';
import {
  CONTENTS,
  deliveryOf,
  FACTS,
  factsOf,
  pageOf,
  PART_ROWS,
  type ContentsRow,
  type FactsRow,
} from '../tables/contents.ts';
import { counted } from '../tables/totals.ts';
import { chosen, oldest, remove, DEAD_LETTERS, type Which } from './finished.ts';

type DeathRow = readonly [attempts: number, reason: 'dead' | 'overflow', error: string, deadAtMs: number];

const DEATH = 't.attempts, t.reason, t.error, t.shelved_ms';
const PART = `SELECT seq FROM shelf WHERE seq > ?1 ORDER BY seq LIMIT ${String(PART_ROWS)}`;

export function listDeadLetters(
  connection: Connection,
  page: DeadLetterFilter & { readonly limit: number; readonly offset: number },
): readonly ListedDelivery[] {
  const columns = `${DEATH}, length(c.body), ${FACTS}`;
  const end = ['LIMIT ? OFFSET ?', [page.limit, page.offset]] as const;
  const rows = oldest(connection, DEAD_LETTERS, columns, null, page, end);
  return (rows as [...DeathRow, number, ...FactsRow][]).map(listedOf);
}

export function scanDeadLetters(
  connection: Connection,
  { key, after, limit }: PageQuery,
): StoredPage<ListedDelivery> {
  const rows = connection.all(
    `SELECT t.seq, ${DEATH}, length(c.body), ${FACTS} FROM shelf t CROSS JOIN contents c ON c.seq = t.seq
    WHERE t.seq > ?1 AND t.seq <= (SELECT max(seq) FROM (${PART})) AND (?2 IS NULL OR t.key = ?2)
    ORDER BY t.seq LIMIT ?3`,
    [after, key === undefined ? null : encodeText(key), limit + 1],
  ) as [number, ...DeathRow, number, ...FactsRow][];
  const scanned = connection.get(`SELECT count(*), max(seq) FROM (${PART})`, [after]);
  return pageOf(rows, limit, scanned as [number, number | null], ([, ...row]) => listedOf(row));
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

function listedOf([attempts, reason, error, deadAtMs, bodyBytes, ...facts]: [
  ...DeathRow,
  number,
  ...FactsRow,
]): ListedDelivery {
  return { ...factsOf(facts), bodyBytes, ...deathOf([attempts, reason, error, deadAtMs]) };
}

function deathOf([attempts, reason, error, deadAtMs]: DeathRow): Omit<
  StoredDeadLetter,
  keyof StoredDelivery
> {
  return { attempts, reason, error: decodeText(error), deadAtMs };
}
