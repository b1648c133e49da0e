import type { ClaimedDelivery } from '../store/inbox-store.ts';
import type { Json } from './json.ts';
import { pathOf } from './request-facts.ts';
import type { StoredDelivery } from './stored-delivery.ts';

declare const TextDecoder: new (
  encoding: string,
  options: { ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

/** It keeps a byte order mark, whatever the name of the option says: a text without it has another signature. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const BYTE_ORDER_MARK = '\uFEFF';

/** A delivery as it came, before anything is known about it. */
export interface RawDelivery {
  /** Of the request, in upper case, such as `POST`. Empty for a delivery that an older release stored. */
  readonly method: string;
  /**
   * Path and query as the sender sent them, whatever the route was mounted under: what Twilio and HubSpot sign.
   * Scheme and host are not in it, since only the client and proxies say what they are. Empty as `method` is.
   */
  readonly url: string;
  /** The part of `url` before the query. */
  readonly path: string;
  /** What the route of the framework found in the path, decoded. Frozen. */
  readonly params: Readonly<Record<string, string>>;
  /** What the option `context` returned; null without it. */
  readonly context: Json;
  /**
   * Names in lower case; values of a header that came several times are joined by a comma. Frozen. What is stored has
   * not those that the option `redact` names.
   */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The bytes that the sender signed. Until the delivery is stored everybody is shown the same ones: what is written
   * into them is stored. Each attempt has its own.
   */
  readonly rawBody: Uint8Array;
  /** The body as UTF-8, whole: a byte order mark stays, as the signature is over it too. */
  readonly text: () => string;
  /** The body as JSON, with or without a byte order mark. Throws when it is none. */
  readonly json: () => unknown;
}

/** A delivery in the hands of a handler. */
export interface InboxDelivery extends RawDelivery {
  /** The delivery id. It is the same at each attempt, and across restarts. */
  readonly id: string;
  /** The share of the inbox that it counts against. */
  readonly key: string;
  /** The sender, if it was recognised. */
  readonly sender: string | undefined;
  readonly receivedAt: Date;
}

/** What a delivery has, whether it is stored or not. */
export type Contents = Pick<StoredDelivery, 'request' | 'context' | 'headers' | 'rawBody'>;

/** The body is decoded when it is asked for: most handlers want one form of it. */
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
    // A store in memory keeps these very headers for the next attempt.
    headers: Object.freeze(headers),
    rawBody,
    text,
    json,
  };
}

export function inboxDelivery(stored: Omit<ClaimedDelivery, 'attempt' | 'strandings'>): InboxDelivery {
  const { id, key, sender, receivedAtMs } = stored;
  return { ...rawDelivery(stored), id, key, sender, receivedAt: new Date(receivedAtMs) };
}
