import type { Webhook } from 'standardwebhooks';
import type { Attempt } from './delivery.ts';
import { retryAfterMs } from './retry-after.ts';

/** An event: the same id and body at each attempt. */
export interface Outgoing {
  readonly id: string;
  readonly body: string;
}

/** One attempt at an event: signs it, sends it, and waits for the answer, for at most `timeoutMs`. */
export async function post(
  { id, body }: Outgoing,
  url: string,
  webhook: Webhook,
  timeoutMs: number,
): Promise<Attempt> {
  // Each attempt is signed anew: a receiver rejects a timestamp that is minutes old.
  const now = new Date();
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': webhook.sign(id, now, body),
  };
  return exchange(url, headers, body, timeoutMs);
}

/** One request: sends it and waits for the answer, for at most `timeoutMs`. */
export async function exchange(
  url: string,
  headers: Record<string, string>,
  body: string,
  timeoutMs: number,
): Promise<Attempt> {
  const startedAt = performance.now();
  const tookMs = (): number => performance.now() - startedAt;
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    // An unread body keeps its connection from being reused.
    await response.arrayBuffer();
    return {
      answer: response.status,
      tookMs: tookMs(),
      retryAfterMs: retryAfterMs(response.headers.get('retry-after'), Date.now()),
    };
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === 'TimeoutError';
    return { answer: isTimeout ? 'timed out' : 'connection lost', tookMs: tookMs(), retryAfterMs: undefined };
  }
}
