import type { Json, RequestFacts } from '@webhook-backpressure/core';
import { notFound, type Answer } from './answer.ts';
import type { Tables } from './tables.ts';
import { printable, printableLines, quoted, table, time } from './text.ts';
import type { Request } from './usage.ts';

type Place = 'pending' | 'dead' | 'completed';

/** A delivery, with the facts that its state adds. */
interface Found {
  readonly place: Place;
  readonly id: string;
  readonly key: string;
  readonly sender: string | undefined;
  readonly request: RequestFacts;
  readonly context: Json;
  readonly sealedBy: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: Uint8Array;
  readonly receivedAtMs: number;
  readonly error?: string;
  /** Shown in this order. */
  readonly facts: Readonly<Record<string, string | number>>;
}

/** One delivery with its headers and body, in whichever state. */
export function show(tables: Tables, { id, key }: Request): Answer {
  const [found] = placesOf(tables, id ?? '', key);
  if (found === undefined) return notFound(id ?? '', key, 'in the file');
  const { place, sender = null, headers, rawBody, receivedAtMs, facts, error } = found;
  const { request, context, sealedBy } = found;
  const { method, url, params } = request;
  const body = bodyOf(rawBody);
  const receivedAt = time(receivedAtMs);
  const rows = Object.entries(facts).map(([name, value]) => [labelOf(name), String(value)]);
  return {
    text: [
      table(
        ['id', printable(found.id)],
        [
          ['key', printable(found.key)],
          ['place', place],
          ['sender', printable(sender ?? '-')],
          ['received at', receivedAt],
          ...rows,
          ['request', printable(`${method} ${url}`.trim() || '-')],
          ...(Object.keys(params).length === 0 ? [] : [['params', printable(JSON.stringify(params))]]),
          ...(context === null ? [] : [['context', printable(JSON.stringify(context))]]),
          ...(sealedBy === undefined ? [] : [['encrypted with', printable(sealedBy)]]),
        ],
      ),
      ...(error === undefined || error === '' ? [] : ['', printableLines(error)]),
      '',
      ...Object.entries(headers).map(([name, value]) => `${printable(name)}: ${printable(value)}`),
      '',
      printableLines(body.body),
    ].join('\n'),
    data: {
      ...{ id: found.id, key: found.key, place, sender, receivedAt, ...facts },
      ...(error === undefined ? {} : { error }),
      ...{ method, url, params, context, encryptedBy: sealedBy ?? null },
      ...{ bodyBytes: rawBody.byteLength, headers, ...body },
    },
  };
}

/** The state of the deliveries with an id, under every key. */
export function find(tables: Tables, { id, key }: Request): Answer {
  const wanted = id ?? '';
  const places: { readonly key: string; readonly place: Place | 'remembered' }[] = placesOf(
    tables,
    wanted,
    key,
  ).map((found) => ({
    key: found.key,
    place: found.place,
  }));
  // Only a hash of key and id is remembered.
  if (key !== undefined && places.length === 0 && tables.completedIds.has({ key, id: wanted })) {
    places.push({ key, place: 'remembered' });
  }
  if (places.length === 0) {
    const more = key === undefined ? ' To find an id that is only remembered, add --key.' : '';
    return { problem: `The id ${quoted(wanted)} is not in the file.${more}` };
  }
  return {
    text: table(
      ['KEY', 'PLACE'],
      places.map((one) => [printable(one.key), one.place]),
    ),
    data: { id: wanted, places },
  };
}

function placesOf(tables: Tables, id: string, only: string | undefined): Found[] {
  const keys = only === undefined ? tables.pending.keysOf(id) : [only];
  return keys.flatMap((key) => {
    const found = placeOf(tables, id, key);
    return found === undefined ? [] : [found];
  });
}

function placeOf(
  { deadLetters, pending, completed: completedDeliveries }: Tables,
  id: string,
  key: string,
): Found | undefined {
  const dead = deadLetters.get(id, { key });
  if (dead !== undefined) {
    const { reason, attempts, shelvedAtMs } = dead;
    return { ...dead, place: 'dead', facts: { shelvedAt: time(shelvedAtMs), reason, attempts } };
  }
  const waiting = pending.get({ key, id }, Date.now());
  if (waiting !== undefined) {
    const { state, attempts, dueMs } = waiting;
    return { ...waiting, place: 'pending', facts: { state, attempts, dueAt: time(dueMs) } };
  }
  const completed = completedDeliveries.get(id, { key });
  if (completed === undefined) return undefined;
  const { attempts, completedAtMs } = completed;
  return { ...completed, place: 'completed', facts: { completedAt: time(completedAtMs), attempts } };
}

/** `dueAt` becomes "due at". */
function labelOf(name: string): string {
  if (name === 'shelvedAt') return 'dead since';
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** As text if it is UTF-8, so that JSON output is readable. */
function bodyOf(rawBody: Uint8Array): { readonly body: string; readonly encoding: 'utf8' | 'base64' } {
  try {
    const body = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody);
    return { body, encoding: 'utf8' };
  } catch {
    return { body: Buffer.from(rawBody).toString('base64'), encoding: 'base64' };
  }
}
