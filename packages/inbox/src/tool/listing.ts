import { needsScan } from '../admin/delivery-filter.ts';
import { completedList, deadLetterList } from '../admin/finished-list.ts';
import { decrypted, search } from '../admin/scan.ts';
import type { ListedCompleted, ListedDelivery, ListedPending, StoredPage } from '../store/store-admin.ts';
import type { ToolStore } from './target.ts';
import { age, bytes, keyless, printable, quoted, table, time, type Answer } from './text.ts';
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

export async function dead(store: ToolStore, request: Request): Promise<Answer> {
  const { key: only, filter, limit, after } = request;
  if (needsScan(filter) || after !== undefined) return foundDead(store, request);
  const listed = await store.listDeadLetters({ key: only, limit, offset: 0 });
  const { count: deadLetters } = await store.countDeadLetters(null, { key: only });
  const more = deadLetters - listed.length;
  const lines = [deadLetters === 0 ? `There are no dead letters${ofKey(only)}.` : deadTable(listed)];
  if (more > 0) lines.push(`and ${String(more)} more`);
  return { text: lines.join('\n'), data: { deadLetters, deliveries: listed.map(deadData) } };
}

async function foundDead(store: ToolStore, { filter, limit, after = 0 }: Request): Promise<Answer> {
  const { deliveries, next } = await search(deadLetterList(store, keyless), filter, { after, limit });
  const lines = [deliveries.length === 0 ? 'No dead letters match.' : deadTable(deliveries)];
  if (deliveries.length > 0 && next !== undefined) lines.push(`and maybe more: --after ${String(next)}`);
  return {
    text: lines.join('\n'),
    data: { deliveries: deliveries.map(deadData), next: next ?? null },
  };
}

/** Dead letters as a table. */
export function deadTable(listed: readonly ListedDelivery[]): string {
  const rows = listed.map(({ id, key, reason, attempts, deadAtMs, error }) => [
    printable(id),
    printable(key),
    reason,
    String(attempts),
    time(deadAtMs),
    printable(error.split('\n')[0] ?? ''),
  ]);
  return table(['ID', 'KEY', 'REASON', 'ATTEMPTS', 'DEAD SINCE', 'ERROR'], rows);
}

/** A dead letter, for `--json`. */
export function deadData(one: ListedDelivery): object {
  return { ...summary(one), reason: one.reason, error: one.error, deadAt: time(one.deadAtMs) };
}

export async function pending(
  store: ToolStore,
  { key, filter, state, limit, after = 0 }: Request,
): Promise<Answer> {
  const nowMs = Date.now();
  const page = await search(
    {
      page: (query) => store.listPending({ ...query, state, nowMs }),
      whole: (ref) => decrypted(store.getPending(ref, nowMs), keyless),
    },
    filter,
    { after, limit },
  );
  return listOf(page, {
    none: needsScan(filter)
      ? 'No pending deliveries match.'
      : `There are no pending deliveries${ofKey(key)}.`,
    head: ['STATE', 'ATTEMPTS', 'DUE AT', 'RECEIVED AT'],
    rowOf: (one) => [one.state, String(one.attempts), time(one.dueMs), time(one.receivedAtMs)],
    dataOf: (one) => ({ state: one.state, dueAt: time(one.dueMs) }),
  });
}

const COMPLETED_HEAD = ['ATTEMPTS', 'COMPLETED AT', 'RECEIVED AT'];
const completedRow = (one: ListedCompleted): readonly string[] => [
  String(one.attempts),
  time(one.completedAtMs),
  time(one.receivedAtMs),
];

export async function completed(
  store: ToolStore,
  { key, filter, limit, after = 0 }: Request,
): Promise<Answer> {
  const page = await search(completedList(store, keyless), filter, { after, limit });
  return listOf(page, {
    none: needsScan(filter)
      ? 'No completed deliveries match.'
      : `No completed deliveries are kept${ofKey(key)}.`,
    head: COMPLETED_HEAD,
    rowOf: completedRow,
    dataOf: (one) => ({ completedAt: time(one.completedAtMs) }),
  });
}

/** Completed deliveries as a table. */
export function completedTable(listed: readonly ListedCompleted[]): string {
  return table(
    ['ID', 'KEY', ...COMPLETED_HEAD],
    listed.map((one) => [printable(one.id), printable(one.key), ...completedRow(one)]),
  );
}

/** A completed delivery, for `--json`. */
export function completedData(one: ListedCompleted): object {
  return { ...summary(one), completedAt: time(one.completedAtMs) };
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

function ofKey(key: string | undefined): string {
  return key === undefined ? '' : ` with the key ${quoted(key)}`;
}

function summary(one: ListedDelivery | ListedPending | ListedCompleted): Record<string, unknown> {
  const { id, key, sender = null, attempts, receivedAtMs, bodyBytes } = one;
  return { id, key, sender, attempts, receivedAt: time(receivedAtMs), bodyBytes };
}
