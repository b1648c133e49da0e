import { answer } from '../pinned.ts';
import { BACKOFF_S, BURST_S, DELIVERIES, END_S, MAX_ATTEMPTS, SENDER_TIMEOUT_MS } from './setup.ts';

/** What became of one delivery. */
export interface Outcome {
  readonly attempts: number;
  /** Milliseconds after the burst began. */
  readonly sentMs: number;
  readonly deliveredMs: number | null;
  /** Answers by status; 0 means none. */
  readonly answers: readonly number[];
}

/** What became of all. */
export interface Burst {
  /** When it began, in milliseconds since 1970. */
  readonly beganMs: number;
  readonly outcomes: readonly Outcome[];
}

const ORDER = { email: 'jon@example.com', total_price: '403.00', line_items: [{ sku: 'A-1', quantity: 2 }] };

/** Sends the burst and comes back with what was not taken, until all is delivered or given up, or time is up. */
async function burst(url: string, honorsRetryAfter: boolean): Promise<Burst> {
  const beganMs = Date.now();
  const begin = performance.now();
  const elapsedMs = (): number => performance.now() - begin;

  const deliver = async (index: number): Promise<Outcome> => {
    await wait((index / DELIVERIES) * BURST_S * 1000 - elapsedMs());
    const sentMs = elapsedMs();
    const answers: number[] = [];
    for (;;) {
      const { status, retryAfterS } = await attempt(url, `order-${String(index)}`);
      answers.push(status);
      const attempts = answers.length;
      if (status >= 200 && status < 300) return { attempts, sentMs, deliveredMs: elapsedMs(), answers };
      const namedS = honorsRetryAfter ? retryAfterS : undefined;
      const waitMs = 1000 * (namedS ?? (BACKOFF_S[attempts - 1] ?? 0) * (0.8 + 0.4 * Math.random()));
      if (attempts === MAX_ATTEMPTS || elapsedMs() + waitMs > END_S * 1000) {
        return { attempts, sentMs, deliveredMs: null, answers };
      }
      await wait(waitMs);
    }
  };
  const outcomes = await Promise.all(Array.from({ length: DELIVERIES }, (_, index) => deliver(index)));
  return { beganMs, outcomes };
}

async function attempt(
  url: string,
  id: string,
): Promise<{ status: number; retryAfterS: number | undefined }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'webhook-id': id },
      body: JSON.stringify({ id, ...ORDER }),
      signal: AbortSignal.timeout(SENDER_TIMEOUT_MS),
    });
    await response.arrayBuffer();
    const told = Number(response.headers.get('retry-after') ?? NaN);
    return { status: response.status, retryAfterS: Number.isFinite(told) ? told : undefined };
  } catch {
    return { status: 0, retryAfterS: undefined };
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms));
  });
}

answer(({ port, honorsRetryAfter }: { port: number; honorsRetryAfter: boolean }) =>
  burst(`http://127.0.0.1:${String(port)}/webhooks`, honorsRetryAfter),
);
