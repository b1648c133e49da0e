/** How a sender tries. */
export interface Habits {
  /** The wait after each attempt but the last, when the answer names none. */
  readonly backoffMs: readonly number[];
  /** Each of these waits is longer or shorter by up to this fraction, at random. */
  readonly jitter: number;
}

/** How an attempt ended. */
export interface Attempt {
  /** The status, or what happened in its place. */
  readonly answer: number | 'timed out' | 'connection lost';
  readonly tookMs: number;
  readonly retryAfterMs: number | undefined;
}

/** Any 2xx is. */
export function isSuccess({ answer }: Attempt): boolean {
  return typeof answer === 'number' && answer >= 200 && answer < 300;
}

/**
 * Sends until the delivery succeeds or its attempts are used up. A refused attempt counts.
 *
 * @returns whether it was delivered.
 */
export async function deliver(
  send: () => Promise<Attempt>,
  habits: Habits,
  wait: (ms: number) => Promise<void>,
): Promise<boolean> {
  for (let made = 0; ; made += 1) {
    const attempt = await send();
    if (isSuccess(attempt)) return true;
    const backoffMs = habits.backoffMs[made];
    if (backoffMs === undefined) return false;
    const spread = 1 + habits.jitter * (2 * Math.random() - 1);
    await wait(attempt.retryAfterMs ?? backoffMs * spread);
  }
}
