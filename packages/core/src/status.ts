import { DEFAULT_KEY } from './delivery.ts';
import type { RefusalReason } from './refusal.ts';

/** What the queue tells about shares; {@link FairQueue} has it. */
interface Shares {
  readonly size: number;
  readonly keys: number;
  lineOf(key: string): { readonly size: number } | undefined;
}

/** Whether a key holds its equal share of what waits, or more: whether it is part of the cause. */
export function holdsShare(key: string, queue: Shares): boolean {
  const line = queue.lineOf(key);
  return line !== undefined && line.size * queue.keys >= queue.size;
}

/**
 * The status by rule: 429 for a key that is part of the cause, 503 for everybody else. Strangers, who share the
 * default key, get 503 always: several senders drop an event on 429 and repeat it on 503 (Amazon SNS, SendGrid
 * Inbound Parse, Dialpad), and hardly any does the reverse.
 */
export function statusOf(reason: RefusalReason, key: string, queue: Shares): 429 | 503 {
  if (reason === 'pressure' || reason === 'closing' || key === DEFAULT_KEY) return 503;
  return holdsShare(key, queue) ? 429 : 503;
}
