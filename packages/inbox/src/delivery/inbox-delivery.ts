import type { Json } from './json.ts';
import { pathOf } from './request-facts.ts';
import type { StoredDelivery } from './stored-delivery.ts';

declare const TextDecoder: new (
  encoding: string,
  options: { ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

/** `ignoreBOM: true` keeps a byte order mark, which the signature covers. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const BYTE_ORDER_MARK = '\uFEFF';

/** A delivery as it arrived, before it is verified and has an id and a key. */
export interface RawDelivery {
  /** The request method in upper case, such as `POST`. */
  readonly method: string;
  /**
   * Path and query as sent, independent of where the route is mounted; Twilio and HubSpot sign them. Without scheme and
   * host, which only the client and proxies state.
   */
  readonly url: string;
  /** The part of `url` before the query. */
  readonly path: string;
  /** The route params of the framework, decoded. Frozen. */
  readonly params: Readonly<Record<string, string>>;
  /** The value that the option `context` returned; null without it. */
  readonly context: Json;
  /**
   * Names in lower case; repeated headers are joined by a comma. Frozen. Stored deliveries lack the headers that the
   * option `redact` names.
   */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The bytes that the sender signed. Until the delivery is stored, all callbacks share them, and changes to them are
   * stored. Each attempt gets its own copy.
   */
  readonly rawBody: Uint8Array;
  /** The body as UTF-8. A byte order mark stays, because the signature covers it. */
  readonly text: () => string;
  /** The body parsed as JSON, with or without a byte order mark. Throws when it is not JSON. */
  readonly json: () => unknown;
}

/** A stored delivery, as `process` gets it. */
export interface InboxDelivery extends RawDelivery {
  /** The delivery id: the same at each attempt and after a restart. */
  readonly id: string;
  /** The key whose share of the inbox the delivery uses: the sender's name by default. */
  readonly key: string;
  /** The name of the sender; undefined for an unknown one. */
  readonly sender: string | undefined;
  /** When its first request was received. */
  readonly receivedAt: Date;
  /** The name of the only handler that processes it; undefined unless it matched several: see the option `on`. */
  readonly handler: string | undefined;
}

/** The fields that a delivery has before it is stored. */
export type Contents = Pick<StoredDelivery, 'request' | 'context' | 'headers' | 'rawBody'>;

/** Decodes the body on request: most handlers need one form of it. */
export function rawDelivery({ request, context, headers, rawBody }: Contents): RawDelivery {
  const text = (): string => decoder.decode(rawBody);
  const json = (): unknown => {
    const whole = text();
    return JSON.parse(whole.startsWith(BYTE_ORDER_MARK) ? whole.slice(1) : whole);
  };
  const { method, url, params } = request;
  return {
    method,
    url,
    path: pathOf(url),
    params: Object.freeze(params),
    context,
    // A memory store keeps the same object for the next attempt.
    headers: Object.freeze(headers),
    rawBody,
    text,
    json,
  };
}

/** A stored delivery as `process` gets it. Not for an encrypted one. */
export function inboxDelivery(stored: StoredDelivery): InboxDelivery {
  const { id, key, sender, receivedAtMs, handler } = stored;
  return { ...rawDelivery(stored), id, key, sender, receivedAt: new Date(receivedAtMs), handler };
}
