import type { Json, StoredDelivery } from '@webhook-backpressure/inbox';
import { decodeText } from './text.ts';

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

export function encodeFacts({ headers, request, context, sealedBy }: StoredDelivery): string {
  const { method, url, params } = request;
  return JSON.stringify([headers, method, url, params, context, sealedBy ?? null]);
}

export function factsOf(row: FactsRow): Omit<StoredDelivery, 'rawBody'> {
  const [headers, method, url, params, context, sealedBy] = JSON.parse(row.facts) as [
    Strings,
    string,
    string,
    Strings,
    Json,
    string | null,
  ];
  return {
    key: decodeText(row.key),
    id: decodeText(row.id),
    isIdGenerated: row.is_generated,
    sender: row.sender === null ? undefined : decodeText(row.sender),
    ...{ headers, request: { method, url, params }, context },
    sealedBy: sealedBy ?? undefined,
    receivedAtMs: row.received_ms,
    fingerprint: undefined,
  };
}

export function deliveryOf(row: ContentsRow): StoredDelivery {
  return { ...factsOf(row), rawBody: row.body };
}
