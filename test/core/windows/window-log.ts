import type { Percentiles, WindowFigures } from '@webhook-backpressure/observe';

/** One event of a window, as the oracle keeps it. */
export interface Logged {
  readonly at: number;
  readonly key: string;
  readonly what: 'arrival' | 'refusal' | 'start' | 'success' | 'failure';
  readonly value: number;
}

/** The figures of a window by definition: from a list of all events, sorted values and the nearest rank. */
export function figuresOf(events: readonly Logged[]): WindowFigures {
  const count = (what: Logged['what']): number => events.filter((event) => event.what === what).length;
  const percentiles = (...kinds: Logged['what'][]): Percentiles => {
    const values = events.filter(({ what }) => kinds.includes(what)).map(({ value }) => value);
    values.sort((a, b) => a - b);
    const ranked = (share: number): number | null => values[Math.ceil(values.length * share) - 1] ?? null;
    return { p50: ranked(0.5), p99: ranked(0.99) };
  };
  const [arrivals, refused] = [count('arrival'), count('refusal')];
  return {
    arrivals,
    refused,
    refusedRatio: arrivals === 0 ? 0 : refused / arrivals,
    completed: count('success'),
    failed: count('failure'),
    waitMs: percentiles('start'),
    handlingMs: percentiles('success', 'failure'),
    retryAfterSeconds: percentiles('refusal'),
  };
}
