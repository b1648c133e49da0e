import { createHash } from 'node:crypto';
import type { DeliveryRef, StoredDelivery, StoredPage } from '@webhook-backpressure/inbox';
import { decodeFacts, decodeText, encodeText, NO_FACTS } from '@webhook-backpressure/inbox/store';

/** The columns of a delivery without its body, in the order of {@link FactsRow}. */
export const FACTS = 'c.key, c.id, c.is_id_generated, c.sender, c.facts, c.received_ms';
/** The columns of a delivery with its body, in the order of {@link ContentsRow}. */
export const CONTENTS = 'c.key, c.id, c.is_id_generated, c.sender, c.facts, c.received_ms, c.body';

export type FactsRow = readonly [
  key: string,
  id: string,
  isIdGenerated: number,
  sender: string | null,
  facts: string,
  receivedAtMs: number,
];
export type ContentsRow = readonly [...FactsRow, body: Uint8Array | ArrayBuffer];

/**
 * Decodes a row. If its headers cannot be read, the delivery has none: it must still be listed as a dead letter, or it
 * could not be purged.
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

/** libsql returns the bytes of one row as a Buffer, those of several rows as ArrayBuffers. */
export function deliveryOf(row: ContentsRow): StoredDelivery {
  const body = row[6];
  return { ...factsOf(row), rawBody: body instanceof ArrayBuffer ? new Uint8Array(body) : body };
}

/**
 * Whether a row is as this library writes it. A row changed by hand or by a disk could not be handled, and if its key or
 * id is encoded differently, it would not be found to be settled.
 */
export function isIntact([key, id, , , stored]: FactsRow | ContentsRow): boolean {
  const isText = (text: string): boolean => encodeText(decodeText(text)) === text;
  return isText(key) && isText(id) && decodeFacts(stored) !== undefined;
}

/** A list call scans at most so many rows, so that listing a rare key does not delay other calls. */
export const PART_ROWS = 2000;

/**
 * A page of a list of rows, each of which begins with its position.
 *
 * @param rows - up to one more than `limit`.
 * @param scanned - how many rows were scanned, and the position of the last one.
 */
export function pageOf<R extends readonly [number, ...unknown[]], T>(
  rows: readonly R[],
  limit: number,
  [scanned, last]: readonly [number, number | null],
  show: (row: R) => T,
): StoredPage<T> {
  const some = rows.slice(0, limit);
  const rest = scanned < PART_ROWS ? undefined : (last ?? undefined);
  return { deliveries: some.map(show), next: rows.length > limit ? some.at(-1)?.[0] : rest };
}

const HASH_BYTES = 16;

/**
 * Identifies a completed delivery. JSON keeps different pairs of key and id different, also with lone surrogates. Finding
 * two ids with the same hash takes 2^64 attempts, and the sender would harm only itself.
 */
export function idHash({ key, id }: DeliveryRef): Uint8Array {
  const digest = createHash('sha256')
    .update(JSON.stringify([key, id]))
    .digest();
  return new Uint8Array(digest.buffer, digest.byteOffset, HASH_BYTES);
}
