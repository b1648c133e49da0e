import { hash } from 'node:crypto';
import { isRecord } from '@webhook-backpressure/base';
import type { DeliveryRef, Json, StoredDelivery } from '@webhook-backpressure/inbox';
import { marksIn, paramsWithMarks } from '@webhook-backpressure/inbox/store';

/** The columns of a delivery without its body. */
export const FACTS = 'c.key, c.id, c.is_generated, c.sender, c.facts, c.received_ms';

/** A row of {@link FACTS}. */
export interface FactsRow {
  readonly key: string;
  readonly id: string;
  readonly is_generated: boolean;
  readonly sender: string | null;
  readonly facts: string;
  readonly received_ms: number;
}

/** A row of {@link FACTS} and the body. */
export interface ContentsRow extends FactsRow {
  readonly body: Uint8Array;
}

type Strings = Readonly<Record<string, string>>;

export function encodeFacts(delivery: StoredDelivery): string {
  const { headers, request, context, sealedBy } = delivery;
  const { method, url } = request;
  return JSON.stringify([headers, method, url, paramsWithMarks(delivery), context, sealedBy ?? null]);
}

type Facts = readonly [Strings, string, string, Strings, Json, string | null];

/** As of a delivery whose facts cannot be read: it must still be listed as a dead letter, or it could not be purged. */
const NO_FACTS: Facts = [{}, '', '', {}, null, null];

function decodeFacts(stored: string): Facts | undefined {
  try {
    const facts: unknown = JSON.parse(stored);
    if (!Array.isArray(facts) || facts.length !== NO_FACTS.length) return undefined;
    const [headers, method, url, params, , sealedBy] = facts as unknown[];
    const isRight =
      isStrings(headers) && typeof method === 'string' && typeof url === 'string' && isStrings(params);
    return isRight && (sealedBy === null || typeof sealedBy === 'string')
      ? (facts as unknown as Facts)
      : undefined;
  } catch {
    return undefined;
  }
}

function isStrings(value: unknown): value is Strings {
  return isRecord(value) && Object.values(value).every((field) => typeof field === 'string');
}

/** Undefined if the facts of the row are not as this library writes them. A row changed by hand could not be handled. */
export function intactDeliveryOf(row: ContentsRow): StoredDelivery | undefined {
  const facts = decodeFacts(row.facts);
  return facts === undefined ? undefined : { ...factsOf(row, facts), rawBody: row.body };
}

export function factsOf(
  row: FactsRow,
  facts: Facts = decodeFacts(row.facts) ?? NO_FACTS,
): Omit<StoredDelivery, 'rawBody'> {
  const [headers, method, url, stored, context, sealedBy] = facts;
  const { params, marks } = marksIn(stored);
  return {
    ...marks,
    key: decodeText(row.key),
    id: decodeText(row.id),
    isIdGenerated: row.is_generated,
    sender: row.sender === null ? undefined : decodeText(row.sender),
    headers,
    request: { method, url, params },
    context,
    sealedBy: sealedBy ?? undefined,
    receivedAtMs: row.received_ms,
    fingerprint: undefined,
  };
}

export function deliveryOf(row: ContentsRow): StoredDelivery {
  return { ...factsOf(row), rawBody: row.body };
}

const HEX_DIGITS = 32;

/**
 * Identifies a key and an id, as a `uuid`: 16 bytes of SHA-256. JSON keeps different pairs different, also with lone
 * surrogates. Finding two pairs with the same hash takes 2^64 attempts, and the sender would harm only itself.
 */
export function idHash({ key, id }: DeliveryRef): string {
  return hash('sha256', JSON.stringify([key, id])).slice(0, HEX_DIGITS);
}

/**
 * Encodes a string as JSON without the quotes, which leaves most strings as they are. PostgreSQL has no text with a NUL,
 * and UTF-8 has no lone surrogates: two ids could become the same, and the second delivery a duplicate.
 */
export function encodeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Returns text that {@link encodeText} did not write unchanged. */
export function decodeText(stored: string): string {
  if (!stored.includes('\\')) return stored;
  try {
    return JSON.parse(`"${stored}"`) as string;
  } catch {
    return stored;
  }
}
