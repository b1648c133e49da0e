import type { Awaitable } from '../delivery/stored-delivery.ts';
import type { ListedCompleted, ListedDelivery, ListedPending, StoredPage } from '../store/store-admin.ts';
import type { Answer } from './answer.ts';
import type { ToolStore } from './target.ts';
import { printable, quoted, table, time } from './text.ts';
import type { Request } from './usage.ts';

export async function dead(store: ToolStore, { key: only, limit }: Request): Promise<Answer> {
  const listed = await store.listShelved({ key: only, limit, offset: 0 });
  const rows = listed.map(({ id, key, reason, attempts, shelvedAtMs, error }) => [
    printable(id),
    printable(key),
    reason,
    String(attempts),
    time(shelvedAtMs),
    printable(error.split('\n')[0] ?? ''),
  ]);
  const { count: shelved } = await store.countShelved(null, { key: only });
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

export async function pending(store: ToolStore, { key, state, limit, after }: Request): Promise<Answer> {
  const nowMs = Date.now();
  const page = await wholePage(limit, after, (part) => store.listPending({ ...part, key, state, nowMs }));
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

export async function completed(store: ToolStore, { key, limit, after }: Request): Promise<Answer> {
  const page = await wholePage(limit, after, (part) => store.listCompleted({ ...part, key }));
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
async function wholePage<T>(
  limit: number,
  from: number,
  ask: (part: { readonly after: number; readonly limit: number }) => Awaitable<StoredPage<T>>,
): Promise<StoredPage<T>> {
  const found: T[] = [];
  let next: number | undefined = from;
  while (next !== undefined && found.length < limit) {
    const page: StoredPage<T> = await ask({ after: next, limit: limit - found.length });
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
