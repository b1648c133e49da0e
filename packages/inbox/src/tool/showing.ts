import type { Json } from '../delivery/json.ts';
import type { RequestFacts } from '../delivery/request-facts.ts';
import type { ToolStore } from './target.ts';
import { notFound, printable, printableLines, quoted, table, time, type Answer } from './text.ts';
import type { Context, Request } from './usage.ts';

declare const TextDecoder: new (
  label: string,
  options: { readonly fatal: boolean; readonly ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };
declare const btoa: (binary: string) => string;

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
export async function show(store: ToolStore, { id, key }: Request, { noun }: Context): Promise<Answer> {
  const [found] = await placesOf(store, id ?? '', key);
  if (found === undefined) return notFound(id ?? '', key, `in ${noun}`);
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
      id: found.id,
      key: found.key,
      place,
      sender,
      receivedAt,
      ...facts,
      ...(error === undefined ? {} : { error }),
      method,
      url,
      params,
      context,
      encryptedBy: sealedBy ?? null,
      bodyBytes: rawBody.byteLength,
      headers,
      ...body,
    },
  };
}

/** The state of the deliveries with an id, under every key. */
export async function find(store: ToolStore, { id, key }: Request, { noun }: Context): Promise<Answer> {
  const wanted = id ?? '';
  const found = await placesOf(store, wanted, key);
  const places: { readonly key: string; readonly place: Place | 'remembered' }[] = found.map((one) => ({
    key: one.key,
    place: one.place,
  }));
  // Only a hash of key and id is remembered.
  if (key !== undefined && places.length === 0 && (await store.isRemembered({ key, id: wanted }))) {
    places.push({ key, place: 'remembered' });
  }
  if (places.length === 0) {
    const more = key === undefined ? ' To find an id that is only remembered, add --key.' : '';
    return { problem: `The id ${quoted(wanted)} is not in ${noun}.${more}` };
  }
  return {
    text: table(
      ['KEY', 'PLACE'],
      places.map((one) => [printable(one.key), one.place]),
    ),
    data: { id: wanted, places },
  };
}

async function placesOf(store: ToolStore, id: string, only: string | undefined): Promise<Found[]> {
  const keys = only === undefined ? await store.keysOf(id) : [only];
  const places: Found[] = [];
  for (const key of keys) {
    const found = await placeOf(store, id, key);
    if (found !== undefined) places.push(found);
  }
  return places;
}

async function placeOf(store: ToolStore, id: string, key: string): Promise<Found | undefined> {
  const dead = await store.getDeadLetter(id, { key });
  if (dead !== undefined) {
    const { reason, attempts, deadAtMs } = dead;
    return { ...dead, place: 'dead', facts: { deadAt: time(deadAtMs), reason, attempts } };
  }
  const waiting = await store.getPending({ key, id }, Date.now());
  if (waiting !== undefined) {
    const { state, attempts, dueMs } = waiting;
    return { ...waiting, place: 'pending', facts: { state, attempts, dueAt: time(dueMs) } };
  }
  const completed = await store.getCompleted(id, { key });
  if (completed === undefined) return undefined;
  const { attempts, completedAtMs } = completed;
  return { ...completed, place: 'completed', facts: { completedAt: time(completedAtMs), attempts } };
}

/** `dueAt` becomes "due at". */
function labelOf(name: string): string {
  if (name === 'deadAt') return 'dead since';
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** As text if it is UTF-8, so that JSON output is readable. */
function bodyOf(rawBody: Uint8Array): { readonly body: string; readonly encoding: 'utf8' | 'base64' } {
  try {
    const body = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody);
    return { body, encoding: 'utf8' };
  } catch {
    const binary = Array.from(rawBody, (byte) => String.fromCharCode(byte)).join('');
    return { body: btoa(binary), encoding: 'base64' };
  }
}
