import type { Awaitable } from '../delivery/stored-delivery.ts';
import type { ListedCompleted, ListedDelivery, ListedPending, StoredPage } from '../store/store-admin.ts';
import type { ToolStore } from './target.ts';
import { age, bytes, printable, quoted, table, time, type Answer } from './text.ts';
import type { Request } from './usage.ts';

/** How much is stored, what is paused, and which processes have the store open. */
export async function status(store: ToolStore): Promise<Answer> {
  const { oldestReceivedAtMs: oldest, isPaused, pausedKeys, ...counts } = await store.stats();
  const owners = await store.owners();
  const { depth, inFlight, deadLetters, deadLetterBytes, remembered, retained, retainedBytes } = counts;
  const { name, value } = store.place;
  return {
    text: table(
      [name, printable(value)],
      [
        ['unfinished', `${String(depth)} (${bytes(counts.bytes)})`],
        ['in flight', String(inFlight)],
        ['oldest', oldest === undefined ? '-' : `${age(Date.now() - oldest)} ago`],
        ['dead letters', `${String(deadLetters)} (${bytes(deadLetterBytes)})`],
        ['completed', `${String(retained)} (${bytes(retainedBytes)})`],
        ['ids remembered', String(remembered)],
        [
          'paused',
          isPaused ? 'everything' : pausedKeys.length === 0 ? '-' : `${String(pausedKeys.length)} keys`,
        ],
        ...owners.map(({ sinceMs, where, hasEnded }): [string, string] => [
          'open since',
          `${time(sinceMs)} ${printable(where)}${hasEnded ? ', which has ended' : ''}`,
        ]),
      ],
    ),
    data: {
      [name]: value,
      ...counts,
      isPaused,
      pausedKeys,
      oldestReceivedAt: oldest === undefined ? null : time(oldest),
      owners: owners.map(({ sinceMs, hasEnded, data }) => ({
        ...data,
        since: time(sinceMs),
        isAlive: !hasEnded,
      })),
    },
  };
}

export async function dead(store: ToolStore, { key: only, limit }: Request): Promise<Answer> {
  const listed = await store.listDeadLetters({ key: only, limit, offset: 0 });
  const rows = listed.map(({ id, key, reason, attempts, deadAtMs, error }) => [
    printable(id),
    printable(key),
    reason,
    String(attempts),
    time(deadAtMs),
    printable(error.split('\n')[0] ?? ''),
  ]);
  const { count: deadLetters } = await store.countDeadLetters(null, { key: only });
  const more = deadLetters - listed.length;
  const lines = [
    deadLetters === 0
      ? `There are no dead letters${ofKey(only)}.`
      : table(['ID', 'KEY', 'REASON', 'ATTEMPTS', 'DEAD SINCE', 'ERROR'], rows),
  ];
  if (more > 0) lines.push(`and ${String(more)} more`);
  const data = listed.map((one) => ({
    ...summary(one),
    reason: one.reason,
    error: one.error,
    deadAt: time(one.deadAtMs),
  }));
  return { text: lines.join('\n'), data: { deadLetters, deliveries: data } };
}

export async function pending(store: ToolStore, { key, state, limit, after }: Request): Promise<Answer> {
  const nowMs = Date.now();
  const page = await wholePage(limit, after, (part) => store.listPending({ ...part, key, state, nowMs }));
  return listOf(page, {
    none: `There are no pending deliveries${ofKey(key)}.`,
    head: ['STATE', 'ATTEMPTS', 'DUE AT', 'RECEIVED AT'],
    rowOf: (one) => [one.state, String(one.attempts), time(one.dueMs), time(one.receivedAtMs)],
    dataOf: (one) => ({ state: one.state, dueAt: time(one.dueMs) }),
  });
}

export async function completed(store: ToolStore, { key, limit, after }: Request): Promise<Answer> {
  const page = await wholePage(limit, after, (part) => store.listCompleted({ ...part, key }));
  return listOf(page, {
    none: `No completed deliveries are kept${ofKey(key)}.`,
    head: ['ATTEMPTS', 'COMPLETED AT', 'RECEIVED AT'],
    rowOf: (one) => [String(one.attempts), time(one.completedAtMs), time(one.receivedAtMs)],
    dataOf: (one) => ({ completedAt: time(one.completedAtMs) }),
  });
}

function listOf<T extends ListedPending | ListedCompleted>(
  { deliveries, next }: StoredPage<T>,
  {
    none,
    head,
    rowOf,
    dataOf,
  }: {
    readonly none: string;
    readonly head: readonly string[];
    readonly rowOf: (one: T) => readonly string[];
    readonly dataOf: (one: T) => object;
  },
): Answer {
  const rows = deliveries.map((one) => [printable(one.id), printable(one.key), ...rowOf(one)]);
  const lines = [rows.length === 0 ? none : table(['ID', 'KEY', ...head], rows)];
  if (rows.length > 0 && next !== undefined) lines.push(`and more: --after ${String(next)}`);
  return {
    text: lines.join('\n'),
    data: { deliveries: deliveries.map((one) => ({ ...summary(one), ...dataOf(one) })), next: next ?? null },
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

function ofKey(key: string | undefined): string {
  return key === undefined ? '' : ` with the key ${quoted(key)}`;
}

function summary(one: ListedDelivery | ListedPending | ListedCompleted): Record<string, unknown> {
  const { id, key, sender = null, attempts, receivedAtMs, bodyBytes } = one;
  return { id, key, sender, attempts, receivedAt: time(receivedAtMs), bodyBytes };
}
