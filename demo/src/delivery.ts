import { setTimeout as sleep } from 'node:timers/promises';
import type { Webhook } from 'standardwebhooks';
import { retryAfterMs } from './retry-after.ts';

/** One event on its way: the same id and body at each attempt. */
export interface Outgoing {
  readonly id: string;
  readonly body: string;
}

/** How a sender tries. */
export interface Habits {
  readonly timeoutMs: number;
  /** The wait after each attempt but the last, when the answer names none. */
  readonly backoffMs: readonly number[];
  readonly jitter: number;
}

/** How an attempt ended. */
export interface Attempt {
  /** The status, or what happened in its place. */
  readonly answer: number | 'timed out' | 'connection lost';
  readonly tookMs: number;
  readonly retryAfterMs: number | undefined;
}

/**
 * Tries until it is delivered or the attempts are used up. Every attempt counts, a refused one too.
 *
 * @returns whether it was delivered.
 */
export async function deliver(
  outgoing: Outgoing,
  url: string,
  webhook: Webhook,
  habits: Habits,
  onAttempt: (attempt: Attempt) => void,
): Promise<boolean> {
  for (let made = 0; ; made += 1) {
    const attempt = await send(outgoing, url, webhook, habits.timeoutMs);
    onAttempt(attempt);
    if (isSuccess(attempt)) return true;
    const backoffMs = habits.backoffMs[made];
    if (backoffMs === undefined) return false;
    const spread = 1 + habits.jitter * (2 * Math.random() - 1);
    await sleep(attempt.retryAfterMs ?? backoffMs * spread);
  }
}

/** Any 2xx is. */
export function isSuccess({ answer }: Attempt): boolean {
  return typeof answer === 'number' && answer >= 200 && answer < 300;
}

async function send(
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
  const startedAt = performance.now();
  const tookMs = (): number => performance.now() - startedAt;
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    // A body that nobody reads keeps its connection from being used again.
    await response.arrayBuffer();
    return {
      answer: response.status,
      tookMs: tookMs(),
      retryAfterMs: retryAfterMs(response.headers.get('retry-after'), Date.now()),
    };
  } catch (error) {
    const timedOut = error instanceof Error && error.name === 'TimeoutError';
    return { answer: timedOut ? 'timed out' : 'connection lost', tookMs: tookMs(), retryAfterMs: undefined };
  }
}
