import type { Json, RequestFacts } from '@webhook-backpressure/core';
import type { Inside, Answer } from './inside.ts';
import { bodyOf, notThere, quoted } from './sentences.ts';
import { printable, printableLines, table, time } from './text.ts';
import type { Request } from './usage.ts';

/** Where a delivery stands. */
type Place = 'pending' | 'dead' | 'completed';

/** A delivery, and what can be said of it where it stands. */
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
  /** In the order in which they are shown. */
  readonly facts: Readonly<Record<string, string | number>>;
}

/** One delivery, with its headers and its body, wherever it stands. */
export function show(inside: Inside, { id, key }: Request): Answer {
  const [found] = placesOf(inside, id ?? '', key);
  if (found === undefined) return notThere(id ?? '', key, 'in the file');
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

/** Where the deliveries of an id stand, of every key. */
export function find(inside: Inside, { id, key }: Request): Answer {
  const wanted = id ?? '';
  const places: { readonly key: string; readonly place: Place | 'remembered' }[] = placesOf(
    inside,
    wanted,
    key,
  ).map((found) => ({
    key: found.key,
    place: found.place,
  }));
  // What is only remembered is found by both together.
  if (key !== undefined && places.length === 0 && inside.remembered.has({ key, id: wanted })) {
    places.push({ key, place: 'remembered' });
  }
  if (places.length === 0) {
    const more = key === undefined ? ' An id that is only remembered is found with --key.' : '';
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

function placesOf(inside: Inside, id: string, only: string | undefined): Found[] {
  const keys = only === undefined ? inside.pending.keysOf(id) : [only];
  return keys.flatMap((key) => {
    const found = placeOf(inside, id, key);
    return found === undefined ? [] : [found];
  });
}

function placeOf({ shelf, pending, kept }: Inside, id: string, key: string): Found | undefined {
  const dead = shelf.get(id, { key });
  if (dead !== undefined) {
    const { reason, attempts, shelvedAtMs } = dead;
    return { ...dead, place: 'dead', facts: { shelvedAt: time(shelvedAtMs), reason, attempts } };
  }
  const waiting = pending.get({ key, id }, Date.now());
  if (waiting !== undefined) {
    const { state, attempts, dueMs } = waiting;
    return { ...waiting, place: 'pending', facts: { state, attempts, dueAt: time(dueMs) } };
  }
  const completed = kept.get(id, { key });
  if (completed === undefined) return undefined;
  const { attempts, completedAtMs } = completed;
  return { ...completed, place: 'completed', facts: { completedAt: time(completedAtMs), attempts } };
}

/** `shelvedAt` is "shelved at". */
function labelOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
