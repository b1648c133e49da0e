import { DEFAULT_KEY } from '../delivery/delivery.ts';
import type { RefusalReason } from '../delivery/refusal.ts';

/**
 * The status `'auto'`: 429 for a key that is part of the cause, 503 otherwise. Unknown senders share the default key
 * and always get 503: several senders drop an event on 429 and retry it on 503 (Amazon SNS, SendGrid Inbound Parse,
 * Dialpad), and hardly any does the reverse.
 *
 * @param isCause - whether the key is part of the cause; called only if the result depends on it.
 */
export function statusOf(reason: RefusalReason, key: string, isCause: (key: string) => boolean): 429 | 503 {
  if (reason === 'pressure' || reason === 'closing' || key === DEFAULT_KEY) return 503;
  return isCause(key) ? 429 : 503;
}
