import { isRecord } from '@webhook-backpressure/base';
import type { Json } from './json.ts';
import { NO_REQUEST } from './request-facts.ts';
import type { StoredDelivery } from './stored-delivery.ts';

/** The field of the stored params that holds the marks: a route param cannot have this name in any framework. */
const FIELD = '@inbox';

type Params = Readonly<Record<string, string>>;
/** What an inbox notes on a delivery for its workers. */
type Marks = Pick<StoredDelivery, 'handler' | 'notBeforeMs'>;

/**
 * The params of a stored request with the marks of its delivery. Stored there, they need no column, and a worker of an
 * older release, which does not know them, can still read the delivery.
 */
function paramsWithMarks({ request: { params }, handler, notBeforeMs }: StoredDelivery): Params {
  if (handler === undefined && notBeforeMs === undefined) return params;
  return { ...params, [FIELD]: JSON.stringify({ handler, notBeforeMs } satisfies Marks) };
}

/** The reverse of {@link paramsWithMarks}. Ignores marks that it has not written. */
function marksIn(stored: Params): { readonly params: Params; readonly marks: Marks } {
  if (!Object.hasOwn(stored, FIELD)) return { params: stored, marks: {} };
  const { [FIELD]: written = '', ...params } = stored;
  return { params, marks: parsed(written) };
}

function parsed(written: string): Marks {
  try {
    const marks: unknown = JSON.parse(written);
    if (!isRecord(marks)) return {};
    const { handler, notBeforeMs } = marks;
    return {
      ...(typeof handler === 'string' && { handler }),
      ...(typeof notBeforeMs === 'number' && { notBeforeMs }),
    };
  } catch {
    return {};
  }
}

/** What the databases store of a delivery as one text. */
type Facts = Pick<StoredDelivery, 'headers' | 'request' | 'context' | 'sealedBy' | keyof Marks>;

export function encodeFacts(delivery: StoredDelivery): string {
  const { headers, request, context, sealedBy } = delivery;
  const { method, url } = request;
  return JSON.stringify([headers, method, url, paramsWithMarks(delivery), context, sealedBy ?? null]);
}

/** As of a delivery whose facts cannot be read: it must still be listed as a dead letter, or it could not be purged. */
export const NO_FACTS: Facts = { headers: {}, request: NO_REQUEST, context: null, sealedBy: undefined };

/** Undefined unless {@link encodeFacts} has written the text. */
export function decodeFacts(stored: string): Facts | undefined {
  try {
    const facts: unknown = JSON.parse(stored);
    if (!Array.isArray(facts) || facts.length !== 6) return undefined;
    const [headers, method, url, params, context, sealedBy] = facts as unknown[];
    const isRight =
      isStrings(headers) && typeof method === 'string' && typeof url === 'string' && isStrings(params);
    if (!isRight || (sealedBy !== null && typeof sealedBy !== 'string')) return undefined;
    const { params: own, marks } = marksIn(params);
    const request = { method, url, params: own };
    return { headers, request, context: context as Json, sealedBy: sealedBy ?? undefined, ...marks };
  } catch {
    return undefined;
  }
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
