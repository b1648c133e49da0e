export type { Awaitable } from '@webhook-backpressure/base';
import type { Json } from './json.ts';
import type { RequestFacts } from './request-facts.ts';

/** Identifies a delivery. Ids are unique within a key only. Both are arbitrary strings. */
export interface DeliveryRef {
  /** The key that the delivery counts against. */
  readonly key: string;
  /** The delivery id, unique within its key. */
  readonly id: string;
}

/** A delivery as it is stored. */
export interface StoredDelivery extends DeliveryRef {
  /**
   * Whether the id was generated on arrival. Then no other delivery has it, and it need not be remembered after
   * completion.
   */
  readonly isIdGenerated: boolean;
  /** The name of the identified sender, or undefined. */
  readonly sender: string | undefined;
  /** The request line and parameters, as callbacks see them. */
  readonly request: RequestFacts;
  /** The value that the option `context` returned; null without it. */
  readonly context: Json;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body, encrypted if `sealedBy` is set. */
  readonly rawBody: Uint8Array;
  /** Milliseconds since 1970, by the wall clock. */
  readonly receivedAtMs: number;
  /**
   * The id of the key that it is encrypted with, or undefined when it is not encrypted. Then `rawBody` holds the
   * request, the context, the headers and the body, encrypted together, and `request`, `context` and `headers` are empty.
   */
  readonly sealedBy: string | undefined;
  /**
   * Identifies the body of an encrypted delivery, whose bytes differ each time it is encrypted. Undefined for any other
   * delivery, of which a store compares `rawBody`. A store need not return it.
   */
  readonly fingerprint: Uint8Array | undefined;
  /** The name of the only handler that processes it, if it was stored for one of several. Never encrypted. */
  readonly handler?: string | undefined;
  /** No attempt starts before this time, in ms since 1970. Absent: no limit. Never encrypted. A store need not observe it. */
  readonly notBeforeMs?: number | undefined;
}
