import type { StoredDelivery } from '@webhook-backpressure/core';
import { decodeText } from './text.ts';

/** The columns of `contents` that make a delivery, in the order of {@link ContentsRow}. */
export const CONTENTS = 'c.key, c.id, c.is_id_generated, c.sender, c.headers, c.received_ms, c.body';

export type ContentsRow = readonly [
  key: string,
  id: string,
  isIdGenerated: number,
  sender: string | null,
  headers: string,
  receivedAtMs: number,
  body: Uint8Array | ArrayBuffer,
];

/** libsql gives the bytes of one row as a Buffer, those of several rows as ArrayBuffers. */
export function deliveryOf(row: ContentsRow): StoredDelivery {
  const [key, id, isIdGenerated, sender, headers, receivedAtMs, body] = row;
  return {
    key: decodeText(key),
    id: decodeText(id),
    isIdGenerated: isIdGenerated === 1,
    sender: sender === null ? undefined : decodeText(sender),
    headers: JSON.parse(headers) as Record<string, string>,
    rawBody: body instanceof ArrayBuffer ? new Uint8Array(body) : body,
    receivedAtMs,
  };
}
