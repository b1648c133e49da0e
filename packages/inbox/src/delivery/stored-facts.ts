import { isRecord } from '@webhook-backpressure/base';
import type { Json } from './json.ts';
import { NO_REQUEST } from './request-facts.ts';
import type { StoredDelivery } from './stored-delivery.ts';

/** What the databases store of a delivery as one text. */
type Facts = Pick<StoredDelivery, 'headers' | 'request' | 'context' | 'sealedBy' | 'handler' | 'notBeforeMs'>;

export function encodeFacts(delivery: StoredDelivery): string {
  const { headers, request, context, sealedBy = null, handler = null, notBeforeMs = null } = delivery;
  const { method, url, params } = request;
  return JSON.stringify([headers, method, url, params, context, sealedBy, handler, notBeforeMs]);
}

/** As of a delivery whose facts cannot be read: it must still be listed as a dead letter, or it could not be purged. */
export const NO_FACTS: Facts = { headers: {}, request: NO_REQUEST, context: null, sealedBy: undefined };

/** Undefined unless {@link encodeFacts} has written the text. */
export function decodeFacts(stored: string): Facts | undefined {
  try {
    const facts: unknown = JSON.parse(stored);
    if (!Array.isArray(facts) || facts.length !== 8) return undefined;
    const [headers, method, url, params, context, sealedBy, handler, notBeforeMs] = facts as unknown[];
    const isRight =
      isStrings(headers) && typeof method === 'string' && typeof url === 'string' && isStrings(params);
    if (!isRight || !isTextOrNull(sealedBy) || !isTextOrNull(handler)) return undefined;
    if (notBeforeMs !== null && typeof notBeforeMs !== 'number') return undefined;
    return {
      headers,
      request: { method, url, params },
      context: context as Json,
      sealedBy: sealedBy ?? undefined,
      ...(handler !== null && { handler }),
      ...(notBeforeMs !== null && { notBeforeMs }),
    };
  } catch {
    return undefined;
  }
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function isStrings(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((field) => typeof field === 'string');
}

/**
 * Encodes a string as JSON without the quotes, which leaves most strings as they are. Databases refuse, truncate or replace
 * a NUL and lone surrogates: two ids could become the same, and the second delivery a duplicate.
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
