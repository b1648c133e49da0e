import type { Put, StoreLimits } from '@webhook-backpressure/inbox';
import { BODY, headersOf } from '../inbox/sample.ts';

export const AMPLE: StoreLimits = {
  capacity: 1e8,
  maxBytes: 1e13,
  maxDeadLetters: 1e6,
  maxDeadLetterBytes: 1e12,
};
const body = Buffer.from(BODY);

/** A delivery for the store. */
export function putOf(id: string, key: string): Put {
  return {
    isOverflow: false,
    delivery: {
      id,
      key,
      isIdGenerated: false,
      sender: undefined,
      context: null,
      sealedBy: undefined,
      fingerprint: undefined,
      headers: headersOf(id),
      rawBody: body,
      receivedAtMs: Date.now(),
      request: { method: 'POST', url: '/webhooks', params: {} },
    },
  };
}
