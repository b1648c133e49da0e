import type { ListedCompleted, ListedDelivery, ListedPending, StoredPage } from '@webhook-backpressure/core';
import { isAlive } from '../file/owner-lock.ts';
import type { Answer, Inside } from './inside.ts';
import { quoted } from './sentences.ts';
import { age, bytes, printable, table, time } from './text.ts';
import type { Request } from './usage.ts';

type OwnerRow = readonly [id: number, pid: number, host: string, sinceMs: number];

export function status({ connection, totals, pauses }: Inside): Answer {
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
    ['on the shelf', `${String(shelved)} (${bytes(shelvedBytes)})`],
    ['completed, kept', `${String(kept)} (${bytes(keptBytes)})`],
    ['ids remembered', String(remembered)],
    ['paused', isPaused ? 'everything' : pausedKeys.length === 0 ? '-' : `${String(pausedKeys.length)} keys`],
    ...owners.map(({ pid, host, since, isAlive: lives }): [string, string] => [
      'open since',
      `${since} in process ${String(pid)} on ${host}${lives ? '' : ', which has died'}`,
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

export function dead({ shelf }: Inside, { key: only, limit }: Request): Answer {
  const listed = shelf.list({ key: only }, limit, 0);
  const rows = listed.map(({ id, key, reason, attempts, shelvedAtMs, error }) => [
    printable(id),
    printable(key),
    reason,
    String(attempts),
    time(shelvedAtMs),
    printable(error.split('\n')[0] ?? ''),
  ]);
  const { count: shelved } = shelf.count(null, { key: only });
  const more = shelved - listed.length;
  const lines = [
    shelved === 0
      ? `The shelf is empty${ofKey(only)}.`
      : table(['ID', 'KEY', 'REASON', 'ATTEMPTS', 'SHELVED AT', 'ERROR'], rows),
  ];
  if (more > 0) lines.push(`and ${String(more)} more`);
  const data = listed.map((one) => ({
    ...summary(one),
    ...{ reason: one.reason, error: one.error, shelvedAt: time(one.shelvedAtMs) },
  }));
  return { text: lines.join('\n'), data: { shelved, deliveries: data } };
}

export function pending(inside: Inside, { key, state, limit, after }: Request): Answer {
  const nowMs = Date.now();
  const page = wholePage(limit, after, (part) => inside.pending.list({ ...part, key, state, nowMs }));
  const rows = page.deliveries.map((one) => [
    ...[printable(one.id), printable(one.key), one.state, String(one.attempts)],
    ...[time(one.dueMs), time(one.receivedAtMs)],
  ]);
  return {
    text:
      rows.length === 0
        ? `Nothing is pending${ofKey(key)}.`
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

export function completed(inside: Inside, { key, limit, after }: Request): Answer {
  const page = wholePage(limit, after, (part) => inside.kept.list({ ...part, key }));
  const rows = page.deliveries.map((one) => [
    ...[printable(one.id), printable(one.key), String(one.attempts)],
    ...[time(one.completedAtMs), time(one.receivedAtMs)],
  ]);
  return {
    text:
      rows.length === 0
        ? `No completed delivery is kept${ofKey(key)}.`
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

/** A call looks at a bounded number of deliveries; nobody else waits here. */
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
  return key === undefined ? '' : ` for the key ${quoted(key)}`;
}

function summary(one: ListedDelivery | ListedPending | ListedCompleted): Record<string, unknown> {
  const { id, key, sender = null, attempts, receivedAtMs, bodyBytes } = one;
  return { id, key, sender, attempts, receivedAt: time(receivedAtMs), bodyBytes };
}
