import type { StoredDelivery } from '@webhook-backpressure/core';
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

type Headers = Record<string, string>;

/**
 * What a row says of a delivery. Where its headers cannot be read it has none: the shelf must show what is there, or
 * nobody could take it off.
 */
export function factsOf(row: FactsRow | ContentsRow): Omit<StoredDelivery, 'rawBody'> {
  const [key, id, isIdGenerated, sender, headers, receivedAtMs] = row;
  return {
    key: decodeText(key),
    id: decodeText(id),
    isIdGenerated: isIdGenerated === 1,
    sender: sender === null ? undefined : decodeText(sender),
    headers: headersIn(headers) ?? {},
    receivedAtMs,
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
export function isIntact([key, id, , , headers]: FactsRow | ContentsRow): boolean {
  const isText = (stored: string): boolean => encodeText(decodeText(stored)) === stored;
  return isText(key) && isText(id) && headersIn(headers) !== undefined;
}

function headersIn(stored: string): Headers | undefined {
  try {
    const headers: unknown = JSON.parse(stored);
    return isHeaders(headers) ? headers : undefined;
  } catch {
    return undefined;
  }
}

function isHeaders(value: unknown): value is Headers {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((header) => typeof header === 'string');
}
