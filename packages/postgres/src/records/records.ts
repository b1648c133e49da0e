import { hash } from 'node:crypto';
import type { DeliveryRef, StoredDelivery } from '@webhook-backpressure/inbox';
import { decodeFacts, decodeText, NO_FACTS } from '@webhook-backpressure/inbox/store';

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

/** Undefined if the facts of the row are not as this library writes them. A row changed by hand could not be handled. */
export function intactDeliveryOf(row: ContentsRow): StoredDelivery | undefined {
  const facts = decodeFacts(row.facts);
  return facts === undefined ? undefined : { ...factsOf(row, facts), rawBody: row.body };
}

export function factsOf(
  row: FactsRow,
  facts: typeof NO_FACTS = decodeFacts(row.facts) ?? NO_FACTS,
): Omit<StoredDelivery, 'rawBody'> {
  return {
    ...facts,
    key: decodeText(row.key),
    id: decodeText(row.id),
    isIdGenerated: row.is_generated,
    sender: row.sender === null ? undefined : decodeText(row.sender),
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
