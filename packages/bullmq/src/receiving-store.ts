import type { Awaitable, InboxStore } from '@webhook-backpressure/core';

/** What a store holds, as far as a receiver needs it. */
export interface ReceivingStats {
  /** Unfinished deliveries. */
  readonly depth: number;
  /** Their bytes. */
  readonly bytes: number;
  /** Deliveries that were finished since the store exists. */
  readonly drained: number;
  /** When the oldest unfinished delivery was received, in ms since 1970. */
  readonly oldestReceivedAtMs?: number | undefined;
}

/** What a receiver without workers calls. */
export interface ReceivingStore extends Pick<InboxStore, 'put' | 'close' | 'watch'> {
  /** Prepares the store. */
  open(nowMs: number): Awaitable<ReceivingStats>;
  /** What it holds. */
  stats(): Awaitable<ReceivingStats>;
}
