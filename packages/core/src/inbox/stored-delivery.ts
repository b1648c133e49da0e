/** A value now or later: a store on this machine answers at once, one across a network does not. */
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
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: Uint8Array;
  /** Milliseconds since 1970. */
  readonly receivedAtMs: number;
}
