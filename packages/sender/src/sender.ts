import type { ObservableSender, SenderCloseReport } from '@webhook-backpressure/observe';
import type { OutgoingEvent, SendResult } from './outbox/outgoing-event.ts';

/** Sends webhooks from a durable outbox. */
export interface Sender extends ObservableSender {
  /** Resolves when the store is open, or the sender closes before. Never rejects. */
  readonly opened: Promise<void>;
  /**
   * Stores an event, and resolves when it is committed: it is delivered at least once from then on. While the outbox is full,
   * the call waits for room, or rejects, by `whenFull`.
   *
   * @param options - `signal`: ends the wait for the store to open, or for room. An event that is being stored stays.
   */
  send(event: OutgoingEvent, options?: { signal?: AbortSignal | undefined }): Promise<SendResult>;
  /**
   * Shuts down: accepts no more events, starts no more attempts, and lets requests end until the timeout; then aborts them
   * and releases their events. Stored events wait for the next start. A second call returns the same report.
   *
   * @param options - `timeoutMs`: from 0 to 86,400,000, default 10,000.
   */
  close(options?: { timeoutMs?: number | undefined }): Promise<SenderCloseReport>;
}
