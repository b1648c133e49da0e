import type { Json, StoredDelivery } from '@webhook-backpressure/core';
import { decodeText, encodeText } from './text.ts';

/** The columns of `contents` that make a delivery but for its body, in the order of {@link FactsRow}. */
export const FACTS = 'c.key, c.id, c.is_id_generated, c.sender, c.headers, c.received_ms';
/** The same with the body, in the order of {@link ContentsRow}. */
export const CONTENTS = 'c.key, c.id, c.is_id_generated, c.sender, c.headers, c.received_ms, c.body';

export type FactsRow = readonly [
  key: string,
  id: string,
  isIdGenerated: number,
  sender: string | null,
  headers: string,
  receivedAtMs: number,
];
export type ContentsRow = readonly [...FactsRow, body: Uint8Array | ArrayBuffer];

type Strings = Record<string, string>;
/** What the column `headers` holds. */
type Facts = Pick<StoredDelivery, 'headers' | 'request' | 'context' | 'sealedBy'>;

const NO_FACTS: Facts = {
  headers: {},
  request: { method: '', url: '', params: {} },
  context: null,
  sealedBy: undefined,
};

/** As a list, to tell it from the headers alone, an object, which older releases stored. */
export function encodeFacts({ headers, request, context, sealedBy }: StoredDelivery): string {
  const { method, url, params } = request;
  return JSON.stringify([headers, method, url, params, context, sealedBy ?? null]);
}

/**
 * What a row says of a delivery. Where its headers cannot be read it has none: the shelf must show what is there, or
 * nobody could take it off.
 */
export function factsOf(row: FactsRow | ContentsRow): Omit<StoredDelivery, 'rawBody'> {
  const [key, id, isIdGenerated, sender, stored, receivedAtMs] = row;
  return {
    key: decodeText(key),
    id: decodeText(id),
    isIdGenerated: isIdGenerated === 1,
    sender: sender === null ? undefined : decodeText(sender),
    ...(decodeFacts(stored) ?? NO_FACTS),
    receivedAtMs,
    fingerprint: undefined,
  };
}

/** libsql gives the bytes of one row as a Buffer, those of several rows as ArrayBuffers. */
export function deliveryOf(row: ContentsRow): StoredDelivery {
  const body = row[6];
  return { ...factsOf(row), rawBody: body instanceof ArrayBuffer ? new Uint8Array(body) : body };
}

/**
 * Whether a row is as this library writes it. One that was changed by hand, or by a disk, could not be handled, and one
 * whose key or id is not found by what it is read as could not even be settled.
 */
export function isIntact([key, id, , , stored]: FactsRow | ContentsRow): boolean {
  const isText = (text: string): boolean => encodeText(decodeText(text)) === text;
  return isText(key) && isText(id) && decodeFacts(stored) !== undefined;
}

function decodeFacts(stored: string): Facts | undefined {
  try {
    const facts: unknown = JSON.parse(stored);
    if (isStrings(facts)) return { ...NO_FACTS, headers: facts };
    if (!Array.isArray(facts) || facts.length !== 6) return undefined;
    const [headers, method, url, params, context, sealedBy] = facts as unknown[];
    const isRight =
      isStrings(headers) && typeof method === 'string' && typeof url === 'string' && isStrings(params);
    if (!isRight || (sealedBy !== null && typeof sealedBy !== 'string')) return undefined;
    const request = { method, url, params };
    return { headers, request, context: context as Json, sealedBy: sealedBy ?? undefined };
  } catch {
    return undefined;
  }
}

function isStrings(value: unknown): value is Strings {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((field) => typeof field === 'string');
}
