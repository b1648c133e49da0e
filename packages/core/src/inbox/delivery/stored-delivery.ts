import type { Json } from './json.ts';
import type { RequestFacts } from './request-facts.ts';

/** A value now or later: a store in this thread answers immediately, others do not. */
export type Awaitable<T> = T | Promise<T>;

/** Which delivery: ids are unique within a key only. Both are any strings. */
export interface DeliveryRef {
  readonly key: string;
  readonly id: string;
}

/** A delivery as it is stored: what the sender sent, and when, by the wall clock. */
export interface StoredDelivery extends DeliveryRef {
  /**
   * Whether the id was made up on arrival. Then it will never come again, and need not be remembered once the
   * delivery is completed.
   */
  readonly isIdGenerated: boolean;
  readonly sender: string | undefined;
  readonly request: RequestFacts;
  /** What the option `context` returned; null without it. */
  readonly context: Json;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: Uint8Array;
  /** Milliseconds since 1970. */
  readonly receivedAtMs: number;
  /**
   * The id of the key that it is encrypted with, or undefined when it is not encrypted. Then `rawBody` holds the
   * request, the context, the headers and the body, encrypted together, and `request`, `context` and `headers` are empty.
   */
  readonly sealedBy: string | undefined;
  /**
   * Tells one body from another, of a delivery that is encrypted: encrypted twice, the same body is different bytes. Of
   * any other delivery it is undefined, and a store compares `rawBody`. A store need not give it back.
   */
  readonly fingerprint: Uint8Array | undefined;
}
