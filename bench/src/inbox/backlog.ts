import type { Put } from '@webhook-backpressure/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { BODY, headersOf } from './sample.ts';

const BATCH = 2000;
/** A backlog comes from many shops, whose deliveries are processed in turn. */
const KEYS = 100;

/** Stores so many deliveries in a new file, by the store itself, as a receiver that was busy for long leaves it. */
export async function fill(path: string, count: number): Promise<void> {
  const store = sqliteStore({ path });
  const body = Buffer.from(BODY);
  const limits = {
    capacity: Number.MAX_SAFE_INTEGER,
    maxBytes: Number.MAX_SAFE_INTEGER,
    maxDeadLetters: 1,
    maxDeadLetterBytes: 1,
  };
  await store.open(Date.now());
  for (let from = 0; from < count; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, i): Put => {
      const id = `left-${String(from + i)}`;
      return {
        isOverflow: false,
        delivery: {
          key: `shop-${String((from + i) % KEYS)}`,
          id,
          isIdGenerated: false,
          sender: 'shopify',
          request: { method: 'POST', url: '/webhooks', params: {} },
          context: null,
          headers: headersOf(id),
          rawBody: body,
          receivedAtMs: Date.now(),
          sealedBy: undefined,
          fingerprint: undefined,
        },
      };
    });
    const results = await store.put(batch, { limits, nowMs: Date.now() });
    if (results.some((result) => result !== 'stored')) throw new Error('It was not stored.');
  }
  await store.close(Date.now());
}
