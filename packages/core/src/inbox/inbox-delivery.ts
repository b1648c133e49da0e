import type { ClaimedDelivery } from './inbox-store.ts';

declare const TextDecoder: new (
  encoding: string,
  options: { ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

/** It keeps a byte order mark, whatever the name of the option says: a text without it has another signature. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const BYTE_ORDER_MARK = '\uFEFF';

/** A delivery as it came, before anything is known about it. */
export interface RawDelivery {
  /** Names in lower case; values of a header that came several times are joined by a comma. Frozen. */
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

/** The body is decoded when it is asked for: most handlers want one form of it. */
export function rawDelivery(headers: Readonly<Record<string, string>>, rawBody: Uint8Array): RawDelivery {
  const text = (): string => decoder.decode(rawBody);
  const json = (): unknown => {
    const whole = text();
    return JSON.parse(whole.startsWith(BYTE_ORDER_MARK) ? whole.slice(1) : whole);
  };
  // A store in memory keeps these very headers for the next attempt.
  return { headers: Object.freeze(headers), rawBody, text, json };
}

export function inboxDelivery(stored: Omit<ClaimedDelivery, 'attempt' | 'strandings'>): InboxDelivery {
  const { id, key, sender, headers, rawBody, receivedAtMs } = stored;
  return { ...rawDelivery(headers, rawBody), id, key, sender, receivedAt: new Date(receivedAtMs) };
}
