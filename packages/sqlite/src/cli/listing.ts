import type { ListedCompleted, ListedDelivery, ListedPending, StoredPage } from '@webhook-backpressure/core';
import { isAlive } from '../file/owner-lock.ts';
import type { Answer } from './answer.ts';
import type { Tables } from './tables.ts';
import { age, bytes, printable, quoted, table, time } from './text.ts';
import type { Request } from './usage.ts';

type OwnerRow = readonly [id: number, pid: number, host: string, sinceMs: number];

export function status({ connection, totals, pauses }: Tables): Answer {
  const stats = totals.stats();
  const { isPaused, pausedKeys } = pauses.stats();
  const rows = connection.prepare('SELECT id, pid, host, since_ms FROM owners').all([]) as OwnerRow[];
  const owners = rows.map(([id, pid, host, sinceMs]) => ({
    pid,
    host,
    since: time(sinceMs),
    isAlive: isAlive(connection.location, id),
  }));
  const { oldestReceivedAtMs: oldest, ...counts } = stats;
  const { depth, inFlight, shelved, shelvedBytes, remembered, kept, keptBytes } = counts;
  const lines: [string, string][] = [
    ['unfinished', `${String(depth)} (${bytes(stats.bytes)})`],
    ['in flight', String(inFlight)],
    ['oldest', oldest === undefined ? '-' : `${age(Date.now() - oldest)} ago`],
    ['dead letters', `${String(shelved)} (${bytes(shelvedBytes)})`],
    ['completed', `${String(kept)} (${bytes(keptBytes)})`],
    ['ids remembered', String(remembered)],
    ['paused', isPaused ? 'everything' : pausedKeys.length === 0 ? '-' : `${String(pausedKeys.length)} keys`],
    ...owners.map(({ pid, host, since, isAlive: lives }): [string, string] => [
      'open since',
      `${since} in process ${String(pid)} on ${host}${lives ? '' : ', which has ended'}`,
    ]),
  ];
  const [head, ...rest] = [['file', printable(connection.path)], ...lines] as [
    [string, string],
    ...[string, string][],
  ];
  return {
    text: table(head, rest),
    data: {
      file: connection.path,
      ...counts,
      ...{ isPaused, pausedKeys },
      oldestReceivedAt: oldest === undefined ? null : time(oldest),
      owners,
    },
  };
}

export function dead({ deadLetters }: Tables, { key: only, limit }: Request): Answer {
  const listed = deadLetters.list({ key: only }, limit, 0);
  const rows = listed.map(({ id, key, reason, attempts, shelvedAtMs, error }) => [
    printable(id),
    printable(key),
    reason,
    String(attempts),
    time(shelvedAtMs),
    printable(error.split('\n')[0] ?? ''),
  ]);
  const { count: shelved } = deadLetters.count(null, { key: only });
  const more = shelved - listed.length;
  const lines = [
    shelved === 0
      ? `There are no dead letters${ofKey(only)}.`
      : table(['ID', 'KEY', 'REASON', 'ATTEMPTS', 'DEAD SINCE', 'ERROR'], rows),
  ];
  if (more > 0) lines.push(`and ${String(more)} more`);
  const data = listed.map((one) => ({
    ...summary(one),
    ...{ reason: one.reason, error: one.error, shelvedAt: time(one.shelvedAtMs) },
  }));
  return { text: lines.join('\n'), data: { shelved, deliveries: data } };
}

export function pending(tables: Tables, { key, state, limit, after }: Request): Answer {
  const nowMs = Date.now();
  const page = wholePage(limit, after, (part) => tables.pending.list({ ...part, key, state, nowMs }));
  const rows = page.deliveries.map((one) => [
    ...[printable(one.id), printable(one.key), one.state, String(one.attempts)],
    ...[time(one.dueMs), time(one.receivedAtMs)],
  ]);
  return {
    text:
      rows.length === 0
        ? `There are no pending deliveries${ofKey(key)}.`
        : [table(['ID', 'KEY', 'STATE', 'ATTEMPTS', 'DUE AT', 'RECEIVED AT'], rows), ...moreOf(page)].join(
            '\n',
          ),
    data: {
      deliveries: page.deliveries.map((one) => ({
        ...summary(one),
        ...{ state: one.state, dueAt: time(one.dueMs) },
      })),
      next: page.next ?? null,
    },
  };
}

export function completed(tables: Tables, { key, limit, after }: Request): Answer {
  const page = wholePage(limit, after, (part) => tables.completed.list({ ...part, key }));
  const rows = page.deliveries.map((one) => [
    ...[printable(one.id), printable(one.key), String(one.attempts)],
    ...[time(one.completedAtMs), time(one.receivedAtMs)],
  ]);
  return {
    text:
      rows.length === 0
        ? `No completed deliveries are kept${ofKey(key)}.`
        : [table(['ID', 'KEY', 'ATTEMPTS', 'COMPLETED AT', 'RECEIVED AT'], rows), ...moreOf(page)].join('\n'),
    data: {
      deliveries: page.deliveries.map((one) => ({
        ...summary(one),
        completedAt: time(one.completedAtMs),
      })),
      next: page.next ?? null,
    },
  };
}

/** Reads as many pages as a list needs: each call scans a bounded number of deliveries. */
function wholePage<T>(
  limit: number,
  from: number,
  ask: (part: { readonly after: number; readonly limit: number }) => StoredPage<T>,
): StoredPage<T> {
  const found: T[] = [];
  let next: number | undefined = from;
  while (next !== undefined && found.length < limit) {
    const page: StoredPage<T> = ask({ after: next, limit: limit - found.length });
    found.push(...page.deliveries);
    ({ next } = page);
  }
  return { deliveries: found, next };
}

function moreOf({ next }: StoredPage<unknown>): string[] {
  return next === undefined ? [] : [`and more: --after ${String(next)}`];
}

function ofKey(key: string | undefined): string {
  return key === undefined ? '' : ` with the key ${quoted(key)}`;
}

function summary(one: ListedDelivery | ListedPending | ListedCompleted): Record<string, unknown> {
  const { id, key, sender = null, attempts, receivedAtMs, bodyBytes } = one;
  return { id, key, sender, attempts, receivedAt: time(receivedAtMs), bodyBytes };
}
