import type { ListedDelivery, ShelvedDelivery } from '@webhook-backpressure/core';
import type { Connection } from '../connection.ts';
import { isAlive } from '../owner-lock.ts';
import type { Shelf } from '../shelf.ts';
import type { Totals } from '../totals.ts';
import { age, bytes, printable, printableLines, table, time } from './text.ts';
import type { Request } from './usage.ts';

/** The file, as the commands see it. */
export interface Inside {
  readonly connection: Connection;
  readonly totals: Totals;
  readonly shelf: Shelf;
}

/** What a command says, to people and to programs; or, in a sentence, why it could not. */
export type Answer =
  { readonly problem: string } | { readonly problem?: never; readonly text: string; readonly data: unknown };

type OwnerRow = readonly [id: number, pid: number, host: string, sinceMs: number];

/** So many in one commit: the receiver waits meanwhile. */
const AT_ONCE = 500;

export function status({ connection, totals }: Inside): Answer {
  const stats = totals.stats();
  const rows = connection.prepare('SELECT id, pid, host, since_ms FROM owners').all([]) as OwnerRow[];
  const owners = rows.map(([id, pid, host, sinceMs]) => ({
    pid,
    host,
    since: time(sinceMs),
    isAlive: isAlive(connection.location, id),
  }));
  const { oldestReceivedAtMs: oldest, ...counts } = stats;
  const { depth, inFlight, shelved, shelvedBytes, remembered } = counts;
  const lines: [string, string][] = [
    ['unfinished', `${String(depth)} (${bytes(stats.bytes)})`],
    ['in flight', String(inFlight)],
    ['oldest', oldest === undefined ? '-' : `${age(Date.now() - oldest)} ago`],
    ['on the shelf', `${String(shelved)} (${bytes(shelvedBytes)})`],
    ['ids remembered', String(remembered)],
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
      oldestReceivedAt: oldest === undefined ? null : time(oldest),
      owners,
    },
  };
}

export function dead({ shelf, totals }: Inside, { key: only, limit }: Request): Answer {
  const listed = shelf.list({ key: only }, limit, 0);
  const rows = listed.map(({ id, key, reason, attempts, shelvedAtMs, error }) => [
    printable(id),
    printable(key),
    reason,
    String(attempts),
    time(shelvedAtMs),
    printable(error.split('\n')[0] ?? ''),
  ]);
  const shelved = only === undefined ? totals.read().shelved : shelf.count(only);
  const more = shelved - listed.length;
  const lines = [
    shelved === 0
      ? `The shelf is empty${only === undefined ? '' : ` for the key ${quoted(only)}`}.`
      : table(['ID', 'KEY', 'REASON', 'ATTEMPTS', 'SHELVED AT', 'ERROR'], rows),
  ];
  if (more > 0) lines.push(`and ${String(more)} more`);
  return { text: lines.join('\n'), data: { shelved, deliveries: listed.map(summary) } };
}

export function show({ shelf }: Inside, { id, key: only }: Request): Answer {
  const found = shelf.get(id ?? '', { key: only });
  if (found === undefined) return notThere(id ?? '', only);
  const body = bodyOf(found);
  const bodyBytes = found.rawBody.byteLength;
  const { key, sender, request, context, sealedBy, reason, attempts, error } = found;
  const { method, url, params } = request;
  const facing = { method, url, params, context, encryptedBy: sealedBy ?? null };
  const data = { ...summary({ ...found, bodyBytes }), ...facing, headers: found.headers, ...body };
  const facts = [
    ['key', printable(key)],
    ['sender', printable(sender ?? '-')],
    ['received at', data.receivedAt],
    ['shelved at', data.shelvedAt],
    ['reason', reason],
    ['attempts', String(attempts)],
    ['request', printable(`${method} ${url}`.trim() || '-')],
    ...(Object.keys(params).length === 0 ? [] : [['params', printable(JSON.stringify(params))]]),
    ...(context === null ? [] : [['context', printable(JSON.stringify(context))]]),
    ...(sealedBy === undefined ? [] : [['encrypted with', printable(sealedBy)]]),
  ];
  const headers = Object.entries(found.headers).map(
    ([name, value]) => `${printable(name)}: ${printable(value)}`,
  );
  return {
    text: [
      table(['id', printable(found.id)], facts),
      ...(error === '' ? [] : ['', printableLines(error)]),
      '',
      ...headers,
      '',
      printableLines(body.body),
    ].join('\n'),
    data,
  };
}

export function redrive({ shelf, totals }: Inside, { id, key }: Request): Answer {
  const nowMs = Date.now();
  const count = inParts(totals, (limit) => shelf.redrive(id, { key }, limit, nowMs).length);
  if (id !== null && count === 0) return notThere(id, key);
  return { text: `${deliveries(count)} put back.`, data: { redriven: count } };
}

export function purge({ shelf, totals }: Inside, { id, key }: Request): Answer {
  const count = inParts(totals, (limit) => shelf.purge(id, { key }, limit));
  if (id !== null && count === 0) return notThere(id, key);
  return { text: `${deliveries(count)} thrown away.`, data: { purged: count } };
}

/** What comes onto the shelf meanwhile stays there, or a delivery that dies at once would go round and round. */
function inParts(totals: Totals, take: (limit: number) => number): number {
  const most = totals.read().shelved;
  let count = 0;
  while (count < most) {
    const taken = take(Math.min(AT_ONCE, most - count));
    if (taken === 0) break;
    count += taken;
  }
  return count;
}

function notThere(id: string, key: string | undefined): Answer {
  const where = key === undefined ? '' : ` of the key ${quoted(key)}`;
  return { problem: `There is no delivery ${quoted(id)}${where} on the shelf.` };
}

function quoted(text: string): string {
  return JSON.stringify(printable(text));
}

function deliveries(count: number): string {
  return count === 1 ? '1 delivery' : `${String(count)} deliveries`;
}

function summary(
  listed: Omit<ListedDelivery, 'isIdGenerated' | 'headers'>,
): Record<'receivedAt' | 'shelvedAt', string> & Record<string, unknown> {
  const { id, key, sender = null, reason, attempts, error, receivedAtMs, shelvedAtMs, bodyBytes } = listed;
  return {
    id,
    key,
    sender,
    reason,
    attempts,
    error,
    receivedAt: time(receivedAtMs),
    shelvedAt: time(shelvedAtMs),
    bodyBytes,
  };
}

/** As text where it is one, so that JSON stays readable. */
function bodyOf({ rawBody }: ShelvedDelivery): {
  readonly body: string;
  readonly encoding: 'utf8' | 'base64';
} {
  try {
    const body = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody);
    return { body, encoding: 'utf8' };
  } catch {
    return { body: Buffer.from(rawBody).toString('base64'), encoding: 'base64' };
  }
}
