import type { ClaimedDelivery } from './inbox-store.ts';

declare const TextDecoder: new () => { decode(bytes: Uint8Array): string };

/** A delivery as it came, before anything is known about it. */
export interface RawDelivery {
  /** Names in lower case; values of a header that came several times are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes that the sender signed. */
  readonly rawBody: Uint8Array;
  /** The body, as UTF-8. */
  readonly text: () => string;
  /** The body, as JSON. Throws when it is not. */
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
  const text = (): string => new TextDecoder().decode(rawBody);
  return { headers, rawBody, text, json: () => JSON.parse(text()) as unknown };
}

export function inboxDelivery(stored: Omit<ClaimedDelivery, 'attempt' | 'strandings'>): InboxDelivery {
  const { id, key, sender, headers, rawBody, receivedAtMs } = stored;
  return { ...rawDelivery(headers, rawBody), id, key, sender, receivedAt: new Date(receivedAtMs) };
}
